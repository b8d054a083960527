//! `cargo xtask tools`: the programs of others that judge ours, in a cache of the user.
//!
//! ```text
//! $XDG_CACHE_HOME/flumen/tools/KEY/      KEY stands for the list of tools and their versions
//!   bin/                                 the programs, each complete or absent
//!   debian/PACKAGE/                      what Debian's packages hold, unpacked
//!   lock                                 held while something is added
//! ```
//!
//! Nothing is installed into the system and no rights are needed. What is there stays; an
//! interrupted run is taken up by the next one.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Instant,
};

use flumen_testkit::{Origin, TOOLS, TOOLS_VARIABLE, Tool, tool, tools_cache};

use crate::{Result, process::find, progress::say};

#[cfg(unix)]
mod debian;
mod go;

/// Judges whose copy on `PATH` is as good: golden recordings use that one, too.
const TAKEN_FROM_PATH: [&str; 1] = ["kustomize"];

/// What could be had and what could not.
#[derive(Debug)]
pub(crate) struct Provision {
    /// The directory of the programs.
    pub(crate) bin: PathBuf,
    /// The tools that are not there, and why.
    pub(crate) missing: Vec<(&'static str, String)>,
}

pub(crate) fn run(arguments: &[String]) -> Result {
    if let Some(argument) = arguments.first() {
        return Err(format!("`tools` takes no arguments, but got `{argument}`").into());
    }
    let provision = provide()?;
    say(&provision.bin.to_string_lossy());
    match provision.missing.len() {
        0 => Ok(()),
        count => Err(format!("{count} of {} tools are missing", TOOLS.len()).into()),
    }
}

/// Where the judges are, after adding those that are missing and can be had.
///
/// A directory that the environment names is taken as it is.
pub(crate) fn provide() -> Result<Provision> {
    if let Some(bin) = std::env::var_os(TOOLS_VARIABLE) {
        let why = || format!("not in the directory that {TOOLS_VARIABLE} names, nor on PATH");
        let missing = TOOLS.iter().filter(|one| tool(one.name).is_none());
        let missing = missing.map(|one| (one.name, why())).collect();
        return Ok(Provision { bin: bin.into(), missing });
    }
    let cache = tools_cache().ok_or("neither XDG_CACHE_HOME nor HOME is set")?;
    let bin = cache.join("bin");
    fs::create_dir_all(&bin)?;
    let lock = File::create(cache.join("lock"))?;
    lock.lock()?;
    let mut missing = Vec::new();
    for tool in &TOOLS {
        if let Err(why) = add(tool, &cache) {
            say(&format!("    {:<16} cannot be had: {why}", tool.name));
            missing.push((tool.name, why.to_string()));
        }
    }
    Ok(Provision { bin, missing })
}

/// Adds one tool unless it is there, and says so in one line.
fn add(tool: &Tool, cache: &Path) -> Result {
    let program = cache.join("bin").join(tool.name);
    let from_path = TAKEN_FROM_PATH.contains(&tool.name).then(|| find(tool.name)).flatten();
    let state = if let Some(path) = from_path {
        format!("on PATH as {}", path.display())
    } else if program.is_file() {
        "there".to_owned()
    } else {
        let begin = Instant::now();
        let (origin, from) = match tool.origin {
            Origin::Go(package) => (go::install(package, tool.name, cache)?, package),
            #[cfg(unix)]
            Origin::Debian(package) => (debian::install(package, tool.name, cache)?, package),
            #[cfg(not(unix))]
            Origin::Debian(_) => return Err("Debian's programs need a Unix system".into()),
        };
        format!("{origin} {from}, {:.1} s", begin.elapsed().as_secs_f64())
    };
    say(&format!("    {:<16} {state}", tool.name));
    Ok(())
}

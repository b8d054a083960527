//! `cargo xtask tools`: the programs of others that judge ours, in a cache of the user.
//!
//! ```text
//! $XDG_CACHE_HOME/flumen/tools/NAME-KEY/   KEY stands for the version of the tool
//!   bin/NAME                               the program, complete or absent
//!   debian/PACKAGE/                        what a package of Debian holds, unpacked
//!   lock                                   held while it is added
//! ```
//!
//! Nothing is installed into the system and no rights are needed. What is there stays; an
//! interrupted run is taken up by the next one.

use std::{
    fs::{self, File},
    time::Instant,
};

use flumen_testkit::{
    Origin, PEERS, TOOLS, TOOLS_VARIABLE, Tool, repository_root, tool, tool_cache,
};

use crate::{Result, process::find, progress::say};

#[cfg(unix)]
mod debian;
mod go;

/// Judges whose copy on `PATH` is as good: golden recordings use that one, too.
const TAKEN_FROM_PATH: [&str; 1] = ["kustomize"];

/// A tool that is not there, and why.
pub(crate) type Missing = (&'static str, String);

pub(crate) fn run(arguments: &[String]) -> Result {
    let (missing, all) = match arguments {
        [] => (provide().len(), TOOLS.len()),
        [peers] if peers == "flux" => (add_all(&PEERS).len(), PEERS.len()),
        _ => {
            let arguments = arguments.join(" ");
            return Err(format!("`tools` takes `flux` or nothing, but got `{arguments}`").into());
        }
    };
    match missing {
        0 => Ok(()),
        count => Err(format!("{count} of {all} tools are missing").into()),
    }
}

/// Adds the judges that are missing and can be had.
///
/// A directory that the environment names is taken as it is.
pub(crate) fn provide() -> Vec<Missing> {
    if std::env::var_os(TOOLS_VARIABLE).is_some() {
        let why = || format!("not in the directory that {TOOLS_VARIABLE} names, nor on PATH");
        let missing = TOOLS.iter().filter(|one| tool(one.name).is_none());
        return missing.map(|one| (one.name, why())).collect();
    }
    add_all(&TOOLS)
}

fn add_all(tools: &[Tool]) -> Vec<Missing> {
    let mut missing = Vec::new();
    for tool in tools {
        if let Err(why) = add(tool) {
            say(&format!("    {:<16} cannot be had: {why}", tool.name));
            missing.push((tool.name, why.to_string()));
        }
    }
    missing
}

/// Adds one tool unless it is there, and says so in one line.
fn add(tool: &Tool) -> Result {
    let cache = tool_cache(tool)?;
    fs::create_dir_all(cache.join("bin"))?;
    let lock = File::create(cache.join("lock"))?;
    lock.lock()?;
    let program = cache.join("bin").join(tool.name);
    let from_path = TAKEN_FROM_PATH.contains(&tool.name).then(|| find(tool.name)).flatten();
    let state = if let Some(path) = from_path {
        format!("on PATH as {}", path.display())
    } else if program.is_file() {
        "there".to_owned()
    } else {
        let begin = Instant::now();
        let (origin, from) = match tool.origin {
            Origin::Go(package) => (go::install(package, tool.name, &cache)?, package),
            Origin::GoRelease { module, replaced } => {
                (go::build_release(module, replaced, &program, &cache)?, module)
            }
            Origin::Module { directory, package } => {
                (go::build(&repository_root().join(directory), package, &program)?, directory)
            }
            #[cfg(unix)]
            Origin::Debian { package, probe } => {
                (debian::install(package, tool.name, probe, &cache)?, package)
            }
            #[cfg(not(unix))]
            Origin::Debian { .. } => return Err("Debian's programs need a Unix system".into()),
        };
        format!("{origin} {from}, {:.1} s", begin.elapsed().as_secs_f64())
    };
    say(&format!("    {:<16} {state}", tool.name));
    Ok(())
}

//! `cargo xtask tools`: the programs of other projects that judge ours, in a cache of the user.
//!
//! ```text
//! $XDG_CACHE_HOME/flumen/tools/OWNER-KEY/   OWNER is a tool or a Go module, KEY stands for its version
//!   bin/NAME                                a program, complete or absent
//!   debian/PACKAGE/                         the unpacked content of a package of Debian
//!   lock                                    held while a program is added
//! ```
//!
//! Nothing is installed into the system and no rights are needed. Programs that are there stay; the next run
//! continues an interrupted one.

use std::{
    fs::{self, File},
    path::Path,
    time::Instant,
};

use flumen_testkit::{
    Origin, PEERS, TOOLS, TOOLS_VARIABLE, Tool, repository_root, tool, tool_cache,
};

use crate::{Result, go::Effort, process::find, progress::say};

#[cfg(unix)]
mod debian;
mod go;

/// Judges whose copy on `PATH` is as good: golden recordings use that one, too.
const TAKEN_FROM_PATH: [&str; 1] = ["kustomize"];

/// The Go module whose programs run for seconds in a test. The servers of the others run for minutes.
const BRIEF: &str = "tests/tools";

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

/// Adds the tools that are missing. The programs of one Go module are built by one command.
pub(crate) fn add_all(tools: &[Tool]) -> Vec<Missing> {
    let mut missing = Vec::new();
    for group in tools.chunk_by(|one, next| module(one).is_some() && module(one) == module(next)) {
        if let Err(why) = add(group) {
            for tool in group {
                say(&format!("    {:<24} cannot be had: {why}", tool.name));
                missing.push((tool.name, why.to_string()));
            }
        }
    }
    missing
}

/// The Go module of ours that a tool is built from, if it is.
const fn module(tool: &Tool) -> Option<&'static str> {
    match tool.origin {
        Origin::Module { directory, .. } => Some(directory),
        _ => None,
    }
}

/// Adds the tools of a group that are not there, and says where each comes from in one line.
fn add(group: &[Tool]) -> Result {
    let Some(first) = group.first() else { return Ok(()) };
    let cache = tool_cache(first)?;
    let bin = cache.join("bin");
    fs::create_dir_all(&bin)?;
    let lock = File::create(cache.join("lock"))?;
    lock.lock()?;
    let mut missing = Vec::new();
    for tool in group {
        let from_path = TAKEN_FROM_PATH.contains(&tool.name).then(|| find(tool.name)).flatten();
        let state = if let Some(path) = from_path {
            format!("on PATH as {}", path.display())
        } else if bin.join(tool.name).is_file() {
            "there".to_owned()
        } else {
            missing.push(*tool);
            continue;
        };
        say(&format!("    {:<24} {state}", tool.name));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let begin = Instant::now();
    let origin = make(&missing, &cache, &bin)?;
    let names: Vec<_> = missing.iter().map(|tool| tool.name).collect();
    let seconds = begin.elapsed().as_secs_f64();
    say(&format!("    {:<24} {origin}, {seconds:.1} s", names.join(", ")));
    Ok(())
}

/// Makes tools of one origin, and returns how they came about.
fn make(tools: &[Tool], cache: &Path, bin: &Path) -> Result<String> {
    let Some(tool) = tools.first() else { return Ok(String::new()) };
    match tool.origin {
        Origin::Go(package) => {
            go::install(package, tool.name, cache)?;
            Ok(format!("built from {package}"))
        }
        Origin::GoRelease { module, replaced } => {
            go::build_release(module, replaced, &bin.join(tool.name), cache)?;
            Ok(format!("built from {module}"))
        }
        Origin::Module { directory, .. } => {
            let packages: Vec<_> = tools
                .iter()
                .filter_map(|tool| match tool.origin {
                    Origin::Module { package, .. } => Some((tool.name, package)),
                    _ => None,
                })
                .collect();
            let effort = if directory == BRIEF { Effort::Little } else { Effort::Full };
            go::build(&repository_root().join(directory), effort, &packages, bin)?;
            Ok(format!("built from {directory}"))
        }
        #[cfg(unix)]
        Origin::Debian { package, probe } => {
            debian::install(package, tool.name, probe, cache)?;
            Ok(format!("from Debian's package {package}"))
        }
        #[cfg(not(unix))]
        Origin::Debian { .. } => Err("Debian's programs need a Unix system".into()),
    }
}

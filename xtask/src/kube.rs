//! `cargo xtask kube`: a real Kubernetes for the tests, built from its modules into a cache of the user.
//!
//! ```text
//! $XDG_CACHE_HOME/flumen/kube/KEY/      KEY stands for the modules under `tests/kube`
//!   bin/                                the programs, each complete or absent
//!   lock                                held while something is added
//! ```

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Instant,
};

use flumen_testkit::{
    KUBE_PROGRAMS, KubeProgram, kube_cache, kube_program, named_kube_programs, repository_root,
};

use crate::{
    Result,
    go::build_command,
    process::{find, run_quietly},
    progress::say,
};

/// The packages that the version of Kubernetes is linked into: of the programs, of their clients.
const VERSION_PACKAGES: [&str; 2] =
    ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];

pub(crate) fn run(arguments: &[String]) -> Result {
    if let Some(argument) = arguments.first() {
        return Err(format!("`kube` takes no arguments, but got `{argument}`").into());
    }
    say(&provide()?.to_string_lossy());
    Ok(())
}

/// Whether the programs are there or can be built.
pub(crate) fn can_provide() -> bool {
    let built = || KUBE_PROGRAMS.iter().all(|program| kube_program(program.name).is_some());
    named_kube_programs().is_some() || find("go").is_some() || built()
}

/// The directory of the programs, after building those that are missing.
///
/// A directory that the environment names is taken as it is.
pub(crate) fn provide() -> Result<PathBuf> {
    if let Some(bin) = named_kube_programs() {
        return Ok(bin);
    }
    let cache = kube_cache()?;
    let bin = cache.join("bin");
    fs::create_dir_all(&bin)?;
    let lock = File::create(cache.join("lock"))?;
    lock.lock()?;
    for program in &KUBE_PROGRAMS {
        let begin = Instant::now();
        let state = if kube_program(program.name).is_some() {
            "there".to_owned()
        } else {
            build(program, &bin).map_err(|why| format!("`{}`: {why}", program.name))?;
            format!("built from {}, {:.1} s", program.package, begin.elapsed().as_secs_f64())
        };
        say(&format!("    {:<24} {state}", program.name));
    }
    Ok(bin)
}

/// Builds one program and gives it its name when it is complete.
fn build(program: &KubeProgram, bin: &Path) -> Result {
    let module = repository_root().join(program.module);
    let unfinished = bin.join(format!(".{}", program.name));
    let version = version_flags(&fs::read_to_string(module.join("go.mod"))?);
    let mut command = build_command("build", &module, &version)?;
    command.arg("-o").arg(&unfinished).arg(program.package);
    run_quietly(&mut command)?;
    fs::rename(unfinished, bin.join(program.name))?;
    Ok(())
}

/// What makes the programs of Kubernetes say their version; nothing for other modules.
fn version_flags(module: &str) -> String {
    let version = module.lines().find_map(|line| {
        line.trim().trim_start_matches("require ").strip_prefix("k8s.io/kubernetes v")
    });
    let Some(version) = version else { return String::new() };
    let mut numbers = version.split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    VERSION_PACKAGES
        .iter()
        .flat_map(|package| {
            [("Version", &*format!("v{version}")), ("Major", major), ("Minor", minor)]
                .map(|(name, value)| format!(" -X {package}.git{name}={value}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_the_module_is_linked() {
        let module = "module example\n\nrequire k8s.io/kubernetes v1.35.4\n";
        assert!(version_flags(module).starts_with(
            " -X k8s.io/component-base/version.gitVersion=v1.35.4 \
             -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=35"
        ));
        assert!(version_flags(&module.replace("require ", "require (\n\t")).contains("v1.35.4"));
        assert_eq!(version_flags("module example\n\nrequire example.com/store v3.6.1\n"), "");
    }
}

//! Tools written in Go, built from their modules.

use std::{fs, path::Path};

use crate::{
    Result,
    go::{Effort, build_command, command},
    process::run_quietly,
};

/// The packages that the version of Kubernetes is linked into: of the programs, of their clients.
const VERSION_PACKAGES: [&str; 2] =
    ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];

/// Builds `package@version` and gives the program its name when it is complete.
pub(super) fn install(package: &str, name: &str, cache: &Path) -> Result {
    let staging = cache.join("go").join(name);
    fs::create_dir_all(&staging)?;
    let mut install = build_command("install", &staging, Effort::Full, "")?;
    // A name without directory would be a program of the module that we happen to be in.
    run_quietly(install.arg(package).env("GOBIN", &staging))?;
    let program = package.split('@').next().map_or(name, program_name);
    fs::rename(staging.join(program), cache.join("bin").join(name))?;
    fs::remove_dir_all(&staging)?;
    Ok(())
}

/// Builds programs that a module on disk holds or needs, each given as name and package, and gives them their
/// names when they are complete.
pub(super) fn build(
    module: &Path,
    effort: Effort,
    programs: &[(&str, &str)],
    bin: &Path,
) -> Result {
    let version = version_flags(&fs::read_to_string(module.join("go.mod"))?);
    let staging = bin.with_file_name("unfinished");
    for batch in batches(programs) {
        fs::create_dir_all(&staging)?;
        let mut command = build_command("build", module, effort, &version)?;
        // Go takes a path that ends with a separator for a directory.
        command.arg("-o").arg(staging.join(""));
        run_quietly(command.args(batch.iter().map(|(_, package)| package)))?;
        for (name, package) in batch {
            fs::rename(staging.join(program_name(package)), bin.join(name))?;
        }
    }
    fs::remove_dir_all(&staging)?;
    Ok(())
}

/// Splits programs so that Go gives those of one batch different names.
fn batches<'a>(programs: &[(&'a str, &'a str)]) -> Vec<Vec<(&'a str, &'a str)>> {
    let mut batches: Vec<Vec<(&str, &str)>> = Vec::new();
    for program in programs {
        let has_name = |batch: &&mut Vec<(&str, &str)>| {
            !batch.iter().any(|(_, package)| program_name(package) == program_name(program.1))
        };
        match batches.iter_mut().find(has_name) {
            Some(batch) => batch.push(*program),
            None => batches.push(vec![*program]),
        }
    }
    batches
}

/// The name that Go gives to the program of a package.
fn program_name(package: &str) -> &str {
    package.rsplit('/').find(|part| !is_major_version(part)).unwrap_or(package)
}

/// The flags that make the programs of Kubernetes report their version; empty for other modules.
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

/// Builds the program of a published module from a copy of it, in which `replaced` take the place of what its
/// module file names.
pub(super) fn build_release(
    module: &str,
    replaced: &[&str],
    program: &Path,
    cache: &Path,
) -> Result {
    let staging = cache.join("go");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    fs::create_dir_all(&staging)?;
    let answer = command(&staging)?.args(["mod", "download", "-json", module]).output()?;
    let answer: serde_json::Value = serde_json::from_slice(&answer.stdout)?;
    let Some(published) = answer["Dir"].as_str() else {
        return Err(format!("{module} cannot be had: {}", answer["Error"]).into());
    };
    copy(Path::new(published), &staging)?;
    let mut edit = command(&staging)?;
    edit.args(["mod", "edit"]);
    for taken in replaced {
        let path = taken.split('@').next().unwrap_or(taken);
        edit.arg(format!("-replace={path}={taken}"));
    }
    run_quietly(&mut edit)?;
    let unfinished = program.with_extension("unfinished");
    let mut build = build_command("build", &staging, Effort::Full, "")?;
    run_quietly(build.arg("-mod=mod").arg("-o").arg(&unfinished).arg("."))?;
    fs::rename(unfinished, program)?;
    fs::remove_dir_all(&staging)?;
    Ok(())
}

/// Copies files and directories; the cache of Go is not writable, the copy is.
fn copy(from: &Path, to: &Path) -> Result {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else {
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

fn is_major_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
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

    #[test]
    fn programs_of_the_same_name_are_built_apart() {
        let helm3 = ("helm3", "example.com/helm/v3/cmd/helm");
        let helm4 = ("helm4", "example.com/helm/v4/cmd/helm");
        let (etcd, own) = (("etcd", "example.com/etcd/server/v3"), ("registry", "./registry"));
        assert_eq!(batches(&[helm3, etcd, helm4, own]), [vec![helm3, etcd, own], vec![helm4]]);
        assert_eq!(program_name(etcd.1), "server");
        assert_eq!(program_name(own.1), "registry");
    }
}

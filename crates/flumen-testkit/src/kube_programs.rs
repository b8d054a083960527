//! The programs of a real Kubernetes, and where they are found.
//!
//! `cargo xtask kube` builds them from the Go modules under `tests/kube` into a cache of the user.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use crate::{
    outside::repository_root,
    tools::{cache, find, fingerprint},
};

/// Directories of ready programs, the first that is set wins. The second is that of other projects.
const DIRECTORY_VARIABLES: [&str; 2] = ["FLUMEN_TEST_KUBE", "KUBEBUILDER_ASSETS"];

/// Names the API server that suites run on: `embedded`, which is ours and needs no program, or `real`.
pub const TEST_SERVER_VARIABLE: &str = "FLUMEN_TEST_SERVER";

/// A program of Kubernetes and the Go package that it is built from.
#[derive(Debug, Clone, Copy)]
pub struct KubeProgram {
    pub name: &'static str,
    pub package: &'static str,
    /// The directory of the Go module that fixes the versions, below the root of the repository.
    pub module: &'static str,
}

/// All programs. Their versions are those of the modules.
pub const KUBE_PROGRAMS: [KubeProgram; 4] = [
    KubeProgram { name: "etcd", package: "go.etcd.io/etcd/server/v3", module: "tests/kube/etcd" },
    KubeProgram {
        name: "kube-apiserver",
        package: "k8s.io/kubernetes/cmd/kube-apiserver",
        module: "tests/kube",
    },
    KubeProgram {
        name: "kube-controller-manager",
        package: "k8s.io/kubernetes/cmd/kube-controller-manager",
        module: "tests/kube",
    },
    KubeProgram { name: "kubectl", package: "k8s.io/kubernetes/cmd/kubectl", module: "tests/kube" },
];

/// Where a program is: in the directory that the environment names, else in the cache.
///
/// Nothing is taken from `PATH`, because the version matters.
pub fn kube_program(name: &str) -> Option<PathBuf> {
    let directory = named_kube_programs().or_else(|| Some(kube_cache().ok()?.join("bin")))?;
    find([directory], name)
}

/// The directory of ready programs that the environment names.
pub fn named_kube_programs() -> Option<PathBuf> {
    DIRECTORY_VARIABLES.into_iter().find_map(env::var_os).map(PathBuf::from)
}

/// The directory of the cache that belongs to the present modules; its programs are in `bin`.
pub fn kube_cache() -> io::Result<PathBuf> {
    let cache =
        cache().ok_or_else(|| io::Error::other("neither XDG_CACHE_HOME nor HOME is set"))?;
    Ok(cache.join("kube").join(key(&repository_root())?))
}

/// A change of a module or of the list makes a new cache.
fn key(root: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    for program in &KUBE_PROGRAMS {
        bytes.extend(format!("{} {}\n", program.name, program.package).into_bytes());
        for file in ["go.mod", "go.sum"] {
            bytes.extend(fs::read(root.join(program.module).join(file))?);
        }
    }
    Ok(fingerprint(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_another_cache() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let etcd = scratch.path().join("tests/kube/etcd");
        fs::create_dir_all(&etcd).expect("created");
        for directory in [etcd.parent().expect("a parent"), &etcd] {
            fs::write(directory.join("go.mod"), "module example\n").expect("written");
            fs::write(directory.join("go.sum"), "").expect("written");
        }
        let before = key(scratch.path()).expect("a key");
        assert_eq!(key(scratch.path()).expect("a key"), before);
        fs::write(etcd.join("go.sum"), "example.com/store v1.0.0 h1:AAAA=\n").expect("written");
        assert_ne!(key(scratch.path()).expect("a key"), before);
    }

    #[test]
    fn the_modules_of_all_programs_are_there() {
        kube_cache().expect("the modules are read");
    }
}

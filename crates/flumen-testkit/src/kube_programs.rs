//! The programs of a real Kubernetes, and where they are found.
//!
//! `cargo xtask kube` builds them from the Go modules under `tests/kube` into a cache of the user.

use std::{env, path::PathBuf};

use crate::tools::{Origin, Tool, cached, find};

/// Directories of ready programs; the first variable that is set wins. Other projects use the second one.
const DIRECTORY_VARIABLES: [&str; 2] = ["FLUMEN_TEST_KUBE", "KUBEBUILDER_ASSETS"];

/// Names the API server that suites run on: `embedded`, which is ours and needs no program, or `real`.
pub const TEST_SERVER_VARIABLE: &str = "FLUMEN_TEST_SERVER";

/// All programs. Their versions are those of the modules.
pub const KUBE_PROGRAMS: [Tool; 4] = [
    Tool {
        name: "etcd",
        origin: Origin::Module {
            directory: "tests/kube/etcd",
            package: "go.etcd.io/etcd/server/v3",
        },
    },
    kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
];

const fn kubernetes(name: &'static str, package: &'static str) -> Tool {
    Tool { name, origin: Origin::Module { directory: "tests/kube", package } }
}

/// Where a program is: in the directory that the environment names, else in the cache.
///
/// Nothing is taken from `PATH`, because the version matters.
pub fn kube_program(name: &str) -> Option<PathBuf> {
    match named_kube_programs() {
        Some(directory) => find([directory], name),
        None => cached(KUBE_PROGRAMS.iter().find(|program| program.name == name)?),
    }
}

/// The directory of ready programs that the environment names.
pub fn named_kube_programs() -> Option<PathBuf> {
    DIRECTORY_VARIABLES.into_iter().find_map(env::var_os).map(PathBuf::from)
}

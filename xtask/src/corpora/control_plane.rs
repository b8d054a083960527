//! The programs that runners start a Kubernetes and a registry from.

use std::path::PathBuf;

use flumen_testkit::{kube_program, tool};

/// The variables that tell runners where the programs are, or what is missing.
pub(super) fn environment() -> Result<[(&'static str, PathBuf); 4], String> {
    let found = |variable: &'static str, program: &str, place: Option<PathBuf>, provider: &str| {
        place
            .map(|place| (variable, place))
            .ok_or_else(|| format!("it needs `{program}`, which `cargo xtask {provider}` provides"))
    };
    let kube = |variable, program: &str| found(variable, program, kube_program(program), "kube");
    Ok([
        kube("KUBE_APISERVER", "kube-apiserver")?,
        kube("KUBE_CONTROLLER_MANAGER", "kube-controller-manager")?,
        kube("ETCD", "etcd")?,
        found("REGISTRY", "docker-registry", tool("docker-registry"), "tools")?,
    ])
}

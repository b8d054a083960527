//! `cargo xtask kube`: a real Kubernetes for the tests, built from its modules into a cache of the user.

use flumen_testkit::{KUBE_PROGRAMS, kube_program, named_kube_programs};

use crate::{Result, process::find, tools};

pub(crate) fn run(arguments: &[String]) -> Result {
    if let Some(argument) = arguments.first() {
        return Err(format!("`kube` takes no arguments, but got `{argument}`").into());
    }
    provide()
}

/// Whether the programs are there or can be built.
pub(crate) fn can_provide() -> bool {
    named_kube_programs().is_some() || find("go").is_some() || missing().next().is_none()
}

/// Builds the programs that are missing. A directory that the environment names is taken as it is.
pub(crate) fn provide() -> Result {
    if named_kube_programs().is_none() {
        tools::add_all(&KUBE_PROGRAMS);
    }
    let missing: Vec<_> = missing().collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("{} cannot be had", missing.join(", ")).into())
}

fn missing() -> impl Iterator<Item = &'static str> {
    KUBE_PROGRAMS.iter().map(|program| program.name).filter(|name| kube_program(name).is_none())
}

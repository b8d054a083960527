//! From the registry of builds to the registry of an install.
//!
//! An install never pulls from where artifacts are built. What it deploys is copied to it first, with
//! all that belongs to it, under the tag that the build has.

use std::path::Path;

use flumen_oci::{
    Reference, Repository, Target,
    copy::{Copied, CopyOptions, copy},
};

use crate::{Artifact, Error, Registries, Result, State};

/// Copies the artifact of a component's last build.
pub async fn sync(
    state: &State,
    components: &Path,
    name: &str,
    registries: &dyn Registries,
    to: &Repository,
    options: &CopyOptions,
) -> Result<(Artifact, Copied)> {
    let build = state.last_build(components, name)?.ok_or(Error::NothingToSync)?;
    let from = match &build.repository {
        None => state.store()?,
        Some(address) => registries.open(&address.parse::<Reference>()?, None)?,
    };
    let target = Target::Digest(build.digest.clone());
    let copied = copy(&from, &target, to, Some(&build.tag), options).await?;
    Ok((build, copied))
}

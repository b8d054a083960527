//! Collects what nobody needs any more: by reference and by age.
//!
//! The last build of each component stays, whatever its age, because a sync copies it. Other builds go
//! when they are old enough, and content goes with the last tag that leads to it.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use serde::Serialize;

use crate::{BuildId, Result, State, state::files};

/// What goes.
#[derive(Clone, Copy, Debug)]
pub enum Prune {
    /// Builds before this moment, except the last one of each component.
    Before(Timestamp),
    /// Everything.
    All,
}

/// Content that was put within this time may belong to a build that still runs.
const GRACE: Duration = Duration::from_hours(1);

/// What was removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Tags of the local store, which are ids of builds.
    pub builds: Vec<String>,
    pub blobs: u64,
    pub bytes: u64,
}

/// Removes builds from the local store, and what is known about them.
pub async fn prune(state: &State, what: Prune) -> Result<Pruned> {
    let layout = state.layout()?;
    let mut pruned = Pruned { builds: candidates(state, what).await?, ..Pruned::default() };
    for tag in &pruned.builds {
        layout.untag(tag).await?;
    }
    let grace = match what {
        Prune::Before(_) => GRACE,
        Prune::All => Duration::ZERO,
    };
    let collected = layout.collect(grace).await?;
    (pruned.blobs, pruned.bytes) = (collected.blobs, collected.bytes);
    let limit = match what {
        Prune::Before(moment) => SystemTime::from(moment),
        Prune::All => SystemTime::from(Timestamp::MAX),
    };
    remove_older(&state.cache()?, limit)?;
    // A build that was killed leaves its workspace; a running one is never this old.
    remove_older(&state.workspaces()?, limit)?;
    Ok(pruned)
}

/// The builds that [`prune`] would remove.
pub async fn candidates(state: &State, what: Prune) -> Result<Vec<String>> {
    let kept: BTreeSet<String> = match what {
        Prune::All => BTreeSet::new(),
        Prune::Before(_) => state.last_builds()?.into_iter().map(|build| build.tag).collect(),
    };
    let tagged = state.layout()?.tagged().await?;
    let goes = |tag: &str| match (what, tag.parse::<BuildId>()) {
        (Prune::All, _) => true,
        (Prune::Before(moment), Ok(id)) => id.created() < moment && !kept.contains(tag),
        // Tags that no build made are somebody's choice.
        (Prune::Before(_), Err(_)) => false,
    };
    Ok(tagged.into_iter().map(|tagged| tagged.tag).filter(|tag| goes(tag)).collect())
}

/// Removes the entries of a directory that were last changed before `limit`.
fn remove_older(dir: &Path, limit: SystemTime) -> Result<()> {
    for path in files(dir)? {
        let is_old = fs::symlink_metadata(&path)
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| modified < limit);
        if is_old {
            // Whatever stays is tried again the next time.
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
    Ok(())
}

//! Moves whole graphs from one repository to another, byte for byte.
//!
//! A graph is a manifest or index with everything below it, and everything that speaks about any of
//! that: signatures, attestations, bills of materials, and what speaks about those.
//!
//! ```text
//! tag ─▶ index ─▶ manifest ─▶ configuration, layers
//!          ▲          ▲
//!          └─ referrers and cosign's tags
//! ```
//!
//! Blobs travel first and side by side, then manifests in an order in which each finds its content,
//! then those that speak about them, and the tag at the end: whoever sees the tag sees the whole. What the
//! other side has is not sent again, so a copy that broke off goes on when it is repeated.

mod graph;
mod memory;
mod transfer;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::Semaphore;

pub use self::graph::Budget;
use self::{graph::Graph, memory::Memory, transfer::Outcome};
use crate::{
    Descriptor, Digest, Error, Repository, Result, Target, Watch, reference::is_tag, referrer,
};

/// How a copy is made.
#[derive(Clone, Debug)]
pub struct CopyOptions {
    /// How many blobs are on their way at once.
    pub parallel: usize,
    pub budget: Budget,
    /// Who is told how far it is.
    pub watch: Watch,
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self { parallel: 10, budget: Budget::default(), watch: Watch::default() }
    }
}

/// What a copy did.
#[derive(Clone, Debug)]
pub struct Copied {
    /// What was asked for: the same at both ends.
    pub descriptor: Descriptor,
    /// Manifests of the graph, those included that were there.
    pub manifests: u64,
    pub blobs_copied: u64,
    /// Blobs that the destination had.
    pub blobs_skipped: u64,
    /// Blobs that the registry took from another of its repositories.
    pub blobs_mounted: u64,
    /// Bytes of blobs that travelled.
    pub bytes: u64,
    /// Layers that may not be distributed, or that the source does not have because they are elsewhere;
    /// they stay where their manifest says.
    pub foreign: Vec<Descriptor>,
}

/// Copies what `target` names, with all that belongs to it, and puts `tag` on it.
pub async fn copy(
    from: &Repository,
    target: &Target,
    to: &Repository,
    tag: Option<&str>,
    options: &CopyOptions,
) -> Result<Copied> {
    Copier::new(options.clone()).copy(from, target, to, tag).await
}

/// Makes many copies, at once if asked, and remembers what they taught about sources and
/// destinations.
#[derive(Debug)]
pub struct Copier {
    options: CopyOptions,
    /// One for each blob that may be on its way, whichever copy it belongs to.
    ways: Semaphore,
    memory: Memory,
}

impl Copier {
    pub fn new(options: CopyOptions) -> Self {
        let ways = Semaphore::new(options.parallel.max(1));
        Self { options, ways, memory: Memory::default() }
    }

    /// Tags of a repository that are worth a copy of their own. Those that are made of a digest name
    /// what comes along with the artifact of that digest.
    pub async fn artifact_tags(&self, from: &Repository) -> Result<Vec<String>> {
        let mut tags = self.memory.source(from).all_tags(from).await?;
        tags.retain(|tag| is_tag(tag) && referrer::subject_of_tag(tag).is_none());
        Ok(tags)
    }

    /// See [`copy`].
    pub async fn copy(
        &self,
        from: &Repository,
        target: &Target,
        to: &Repository,
        tag: Option<&str>,
    ) -> Result<Copied> {
        let root = from.manifest(target).await?;
        let descriptor = root.descriptor.clone();
        let source = self.memory.source(from);
        let graph = Graph::explore(from, root, &source, &self.options).await?;
        let mut copied = Copied {
            descriptor,
            manifests: graph.manifests.len() as u64,
            blobs_copied: 0,
            blobs_skipped: 0,
            blobs_mounted: 0,
            bytes: 0,
            foreign: graph.foreign.clone(),
        };
        // Sizes are what manifests claim.
        let bytes = graph.blobs.iter().fold(0, |sum: u64, blob| sum.saturating_add(blob.size));
        self.options.watch.found(bytes);
        let mut transfers = stream::iter(&graph.blobs)
            .map(|blob| async move { Ok::<_, Error>((blob, self.transfer(from, blob, to).await?)) })
            .buffer_unordered(self.options.parallel.max(1));
        while let Some((blob, outcome)) = transfers.try_next().await? {
            match outcome {
                Outcome::Copied => {
                    copied.blobs_copied += 1;
                    copied.bytes += blob.size;
                }
                Outcome::Present => copied.blobs_skipped += 1,
                Outcome::Mounted => copied.blobs_mounted += 1,
                Outcome::Elsewhere => copied.foreign.push(blob.clone()),
            }
        }
        put_manifests(&graph, &copied.descriptor.digest, to, tag).await?;
        Ok(copied)
    }
}

/// Puts every manifest and its tags, and the tag that was asked for when all the rest is there.
async fn put_manifests(
    graph: &Graph,
    root: &Digest,
    to: &Repository,
    tag: Option<&str>,
) -> Result<()> {
    let mut last = None;
    for (number, manifest) in graph.manifests.iter().enumerate() {
        let is_end = number + 1 == graph.manifests.len();
        let tags = graph.tags.get(manifest.digest()).map(Vec::as_slice).unwrap_or_default();
        if manifest.digest() == root && tag.is_some() {
            last = Some(manifest);
            // Nothing speaks about it that would have to come before the tag.
            if is_end && tags.is_empty() {
                break;
            }
        }
        if tags.is_empty() {
            to.put_manifest(manifest, None).await?;
        }
        for tag in tags {
            to.put_manifest(manifest, Some(tag)).await?;
        }
    }
    if let Some(manifest) = last {
        to.put_manifest(manifest, tag).await?;
    }
    Ok(())
}

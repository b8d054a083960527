//! Finds all that belongs to an artifact.

use std::collections::{HashMap, HashSet, VecDeque};

use futures_util::{StreamExt as _, TryStreamExt as _, future, stream};

use super::{CopyOptions, memory::Source};
use crate::{
    Descriptor, Digest, Document, Error, RawManifest, Repository, Result, Target, media_type,
    referrer,
};

/// How large a graph may be. Its blobs may have any size: they are never held.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub manifests: usize,
    /// Bytes of all manifests together.
    pub manifest_bytes: u64,
    pub blobs: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { manifests: 10_000, manifest_bytes: 64 << 20, blobs: 100_000 }
    }
}

/// An artifact with all that belongs to it.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Each behind its children and behind what it speaks about.
    pub(super) manifests: Vec<RawManifest>,
    /// Tags beside the one that is asked for.
    pub(super) tags: HashMap<Digest, Vec<String>>,
    /// Content of all manifests, each once.
    pub(super) blobs: Vec<Descriptor>,
    pub(super) foreign: Vec<Descriptor>,
}

impl Graph {
    /// Asks `from` for everything that `root` leads to.
    pub(super) async fn explore(
        from: &Repository,
        root: RawManifest,
        source: &Source,
        options: &CopyOptions,
    ) -> Result<Self> {
        let mut explorer = Explorer {
            from,
            source,
            parallel: options.parallel.max(1),
            budget: options.budget,
            seen: HashSet::from([root.digest().clone()]),
            manifests: 1,
            manifest_bytes: 0,
            graph: Self::default(),
        };
        let mut starts = VecDeque::from([root]);
        while let Some(start) = starts.pop_front() {
            let first_new = explorer.graph.manifests.len();
            explorer.descend(start).await?;
            starts.extend(explorer.speakers(first_new).await?);
        }
        Ok(explorer.graph)
    }
}

struct Explorer<'a> {
    from: &'a Repository,
    source: &'a Source,
    parallel: usize,
    budget: Budget,
    /// Manifests and blobs that have been found.
    seen: HashSet<Digest>,
    manifests: usize,
    manifest_bytes: u64,
    graph: Graph,
}

impl Explorer<'_> {
    /// Adds a manifest and all below it, children first.
    async fn descend(&mut self, start: RawManifest) -> Result<()> {
        let top = start.digest().clone();
        let mut family = HashMap::new();
        let mut level = vec![start];
        while !level.is_empty() {
            let mut wanted = Vec::new();
            for manifest in level {
                let children = self.take(&manifest)?;
                let names: Vec<Digest> =
                    children.iter().map(|child| child.digest.clone()).collect();
                for child in children {
                    wanted.extend(self.is_new(&child.digest)?.then_some(child));
                }
                family.insert(manifest.digest().clone(), (manifest, names));
            }
            level = self.fetch(wanted).await?;
        }
        self.graph.manifests.extend(children_first(&top, family));
        Ok(())
    }

    /// Manifests that speak about those from `first` on and are not in the graph yet.
    async fn speakers(&mut self, first: usize) -> Result<Vec<RawManifest>> {
        let (from, source) = (self.from, self.source);
        let subjects = self.graph.manifests[first..].iter().map(|subject| subject.digest().clone());
        let answers: Vec<_> = stream::iter(subjects.collect::<Vec<_>>())
            .map(|subject| async move {
                let tags = source.tags(from).await;
                future::try_join(
                    referrers(from, &subject, source, tags),
                    cosign_tags(from, &subject, tags),
                )
                .await
            })
            .buffered(self.parallel)
            .try_collect()
            .await?;
        let (mut wanted, mut speakers) = (Vec::new(), Vec::new());
        for (referrers, tagged) in answers {
            for referrer in referrers {
                wanted.extend(self.is_new(&referrer.digest)?.then_some(referrer));
            }
            for (tag, manifest) in tagged {
                let digest = manifest.digest();
                self.graph.tags.entry(digest.clone()).or_default().push(tag);
                if self.is_new(digest)? {
                    speakers.push(manifest);
                }
            }
        }
        speakers.extend(self.fetch(wanted).await?);
        Ok(speakers)
    }

    /// Takes the blobs of a manifest into the graph and returns its child manifests.
    fn take(&mut self, manifest: &RawManifest) -> Result<Vec<Descriptor>> {
        self.manifest_bytes += manifest.bytes.len() as u64;
        if self.manifest_bytes > self.budget.manifest_bytes {
            let limit = format!("{} bytes of manifests", self.budget.manifest_bytes);
            return Err(Error::GraphTooLarge { limit });
        }
        let (children, blobs) = match manifest.parse()? {
            Document::Index(index) => {
                index.manifests.into_iter().partition(Descriptor::is_manifest)
            }
            Document::Manifest(mut manifest) => {
                manifest.layers.push(manifest.config);
                (Vec::new(), manifest.layers)
            }
        };
        for blob in blobs {
            if !self.seen.insert(blob.digest.clone()) {
                continue;
            }
            if media_type::is_foreign(&blob.media_type) {
                self.graph.foreign.push(blob);
                continue;
            }
            self.graph.blobs.push(blob);
            if self.graph.blobs.len() > self.budget.blobs {
                let limit = format!("{} blobs", self.budget.blobs);
                return Err(Error::GraphTooLarge { limit });
            }
        }
        Ok(children)
    }

    fn is_new(&mut self, manifest: &Digest) -> Result<bool> {
        let is_new = self.seen.insert(manifest.clone());
        self.manifests += usize::from(is_new);
        if self.manifests > self.budget.manifests {
            let limit = format!("{} manifests", self.budget.manifests);
            return Err(Error::GraphTooLarge { limit });
        }
        Ok(is_new)
    }

    async fn fetch(&self, wanted: Vec<Descriptor>) -> Result<Vec<RawManifest>> {
        let from = self.from;
        let manifests = stream::iter(wanted).map(|wanted| async move {
            let found = from.manifest(&Target::Digest(wanted.digest.clone())).await?;
            if found.bytes.len() as u64 != wanted.size {
                return Err(Error::SizeMismatch { digest: wanted.digest, expected: wanted.size });
            }
            // It is what its parent says it is, or it cannot be parsed.
            let descriptor = Descriptor::new(&wanted.media_type, wanted.digest, wanted.size);
            Ok(RawManifest { descriptor, bytes: found.bytes })
        });
        manifests.buffered(self.parallel).try_collect().await
    }
}

/// Manifests whose subject it is. `tags` are all tags of the repository, if they are known.
async fn referrers(
    from: &Repository,
    subject: &Digest,
    source: &Source,
    tags: Option<&HashSet<String>>,
) -> Result<Vec<Descriptor>> {
    let Repository::Remote(remote) = from else { return from.referrers(subject, None).await };
    if !source.keeps_referrers.expects_no() {
        let kept = remote.kept_by_registry(subject, None).await?;
        source.keeps_referrers.learn(kept.is_some());
        if let Some(referrers) = kept {
            return Ok(referrers);
        }
    }
    if tags.is_some_and(|tags| !tags.contains(&referrer::fallback_tag(subject))) {
        return Ok(Vec::new());
    }
    remote.kept_by_clients(subject).await
}

/// Manifests under cosign's tags for `subject`.
async fn cosign_tags(
    from: &Repository,
    subject: &Digest,
    tags: Option<&HashSet<String>>,
) -> Result<Vec<(String, RawManifest)>> {
    let names = referrer::COSIGN_SUFFIXES
        .map(|suffix| format!("{}.{suffix}", referrer::fallback_tag(subject)))
        .into_iter()
        .filter(|tag| tags.is_none_or(|tags| tags.contains(tag)));
    let probes = names.map(|tag| async move {
        match from.manifest(&Target::Tag(tag.clone())).await {
            Ok(manifest) => Ok(Some((tag, manifest))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    });
    Ok(future::try_join_all(probes).await?.into_iter().flatten().collect())
}

/// Orders manifests that `top` leads to. A digest cannot lead to itself, so there are no cycles.
fn children_first(
    top: &Digest,
    mut family: HashMap<Digest, (RawManifest, Vec<Digest>)>,
) -> Vec<RawManifest> {
    let mut ordered = Vec::with_capacity(family.len());
    let mut entered = HashSet::new();
    let mut open = vec![top.clone()];
    while let Some(digest) = open.last() {
        match family.get(digest) {
            Some((_, children)) if entered.insert(digest.clone()) => {
                let children = children.clone();
                open.extend(children);
            }
            _ => {
                let leaving = open.pop();
                ordered.extend(leaving.and_then(|digest| family.remove(&digest)).map(|(m, _)| m));
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_children_come_before_every_parent() {
        let manifest = |name: &str| RawManifest::new(media_type::OCI_INDEX, name.to_owned());
        let family: HashMap<_, _> = [
            ("top", vec!["leaf", "middle"]),
            ("middle", vec!["leaf", "other"]),
            ("other", vec!["leaf"]),
            ("leaf", vec![]),
        ]
        .into_iter()
        .map(|(name, children)| {
            let children = children.into_iter().map(|c| manifest(c).digest().clone()).collect();
            (manifest(name).digest().clone(), (manifest(name), children))
        })
        .collect();
        let ordered = children_first(manifest("top").digest(), family);
        assert_eq!(ordered, ["leaf", "other", "middle", "top"].map(manifest));
    }
}

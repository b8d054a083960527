//! `index.json`: which manifests a layout holds, and under which tags.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::Path,
    sync::OnceLock,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Descriptor, Digest, Error, Result, Target, media_type};

/// Some fifty thousand tags. Reading more would cost more memory than a command may have.
pub(super) const MAX_INDEX_BYTES: u64 = 16 << 20;

/// Where an entry says its tag.
const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// The entries of a layout. What other tools wrote into them beside a descriptor stays.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LayoutIndex {
    schema_version: u32,
    #[serde(default)]
    manifests: Vec<Entry>,
    #[serde(flatten)]
    rest: Map<String, Value>,
    /// Made by the first look, and again after a change.
    #[serde(skip)]
    register: OnceLock<Register>,
}

/// Where in the list a tag or digest comes first.
#[derive(Clone, Debug, Default)]
struct Register {
    tags: HashMap<String, usize>,
    digests: HashMap<Digest, usize>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    descriptor: Descriptor,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Entry {
    pub(super) const fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    pub(super) fn tag(&self) -> Option<&str> {
        self.descriptor.annotations.get(REF_NAME).map(String::as_str)
    }
}

impl Default for LayoutIndex {
    fn default() -> Self {
        let rest = Map::from_iter([("mediaType".to_owned(), media_type::OCI_INDEX.into())]);
        Self { schema_version: 2, manifests: Vec::new(), rest, register: OnceLock::new() }
    }
}

impl LayoutIndex {
    /// Reads the bytes of the file at `path`.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|error| Error::InvalidLayout {
            path: path.to_owned(),
            reason: format!("the index cannot be read: {error}"),
        })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.manifests
    }

    /// Tags in the order of their bytes.
    pub(super) fn tags(&self) -> BTreeSet<&str> {
        self.manifests.iter().filter_map(Entry::tag).collect()
    }

    /// The entry that a tag or digest names.
    pub(super) fn find(&self, target: &Target) -> Option<&Descriptor> {
        let register = self.register.get_or_init(|| self.registered());
        let number = match target {
            Target::Tag(tag) => register.tags.get(tag),
            Target::Digest(digest) => register.digests.get(digest),
        };
        self.manifests.get(*number?).map(Entry::descriptor)
    }

    fn registered(&self) -> Register {
        let mut register = Register::default();
        for (number, entry) in self.manifests.iter().enumerate() {
            if let Some(tag) = entry.tag() {
                register.tags.entry(tag.to_owned()).or_insert(number);
            }
            register.digests.entry(entry.descriptor.digest.clone()).or_insert(number);
        }
        register
    }

    /// Adds a manifest or moves a tag to it.
    ///
    /// `children` are reached through the manifest from now on, so entries that only kept them
    /// alive go.
    pub(super) fn put(&mut self, manifest: &Descriptor, tag: Option<&str>, children: &[Digest]) {
        self.register.take();
        let children: HashSet<&Digest> = children.iter().collect();
        self.manifests.retain(|entry| match entry.tag() {
            Some(known) => Some(known) != tag || entry.descriptor.digest == manifest.digest,
            None => !children.contains(&entry.descriptor.digest),
        });
        let mut same = self.manifests.iter_mut().filter(|e| e.descriptor.digest == manifest.digest);
        let Some(tag) = tag else {
            if same.next().is_none() {
                self.push(manifest.clone());
            }
            return;
        };
        let mut untagged = None;
        for entry in same {
            match entry.tag() {
                Some(known) if known == tag => return,
                Some(_) => {}
                None => untagged = Some(entry),
            }
        }
        let tagged = |annotations: &mut std::collections::BTreeMap<String, String>| {
            annotations.insert(REF_NAME.to_owned(), tag.to_owned());
        };
        if let Some(entry) = untagged {
            tagged(&mut entry.descriptor.annotations);
        } else {
            let mut descriptor = manifest.clone();
            tagged(&mut descriptor.annotations);
            self.push(descriptor);
        }
    }

    /// Forgets what a tag or digest names; says whether there was anything.
    pub(super) fn remove(&mut self, target: &Target) -> bool {
        self.register.take();
        let before = self.manifests.len();
        self.manifests.retain(|entry| match target {
            Target::Tag(tag) => entry.tag() != Some(tag),
            Target::Digest(digest) => entry.descriptor.digest != *digest,
        });
        self.manifests.len() < before
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.register.take();
        self.manifests.retain(keep);
    }

    fn push(&mut self, descriptor: Descriptor) {
        self.manifests.push(Entry { descriptor, rest: Map::new() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(content: &str) -> Descriptor {
        Descriptor::of(media_type::OCI_MANIFEST, content.as_bytes())
    }

    fn tag(name: &str) -> Target {
        Target::Tag(name.to_owned())
    }

    #[test]
    fn a_tag_moves() {
        let mut index = LayoutIndex::default();
        index.put(&descriptor("a"), Some("v1"), &[]);
        index.put(&descriptor("b"), Some("v1"), &[]);
        index.put(&descriptor("b"), Some("v1"), &[]);
        assert_eq!(index.entries().len(), 1);
        assert_eq!(index.find(&tag("v1")).expect("entry").digest, descriptor("b").digest);
    }

    #[test]
    fn a_manifest_without_a_tag_gets_one_later() {
        let mut index = LayoutIndex::default();
        index.put(&descriptor("a"), None, &[]);
        index.put(&descriptor("a"), Some("v1"), &[]);
        index.put(&descriptor("a"), Some("v2"), &[]);
        index.put(&descriptor("a"), None, &[]);
        assert_eq!(index.entries().len(), 2);
        assert_eq!(index.tags(), BTreeSet::from(["v1", "v2"]));
    }

    #[test]
    fn children_are_not_listed_beside_their_parent() {
        let mut index = LayoutIndex::default();
        index.put(&descriptor("child"), None, &[]);
        index.put(&descriptor("tagged"), Some("v1"), &[]);
        let children = [descriptor("child").digest, descriptor("tagged").digest];
        index.put(&descriptor("parent"), Some("all"), &children);
        assert_eq!(index.tags(), BTreeSet::from(["all", "v1"]));
        assert_eq!(index.entries().len(), 2);
    }

    #[test]
    fn what_others_wrote_stays() {
        let digest = Digest::of(b"a");
        let text = format!(
            r#"{{"schemaVersion":2,"artifactType":"x","manifests":[{{"mediaType":"m","digest":"{digest}","size":1,"urls":["u"]}}]}}"#
        );
        let mut index =
            LayoutIndex::parse(Path::new("index.json"), text.as_bytes()).expect("index");
        index.put(&Descriptor::new("m", digest, 1), Some("v1"), &[]);
        let written: Value = serde_json::from_slice(&index.to_bytes()).expect("JSON");
        assert_eq!(written["artifactType"], "x");
        assert_eq!(written["manifests"][0]["urls"][0], "u");
        assert_eq!(written["manifests"][0]["annotations"][REF_NAME], "v1");
    }
}

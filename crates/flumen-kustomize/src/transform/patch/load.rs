//! From the text of a patch to what it means.

use std::{fmt, path::Path, sync::Arc};

use flumen_fs::printable;
use flumen_patch::JsonPatch;
use flumen_yaml::{Budget, Node, Text, as_yaml_1_1};

use super::{Scene, json_syntax::is_json, trimmed};
use crate::{
    content::Content,
    error::{Error, Result},
    kustomization::fields::{Located, Patch},
    read,
    resource::Resource,
};

/// A patch as it was written, and where.
pub(super) struct Source {
    text: Text,
    file: Arc<Path>,
    first_line: u32,
    /// The path that the kustomization names; empty for an inline patch.
    path: Text,
}

/// The notation of kustomize's messages.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "[patch: {:?}]", self.text.as_str())
        } else {
            write!(f, "[path: {:?}]", printable(&self.path))
        }
    }
}

impl Source {
    /// The patch of an entry of `patches`.
    pub(super) fn of_entry(entry: &Patch, scene: &Scene<'_>) -> Result<Self> {
        let (inline, lines) = trimmed(&entry.patch);
        match (inline.is_empty(), entry.path.is_empty()) {
            (true, true) => Err(Error::new("must specify one of patch and path in this entry")),
            (false, false) => {
                Err(Error::new("patch and path can't be set at the same time in this entry"))
            }
            (false, true) => Ok(Self {
                text: inline,
                file: Arc::clone(scene.file),
                first_line: entry.patch_pos.line.max(1) + lines,
                path: Text::default(),
            }),
            (true, false) => Self::of_file(&entry.path, scene).map_err(|error| {
                let path = printable(&entry.path);
                error.within(format!("failed to get the patch file from path({path})"))
            }),
        }
    }

    fn of_file(path: &Text, scene: &Scene<'_>) -> Result<Self> {
        let file = scene.loader.read(path)?;
        let text =
            file.content.decode().map_err(|error| read::malformed_yaml(&error, &file.path))?;
        Ok(Self { text, file: file.path, first_line: 1, path: path.clone() })
    }

    fn resources(&self) -> Result<Vec<Resource>> {
        read::patches(&Content::from(&self.text), &self.file, self.first_line)
    }

    /// The first document as a JSON patch, if it is a sequence.
    fn json(&self) -> Result<Option<Json>> {
        if self.text.starts_with('[') && !is_json(&self.text) {
            return Err(Error::new("the patch begins as JSON does, but it is not valid JSON")
                .at(&self.file, flumen_yaml::Pos::new(self.first_line, 1)));
        }
        let node = flumen_yaml::read_lenient(&self.text, self.first_line, &Budget::default())
            .map_err(|error| read::malformed_yaml(&error, &self.file))?;
        match node {
            Some(node) if node.is_seq() => Json::new(node)
                .map(Some)
                .map_err(|error| error.at(&self.file, flumen_yaml::Pos::new(self.first_line, 1))),
            _ => Ok(None),
        }
    }
}

pub(super) enum Loaded {
    /// The text has no document in it.
    Nothing,
    Merge(Vec<Resource>),
    Json(Json),
}

/// A JSON patch and whether it can see the annotations of what it is applied to.
pub(super) struct Json {
    pub(super) patch: JsonPatch,
    pub(super) sees_annotations: bool,
    is_empty: bool,
}

impl Json {
    fn new(mut operations: Node) -> Result<Self> {
        let pointers = operations.as_seq().into_iter().flatten().flat_map(|operation| {
            ["path", "from"].into_iter().filter_map(|key| operation.get(key).and_then(Node::as_str))
        });
        // Whatever stands before the first slash is ignored.
        let sees_annotations = pointers.into_iter().any(|pointer| match pointer.split_once('/') {
            None => true,
            Some((_, rest)) => match rest.strip_prefix("metadata") {
                Some(rest) => rest.is_empty() || rest.starts_with("/annotations"),
                None => rest.is_empty(),
            },
        });
        let is_empty = operations.is_nil_or_empty();
        // kustomize reads JSON patches with its older library.
        as_yaml_1_1(&mut operations);
        let patch = JsonPatch::parse(&operations).map_err(|error| Error::new(error.to_string()))?;
        Ok(Self { patch, sees_annotations, is_empty })
    }
}

/// Finds out what kind of patch the text holds.
pub(super) fn detect(source: &Source) -> Result<Loaded> {
    let start = source.text.trim_start();
    let looks_like_json = start.starts_with('[') || start.starts_with("- ");
    if looks_like_json && let Ok(Some(patch)) = source.json() {
        return Ok(if patch.is_empty { Loaded::Nothing } else { Loaded::Json(patch) });
    }
    match source.resources() {
        Ok(patches) if patches.is_empty() => Ok(Loaded::Nothing),
        Ok(patches) => Ok(Loaded::Merge(patches)),
        Err(not_a_resource) => match source.json() {
            Ok(Some(patch)) => Ok(Loaded::Json(patch)),
            not_json => {
                let is_sequence =
                    not_json.is_err() && not_a_resource.message().starts_with("missing");
                let cause = match not_json {
                    Err(error) if is_sequence => error,
                    _ => not_a_resource,
                };
                Err(cause.reworded(format!("unable to parse SM or JSON patch from {source}")))
            }
        },
    }
}

/// The patches of an entry of `patchesStrategicMerge`.
pub(super) fn inline_or_file(entry: &Located, scene: &Scene<'_>) -> Result<Vec<Resource>> {
    // A path is never a mapping, and reading it as one would only cost time.
    if entry.text.contains([':', '{', '#']) || entry.text.trim().is_empty() {
        let inline = read::patches(&Content::from(&entry.text), scene.file, entry.pos.line.max(1));
        if inline.is_ok() || entry.text.contains('\n') {
            return inline;
        }
    }
    Source::of_file(&entry.text, scene)?.resources()
}

/// The patch of an entry of `patchesJson6902`.
pub(super) fn json6902(entry: &Patch, scene: &Scene<'_>) -> Result<Json> {
    let source = match (entry.patch.is_empty(), entry.path.is_empty()) {
        (true, true) => return Err(Error::new("empty file path and empty jsonOp")),
        (false, false) => {
            return Err(Error::new("must specify a file path or jsonOp, not both"));
        }
        (false, true) => Source {
            text: entry.patch.clone(),
            file: Arc::clone(scene.file),
            first_line: entry.patch_pos.line.max(1),
            path: Text::default(),
        },
        (true, false) => Source::of_file(&entry.path, scene)?,
    };
    if source.text.is_empty() {
        let path = printable(&entry.path);
        return Err(Error::new(format!("patch file '{path}' empty seems to be empty")));
    }
    match source.json()? {
        Some(patch) if !patch.is_empty => Ok(patch),
        Some(_) => Err(Error::new(format!(
            "patch appears to be empty; file={}, JsonOp={}",
            entry.path, source.text
        ))),
        None => Err(Error::new(format!("decoding {source}: a JSON patch is a list of operations"))),
    }
}

//! What a patch file may be, and the kustomization that it stands for.

use std::path::Path;

use flumen_yaml::{Budget, Entry, Map, Node, Pos, Text, Value};

use super::OBJECTS;
use crate::Error;

/// Fields of a kustomization that mean something in a patch file.
const HONOURED: [&str; 9] = [
    "commonAnnotations",
    "commonLabels",
    "images",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
];

/// Fields that say what the file is.
const IDENTITY: [&str; 3] = ["apiVersion", "kind", "metadata"];

const KUSTOMIZE_GROUP: &str = "kustomize.config.k8s.io/";

/// A patch file as the engine gets it.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) kustomization: Vec<u8>,
    /// Whether lines of the kustomization are those of the file.
    pub(super) keeps_places: bool,
    pub(super) warnings: Vec<String>,
}

impl Form {
    pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        let malformed = |error| Error::Malformed { file: path.to_owned(), error };
        let text = flumen_yaml::decode(bytes).map_err(malformed)?;
        let mut documents = flumen_yaml::read(&text, 1, &Budget::default()).map_err(malformed)?;
        documents.retain(|document| !document.is_null());
        let file = PatchFile { path };
        match documents.as_slice() {
            [] => Err(file.refuse("no patches found", Pos::new(1, 1))),
            [document] if is_kustomization(document) => file.kustomization(&text, document),
            documents if documents.iter().all(has_target) => file.json_patches(documents),
            documents => {
                match documents
                    .iter()
                    .find(|document| !document.is_map() || is_kustomization(document))
                {
                    Some(document) => Err(file.refuse("this is no patch", document.pos)),
                    None => file.merge_patches(),
                }
            }
        }
    }

    fn made_of(patches: Vec<Node>, path: &Path) -> Result<Self, Error> {
        let kustomization = mapping([
            ("resources", Node::seq(vec![Node::string(OBJECTS)])),
            ("patches", Node::seq(patches)),
        ]);
        let kustomization = json(&kustomization, path)?.into_bytes();
        Ok(Self { kustomization, keeps_places: false, warnings: Vec::new() })
    }
}

struct PatchFile<'p> {
    path: &'p Path,
}

impl PatchFile<'_> {
    fn refuse(&self, problem: &str, pos: Pos) -> Error {
        Error::Patch {
            problem: problem.to_owned(),
            file: self.path.to_owned(),
            pos,
            hint: Some(
                "a patch file is a kustomization with `patches`, strategic merge documents, or a JSON 6902 \
                 list with a `target`",
            ),
        }
    }

    /// A kustomization of which only some fields count.
    fn kustomization(&self, text: &Text, document: &Node) -> Result<Form, Error> {
        let entries = document.as_map().map(Map::entries).unwrap_or_default();
        let is_honoured = |entry: &Entry| HONOURED.contains(&entry.key.as_str());
        if let Some(empty) =
            entries.iter().find(|entry| entry.key == *"patches" && entry.value.is_nil_or_empty())
        {
            return Err(self.refuse("no patches found: the list is empty", empty.key_pos));
        }
        if !entries.iter().any(is_honoured) {
            return Err(self.refuse("no patches found", document.pos));
        }
        let warnings = entries
            .iter()
            .filter(|entry| !is_honoured(entry) && !IDENTITY.contains(&entry.key.as_str()))
            .map(|entry| {
                format!("{}: `{}` has no effect in a patch file", self.path.display(), entry.key)
            })
            .collect();

        if let Some(kept) = keep_lines(text, entries, is_honoured) {
            return Ok(Form { kustomization: kept.into_bytes(), keeps_places: true, warnings });
        }
        let mut map: Map = entries.iter().filter(|entry| is_honoured(entry)).cloned().collect();
        map.push(Entry::new("resources", Node::seq(vec![Node::string(OBJECTS)])));
        let kustomization = json(&Node::new(Pos::default(), Value::Map(map)), self.path)?;
        Ok(Form { kustomization: kustomization.into_bytes(), keeps_places: false, warnings })
    }

    /// Strategic merge documents: the engine reads the file itself, so its places are right.
    fn merge_patches(&self) -> Result<Form, Error> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Form::made_of(vec![mapping([("path", Node::string(name))])], self.path)
    }

    /// JSON 6902 patches: `{target, patch}`, a list of those, or a list of operations of which the
    /// first says the target.
    fn json_patches(&self, documents: &[Node]) -> Result<Form, Error> {
        let mut patches = JsonPatches { file: self, patches: Vec::new(), open: None };
        for document in documents {
            match document.as_seq() {
                Some(items) => items.iter().try_for_each(|item| patches.add(item))?,
                None => patches.add(document)?,
            }
            patches.close()?;
        }
        Form::made_of(patches.patches, self.path)
    }
}

/// Patches of a file, collected while it is walked.
struct JsonPatches<'a> {
    file: &'a PatchFile<'a>,
    patches: Vec<Node>,
    /// The target that was named last, and the operations for it so far.
    open: Option<(Node, Vec<Node>)>,
}

impl JsonPatches<'_> {
    fn add(&mut self, item: &Node) -> Result<(), Error> {
        if let Some(target) = item.get("target") {
            self.close()?;
            self.open = Some((target.clone(), Vec::new()));
        }
        let Some((_, operations)) = &mut self.open else {
            return Err(self.file.refuse("this operation has no `target`", item.pos));
        };
        if item.get("op").is_some() {
            let mut operation = item.clone();
            if let Some(map) = operation.as_map_mut() {
                map.remove("target");
            }
            operations.push(operation);
        } else if let Some(patch) = item.get("patch").or_else(|| item.get("path")) {
            if let Some(items) = patch.as_seq() {
                operations.extend(items.iter().cloned());
            } else {
                // A text or a file: what an entry of `patches` holds.
                self.patches.push(item.clone());
                self.open = None;
            }
        }
        Ok(())
    }

    /// Ends the list of operations for a target.
    fn close(&mut self) -> Result<(), Error> {
        let Some((target, operations)) = self.open.take() else { return Ok(()) };
        if operations.is_empty() {
            return Err(self.file.refuse("this `target` has no operations", target.pos));
        }
        let patch = Node::string(json(&Node::seq(operations), self.file.path)?);
        self.patches.push(mapping([("target", target), ("patch", patch)]));
        Ok(())
    }
}

fn is_kustomization(document: &Node) -> bool {
    let field = |key| document.get(key).and_then(Node::as_str);
    match (field("kind"), field("apiVersion")) {
        (_, Some(api_version)) if api_version.starts_with(KUSTOMIZE_GROUP) => true,
        (Some("Kustomization"), None) => true,
        (None, _) => HONOURED.iter().any(|key| document.get(key).is_some()),
        _ => false,
    }
}

fn has_target(document: &Node) -> bool {
    document.is_seq() || (document.get("target").is_some() && document.get("kind").is_none())
}

/// The text without the entries that do not count, line for line, and the objects added at the end.
/// None where entries do not have lines of their own, or where one may need another.
fn keep_lines(text: &Text, entries: &[Entry], keep: impl Fn(&Entry) -> bool) -> Option<String> {
    let is_block = entries.iter().all(|entry| entry.key_pos.column == 1);
    if !is_block || text.contains('&') || text.contains('\r') {
        return None;
    }
    let first = entries.first()?.key_pos.line;
    let mut kept = String::with_capacity(text.len() + 64);
    let mut keeps = true;
    let mut next = entries.iter().peekable();
    for (line, number) in text.lines().zip(1..) {
        if let Some(entry) = next.next_if(|entry| entry.key_pos.line == number) {
            keeps = keep(entry);
        }
        if number > first && (line.starts_with("---") || line.starts_with("...")) {
            return None;
        }
        if keeps {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept.push_str("resources:\n- ");
    kept.push_str(OBJECTS);
    kept.push('\n');
    Some(kept)
}

fn mapping<const N: usize>(fields: [(&'static str, Node); N]) -> Node {
    let entries = fields.into_iter().map(|(key, value)| Entry::new(key, value));
    Node::new(Pos::default(), Value::Map(entries.collect()))
}

fn json(node: &Node, path: &Path) -> Result<String, Error> {
    flumen_yaml::to_json(node).map_err(|error| Error::Patch {
        problem: error.to_string(),
        file: path.to_owned(),
        pos: error.pos,
        hint: None,
    })
}

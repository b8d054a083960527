//! From the content of a manifest file to resources.
//!
//! kustomize cuts a file at its `---` lines before any YAML is read, takes the first document of
//! each piece, and unwraps lists. The cut is textual, so it happens inside block scalars too; being
//! equal to the byte includes that.

use std::{path::Path, sync::Arc};

use flumen_object::Origin;
use flumen_patch::Hints;
use flumen_yaml::{Budget, Node, Pos, Text, Value};
use memchr::memmem;
use rustc_hash::FxHashSet;

use crate::{
    build_annotations::{self, INTERNAL},
    content::Content,
    error::{Error, Result},
    id::meta_text,
    resource::Resource,
};

/// How a document is read.
type ReadDocument = fn(&Text, u32, &Budget) -> Result<Option<Node>, flumen_yaml::Error>;

/// Reads all resources of a file or of an inline text that begins at `first_line` of the file.
pub(crate) fn resources(
    content: &Content,
    file: &Arc<Path>,
    first_line: u32,
) -> Result<Vec<Resource>> {
    let mut resources = resources_with(flumen_yaml::read_resource, content, file, first_line)?;
    if let Some(text) = content.as_str() {
        share_hints(&mut resources, Hints::of_target(text, first_line));
    }
    Ok(resources)
}

/// Fails unless the file holds manifests. That they cannot be printed, because a key stands twice, is a
/// mistake that kustomize makes out later.
pub fn check_manifests(bytes: &[u8], file: &Path) -> Result<()> {
    nodes(flumen_yaml::read_lenient, &Content::from(bytes), file, 1).map(|_| ())
}

/// Reads merge patches. They are never printed, so keys may repeat (the first one counts) and need
/// not be strings.
pub(crate) fn patches(
    content: &Content,
    file: &Arc<Path>,
    first_line: u32,
) -> Result<Vec<Resource>> {
    let mut patches = resources_with(flumen_yaml::read_lenient, content, file, first_line)?;
    for patch in &mut patches {
        keep_first_of_each_key(patch.node_mut());
    }
    if let Ok(text) = content.decode() {
        let hints = Hints::of_patch(&text, first_line, patches.iter().map(Resource::node));
        share_hints(&mut patches, hints);
    }
    Ok(patches)
}

fn share_hints(resources: &mut [Resource], hints: Hints) {
    if !hints.is_empty() {
        let hints = Arc::new(hints);
        for resource in resources {
            resource.hints = Some(Arc::clone(&hints));
        }
    }
}

fn keep_first_of_each_key(node: &mut Node) {
    match &mut node.value {
        Value::Scalar(_) => {}
        Value::Seq(items) => items.iter_mut().for_each(keep_first_of_each_key),
        Value::Map(map) => {
            let mut seen = FxHashSet::default();
            map.retain(|entry| seen.insert(entry.key.clone()));
            map.iter_mut().for_each(|entry| keep_first_of_each_key(&mut entry.value));
        }
    }
}

fn resources_with(
    read: ReadDocument,
    content: &Content,
    file: &Arc<Path>,
    first_line: u32,
) -> Result<Vec<Resource>> {
    let nodes = nodes(read, content, file, first_line)?;
    let origin = |node: &Node| Origin {
        file: Some(Arc::clone(file)),
        pos: node.pos,
        kustomizations: Vec::new(),
    };
    Ok(nodes
        .into_iter()
        .map(|node| {
            let origin = origin(&node);
            let mut resource = Resource::new(node, origin);
            // A manifest may bring the memory of an earlier build, and kustomize believes it.
            if resource.annotations().iter().any(|entry| entry.key.starts_with(INTERNAL)) {
                build_annotations::absorb(&mut resource);
            }
            resource
        })
        .collect())
}

fn nodes(read: ReadDocument, content: &Content, file: &Path, first_line: u32) -> Result<Vec<Node>> {
    let documents = documents(read, content, file, first_line)?;
    let mut nodes = Vec::with_capacity(documents.len());
    for node in documents {
        check_metadata(&node, file)?;
        nodes.push(node);
    }
    inline_lists(nodes, file)
}

/// The documents of a file, without those that hold nothing.
fn documents(
    read: ReadDocument,
    content: &Content,
    file: &Path,
    first_line: u32,
) -> Result<Vec<Node>> {
    let malformed = |error: flumen_yaml::Error| malformed_yaml(&error, file);
    let text = without_carriage_returns(content.decode().map_err(malformed)?);
    let pieces = split(&text, first_line).map_err(|(separator, line)| {
        Error::new(format!("invalid document separator: {separator}"))
            .at(file, Pos::new(line, 1))
            .hint("only white space or a comment may follow `---` on its line")
    })?;

    let budget = Budget::default();
    let only_one = pieces.len() == 1;
    let mut documents = Vec::with_capacity(pieces.len());
    for (piece, line) in pieces {
        let Some(node) = read(&piece, line, &budget).map_err(malformed)? else {
            continue;
        };
        if node.is_null() {
            continue;
        }
        if only_one && is_wrapper(&node) {
            let items = node.get("items").and_then(Node::as_seq).cloned();
            documents.extend(items.unwrap_or_default());
        } else {
            documents.push(node);
        }
    }
    documents.retain(|node| !node.is_nil_or_empty());
    Ok(documents)
}

pub(crate) fn malformed_yaml(error: &flumen_yaml::Error, file: &Path) -> Error {
    Error::new(format!("MalformedYAMLError: {error}")).at(file, error.pos())
}

/// A list that is alone in its file stands for its items.
fn is_wrapper(node: &Node) -> bool {
    let kind = node.get("kind").and_then(Node::as_str);
    matches!(kind, Some("List" | "ResourceList"))
        && (node.get("items").is_some() || node.get("functionConfig").is_some())
}

fn without_carriage_returns(text: Text) -> Text {
    if memmem::find(text.as_bytes(), b"\r\n").is_some() {
        Text::from(text.replace("\r\n", "\n"))
    } else {
        text
    }
}

/// Cuts at every line that begins with `---`, except the first line of the text. Each piece comes
/// with the number of its first line.
fn split(text: &Text, first_line: u32) -> Result<Vec<(Text, u32)>, (String, u32)> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut line = first_line;
    let mut start = 0;
    let mut search = 0;
    let finder = memmem::Finder::new(b"\n---");
    while let Some(found) = finder.find(&bytes[search..]).map(|at| at + search) {
        let after = found + 4;
        let Some(end) = memchr::memchr(b'\n', &bytes[after..]).map(|at| at + after) else { break };
        let rest = text[after..end].trim();
        let separator_line = line + count_lines(&bytes[start..=found]);
        if !rest.is_empty() && !rest.starts_with('#') {
            return Err((text[found + 1..end].trim().to_owned(), separator_line));
        }
        // The newline before the separator belongs to the piece: it ends its last line.
        pieces.push((text.sub(start..found + 1), line));
        line = separator_line + 1;
        start = end + 1;
        search = start;
    }
    pieces.push((text.sub(start..bytes.len()), line));
    Ok(pieces)
}

fn count_lines(bytes: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX)
}

/// Refuses what is not a Kubernetes object: it needs a kind, and a name unless it is a list.
pub(crate) fn check_metadata(node: &Node, file: &Path) -> Result<()> {
    let text = |key| node.get(key).filter(|value| !value.is_null()).and_then(Node::as_str);
    let kind = text("kind").unwrap_or_default();
    let api_version = text("apiVersion").unwrap_or_default();
    let name = meta_text(node, "name");
    if kind.is_empty() {
        let has_metadata = ["name", "namespace", "labels", "annotations"]
            .iter()
            .any(|key| node.at(&["metadata", key]).is_some_and(|value| !value.is_nil_or_empty()));
        let message = if api_version.is_empty() && !has_metadata {
            "missing Resource metadata".to_owned()
        } else {
            format!("missing kind in object {}", describe(node, api_version, kind, &name))
        };
        return Err(Error::new(message)
            .at(file, node.pos)
            .hint("every manifest needs `apiVersion`, `kind` and `metadata.name`"));
    }
    if name.is_empty() && !kind.ends_with("List") {
        return Err(Error::new(format!(
            "missing metadata.name in object {}",
            describe(node, api_version, kind, &name)
        ))
        .at(file, node.pos)
        .hint("every manifest needs a name; `generateName` is not enough for a build"));
    }
    Ok(())
}

/// The notation in which kustomize shows an object that lacks something. Values of annotations are
/// left out: they may be long, and they help nobody.
fn describe(node: &Node, api_version: &str, kind: &str, name: &str) -> String {
    format!(
        "{{{{{api_version} {kind}}} {{{{{name} {}}} map[] map[]}}}}",
        meta_text(node, "namespace")
    )
}

/// Replaces every `FooList` that has items by its items, which go to the end.
fn inline_lists(nodes: Vec<Node>, file: &Path) -> Result<Vec<Node>> {
    let is_list = |node: &Node| {
        node.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("List"))
    };
    if !nodes.iter().any(is_list) {
        return Ok(nodes);
    }
    let mut result = Vec::with_capacity(nodes.len());
    let mut queue = std::collections::VecDeque::from(nodes);
    while let Some(mut node) = queue.pop_front() {
        if !is_list(&node) {
            result.push(node);
            continue;
        }
        match node.as_map_mut().and_then(|map| map.remove("items")) {
            None => result.push(node),
            Some(items) if items.is_null() => {}
            Some(Node { value: Value::Seq(items), .. }) => {
                for item in items {
                    if item.is_nil_or_empty() {
                        continue;
                    }
                    check_metadata(&item, file)?;
                    queue.push_back(item);
                }
            }
            Some(items) => {
                let kind = node.get("kind").and_then(Node::as_str).unwrap_or_default();
                let found = if items.is_map() { "map[string]interface {}" } else { "string" };
                return Err(Error::new(format!(
                    "expected array in {kind}/items, but found {found}"
                ))
                .at(file, items.pos));
            }
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use super::{Content, resources};

    /// Names and first lines of the resources in a text, or the message.
    fn read(text: &str) -> String {
        let file: Arc<Path> = Path::new("r.yaml").into();
        match resources(&Content::from(text.as_bytes()), &file, 1) {
            Ok(resources) => {
                let shown =
                    |r: &crate::resource::Resource| format!("{}@{}", r.name(), r.origin.pos.line);
                resources.iter().map(shown).collect::<Vec<_>>().join(" ")
            }
            Err(error) => format!("error: {error}"),
        }
    }

    fn object(name: &str) -> String {
        format!("kind: A\nmetadata: {{name: {name}}}\n")
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(read(text), expected);
    }

    #[test]
    fn documents_keep_the_lines_of_the_file() {
        let (a, b) = (object("a"), object("b"));
        check(&format!("{a}---\n{b}"), "a@1 b@4");
        check(&format!("---\n{a}--- # next\n\n{b}"), "a@2 b@6");
        check(&format!("{a}---\n---\n{b}---\n"), "a@1 b@5");
        check(&format!("{a}---\r\n{b}"), "a@1 b@4");
        check("", "");
        check("# nothing\n", "");
    }

    #[test]
    fn a_separator_stands_alone() {
        let (a, b) = (object("a"), object("b"));
        check(&format!("{a}--- x\n{b}"), "error: invalid document separator: --- x");
    }

    #[test]
    fn lists_are_unwrapped_and_come_last() {
        let list = "kind: AList\nitems:\n- {kind: A, metadata: {name: x}}\n";
        check(list, "x@3");
        check(&format!("{list}---\n{}", object("b")), "b@5 x@3");
        check("kind: List\nitems: []\n", "");
        check(
            "kind: AList\nitems: text\n",
            "error: expected array in AList/items, but found string",
        );
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        check("- a\n", "error: missing Resource metadata");
        check("kind: A\n", "error: missing metadata.name in object {{ A} {{ } map[] map[]}}");
        check("metadata: {name: a}\n", "error: missing kind in object {{ } {{a } map[] map[]}}");
        check(
            "kind: [\n",
            "error: MalformedYAMLError: yaml: line 1: did not find expected node content",
        );
    }
}

//! JSON pointers (RFC 6901) into trees.

use std::cmp::Ordering;

use flumen_yaml::{Node, Text};

/// A path of keys and list positions. It is never empty: the whole object is not a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    segments: Vec<Text>,
}

/// A key as a pointer spells it.
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

impl Pointer {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let segments = text.strip_prefix('/')?.split('/').map(unescape).collect::<Option<_>>()?;
        Some(Self { segments })
    }

    pub(crate) fn segments(&self) -> &[Text] {
        &self.segments
    }

    pub(crate) fn get<'a>(&self, node: &'a Node) -> Option<&'a Node> {
        self.segments.iter().try_fold(node, |node, segment| child(node, segment))
    }

    /// Removes what is there, if anything.
    pub(crate) fn remove(&self, node: &mut Node) {
        let Some((last, parents)) = self.segments.split_last() else { return };
        let Some(parent) = parents.iter().try_fold(node, |node, key| child_mut(node, key)) else {
            return;
        };
        if let Some(map) = parent.as_map_mut() {
            map.remove(last);
        } else if let Some(items) = parent.as_seq_mut()
            && let Some(index) = position(last, items.len())
        {
            items.remove(index);
        }
    }

    /// Puts a value there. Mappings on the way are made; elements of lists are not.
    pub(crate) fn set(&self, node: &mut Node, value: Node) {
        let Some((last, parents)) = self.segments.split_last() else { return };
        let mut parent = node;
        for key in parents {
            if let Some(map) = parent.as_map_mut()
                && !map.contains(key)
            {
                map.set(key.clone(), Node::map());
            }
            let Some(next) = child_mut(parent, key) else { return };
            parent = next;
        }
        if let Some(map) = parent.as_map_mut() {
            map.set(last.clone(), value);
        } else if let Some(old) = child_mut(parent, last) {
            *old = value;
        }
    }

    /// Puts later elements of a list before earlier ones, so that removing in this order moves nothing
    /// that is still to be removed.
    pub(crate) fn cmp_for_removal(&self, other: &Self) -> Ordering {
        let key = |segment: &Text| (segment.parse::<usize>().ok(), segment.clone());
        let keys = |pointer: &Self| pointer.segments.iter().map(key).collect::<Vec<_>>();
        keys(other).cmp(&keys(self))
    }
}

/// The child of a mapping or a list that a segment names.
pub(crate) fn child<'a>(node: &'a Node, segment: &str) -> Option<&'a Node> {
    match node.as_seq() {
        Some(items) => items.get(position(segment, items.len())?),
        None => node.get(segment),
    }
}

fn child_mut<'a>(node: &'a mut Node, segment: &str) -> Option<&'a mut Node> {
    if node.is_seq() {
        let items = node.as_seq_mut()?;
        let index = position(segment, items.len())?;
        return items.get_mut(index);
    }
    node.get_mut(segment)
}

fn position(segment: &str, length: usize) -> Option<usize> {
    let is_plain = segment == "0" || !segment.starts_with(['0', '+']);
    segment.parse().ok().filter(|index| is_plain && *index < length)
}

fn unescape(segment: &str) -> Option<Text> {
    let is_broken = segment.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1']));
    if is_broken {
        return None;
    }
    Some(Text::from(segment.replace("~1", "/").replace("~0", "~")))
}

#[cfg(test)]
mod tests {
    use flumen_yaml::same_value;

    use super::*;
    use crate::tests::node;

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).expect("a pointer")
    }

    #[test]
    fn pointers_are_read_with_their_escapes() {
        let segments =
            |text| pointer(text).segments.iter().map(Text::to_string).collect::<Vec<_>>();
        assert_eq!(segments("/spec/replicas"), ["spec", "replicas"]);
        assert_eq!(segments("/a~1b/~01/"), ["a/b", "~1", ""]);
        assert_eq!(format!("/{}", escape("a/b~c")), "/a~1b~0c");
        for wrong in ["", "spec", "/a~", "/a~2"] {
            assert_eq!(Pointer::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn values_are_found_in_mappings_and_lists() {
        let tree = node("{a: [{b: 1}, {b: 2}], '0': x}");
        let found = |text| pointer(text).get(&tree).and_then(Node::as_str);
        assert_eq!(found("/a/1/b"), Some("2"));
        assert_eq!(found("/0"), Some("x"));
        for nothing in ["/a/2/b", "/a/01/b", "/a/+1/b", "/a/-1/b", "/a/b", "/0/x", "/c"] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn values_are_removed_and_put() {
        let check = |change: &dyn Fn(&mut Node), expected: &str| {
            let mut tree = node("{a: [x, y], b: {c: 1}}");
            change(&mut tree);
            assert!(same_value(&tree, &node(expected)), "{tree:?}");
        };
        check(&|tree| pointer("/a/0").remove(tree), "{a: [y], b: {c: 1}}");
        check(&|tree| pointer("/b/c").remove(tree), "{a: [x, y], b: {}}");
        check(&|tree| pointer("/b/d/e").remove(tree), "{a: [x, y], b: {c: 1}}");
        let put = |text: &str, tree: &mut Node| pointer(text).set(tree, Node::string("z"));
        check(&|tree| put("/b/c", tree), "{a: [x, y], b: {c: z}}");
        check(&|tree| put("/b/d/e", tree), "{a: [x, y], b: {c: 1, d: {e: z}}}");
        check(&|tree| put("/a/1", tree), "{a: [x, z], b: {c: 1}}");
        check(&|tree| put("/a/2", tree), "{a: [x, y], b: {c: 1}}");
        check(&|tree| put("/a/0/x", tree), "{a: [x, y], b: {c: 1}}");
    }

    #[test]
    fn later_elements_are_removed_first() {
        let mut pointers = ["/a/2", "/a/10", "/b", "/a/9/x"].map(pointer);
        pointers.sort_by(Pointer::cmp_for_removal);
        assert_eq!(pointers, ["/b", "/a/10", "/a/9/x", "/a/2"].map(pointer));
    }
}

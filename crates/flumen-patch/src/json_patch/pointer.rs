//! Paths of JSON patches, as lenient as the Go library reads them.

use std::{borrow::Cow, fmt};

use flumen_yaml::{Node, Value};

/// The names on the way of a path and the last name; none if there is no slash in it.
///
/// What stands before the first slash is ignored, so `spec/replicas` is `/replicas`.
pub(super) fn split(path: &str) -> Option<(impl Iterator<Item = Cow<'_, str>>, Cow<'_, str>)> {
    let (_, names) = path.split_once('/')?;
    let (way, last) = names.rsplit_once('/').map_or((None, names), |(way, last)| (Some(way), last));
    let way = way.into_iter().flat_map(|way| way.split('/')).map(unescape);
    Some((way, unescape(last)))
}

/// How many names a path has.
pub(super) fn depth(path: &str) -> usize {
    path.matches('/').count()
}

/// One pass from left to right: `~01` is `~1`, and a `~` before anything else stays.
fn unescape(name: &str) -> Cow<'_, str> {
    if !name.contains('~') {
        return Cow::Borrowed(name);
    }
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('~') {
        plain.push_str(&rest[..at]);
        let (char, skip) = match rest.as_bytes().get(at + 1) {
            Some(b'0') => ('~', 2),
            Some(b'1') => ('/', 2),
            _ => ('~', 1),
        };
        plain.push(char);
        rest = &rest[at + skip..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// What a path leads to: a mapping or a list, and the last name of the path.
pub(super) struct Place<'n, 'p> {
    pub(super) container: &'n mut Node,
    pub(super) key: Cow<'p, str>,
}

/// Follows a path to its last but one name; none if that is no mapping and no list.
pub(super) fn find<'n, 'p>(root: &'n mut Node, path: &'p str) -> Option<Place<'n, 'p>> {
    let (way, key) = split(path)?;
    let mut node = root;
    for name in way {
        node = match &mut node.value {
            Value::Map(map) => map.get_mut(&name)?,
            Value::Seq(items) => {
                let index = index(&name, items.len(), items.len()).ok()?;
                items.get_mut(index)?
            }
            Value::Scalar(_) => return None,
        };
    }
    (!node.is_scalar()).then_some(Place { container: node, key })
}

/// A name that is no index of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoIndex<'p> {
    Syntax(&'p str),
    Range(&'p str),
    Bounds(i64),
}

impl fmt::Display for NoIndex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(text) => write!(f, "strconv.Atoi: parsing {text:?}: invalid syntax"),
            Self::Range(text) => write!(f, "strconv.Atoi: parsing {text:?}: value out of range"),
            Self::Bounds(index) => {
                write!(f, "Unable to access invalid index: {index}: invalid index referenced")
            }
        }
    }
}

/// The index that a name stands for: below `end`, or negative to count back from `length`.
pub(super) fn index(name: &str, length: usize, end: usize) -> Result<usize, NoIndex<'_>> {
    let digits = name.strip_prefix(['+', '-']).unwrap_or(name);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NoIndex::Syntax(name));
    }
    let index: i64 = name.parse().map_err(|_| NoIndex::Range(name))?;
    let found = match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => {
            usize::try_from(index.unsigned_abs()).ok().and_then(|back| length.checked_sub(back))
        }
    };
    found.filter(|found| *found < end).ok_or(NoIndex::Bounds(index))
}

#[cfg(test)]
mod tests {
    use super::{NoIndex, index, split};

    #[track_caller]
    fn check(path: &str, expected: Option<(&[&str], &str)>) {
        let found = split(path).map(|(way, key)| (way.collect::<Vec<_>>(), key));
        let expected = expected.map(|(way, key)| (way.to_vec(), key));
        let found =
            found.as_ref().map(|(way, key)| (way.iter().map(|name| &**name).collect(), &**key));
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn paths_split_at_slashes() {
        check("/a/b/c", Some((&["a", "b"], "c")));
        check("/a", Some((&[], "a")));
        check("/", Some((&[], "")));
        check("//", Some((&[""], "")));
        check("", None);
        check("a", None);
        check("a/b", Some((&[], "b")));
    }

    #[test]
    fn escapes_are_undone_once() {
        check("/a~1b/c~0d", Some((&["a/b"], "c~d")));
        check("/~01", Some((&[], "~1")));
        check("/~2~", Some((&[], "~2~")));
        check("/~é", Some((&[], "~é")));
    }

    #[test]
    fn indices_are_go_integers() {
        assert_eq!(index("1", 2, 2), Ok(1));
        assert_eq!(index("+01", 2, 2), Ok(1));
        assert_eq!(index("-1", 2, 2), Ok(1));
        assert_eq!(index("-2", 2, 2), Ok(0));
        assert_eq!(index("-3", 2, 2), Err(NoIndex::Bounds(-3)));
        assert_eq!(index("2", 2, 2), Err(NoIndex::Bounds(2)));
        assert_eq!(index("-", 2, 2), Err(NoIndex::Syntax("-")));
        assert_eq!(index("1_0", 2, 2), Err(NoIndex::Syntax("1_0")));
        assert_eq!(
            index("99999999999999999999", 2, 2),
            Err(NoIndex::Range("99999999999999999999"))
        );
    }
}

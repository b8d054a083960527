//! Fields that objects of all kinds of Flux have.

use flumen_yaml::Node;

use crate::kinds::{Kind, Readiness};

const READY: &str = "Ready";
/// Annotation that suspends objects of kinds without a field for it, if it is `disabled`.
const RECONCILE: &str = "source.extensions.fluxcd.io/reconcile";

/// Returns the text of a field, or the empty string.
pub fn text_at<'n>(object: &'n Node, path: &[&str]) -> &'n str {
    object.at(path).and_then(Node::as_str).unwrap_or_default()
}

pub fn name_of(object: &Node) -> &str {
    text_at(object, &["metadata", "name"])
}

pub fn namespace_of(object: &Node) -> &str {
    text_at(object, &["metadata", "namespace"])
}

pub fn is_suspended(object: &Node) -> bool {
    text_at(object, &["spec", "suspend"]) == "true"
        || text_at(object, &["metadata", "annotations", RECONCILE]) == "disabled"
}

/// Returns the last request to reconcile that the controller has handled.
pub fn handled_request(object: &Node) -> &str {
    text_at(object, &["status", "lastHandledReconcileAt"])
}

/// Whether no controller writes a status of the object.
pub fn is_static(kind: &Kind, object: &Node) -> bool {
    match kind.readiness {
        Readiness::Conditions => false,
        Readiness::Always(_) => true,
        Readiness::AlwaysIfOci(_) => text_at(object, &["spec", "type"]) == "oci",
    }
}

/// The conditions of an object.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'n>(&'n [Node]);

impl<'n> Conditions<'n> {
    pub fn of(object: &'n Node) -> Self {
        let list = object.at(&["status", "conditions"]).and_then(Node::as_seq);
        Self(list.map_or(&[], Vec::as_slice))
    }

    pub fn ready(self) -> Option<&'n Node> {
        self.0.iter().find(|condition| text_at(condition, &["type"]) == READY)
    }

    /// Returns the last condition of this type, in any case.
    pub(crate) fn find(self, kind: &str) -> Option<&'n Node> {
        let is_it = |condition: &&Node| text_at(condition, &["type"]).eq_ignore_ascii_case(kind);
        self.0.iter().rfind(is_it)
    }
}

/// Returns the texts of the columns READY and MESSAGE.
pub(crate) fn readiness<'n>(kind: &Kind, object: &'n Node) -> (&'n str, &'n str) {
    if is_static(kind, object)
        && let Readiness::Always(sentence) | Readiness::AlwaysIfOci(sentence) = kind.readiness
    {
        return ("True", sentence);
    }
    Conditions::of(object).ready().map_or(("False", "waiting to be reconciled"), |ready| {
        (text_at(ready, &["status"]), text_at(ready, &["message"]))
    })
}

/// Returns the chart version of the latest release, or else that of the last attempt.
pub(crate) fn release_revision(object: &Node) -> &str {
    let history = object.at(&["status", "history"]).and_then(Node::as_seq);
    match history.and_then(|history| history.first()) {
        Some(latest) => text_at(latest, &["chartVersion"]),
        None => text_at(object, &["status", "lastAttemptedRevision"]),
    }
}

/// Lengths of hexadecimal notation that are hashes, from SHA-1 to SHA-512.
const HASH: std::ops::RangeInclusive<usize> = 40..=128;
/// Enough to compare by eye.
const SHORT_HASH: usize = 8;

/// Shortens the hashes in a text.
pub(crate) fn shorten_hashes(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let is_hash = HASH.contains(&word.len())
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        short.push_str(if is_hash { &word[..SHORT_HASH] } else { word });
        let between = after.find(is_word).unwrap_or(after.len());
        short.push_str(&after[..between]);
        rest = &after[between..];
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_cut_and_nothing_else_is() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let long = "a".repeat(129);
        for (text, expected) in [
            (format!("main@sha1:{commit}"), "main@sha1:01234567".to_owned()),
            (format!("'{commit}', {commit}x"), format!("'01234567', {commit}x")),
            (commit.to_uppercase(), commit.to_uppercase()),
            (long.clone(), long),
            ("é 6.5.0".to_owned(), "é 6.5.0".to_owned()),
            (String::new(), String::new()),
        ] {
            assert_eq!(shorten_hashes(&text), expected);
        }
    }
}

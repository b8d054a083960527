//! The answer of a server that refused.

use std::{fmt, time::Duration};

use flumen_yaml::Node;

/// What an API server says when it does not do what was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    pub code: u16,
    /// Such as `NotFound` or `Invalid`; empty when the answer gave none.
    pub reason: String,
    pub message: String,
    /// What the answer is about: a kind, or its name in paths, such as `namespaces`.
    pub kind: String,
    /// Reason, message and field of each cause, such as `FieldManagerConflict`.
    pub causes: Vec<Cause>,
    /// How long the server wants us to wait.
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    pub reason: String,
    pub message: String,
    pub field: String,
}

/// Characters of an answer that is no status, such as the page of a proxy.
const MAX_FOREIGN_MESSAGE: usize = 200;

/// Bytes of the smallest limit that is about all data of an object: that of its annotations.
const SMALLEST_OBJECT_LIMIT: u64 = 256 << 10;

impl Status {
    /// Reads an object of kind `Status`; `code` counts where it names none.
    pub(crate) fn of(node: &Node, code: u16) -> Self {
        let text =
            |path: &[&str]| node.at(path).and_then(Node::as_str).unwrap_or_default().to_owned();
        let number = |path: &[&str]| node.at(path).and_then(Node::as_str)?.parse::<u64>().ok();
        let causes = node.at(&["details", "causes"]).and_then(Node::as_seq);
        Self {
            code: number(&["code"]).and_then(|code| code.try_into().ok()).unwrap_or(code),
            reason: text(&["reason"]),
            message: text(&["message"]),
            kind: text(&["details", "kind"]),
            causes: causes.into_iter().flatten().map(Cause::of).collect(),
            retry_after: number(&["details", "retryAfterSeconds"])
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
        }
    }

    /// A status made of an answer that has none.
    pub(crate) fn foreign(code: u16, text: &str) -> Self {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let message = line.chars().filter(|c| !c.is_control()).take(MAX_FOREIGN_MESSAGE).collect();
        Self { code, message, ..Self::default() }
    }

    /// Servers have no reason of their own for this: they answer `Invalid`, and the words are those of
    /// each kind. A plain validation error has none of them.
    pub(crate) fn names_immutable_field(&self) -> bool {
        const WORDS: [&str; 5] = [
            "updates to",
            "may not change",
            "may not be changed",
            "may not be updated",
            "cannot change",
        ];
        let is_said = |text: &str| {
            let text = text.to_ascii_lowercase();
            text.contains("is immutable") || text.contains("immutable field")
        };
        let forbids_change = |cause: &Cause| {
            is_said(&cause.message) || WORDS.iter().any(|words| cause.message.contains(words))
        };
        // With a further cause a new object would be refused as well, and the old one must not go for that.
        // A webhook refuses with other codes and without causes.
        match &self.causes[..] {
            [] => is_said(&self.message),
            causes => self.code == 422 && causes.iter().all(forbids_change),
        }
    }

    /// Whether an object as a whole is too large; names and labels can be too long as well.
    pub(crate) fn names_size(&self) -> bool {
        let limit_of_object = |message: &str| {
            let (_, limit) = message.split_once("Too long: may not be more than ")?;
            let digits = limit.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok().filter(|limit: &u64| *limit >= SMALLEST_OBJECT_LIMIT)
        };
        self.message.contains("request is too large") || limit_of_object(&self.message).is_some()
    }
}

impl Cause {
    fn of(node: &Node) -> Self {
        let text = |key| node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
        Self { reason: text("reason"), message: text("message"), field: text("field") }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            let reason = if self.reason.is_empty() { "no reason given" } else { &self.reason };
            write!(f, "the server answered {}: {reason}", self.code)
        } else {
            f.write_str(&self.message)
        }
    }
}

#[cfg(test)]
mod tests {
    use arcstr::ArcStr;

    use super::*;
    use crate::{Error, tree};

    fn refused(json: &str) -> Error {
        let node = tree::read(&ArcStr::from(json)).expect("JSON");
        Error::Refused(Box::new(Status::of(&node, 500)))
    }

    #[test]
    fn a_status_is_read_whole() {
        let error = refused(
            r#"{"kind":"Status","message":"Apply failed","reason":"Conflict","code":409,
                "details":{"kind":"deployments","retryAfterSeconds":3,
                "causes":[{"reason":"FieldManagerConflict","message":"conflict with \"a\"","field":".spec"}]}}"#,
        );
        assert_eq!(error.to_string(), "Apply failed");
        assert!(error.is_conflict() && error.is_field_manager_conflict());
        let status = error.status().expect("a status");
        assert_eq!(status.retry_after, Some(Duration::from_secs(3)));
        assert_eq!(status.kind, "deployments");
        assert_eq!(status.causes[0].field, ".spec");
    }

    #[test]
    fn what_is_missing_is_made_up_for() {
        let error = refused(r#"{"reason":"InternalError"}"#);
        assert_eq!(error.to_string(), "the server answered 500: InternalError");
    }

    #[test]
    fn foreign_answers_are_cut() {
        let page = format!("\n  <html>\u{7}{}", "x".repeat(500));
        let status = Status::foreign(502, &page);
        assert!(status.message.starts_with("<html>x"));
        assert_eq!(status.message.len(), MAX_FOREIGN_MESSAGE);
    }

    #[test]
    fn sizes_of_objects_are_not_lengths_of_names() {
        let too_large = |message: &str| {
            let message = message.to_owned();
            Error::Refused(Box::new(Status { code: 422, message, ..Status::default() }))
                .is_too_large()
        };
        assert!(too_large("[]: Too long: may not be more than 1048576 bytes"));
        assert!(too_large("metadata.annotations: Too long: may not be more than 262144 bytes"));
        assert!(!too_large("metadata.name: Too long: may not be more than 63 bytes"));
    }

    #[test]
    fn only_changes_of_what_cannot_change_are_immutable() {
        let invalid = |reason: &str, message: &str| {
            let cause = format!(r#"{{"reason":"{reason}","message":"{message}","field":"spec"}}"#);
            refused(&format!(
                r#"{{"code":422,"reason":"Invalid","message":"it is invalid","details":{{"causes":[{cause}]}}}}"#
            ))
            .is_immutable()
        };
        assert!(invalid("FieldValueInvalid", "Invalid value: 1: field is immutable"));
        assert!(invalid(
            "FieldValueForbidden",
            "Forbidden: updates to statefulset spec for fields"
        ));
        assert!(invalid(
            "FieldValueForbidden",
            "Forbidden: pod updates may not change fields other than"
        ));
        assert!(invalid("FieldValueInvalid", "Invalid value: 10.0.0.1: may not change once set"));
        assert!(!invalid("FieldValueInvalid", "Invalid value: 0: must be greater than 0"));
        assert!(!invalid("FieldValueForbidden", "Forbidden: may not be set"));
        // Both at once, in the message too.
        let wrong_anyway = r#"{"code":422,"reason":"Invalid","message":"data: field is immutable, data[?]: no key",
            "details":{"causes":[{"message":"Forbidden: field is immutable","field":"data"},
            {"message":"Invalid value: no key","field":"data[?]"}]}}"#;
        assert!(!refused(wrong_anyway).is_immutable());
        assert!(
            !refused(r#"{"code":409,"message":"please apply your changes to the latest version"}"#)
                .is_immutable()
        );
    }
}

//! What a body is expected to be, and whether it is.

use flumen_schema::api::{ApiKind, Message, TypeId};

use super::{
    DecodeError, Decoded, Head,
    registered::{Registered, registered},
};

/// The kind that a request is about.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub object: TypeId,
}

impl From<&ApiKind> for Target {
    fn from(kind: &ApiKind) -> Self {
        let ApiKind { group, version, kind: name, object, .. } = *kind;
        Self { group, version, kind: name, object }
    }
}

impl From<&Message> for Target {
    fn from(message: &Message) -> Self {
        let Message { group, version, kind, object } = *message;
        Self { group, version, kind, object }
    }
}

impl Target {
    /// The type to read a body into: that of the kind it says it is.
    pub(super) fn check(&self, head: &Head) -> Result<TypeId, DecodeError> {
        if head.kind == self.kind && head.group == self.group && head.version == self.version {
            return Ok(self.object);
        }
        match registered(head, self.group) {
            Some(Registered::Served(of)) => Ok(of),
            // Near enough to look for what is wrong with it before its version is.
            Some(Registered::Past) if head.kind == self.kind => Ok(self.object),
            Some(Registered::Past | Registered::List) => Err(self.unconvertible(head)),
            None => {
                let (kind, version) = (&head.kind, head.api_version());
                let scheme = "pkg/runtime/scheme.go:111";
                let problem = format!(
                    "no kind {kind:?} is registered for version {version:?} in scheme {scheme:?}"
                );
                Err(self.unfit(head, problem))
            }
        }
    }

    fn unconvertible(&self, head: &Head) -> DecodeError {
        let package = self.group.split('.').next().filter(|group| !group.is_empty());
        let problem = format!(
            "converting ({}.{}) to ({}.{}): unknown conversion",
            head.version,
            head.kind,
            package.unwrap_or("core"),
            self.kind
        );
        self.unfit(head, problem)
    }

    pub(super) fn unfit(&self, head: &Head, problem: String) -> DecodeError {
        let expected = self.kind.to_owned();
        DecodeError::Unfit {
            kind: head.kind.clone(),
            version: head.version.clone(),
            expected,
            problem,
        }
    }

    /// The object with its kind, if it is the expected one.
    pub(super) fn finish(&self, head: &Head, mut decoded: Decoded) -> Result<Decoded, DecodeError> {
        if head.kind != self.kind || !is_same_group(&head.group, self.group) {
            return Err(self.unconvertible(head));
        }
        if head.version != self.version || head.group != self.group {
            let expected = api_version(self.group, self.version);
            return Err(DecodeError::Version { found: head.api_version(), expected });
        }
        decoded.object["apiVersion"] = api_version(self.group, self.version).into();
        decoded.object["kind"] = self.kind.into();
        Ok(decoded)
    }
}

/// Events are one kind in two groups, and one group has been divided.
fn is_same_group(found: &str, asked: &str) -> bool {
    let group = |group| if group == "events.k8s.io" { "" } else { group };
    group(found) == group(asked) || found == "extensions"
}

/// A group and a version as one text.
pub(super) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

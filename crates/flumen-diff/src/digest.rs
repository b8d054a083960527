//! Digests that tell whether an object is still what it was when it was applied.
//!
//! They are remembered beside the inventory, which more people may read than Secrets. So each is
//! salted with the UID of the live object: who cannot read a Secret does not know its UID, and
//! cannot try out values. It also tells an object from its successor of the same name.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use flumen_yaml::{Canonical, Entry, Map, Node, Scalar, Value, canonical};
use sha2::{Digest as _, Sha256};

use crate::{
    fields::{SERVER_METADATA, sorted},
    managed_fields::managers,
    ownership::Takeover,
};

/// 96 bits: no two states of one object will ever meet, and 10,000 objects still fit in a few shards.
const BYTES: usize = 12;

/// The digest of an object's value. The order of keys and the spelling of numbers do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectDigest([u8; BYTES]);

impl ObjectDigest {
    /// Of an object as it is sent; `uid` is that of the live object that it is sent for.
    pub fn of_desired(desired: &Node, uid: &str) -> Self {
        let mut bytes = salted(uid);
        push_node(desired, &mut bytes);
        Self::of_bytes(&bytes)
    }

    /// Of an object as the cluster has it, without its status and what only the server writes.
    pub fn of_live(live: &Node) -> Self {
        let uid = live.at(&["metadata", "uid"]).and_then(Node::as_str).unwrap_or_default();
        let mut bytes = salted(uid);
        push_map(live.as_map().unwrap_or(&Map::new()), &mut bytes, |entry, bytes| {
            match (entry.key.as_str(), entry.value.as_map()) {
                ("status", _) => {}
                ("metadata", Some(metadata)) => {
                    push_text(&entry.key, bytes);
                    push_map(metadata, bytes, |entry, bytes| {
                        if !SERVER_METADATA.contains(&entry.key.as_str()) {
                            push_entry(entry, bytes);
                        }
                    });
                }
                _ => push_entry(entry, bytes),
            }
        });
        Self::of_bytes(&bytes)
    }

    /// Of what a live object says of its owner's hold on it: the fields that `manager` has applied and that nobody took
    /// away since, the managers that `takeover` would take fields from, and the marks of `group`.
    ///
    /// A server takes a field from its manager when somebody else gives it another value. So this changes when a
    /// declared field does, as long as the field is the manager's ([`is_held`](crate::is_held)), and stays when a
    /// controller completes an object with fields of its own.
    pub fn of_ownership(live: &Node, manager: &str, takeover: &Takeover, group: &str) -> Self {
        let uid = live.at(&["metadata", "uid"]).and_then(Node::as_str).unwrap_or_default();
        let mut bytes = salted(uid);
        for one in managers(live) {
            if one.is_applied_by(manager) {
                push_node(one.0, &mut bytes);
            } else if takeover.takes_from(one) {
                push_text(one.name(), &mut bytes);
            }
        }
        for place in ["labels", "annotations"] {
            let marks = live.at(&["metadata", place]).and_then(Node::as_map);
            push_map(marks.unwrap_or(&Map::new()), &mut bytes, |entry, bytes| {
                let rest = entry.key.strip_prefix(group);
                if rest.is_some_and(|rest| rest.starts_with('/')) {
                    push_entry(entry, bytes);
                }
            });
        }
        Self::of_bytes(&bytes)
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let mut digest = [0; BYTES];
        digest.copy_from_slice(&Sha256::digest(bytes)[..BYTES]);
        Self(digest)
    }
}

/// 16 characters that may stand anywhere.
impl fmt::Display for ObjectDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl FromStr for ObjectDigest {
    type Err = ObjectDigestError;

    fn from_str(text: &str) -> Result<Self, ObjectDigestError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| ObjectDigestError)?;
        bytes.try_into().map(Self).map_err(|_| ObjectDigestError)
    }
}

/// A text that is no digest of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the digest of an object")]
pub struct ObjectDigestError;

/// Bytes that are equal for trees of the same value and only for them.
pub(crate) fn canonical_bytes(node: &Node) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_node(node, &mut bytes);
    bytes
}

fn salted(uid: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 << 10);
    push_text(uid, &mut bytes);
    bytes
}

/// Every value begins with a letter of its own and texts with their length, so that no two trees give
/// the same bytes.
fn push_node(node: &Node, bytes: &mut Vec<u8>) {
    match &node.value {
        Value::Map(map) => push_map(map, bytes, push_entry),
        Value::Seq(items) => {
            bytes.push(b'[');
            for item in items {
                push_node(item, bytes);
            }
            bytes.push(b']');
        }
        Value::Scalar(scalar) => push_scalar(scalar, bytes),
    }
}

fn push_map(map: &Map, bytes: &mut Vec<u8>, push: impl Fn(&Entry, &mut Vec<u8>)) {
    bytes.push(b'{');
    for entry in sorted(map) {
        push(entry, bytes);
    }
    bytes.push(b'}');
}

fn push_entry(entry: &Entry, bytes: &mut Vec<u8>) {
    push_text(&entry.key, bytes);
    push_node(&entry.value, bytes);
}

fn push_scalar(scalar: &Scalar, bytes: &mut Vec<u8>) {
    let mut push_number = |digits: &str| {
        bytes.push(b'#');
        push_text(digits, bytes);
    };
    match canonical(scalar) {
        Ok(Canonical::Int(int)) => push_number(&int.to_string()),
        // A float without fraction is the integer that it equals, minus zero included.
        Ok(Canonical::Float(float)) => push_number(&(float + 0.0).to_string()),
        Ok(Canonical::Str(text)) => push_text(&text, bytes),
        Ok(Canonical::Null) => bytes.push(b'0'),
        Ok(Canonical::Bool(bool)) => bytes.push(if bool { b'T' } else { b'F' }),
        Err(_) => {
            bytes.push(b'?');
            push_text(&scalar.text, bytes);
        }
    }
}

fn push_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.push(b'"');
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::node;

    #[track_caller]
    fn check_desired(a: &str, b: &str, same: bool) {
        let digest = |yaml| ObjectDigest::of_desired(&node(yaml), "u");
        assert_eq!(digest(a) == digest(b), same, "{a} {b}");
    }

    #[test]
    fn the_value_counts_and_not_its_spelling() {
        check_desired("{a: 1, b: {c: x, d: y}}", "{b: {d: 'y', c: \"x\"}, a: 1}", true);
        check_desired("{a: 1}", "{a: 1.0}", true);
        check_desired("{a: 0}", "{a: -0.0}", true);
        check_desired("{a: 1}", "{a: '1'}", false);
        check_desired("{a: ab, b: c}", "{a: a, b: bc}", false);
        check_desired("{a: [[], x]}", "{a: [[x]]}", false);
        check_desired("{a: {}}", "{a: []}", false);
        check_desired("{a: null}", "{}", false);
        check_desired("{a: true}", "{a: 'true'}", false);
    }

    #[test]
    fn what_the_server_writes_into_a_live_object_does_not_count() {
        let digest = |yaml| ObjectDigest::of_live(&node(yaml));
        let first = digest(
            "{kind: A, metadata: {name: a, uid: u, resourceVersion: '1', generation: 1, \
             creationTimestamp: x, selfLink: x, deletionTimestamp: x, \
             deletionGracePeriodSeconds: 0, managedFields: [{}]}, status: {x: 1}, spec: {x: 1}}",
        );
        assert_eq!(
            first,
            digest("{spec: {x: 1}, metadata: {uid: u, name: a, resourceVersion: '2'}, kind: A}")
        );
        assert_ne!(first, digest("{kind: A, metadata: {name: a, uid: u}, spec: {x: 2}}"));
        assert_ne!(
            first,
            digest("{kind: A, metadata: {name: a, uid: u, labels: {a: b}}, spec: {x: 1}}")
        );
        // Only at the top: what a user calls `status` or `uid` elsewhere is the user's.
        assert_ne!(
            first,
            digest("{kind: A, metadata: {name: a, uid: u}, spec: {x: 1, status: {}, uid: u}}")
        );
    }

    #[test]
    fn another_object_of_the_same_value_has_another_digest() {
        let object = node("{kind: Secret, data: {a: MTIzNA==}}");
        assert_ne!(ObjectDigest::of_desired(&object, "a"), ObjectDigest::of_desired(&object, "b"));
        let live = |uid: &str| node(&format!("{{metadata: {{uid: {uid}}}, data: {{a: b}}}}"));
        assert_ne!(ObjectDigest::of_live(&live("a")), ObjectDigest::of_live(&live("b")));
    }

    #[test]
    fn the_hold_of_an_owner_ends_when_somebody_takes_a_field_or_kubectl_comes_by() {
        let digest = |yaml: &str| {
            let takeover = Takeover::default();
            ObjectDigest::of_ownership(&node(yaml), "flux", &takeover, "toolkit.example.com")
        };
        let ours = "{manager: flux, operation: Apply, fieldsV1: {'f:data': {'f:a': {}}}}";
        let before = digest(&format!("{{metadata: {{uid: u, managedFields: [{ours}]}}}}"));
        let others = "{manager: controller, operation: Update, fieldsV1: {'f:spec': {}}}";
        let completed = format!(
            "{{spec: {{x: 1}}, metadata: {{uid: u, labels: {{a: b}}, managedFields: [{others}, {ours}]}}}}"
        );
        assert_eq!(before, digest(&completed));
        let taken = "{manager: flux, operation: Apply, fieldsV1: {}}";
        let kubectl = "{manager: kubectl-edit, operation: Update, fieldsV1: {}}";
        for changed in [
            format!("{{metadata: {{uid: u, managedFields: [{taken}]}}}}"),
            format!("{{metadata: {{uid: u, managedFields: [{ours}, {kubectl}]}}}}"),
            format!("{{metadata: {{uid: v, managedFields: [{ours}]}}}}"),
            format!(
                "{{metadata: {{uid: u, labels: {{toolkit.example.com/name: x}}, managedFields: [{ours}]}}}}"
            ),
        ] {
            assert_ne!(before, digest(&changed), "{changed}");
        }
    }

    #[test]
    fn digests_are_short_texts() {
        let digest = ObjectDigest::of_desired(&node("{a: 1}"), "u");
        let text = digest.to_string();
        assert_eq!(text.len(), 16);
        assert_eq!(text.parse(), Ok(digest));
        for wrong in ["", "x", &text[1..], "****************"] {
            assert_eq!(wrong.parse::<ObjectDigest>(), Err(ObjectDigestError), "{wrong}");
        }
    }
}

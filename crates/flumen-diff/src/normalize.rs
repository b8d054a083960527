//! Objects as they are sent to the server.
//!
//! The reference reads an object of a built-in kind into its Go type and prints it again before it
//! applies it. Field ownership and the comparison with the live object follow from what is sent, so
//! this does the same, from a table of the types:
//!
//! ```text
//! manifest ─▶ as printed (built-in kinds) ─▶ protocols, secret data ─▶ no time, no status ─▶ what is sent
//! ```

mod ca_bundle;
mod convert;

use std::collections::HashSet;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flumen_yaml::{Entry, Map, Node, Tag, Text, Value, int_value};

/// Makes of a manifest the object that is sent.
///
/// An object that does not fit its type is left to the server to judge; it only loses the fields that
/// belong to the server.
pub fn normalize(object: &mut Node) {
    let version = object.get("apiVersion").and_then(Node::text).cloned().unwrap_or_default();
    let kind = object.get("kind").and_then(Node::text).cloned().unwrap_or_default();
    // The Go type prints `rules: null` for a role that leaves its rules to others.
    if version == "rbac.authorization.k8s.io/v1" && (kind == "Role" || kind == "ClusterRole") {
        return;
    }
    round_large_integers(object);
    if let Some(mut printed) = convert::as_printed(object) {
        complete(&mut printed, &version, &kind);
        *object = printed;
    }
    let Some(map) = object.as_map_mut() else { return };
    if !map.contains("metadata") {
        map.push(Entry::new("metadata", Node::map()));
    }
    if let Some(metadata) = map.get_mut("metadata").and_then(Node::as_map_mut) {
        metadata.set("creationTimestamp", Node::null());
    }
    let is_definition = version.starts_with("apiextensions.k8s.io/")
        && kind.eq_ignore_ascii_case("CustomResourceDefinition");
    if is_definition {
        ca_bundle::remove_invalid(object);
    } else {
        map.remove("status");
    }
}

/// Servers read what does not fit 64 bits with a sign as a float, so that is what they keep.
fn round_large_integers(node: &mut Node) {
    match &mut node.value {
        Value::Map(map) => map.iter_mut().for_each(|entry| round_large_integers(&mut entry.value)),
        Value::Seq(items) => items.iter_mut().for_each(round_large_integers),
        // The shortest spelling of such a number is hexadecimal.
        Value::Scalar(scalar) if scalar.tag == Tag::Int && scalar.text.len() >= 18 => {
            let value = int_value(&scalar.text).filter(|value| *value > i64::MAX.into());
            if let Some(value) = value {
                #[expect(clippy::cast_precision_loss, reason = "that is the point")]
                let rounded = value as f64;
                *node = Node::scalar(format!("{rounded:e}"), Tag::Float);
            }
        }
        Value::Scalar(_) => {}
    }
}

/// Adds what the merge of lists and maps on the server would miss.
fn complete(object: &mut Node, version: &str, kind: &str) {
    let pod: &[&str] = match (version, kind) {
        ("v1", "Pod") => &["spec"],
        ("apps/v1", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch/v1", "Job") => &["spec", "template", "spec"],
        ("batch/v1", "CronJob") => &["spec", "jobTemplate", "spec", "template", "spec"],
        ("v1", "Service") => return add_protocols(object.get_mut("spec")),
        ("v1", "Secret") => return encode_string_data(object),
        _ => return,
    };
    let containers = object.at_mut(pod).and_then(|pod| pod.get_mut("containers"));
    for container in containers.and_then(Node::as_seq_mut).into_iter().flatten() {
        add_protocols(Some(container));
    }
}

/// The protocol is a key of the list of ports, so a port without one would not be found again.
fn add_protocols(owner: Option<&mut Node>) {
    let ports = owner.and_then(|owner| owner.get_mut("ports")).and_then(Node::as_seq_mut);
    for port in ports.into_iter().flatten().filter_map(Node::as_map_mut) {
        if !port.contains("protocol") {
            port.push(Entry::new(Text::literal("protocol"), Node::string(Text::literal("TCP"))));
        }
    }
}

/// The server would keep `stringData` as a field of its own in the record of who owns what.
fn encode_string_data(secret: &mut Node) {
    let Some(secret) = secret.as_map_mut() else { return };
    let Some(plain) = secret.remove("stringData") else { return };
    let plain = plain.as_map().map(Map::entries).unwrap_or_default();
    if !secret.contains("data") {
        secret.push(Entry::new("data", Node::map()));
    }
    let Some(data) = secret.get_mut("data").and_then(Node::as_map_mut) else { return };
    let replaced: HashSet<&str> = plain.iter().map(|entry| entry.key.as_str()).collect();
    data.retain(|entry| !replaced.contains(entry.key.as_str()));
    data.entries_mut().extend(plain.iter().map(|entry| {
        let text = entry.value.as_str().unwrap_or_default();
        Entry::new(entry.key.clone(), Node::string(BASE64_STANDARD.encode(text)))
    }));
}

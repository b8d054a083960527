//! The old discovery documents in protobuf.

use serde_json::Value;

use crate::http::{ProtobufWriter as Writer, envelope};

/// A document, if it is one of the four that there are.
pub(super) fn encode(document: &Value) -> Option<Vec<u8>> {
    let kind = document["kind"].as_str()?;
    let mut out = Writer::default();
    match kind {
        "APIVersions" => {
            texts(&mut out, 1, &document["versions"]);
            for address in items(&document["serverAddressByClientCIDRs"]) {
                let mut entry = Writer::default();
                text(&mut entry, 1, &address["clientCIDR"]);
                text(&mut entry, 2, &address["serverAddress"]);
                out.bytes(2, &entry.done());
            }
        }
        "APIGroupList" => items(&document["groups"]).for_each(|of| out.bytes(1, &group(of))),
        "APIGroup" => return Some(envelope("v1", kind, &group(document))),
        "APIResourceList" => {
            text(&mut out, 1, &document["groupVersion"]);
            items(&document["resources"]).for_each(|of| out.bytes(2, &resource(of)));
        }
        _ => return None,
    }
    Some(envelope("v1", kind, &out.done()))
}

fn group(of: &Value) -> Vec<u8> {
    let version = |of: &Value| {
        let mut out = Writer::default();
        text(&mut out, 1, &of["groupVersion"]);
        text(&mut out, 2, &of["version"]);
        out.done()
    };
    let mut out = Writer::default();
    text(&mut out, 1, &of["name"]);
    items(&of["versions"]).for_each(|of| out.bytes(2, &version(of)));
    out.bytes(3, &version(&of["preferredVersion"]));
    out.done()
}

fn resource(of: &Value) -> Vec<u8> {
    let mut out = Writer::default();
    text(&mut out, 1, &of["name"]);
    out.number(2, i64::from(of["namespaced"].as_bool().unwrap_or_default()));
    text(&mut out, 3, &of["kind"]);
    let mut verbs = Writer::default();
    texts(&mut verbs, 1, &of["verbs"]);
    out.bytes(4, &verbs.done());
    texts(&mut out, 5, &of["shortNames"]);
    text(&mut out, 6, &of["singularName"]);
    texts(&mut out, 7, &of["categories"]);
    text(&mut out, 8, &of["group"]);
    text(&mut out, 9, &of["version"]);
    text(&mut out, 10, &of["storageVersionHash"]);
    out.done()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(out: &mut Writer, number: u32, value: &Value) {
    out.text(number, value.as_str().unwrap_or_default());
}

fn texts(out: &mut Writer, number: u32, list: &Value) {
    items(list).for_each(|item| text(out, number, item));
}

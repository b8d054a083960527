//! What is done with objects between the build and the apply.

use flumen_api::CommonMetadata;
use flumen_object::{ObjectId, ObjectSet, set_annotation, set_label};
use flumen_yaml::Node;
use thiserror::Error;

use super::{DISABLED, text_at};

/// Labels that tell whose an object is; only objects that bear them are pruned.
const OWNER_LABELS: [&str; 2] =
    ["kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"];

/// The annotation of Secrets that are to be applied as they are.
const DECRYPT: &str = "kustomize.toolkit.fluxcd.io/decrypt";

/// Gives an object the labels and annotations that all are to have, over its own.
///
/// The labels of the owner are not among them: an object that names another owner would never be
/// pruned.
pub fn set_common_metadata(object: &mut Node, metadata: &CommonMetadata) {
    for (key, value) in &metadata.labels {
        if !OWNER_LABELS.contains(&key.as_str()) {
            set_label(object, key.as_str(), value);
        }
    }
    for (key, value) in &metadata.annotations {
        set_annotation(object, key.as_str(), value);
    }
}

/// A Secret whose values are still encrypted.
#[derive(Clone, Debug, Error)]
#[error(
    "{0} is SOPS encrypted, configuring decryption is required for this secret to be reconciled"
)]
pub struct EncryptedSecret(pub ObjectId);

/// Refuses Secrets that are still encrypted, wherever they keep their values.
///
/// What says so is a field that no Secret has, so this must be asked before objects are brought into the
/// form in which they are sent.
pub fn check_encryption(objects: &ObjectSet) -> Result<(), EncryptedSecret> {
    match objects.iter().find(|object| is_encrypted(&object.node)) {
        Some(object) => Err(EncryptedSecret(object.id())),
        None => Ok(()),
    }
}

fn is_encrypted(object: &Node) -> bool {
    let is_secret = text_at(object, &["apiVersion"]) == Some("v1")
        && text_at(object, &["kind"]) == Some("Secret");
    let wish = text_at(object, &["metadata", "annotations", DECRYPT]);
    is_secret
        && object.get("sops").is_some()
        && !wish.is_some_and(|wish| wish.eq_ignore_ascii_case(DISABLED))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use flumen_yaml::to_json;

    use super::*;
    use crate::objects_of;

    fn objects(text: &str) -> ObjectSet {
        objects_of(text.as_bytes(), Path::new("objects.yaml")).expect("YAML")
    }

    #[test]
    fn common_metadata_wins_but_over_the_owner() {
        let objects = objects(
            "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  labels: {team: x, \
             kustomize.toolkit.fluxcd.io/name: mine}\n",
        );
        let mut object = objects.into_iter().next().expect("an object").node;
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let metadata = CommonMetadata {
            labels: [
                pair("team", "y"),
                pair(OWNER_LABELS[0], "theirs"),
                pair(OWNER_LABELS[1], "elsewhere"),
            ]
            .into(),
            annotations: [pair("note", "n")].into(),
        };
        set_common_metadata(&mut object, &metadata);
        let shown = object.get("metadata").map(|node| to_json(node).expect("JSON"));
        let labels = r#"{"kustomize.toolkit.fluxcd.io/name":"mine","team":"y"}"#;
        let expected = format!(r#"{{"annotations":{{"note":"n"}},"labels":{labels},"name":"a"}}"#);
        assert_eq!(shown, Some(expected));
    }

    #[track_caller]
    fn check(object: &str, expected: Option<&str>) {
        let found = check_encryption(&objects(object)).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected, "{object}");
    }

    #[test]
    fn encrypted_secrets_are_refused_wherever_the_ciphertext_is() {
        let refused = Some(
            "Secret/web/s is SOPS encrypted, configuring decryption is required for this secret to be \
             reconciled",
        );
        let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: web}\n";
        check(&format!("{head}data: {{a: 'ENC[]'}}\nsops: {{mac: x}}\n"), refused);
        check(&format!("{head}stringData: {{a: 'ENC[]'}}\nsops: {{mac: x}}\n"), refused);
        check(&format!("{head}data: {{a: Yg==}}\n"), None);
        check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\nsops: {mac: x}\n", None);
        check(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations: \
             {kustomize.toolkit.fluxcd.io/decrypt: Disabled}\nsops: {mac: x}\n",
            None,
        );
    }
}

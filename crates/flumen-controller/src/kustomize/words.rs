//! Flux's words for what goes wrong between it and a cluster, made of our own errors.

use flumen_object::ObjectId;
use flumen_yaml::{Budget, Scalar, Tag, Text, Value};

/// What Go calls the type that it reads a kubeconfig's head into.
const HEAD: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
                    Kind string \"json:\\\"kind,omitempty\\\"\" }";

/// Why objects could not be applied at all; `first` is one of them.
pub(super) fn of_apply(error: &flumen_apply::Error, first: Option<&ObjectId>) -> String {
    use flumen_kube::Error;
    let flumen_apply::Error::Cluster(error) = error else { return error.to_string() };
    match (error, first) {
        (Error::NoNamespace { kind, name }, _) => format!(
            "{kind}/{name} namespace not specified: the server could not find the requested resource"
        ),
        (Error::Unreachable { address, reason }, Some(first)) => {
            let asked = format!("{}/api?timeout=30s", address.trim_end_matches('/'));
            let reason = flumen_source::not_reached(&asked, reason);
            format!("{first} dry-run failed: failed to get server groups: {reason}")
        }
        _ => error.to_string(),
    }
}

/// Why a text is no kubeconfig, if it is not even a mapping.
pub(super) fn no_kubeconfig(text: &str) -> Option<String> {
    let documents = flumen_yaml::read(&Text::from(text), 1, &Budget::default()).ok()?;
    let found = match &documents.first()?.value {
        Value::Map(_) | Value::Scalar(Scalar { tag: Tag::Null, .. }) => return None,
        Value::Seq(_) => "array",
        Value::Scalar(Scalar { tag: Tag::Bool, .. }) => "bool",
        Value::Scalar(Scalar { tag: Tag::Int | Tag::Float, .. }) => "number",
        Value::Scalar(_) => "string",
    };
    Some(format!(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go value of type {HEAD}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> ObjectId {
        let object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: web}}";
        let nodes = flumen_yaml::read(&Text::from(object), 1, &Budget::default()).expect("YAML");
        ObjectId::of(&nodes[0])
    }

    #[test]
    fn a_cluster_that_refuses_connections_fails_the_first_object() {
        let error = flumen_kube::Error::Unreachable {
            address: "https://127.0.0.1:1".to_owned(),
            reason: "Connection refused (os error 111)".to_owned(),
        };
        assert_eq!(
            of_apply(&error.into(), Some(&id())),
            "ConfigMap/web/one dry-run failed: failed to get server groups: Get \
             \"https://127.0.0.1:1/api?timeout=30s\": dial tcp 127.0.0.1:1: connect: connection refused"
        );
    }

    #[test]
    fn what_is_no_mapping_is_no_kubeconfig() {
        let begin = "couldn't get version/kind; json parse error: json: cannot unmarshal";
        for (text, found) in [("words", "string"), ("- a", "array"), ("7", "number")] {
            let why = no_kubeconfig(text).expect("it is none");
            assert_eq!(why, format!("{begin} {found} into Go value of type {HEAD}"));
        }
        assert_eq!(no_kubeconfig("kind: Config"), None);
        assert_eq!(no_kubeconfig("a: ["), None);
    }
}

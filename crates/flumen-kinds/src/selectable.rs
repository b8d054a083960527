//! Fields of built-in kinds that a field selector may name.

use std::borrow::Cow;

use serde_json::Value;

/// A field selector names a field that objects of the kind cannot be selected by.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownField {
    #[error("{0:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")]
    OfAnyKind(String),
    #[error("field label not supported: {0}")]
    OfKind(String),
    #[error("field label {0:?} not supported for Job")]
    OfJob(String),
    #[error("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {0}")]
    OfResourceSlice(String),
}

/// A field by which objects of a kind are selected.
#[derive(Clone, Copy, Debug)]
pub struct SelectableField {
    /// As selectors name it.
    pub label: &'static str,
    /// JSON pointers; the first that leads to something counts.
    places: &'static [&'static str],
    /// What it is if there is nothing.
    zero: &'static str,
}

impl SelectableField {
    /// The field of a kind.
    pub fn of(group: &str, kind: &str, label: &str) -> Result<&'static Self, UnknownField> {
        let own = KINDS.iter().find(|(g, k, _)| *g == group && *k == kind);
        let fields = own.map_or(OF_ANY_KIND, |(_, _, fields)| *fields);
        let found = fields.iter().find(|field| field.label == label);
        found.ok_or_else(|| {
            let label = label.to_owned();
            match (own, kind) {
                (None, _) => UnknownField::OfAnyKind(label),
                (_, "Job") => UnknownField::OfJob(label),
                (_, "ResourceSlice") => UnknownField::OfResourceSlice(label),
                _ => UnknownField::OfKind(label),
            }
        })
    }

    /// What it is in an object.
    pub fn value(self, object: &Value) -> Cow<'_, str> {
        let found = self.places.iter().find_map(|place| object.pointer(place));
        match found {
            Some(Value::String(text)) if !text.is_empty() => Cow::Borrowed(text),
            Some(Value::Bool(_) | Value::Number(_)) => {
                Cow::Owned(found.map(Value::to_string).unwrap_or_default())
            }
            _ => Cow::Borrowed(self.zero),
        }
    }
}

const fn text(label: &'static str, places: &'static [&'static str]) -> SelectableField {
    SelectableField { label, places, zero: "" }
}

const fn number(label: &'static str, places: &'static [&'static str]) -> SelectableField {
    SelectableField { label, places, zero: "0" }
}

const fn flag(label: &'static str, places: &'static [&'static str]) -> SelectableField {
    SelectableField { label, places, zero: "false" }
}

const NAME: SelectableField = text("metadata.name", &["/metadata/name"]);
const NAMESPACE: SelectableField = text("metadata.namespace", &["/metadata/namespace"]);
const OF_ANY_KIND: &[SelectableField] = &[NAME, NAMESPACE];

/// Kinds with fields of their own. Events are stored in either of two forms.
#[rustfmt::skip]
const KINDS: &[(&str, &str, &[SelectableField])] = &[
    ("", "Pod", &[
        NAME, NAMESPACE,
        text("spec.nodeName", &["/spec/nodeName"]),
        text("spec.host", &["/spec/nodeName"]),
        text("spec.restartPolicy", &["/spec/restartPolicy"]),
        text("spec.schedulerName", &["/spec/schedulerName"]),
        text("spec.serviceAccountName", &["/spec/serviceAccountName"]),
        flag("spec.hostNetwork", &["/spec/hostNetwork"]),
        text("status.phase", &["/status/phase"]),
        text("status.podIP", &["/status/podIPs/0/ip"]),
        // Accepted, but no pod has it.
        text("status.podIPs", &[]),
        text("status.nominatedNodeName", &["/status/nominatedNodeName"]),
    ]),
    ("", "Node", &[NAME, flag("spec.unschedulable", &["/spec/unschedulable"])]),
    ("", "ReplicationController", &[NAME, NAMESPACE, number("status.replicas", &["/status/replicas"])]),
    ("", "Namespace", &[NAME, text("status.phase", &["/status/phase"])]),
    ("", "Secret", &[NAME, NAMESPACE, text("type", &["/type"])]),
    ("", "Service", &[
        NAME, NAMESPACE,
        text("spec.clusterIP", &["/spec/clusterIP"]),
        text("spec.type", &["/spec/type"]),
    ]),
    ("", "Event", &[
        NAME, NAMESPACE,
        text("involvedObject.kind", &["/involvedObject/kind", "/regarding/kind"]),
        text("involvedObject.namespace", &["/involvedObject/namespace", "/regarding/namespace"]),
        text("involvedObject.name", &["/involvedObject/name", "/regarding/name"]),
        text("involvedObject.uid", &["/involvedObject/uid", "/regarding/uid"]),
        text("involvedObject.apiVersion", &["/involvedObject/apiVersion", "/regarding/apiVersion"]),
        text("involvedObject.resourceVersion", &["/involvedObject/resourceVersion", "/regarding/resourceVersion"]),
        text("involvedObject.fieldPath", &["/involvedObject/fieldPath", "/regarding/fieldPath"]),
        text("reason", &["/reason"]),
        text("reportingComponent", &["/reportingComponent", "/reportingController"]),
        text("source", &[
            "/source/component", "/deprecatedSource/component", "/reportingComponent", "/reportingController",
        ]),
        text("type", &["/type"]),
    ]),
    ("events.k8s.io", "Event", &[
        NAME, NAMESPACE,
        text("regarding.kind", &["/regarding/kind", "/involvedObject/kind"]),
        text("regarding.namespace", &["/regarding/namespace", "/involvedObject/namespace"]),
        text("regarding.name", &["/regarding/name", "/involvedObject/name"]),
        text("regarding.uid", &["/regarding/uid", "/involvedObject/uid"]),
        text("regarding.apiVersion", &["/regarding/apiVersion", "/involvedObject/apiVersion"]),
        text("regarding.resourceVersion", &["/regarding/resourceVersion", "/involvedObject/resourceVersion"]),
        text("regarding.fieldPath", &["/regarding/fieldPath", "/involvedObject/fieldPath"]),
        text("reason", &["/reason"]),
        text("reportingController", &["/reportingController", "/reportingComponent"]),
        text("type", &["/type"]),
    ]),
    ("batch", "Job", &[NAME, NAMESPACE, number("status.successful", &["/status/succeeded"])]),
    ("certificates.k8s.io", "CertificateSigningRequest", &[
        NAME, text("spec.signerName", &["/spec/signerName"]),
    ]),
    ("resource.k8s.io", "ResourceSlice", &[
        NAME, text("spec.nodeName", &["/spec/nodeName"]), text("spec.driver", &["/spec/driver"]),
    ]),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(group: &str, kind: &str, label: &str, object: &Value) -> Result<String, String> {
        let field = SelectableField::of(group, kind, label).map_err(|error| error.to_string())?;
        Ok(field.value(object).into_owned())
    }

    #[test]
    fn all_kinds_have_names() {
        let object = json!({"metadata": {"name": "a", "namespace": "b"}});
        assert_eq!(value("", "ConfigMap", "metadata.name", &object).as_deref(), Ok("a"));
        assert_eq!(value("apps", "Deployment", "metadata.namespace", &object).as_deref(), Ok("b"));
    }

    #[test]
    fn absent_fields_have_their_zero() {
        let object = json!({"spec": {"hostNetwork": true}});
        assert_eq!(value("", "Pod", "spec.nodeName", &object).as_deref(), Ok(""));
        assert_eq!(value("", "Pod", "spec.hostNetwork", &object).as_deref(), Ok("true"));
        assert_eq!(value("", "Pod", "spec.hostNetwork", &json!({})).as_deref(), Ok("false"));
        assert_eq!(value("", "Node", "spec.unschedulable", &json!({})).as_deref(), Ok("false"));
        assert_eq!(value("batch", "Job", "status.successful", &json!({})).as_deref(), Ok("0"));
    }

    #[test]
    fn the_source_of_an_event_is_also_its_reporter() {
        let event = json!({"reportingComponent": "kubelet", "source": {}});
        assert_eq!(value("", "Event", "source", &event).as_deref(), Ok("kubelet"));
    }

    #[test]
    fn unknown_fields_are_refused_in_the_words_of_the_kind() {
        for (group, kind, label, expected) in [
            (
                "",
                "ConfigMap",
                "x",
                r#""x" is not a known field selector: only "metadata.name", "metadata.namespace""#,
            ),
            ("", "Pod", "spec.foo", "field label not supported: spec.foo"),
            ("", "Node", "metadata.namespace", "field label not supported: metadata.namespace"),
            ("batch", "Job", "x", r#"field label "x" not supported for Job"#),
            (
                "resource.k8s.io",
                "ResourceSlice",
                "x",
                "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x",
            ),
        ] {
            assert_eq!(value(group, kind, label, &json!({})), Err(expected.to_owned()));
        }
    }
}

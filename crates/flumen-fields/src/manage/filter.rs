//! Fields that an endpoint does not write, whatever is sent to it.

use crate::{Element, FieldSet, set::Node};

/// Nobody comes to own a field that the endpoint drops, and nobody conflicts on it.
#[derive(Clone, Debug)]
pub struct Filter(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Not these, nor what is below them.
    Without(FieldSet),
    Only(Tree),
}

/// The fields that alone are written, with what is below them.
#[derive(Clone, Copy, Debug)]
enum Tree {
    All,
    Of(&'static [(Step, Self)]),
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Field(&'static str),
    Any,
}

const EPHEMERAL_CONTAINERS: Tree = Tree::Of(&[(
    Step::Field("spec"),
    Tree::Of(&[(Step::Field("ephemeralContainers"), Tree::All)]),
)]);

const CONTAINER_RESOURCES: Tree = Tree::Of(&[(
    Step::Any,
    Tree::Of(&[(Step::Field("resources"), Tree::All), (Step::Field("resizePolicy"), Tree::All)]),
)]);

const RESIZE: Tree = Tree::Of(&[(
    Step::Field("spec"),
    Tree::Of(&[
        (Step::Field("containers"), CONTAINER_RESOURCES),
        (Step::Field("initContainers"), CONTAINER_RESOURCES),
    ]),
)]);

type Paths = &'static [&'static [&'static str]];

/// What endpoints of built-in kinds drop, where it is not the rule: kind, subresource, fields.
const EXCEPTIONS: [(&str, &str, Paths); 18] = [
    ("CertificateSigningRequest", "", &[&["spec"], &["status"]]),
    ("CertificateSigningRequest", "status", &[&["spec"], &["status", "conditions"]]),
    ("CertificateSigningRequest", "approval", &[&["spec"], &["status", "certificate"]]),
    ("CustomResourceDefinition", "status", &[&["metadata"], &["spec"]]),
    ("Deployment", "status", &[&["spec"], &["metadata", "labels"]]),
    ("DeviceTaintRule", "status", &[&["metadata"], &["spec"]]),
    ("FlowSchema", "status", &[&["metadata"], &["spec"]]),
    ("Namespace", "finalize", &[&["status"]]),
    (
        "Pod",
        "status",
        &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]],
    ),
    ("PriorityLevelConfiguration", "status", &[&["metadata"], &["spec"]]),
    ("ResourceClaim", "status", &[&["metadata"], &["spec"]]),
    ("ServiceCIDR", "", &[]),
    ("ServiceCIDR", "status", &[]),
    ("StorageVersion", "status", &[&["metadata"], &["spec"]]),
    ("StorageVersionMigration", "status", &[&["metadata"], &["spec"]]),
    ("ValidatingAdmissionPolicy", "status", &[&["metadata"], &["spec"]]),
    ("VolumeAttachment", "status", &[&["metadata"], &["spec"]]),
    ("APIService", "status", &[&["metadata"], &["spec"]]),
];

impl Filter {
    /// Everything is written.
    pub const NONE: &'static Self = &Self(Kind::Without(FieldSet::new()));

    /// These fields, given by their names, are not written.
    pub fn without<'a>(paths: impl IntoIterator<Item = &'a [&'a str]>) -> Self {
        Self(Kind::Without(FieldSet::of_paths(paths)))
    }

    /// What an endpoint of a kind with or without a status subresource drops: the status on the
    /// object itself, and the spec on its status.
    pub fn of_endpoint(subresource: &str, has_status: bool) -> Self {
        let path: &[&str] = match subresource {
            "" if has_status => &["status"],
            "status" => &["spec"],
            _ => &[],
        };
        Self::without([path])
    }

    /// What an endpoint of a built-in kind drops.
    pub fn of_builtin(kind: &str, subresource: &str, has_status: bool) -> Self {
        match (kind, subresource) {
            ("Pod", "ephemeralcontainers") => return Self(Kind::Only(EPHEMERAL_CONTAINERS)),
            ("Pod", "resize") => return Self(Kind::Only(RESIZE)),
            _ => {}
        }
        let known = |(of, sub, _): &&(&str, &str, Paths)| *of == kind && *sub == subresource;
        match EXCEPTIONS.iter().find(known) {
            Some((_, _, paths)) => Self::without(paths.iter().copied()),
            None => Self::of_endpoint(subresource, has_status),
        }
    }

    pub(crate) fn apply(&self, set: FieldSet) -> FieldSet {
        match &self.0 {
            Kind::Without(fields) => set.without_below(fields),
            Kind::Only(tree) => only(set, *tree),
        }
    }
}

fn only(set: FieldSet, tree: Tree) -> FieldSet {
    let Tree::Of(steps) = tree else { return set };
    let mut out = FieldSet::new();
    for Node { element, member, children } in set.into_nodes() {
        let of = steps.iter().find(|(step, _)| match (step, &element) {
            (Step::Any, _) => true,
            (Step::Field(name), Element::Field(own)) => **own == **name,
            (Step::Field(_), _) => false,
        });
        if let Some((_, below)) = of {
            out.push(element, member, only(children, *below));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Filter;
    use crate::FieldSet;

    fn check(filter: &Filter, fields: &serde_json::Value, kept: &serde_json::Value) {
        let set = FieldSet::from_fields_v1(fields).expect("fields are well-formed");
        assert_eq!(filter.apply(set).to_fields_v1(), *kept);
    }

    #[test]
    fn status_and_spec_are_written_apart() {
        let fields = json!({"f:spec": {".": {}, "f:a": {}}, "f:status": {"f:b": {}}});
        check(Filter::NONE, &fields, &fields);
        let main = Filter::of_builtin("DaemonSet", "", true);
        check(&main, &fields, &json!({"f:spec": {".": {}, "f:a": {}}}));
        let status = Filter::of_builtin("DaemonSet", "status", true);
        check(&status, &fields, &json!({"f:status": {"f:b": {}}}));
        check(&Filter::of_builtin("ConfigMap", "", false), &fields, &fields);
    }

    #[test]
    fn a_resize_writes_resources_of_containers_alone() {
        let fields = json!({"f:metadata": {"f:labels": {}}, "f:spec": {"f:nodeName": {},
            "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}}});
        check(
            &Filter::of_builtin("Pod", "resize", true),
            &fields,
            &json!({"f:spec": {"f:containers":
                {"k:{\"name\":\"a\"}": {".": {}, "f:resources": {"f:limits": {}}}}}}),
        );
    }
}

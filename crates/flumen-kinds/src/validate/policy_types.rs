//! The types of what expressions of policies and webhooks can name.

use flumen_cel::Type;

/// What every expression can name. Objects may be anything: which kinds match is not known beforehand.
pub(super) fn names() -> Vec<(&'static str, Type)> {
    vec![
        ("object", Type::Dyn),
        ("oldObject", Type::Dyn),
        ("request", request()),
        ("namespaceObject", namespace()),
        ("authorizer", Type::AUTHORIZER),
        ("authorizer.requestResource", Type::RESOURCE_CHECK),
    ]
}

/// The type that a variable of a policy has in other expressions. Types of libraries are forgotten on the way.
pub(super) fn of_variable(found: &Type) -> Type {
    match found {
        Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::Text
        | Type::Timestamp
        | Type::Uint => found.clone(),
        Type::List(element) => Type::list(of_variable(element)),
        Type::Map(key, value) => Type::map(of_variable(key), of_variable(value)),
        _ => Type::Dyn,
    }
}

fn texts<const N: usize>(names: [&'static str; N]) -> [(&'static str, Type); N] {
    names.map(|name| (name, Type::Text))
}

fn request() -> Type {
    let kind = Type::record("kubernetes.GroupVersionKind", texts(["group", "version", "kind"]));
    let resource =
        Type::record("kubernetes.GroupVersionResource", texts(["group", "version", "resource"]));
    let list = Type::list(Type::Text);
    let user = [
        ("username", Type::Text),
        ("uid", Type::Text),
        ("groups", list.clone()),
        ("extra", Type::map(Type::Text, list)),
    ];
    let fields = [
        ("kind", kind.clone()),
        ("resource", resource.clone()),
        ("subResource", Type::Text),
        ("requestKind", kind),
        ("requestResource", resource),
        ("requestSubResource", Type::Text),
        ("name", Type::Text),
        ("namespace", Type::Text),
        ("operation", Type::Text),
        ("userInfo", Type::record("kubernetes.UserInfo", user)),
        ("dryRun", Type::Bool),
        ("options", Type::Dyn),
    ];
    Type::record("kubernetes.AdmissionRequest", fields)
}

fn namespace() -> Type {
    let list = Type::list(Type::Text);
    let map = Type::map(Type::Text, Type::Text);
    let metadata = [
        ("name", Type::Text),
        ("generateName", Type::Text),
        ("namespace", Type::Text),
        ("labels", map.clone()),
        ("annotations", map),
        ("UID", Type::Text),
        ("creationTimestamp", Type::Timestamp),
        ("deletionGracePeriodSeconds", Type::Int),
        ("deletionTimestamp", Type::Timestamp),
        ("generation", Type::Int),
        ("resourceVersion", Type::Text),
        ("finalizers", list.clone()),
    ];
    let condition = [
        ("status", Type::Text),
        ("type", Type::Text),
        ("lastTransitionTime", Type::Timestamp),
        ("message", Type::Text),
        ("reason", Type::Text),
    ];
    let conditions = Type::list(Type::record("kubernetes.NamespaceCondition", condition));
    let status = [("conditions", conditions), ("phase", Type::Text)];
    let fields = [
        ("metadata", Type::record("kubernetes.NamespaceMetadata", metadata)),
        ("spec", Type::record("kubernetes.NamespaceSpec", [("finalizers", list)])),
        ("status", Type::record("kubernetes.NamespaceStatus", status)),
    ];
    Type::record("kubernetes.Namespace", fields)
}

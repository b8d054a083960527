//! Where objects are found on an API server.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{Error, ObjectName, Resource};

/// What RFC 3986 lets stand unescaped everywhere.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path of all objects of a kind, in one namespace or, with an empty one, everywhere.
pub(crate) fn collection(resource: &Resource, namespace: &str) -> Result<String, Error> {
    let gvk = &resource.gvk;
    let mut path = String::with_capacity(96);
    if gvk.group.is_empty() {
        path.push_str("/api");
    } else {
        path.push_str("/apis");
        push_segment(&mut path, &gvk.group)?;
    }
    push_segment(&mut path, &gvk.version)?;
    if resource.namespaced && !namespace.is_empty() {
        path.push_str("/namespaces");
        push_segment(&mut path, namespace)?;
    }
    push_segment(&mut path, &resource.plural)?;
    Ok(path)
}

/// The path to which new objects are sent.
pub(crate) fn collection_of(object: ObjectName<'_>) -> Result<String, Error> {
    let resource = object.resource;
    if resource.namespaced && object.namespace.is_empty() {
        let kind = resource.gvk.kind.to_string();
        return Err(Error::NoNamespace { kind, name: object.name.to_owned() });
    }
    collection(resource, object.namespace)
}

/// The path of one object.
pub(crate) fn object(object: ObjectName<'_>) -> Result<String, Error> {
    let mut path = collection_of(object)?;
    push_segment(&mut path, object.name)?;
    Ok(path)
}

/// A name that would lead elsewhere is refused, even where escaping it would do: what sits between us
/// and the server may undo escapes.
fn push_segment(path: &mut String, segment: &str) -> Result<(), Error> {
    if matches!(segment, "" | "." | "..") || segment.contains(['/', '%']) {
        return Err(Error::InvalidName { name: segment.to_owned() });
    }
    let _ = write!(path, "/{}", utf8_percent_encode(segment, RESERVED));
    Ok(())
}

/// A path with its query.
#[derive(Debug)]
pub(crate) struct Url {
    text: String,
    has_query: bool,
}

impl Url {
    pub(crate) const fn new(path: String) -> Self {
        Self { text: path, has_query: false }
    }

    pub(crate) fn with(mut self, key: &'static str, value: &str) -> Self {
        let separator = if self.has_query { '&' } else { '?' };
        let _ = write!(self.text, "{separator}{key}={}", utf8_percent_encode(value, RESERVED));
        self.has_query = true;
        self
    }

    pub(crate) fn with_some(self, key: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use flumen_object::Gvk;

    use super::*;

    fn resource(api_version: &str, plural: &str, namespaced: bool) -> Resource {
        Resource {
            gvk: Gvk::new(&api_version.into(), "Kind".into()),
            plural: plural.into(),
            namespaced,
            verbs: Vec::new().into(),
        }
    }

    fn path(api_version: &str, plural: &str, namespace: Option<&str>, name: &str) -> String {
        let resource = resource(api_version, plural, namespace.is_some());
        let namespace = namespace.unwrap_or("ignored");
        object(ObjectName { resource: &resource, namespace, name }).expect("a path")
    }

    #[test]
    fn groups_and_scopes_have_their_places() {
        assert_eq!(
            path("apps/v1", "deployments", Some("shop"), "web"),
            "/apis/apps/v1/namespaces/shop/deployments/web"
        );
        assert_eq!(path("v1", "pods", Some("shop"), "web"), "/api/v1/namespaces/shop/pods/web");
        assert_eq!(path("v1", "namespaces", None, "shop"), "/api/v1/namespaces/shop");
        let pods = resource("v1", "pods", true);
        assert_eq!(collection(&pods, "").ok().as_deref(), Some("/api/v1/pods"));
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(
            path("rbac.authorization.k8s.io/v1", "clusterroles", None, "system:a b?c#d"),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa%20b%3Fc%23d"
        );
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let pods = resource("v1", "pods", true);
        for name in ["", ".", "..", "a/b", "../secrets/x", "a%2Fb"] {
            let result = object(ObjectName { resource: &pods, namespace: "shop", name });
            assert!(matches!(result, Err(Error::InvalidName { .. })), "{name}");
            let result = object(ObjectName { resource: &pods, namespace: name, name: "web" });
            assert!(result.is_err(), "{name}");
        }
    }

    #[test]
    fn queries_are_escaped() {
        let url = Url::new("/a".to_owned())
            .with("x", "a=b,c in (d)")
            .with_some("y", None)
            .with("z", "1&2");
        assert_eq!(url.finish(), "/a?x=a%3Db%2Cc%20in%20%28d%29&z=1%262");
    }
}

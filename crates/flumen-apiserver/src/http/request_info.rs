//! What a path and a method mean, before it is known whether anything is served there.
//!
//! Authorisation asks about this, also for paths that turn out to lead nowhere.

use http::Method;

use crate::{Query, Verb};

/// A request as rules see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestInfo {
    /// Decoded.
    pub path: String,
    pub resource: Option<ResourceInfo>,
    /// `get`, `list`, …, or the method in lower case for what is no resource.
    pub verb: String,
}

/// The parts of a path below `/api/VERSION` or `/apis/GROUP/VERSION`. Empty texts are absent parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceInfo {
    pub group: String,
    pub version: String,
    pub namespace: String,
    pub resource: String,
    pub subresource: String,
    pub name: String,
    /// Parts behind the subresource.
    pub rest: usize,
    /// Asked by the old way of `/watch/` before the resource.
    pub watch_prefix: bool,
}

/// What follows the name of a namespace and still is about the namespace itself.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

impl RequestInfo {
    pub(crate) fn of(method: &Method, path: &str, query: &Query) -> Self {
        let other = || Self {
            path: path.to_owned(),
            resource: None,
            verb: method.as_str().to_ascii_lowercase(),
        };
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, parts) = match parts.as_slice() {
            ["api", rest @ ..] if rest.len() >= 2 => ("", rest),
            ["apis", group, rest @ ..] if rest.len() >= 2 => (*group, rest),
            _ => return other(),
        };
        let (version, mut parts) = (parts[0], &parts[1..]);
        let watch_prefix = parts[0] == "watch";
        if watch_prefix {
            parts = &parts[1..];
            if parts.is_empty() {
                return other();
            }
        }
        let mut info = ResourceInfo {
            group: group.to_owned(),
            version: version.to_owned(),
            watch_prefix,
            ..ResourceInfo::default()
        };
        if let ["namespaces", namespace, rest @ ..] = parts {
            (*namespace).clone_into(&mut info.namespace);
            if rest.first().is_some_and(|next| !NAMESPACE_SUBRESOURCES.contains(next)) {
                parts = rest;
            }
        }
        let part = |n: usize| parts.get(n).copied().unwrap_or_default().to_owned();
        info.resource = part(0);
        info.name = part(1);
        info.subresource = part(2);
        info.rest = parts.len().saturating_sub(3);
        let verb = verb(method, &mut info, query);
        Self { path: path.to_owned(), resource: Some(info), verb }
    }
}

impl ResourceInfo {
    /// `deployments/status`, as rules name it.
    pub(crate) fn qualified(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}

fn verb(method: &Method, info: &mut ResourceInfo, query: &Query) -> String {
    if info.watch_prefix {
        return Verb::Watch.name().to_owned();
    }
    let whole = info.name.is_empty();
    let verb = match method.as_str() {
        "POST" => Verb::Create,
        "PUT" => Verb::Update,
        "PATCH" => Verb::Patch,
        "DELETE" if whole => Verb::DeleteCollection,
        "DELETE" => Verb::Delete,
        "GET" | "HEAD" if whole => {
            // Rules can allow single objects; a selector for one is such a request.
            if let Some(name) = query.get("fieldSelector").and_then(selected_name) {
                name.clone_into(&mut info.name);
            }
            if query.get("watch").is_some_and(is_true) { Verb::Watch } else { Verb::List }
        }
        "GET" | "HEAD" => Verb::Get,
        _ => return String::new(),
    };
    verb.name().to_owned()
}

/// The name in a field selector that asks for nothing but one.
fn selected_name(selector: &str) -> Option<&str> {
    let (key, value) = selector.split_once('=')?;
    let value = value.strip_prefix('=').unwrap_or(value);
    let plain = !value.is_empty() && !value.contains(['=', ',', '/', '%', '\\']);
    (key == "metadata.name" && plain && value != "." && value != "..").then_some(value)
}

/// A boolean parameter: anything but a clear no is a yes.
pub(crate) fn is_true(text: &str) -> bool {
    !matches!(text.to_ascii_lowercase().as_str(), "false" | "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(method: &str, uri: &str) -> RequestInfo {
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let query = query.split('&').filter_map(|pair| pair.split_once('='));
        let query = Query(query.map(|(k, v)| (k.to_owned(), v.to_owned())).collect());
        RequestInfo::of(&Method::from_bytes(method.as_bytes()).expect("it works"), path, &query)
    }

    fn check(method: &str, uri: &str, expected: &str) {
        let info = info(method, uri);
        let said = match &info.resource {
            None => format!("{} {}", info.verb, info.path),
            Some(r) => format!(
                "{} {}/{} ns={} {} {}",
                info.verb,
                r.group,
                r.version,
                r.namespace,
                r.qualified(),
                r.name
            ),
        };
        assert_eq!(said, expected, "{method} {uri}");
    }

    #[test]
    fn tells_resources_from_other_paths() {
        check("GET", "/healthz", "get /healthz");
        check("GET", "/api/v1", "get /api/v1");
        check("POST", "/apis/apps/v1", "post /apis/apps/v1");
        check("GET", "/api/v1/pods", "list /v1 ns= pods ");
        check("GET", "/api/v1/namespaces/x/pods?watch=1", "watch /v1 ns=x pods ");
        check("GET", "/api/v1/namespaces/x/pods/p?watch=1", "get /v1 ns=x pods p");
        check("GET", "/api/v1/namespaces/x", "get /v1 ns=x namespaces x");
        check("PUT", "/api/v1/namespaces/x/finalize", "update /v1 ns=x namespaces/finalize x");
        check(
            "DELETE",
            "/apis/apps/v1/namespaces/x/deployments",
            "deletecollection apps/v1 ns=x deployments ",
        );
        check(
            "GET",
            "/apis/apps/v1/namespaces/x/deployments/d/scale",
            "get apps/v1 ns=x deployments/scale d",
        );
        check("GET", "/api/v1/watch/namespaces/x/pods", "watch /v1 ns=x pods ");
        check("GET", "/api/v1/nodes?fieldSelector=metadata.name=n", "list /v1 ns= nodes n");
        check("OPTIONS", "/api/v1/nodes", " /v1 ns= nodes ");
    }
}

//! What a client asked of an API server.

use super::faults::Fault;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeRequest {
    pub method: String,
    pub path: String,
    /// What follows the question mark; may be empty.
    pub query: String,
    pub content_type: String,
    /// What happened to it instead of, or besides, being forwarded.
    pub fault: Option<Fault>,
    /// It was neither forwarded nor answered, because the test holds the requests.
    pub held: bool,
}

/// The parts of a path that names objects.
struct Target<'a> {
    group: &'a str,
    resource: &'a str,
    name: Option<&'a str>,
    subresource: Option<&'a str>,
}

impl KubeRequest {
    /// What is asked for in the words of Kubernetes, where `apply` is a `patch` by server-side apply.
    ///
    /// Requests that are about no objects, such as those for discovery, are `get`.
    pub fn verb(&self) -> &'static str {
        let one = self.target().is_none_or(|target| target.name.is_some());
        match &*self.method {
            "POST" => "create",
            "PUT" => "update",
            "PATCH" if self.content_type.starts_with("application/apply-patch") => "apply",
            "PATCH" => "patch",
            "DELETE" if one => "delete",
            "DELETE" => "deletecollection",
            _ if self.has_parameter("watch", &["1", "true"]) => "watch",
            _ if one => "get",
            _ => "list",
        }
    }

    /// What it is about, such as `configmaps` or `deployments.apps/status`; `None` when not about objects.
    pub fn resource(&self) -> Option<String> {
        let target = self.target()?;
        let dot = if target.group.is_empty() { "" } else { "." };
        let slash = if target.subresource.is_some() { "/" } else { "" };
        let subresource = target.subresource.unwrap_or_default();
        Some(format!("{}{dot}{}{slash}{subresource}", target.resource, target.group))
    }

    /// The name of the one object that it is about, if the path has it.
    pub fn name(&self) -> Option<&str> {
        self.target()?.name
    }

    /// What it asks for, without the namespace and versions, which differ from run to run.
    pub(super) fn identity(&self) -> String {
        let dry = if self.is_dry_run() { " as a dry run" } else { "" };
        match self.resource() {
            Some(resource) => {
                format!("{} {resource} {}{dry}", self.verb(), self.name().unwrap_or_default())
            }
            None => format!("{} {}", self.method, self.path),
        }
    }

    pub fn is_dry_run(&self) -> bool {
        self.has_parameter("dryRun", &["All"])
    }

    /// Whether it may change something.
    pub fn is_write(&self) -> bool {
        !matches!(self.verb(), "get" | "list" | "watch") && !self.is_dry_run()
    }

    fn has_parameter(&self, name: &str, values: &[&str]) -> bool {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .any(|(key, value)| key == name && values.contains(&value))
    }

    fn target(&self) -> Option<Target<'_>> {
        let path: Vec<&str> = self.path.split('/').filter(|part| !part.is_empty()).collect();
        let (group, path) = match *path.as_slice() {
            ["api", _, ref path @ ..] => ("", path),
            ["apis", group, _, ref path @ ..] => (group, path),
            _ => return None,
        };
        let path = match path {
            // These are parts of the namespace itself, everything else is in it.
            ["namespaces", _, "status" | "finalize", ..] => path,
            ["namespaces", _, inside @ ..] if !inside.is_empty() => inside,
            _ => path,
        };
        let (resource, rest) = path.split_first()?;
        Some(Target {
            group,
            resource,
            name: rest.first().copied(),
            subresource: rest.get(1).copied(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, path: &str, query: &str) -> KubeRequest {
        KubeRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            content_type: String::new(),
            fault: None,
            held: false,
        }
    }

    #[test]
    fn verbs_and_resources_are_those_of_kubernetes() {
        let cases = [
            ("GET", "/api/v1/namespaces", "", "list", "namespaces"),
            ("GET", "/api/v1/namespaces/test", "", "get", "namespaces"),
            ("PUT", "/api/v1/namespaces/test/finalize", "", "update", "namespaces/finalize"),
            ("GET", "/api/v1/namespaces/test/pods", "watch=true", "watch", "pods"),
            ("POST", "/api/v1/namespaces/test/pods", "", "create", "pods"),
            (
                "DELETE",
                "/apis/apps/v1/namespaces/test/deployments",
                "",
                "deletecollection",
                "deployments.apps",
            ),
            (
                "PATCH",
                "/apis/apps/v1/namespaces/test/deployments/web/status",
                "",
                "patch",
                "deployments.apps/status",
            ),
            (
                "DELETE",
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/x",
                "",
                "delete",
                "clusterroles.rbac.authorization.k8s.io",
            ),
        ];
        for (method, path, query, verb, resource) in cases {
            let request = request(method, path, query);
            assert_eq!(request.verb(), verb, "{path}");
            assert_eq!(request.resource().as_deref(), Some(resource), "{path}");
        }
        for path in ["/version", "/api", "/apis", "/apis/apps/v1", "/openapi/v3"] {
            assert_eq!(request("GET", path, "").resource(), None, "{path}");
            assert_eq!(request("GET", path, "").verb(), "get", "{path}");
        }
    }

    #[test]
    fn requests_are_told_apart_by_what_they_ask_for() {
        let identity = |path: &str| request("GET", path, "").identity();
        let first = identity("/api/v1/namespaces/test-1/configmaps/a");
        assert_eq!(first, "get configmaps a");
        assert_eq!(identity("/api/v1/namespaces/test-2/configmaps/a"), first);
        assert_ne!(identity("/api/v1/namespaces/test-1/configmaps/b"), first);
        assert_ne!(identity("/api/v1/namespaces/test-1/configmaps"), first);
        assert_eq!(identity("/apis"), "GET /apis");
    }

    #[test]
    fn dry_runs_are_no_writes() {
        let path = "/api/v1/namespaces/test/configmaps/a";
        let mut apply = request("PATCH", path, "fieldManager=test&force=true");
        apply.content_type = "application/apply-patch+yaml".to_owned();
        assert_eq!((apply.verb(), apply.name()), ("apply", Some("a")));
        assert!(apply.is_write() && !apply.is_dry_run());
        apply.query.push_str("&dryRun=All");
        assert!(!apply.is_write() && apply.is_dry_run());
        assert!(!request("GET", path, "").is_write());
    }
}

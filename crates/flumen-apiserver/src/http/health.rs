//! Health: the server is well while it answers at all, so every check that is known succeeds.

use http::Response;

use super::respond::{Body, PLAIN, bytes, nothing};
use crate::Query;

/// Checks that there are under every one of the three paths.
const CHECKS: [&str; 8] = [
    "ping",
    "log",
    "etcd",
    "poststarthook/crd-informer-synced",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/start-system-namespaces-controller",
    "autoregister-completion",
];

pub(crate) const ROOTS: [&str; 3] = ["healthz", "livez", "readyz"];

fn checks(root: &str) -> impl Iterator<Item = &'static str> {
    let more: &[&str] =
        if root == "readyz" { &["etcd-readiness", "informer-sync", "shutdown"] } else { &[] };
    CHECKS.into_iter().chain(more.iter().copied())
}

/// The paths that are served.
pub(crate) fn paths() -> impl Iterator<Item = String> {
    ROOTS.into_iter().flat_map(|root| {
        let whole = std::iter::once(format!("/{root}"));
        whole.chain(checks(root).map(move |check| format!("/{root}/{check}")))
    })
}

/// Answers if the path is one of health.
pub(crate) fn answer(path: &str, query: &Query) -> Option<Response<Body>> {
    let path = path.trim_matches('/');
    let (root, check) = path.split_once('/').unwrap_or((path, ""));
    if !ROOTS.contains(&root) {
        return None;
    }
    if !check.is_empty() {
        let known = checks(root).any(|known| known == check);
        return Some(if known { bytes(200, PLAIN, "ok") } else { nothing() });
    }
    if query.get("verbose").is_none() {
        return Some(bytes(200, PLAIN, "ok"));
    }
    let mut text = String::new();
    for check in checks(root) {
        let excluded = query.all("exclude").any(|name| name == check);
        text.extend(["[+]", check, if excluded { " excluded: ok\n" } else { " ok\n" }]);
    }
    text.extend([root, " check passed\n"]);
    Some(bytes(200, PLAIN, text))
}

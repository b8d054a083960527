//! The order of groups and of their versions.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::Catalog;

/// Built-in groups that come before all others, in this order.
const FIRST: [&str; 20] = [
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

/// All groups but the core one with their versions, the preferred one first.
pub(super) fn groups(catalog: &Catalog) -> Vec<(&str, Vec<&str>)> {
    let mut groups: BTreeMap<(usize, &str), Vec<&str>> = BTreeMap::new();
    for resource in catalog.resources() {
        if resource.group.is_empty() {
            continue;
        }
        let group = resource.group.as_str();
        let place = FIRST.iter().position(|first| *first == group).unwrap_or(FIRST.len());
        let versions = groups.entry((place, group)).or_default();
        if !versions.contains(&resource.version.as_str()) {
            versions.push(&resource.version);
        }
    }
    let sorted = groups.into_iter().map(|((_, group), mut versions)| {
        versions.sort_by_key(|version| priority(version));
        (group, versions)
    });
    sorted.collect()
}

/// Sorts stable versions first, then betas, then alphas, each with high numbers first; other names
/// come last, by the alphabet.
fn priority(version: &str) -> (u8, Reverse<u32>, Reverse<u32>, &str) {
    let other = (3, Reverse(0), Reverse(0), version);
    let Some(rest) = version.strip_prefix('v') else { return other };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let Ok(major) = rest[..digits].parse() else { return other };
    let (rank, minor) = match &rest[digits..] {
        "" => return (0, Reverse(major), Reverse(0), ""),
        minor if minor.starts_with("beta") => (1, &minor[4..]),
        minor if minor.starts_with("alpha") => (2, &minor[5..]),
        _ => return other,
    };
    minor.parse().map_or(other, |minor| (rank, Reverse(major), Reverse(minor), ""))
}

#[cfg(test)]
mod tests {
    use super::priority;

    #[test]
    fn versions_go_from_stable_to_strange() {
        let order =
            ["v10", "v2", "v1", "v1beta10", "v1beta2", "v11alpha2", "v1alpha1", "foo", "v1x"];
        let mut sorted = order.to_vec();
        sorted.reverse();
        sorted.sort_by_key(|version| priority(version));
        assert_eq!(sorted, order);
    }
}

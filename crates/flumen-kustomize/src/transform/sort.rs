//! The order of the output: as accumulated, or by kind.
//!
//! The legacy order puts what others depend on first and webhooks last, by lists that a kustomization
//! may replace; kinds on neither list come in between, by group, version and kind, then namespace
//! and name.

use std::cmp::Ordering;

use flumen_object::Gvk;
use flumen_schema::Schema;
use flumen_yaml::Text;

use crate::{
    config::kind_rank,
    error::Result,
    id::ResId,
    kustomization::{check_sort_options, fields::SortOptions},
    resmap::ResMap,
    resource::Resource,
};

/// Sorts as `sortOptions` says.
pub(crate) fn transform(
    resources: &mut ResMap,
    options: &SortOptions,
    schema: &Schema,
) -> Result<()> {
    check_sort_options(options)?;
    if options.order != "legacy" {
        return Ok(());
    }
    match &options.legacy {
        None => legacy(resources, schema),
        Some(lists) => {
            let rank = |kind: &str| rank_by_lists(kind, &lists.order_first, &lists.order_last);
            sort(resources, rank, schema);
        }
    }
    Ok(())
}

/// Sorts in the order that kustomize has by itself.
pub(crate) fn legacy(resources: &mut ResMap, schema: &Schema) {
    sort(resources, kind_rank, schema);
}

/// The last mention of a kind counts.
fn rank_by_lists(kind: &str, first: &[Text], last: &[Text]) -> i32 {
    let place = |list: &[Text]| list.iter().rposition(|name| *name == *kind);
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    match (place(last), place(first)) {
        (Some(index), _) => number(index) + 1,
        (None, Some(index)) => number(index) - number(first.len()),
        (None, None) => 0,
    }
}

/// By rank, kind, namespace and name. Most resources share their kind with many others, so that is
/// looked at before any text is put together; and what moves in a sort is small.
fn sort(resources: &mut ResMap, rank: impl Fn(&str) -> i32, schema: &Schema) {
    let list = std::mem::take(resources.resources_mut());
    let mut order: Vec<(i32, &ResId, usize)> = Vec::with_capacity(list.len());
    for (index, resource) in list.iter().enumerate() {
        let id = resource.id(schema);
        order.push((rank(&id.gvk.kind), id, index));
    }
    order.sort_by(|(one_rank, one, _), (other_rank, other, _)| {
        one_rank.cmp(other_rank).then_with(|| compare(one, other))
    });
    let order: Vec<usize> = order.into_iter().map(|(_, _, index)| index).collect();
    let mut list: Vec<Option<Resource>> = list.into_iter().map(Some).collect();
    *resources.resources_mut() =
        order.into_iter().filter_map(|index| list.get_mut(index)?.take()).collect();
}

fn compare(one: &ResId, other: &ResId) -> Ordering {
    if one.gvk == other.gvk {
        return place(one).cmp(place(other));
    }
    let order = kind(&one.gvk).cmp(kind(&other.gvk));
    let is_core = |id: &ResId| id.gvk.kind == "Namespace" && id.gvk.group.is_empty();
    // Of namespaces the core kind comes first; where the text is compared, it would come last.
    if one.gvk.kind == other.gvk.kind && (is_core(one) || is_core(other)) {
        order.reverse()
    } else {
        order
    }
}

/// `group_version_kind`, the text by which different kinds are compared.
fn kind(gvk: &Gvk) -> impl Iterator<Item = u8> {
    let [group, version, kind] = [(&gvk.group, "~G"), (&gvk.version, "~V"), (&gvk.kind, "~K")]
        .map(|(text, missing)| or(text, missing).bytes());
    group.chain(*b"_").chain(version).chain(*b"_").chain(kind)
}

/// `namespace|name`, the text by which objects of one kind are compared.
fn place(id: &ResId) -> impl Iterator<Item = u8> {
    let [namespace, name] =
        [(&id.namespace, "~X"), (&id.name, "~N")].map(|(text, missing)| or(text, missing).bytes());
    namespace.chain(*b"|").chain(name)
}

fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
    if text.is_empty() { missing } else { text }
}

#[cfg(test)]
mod tests {
    use super::transform;
    use crate::{
        kustomization::fields::{LegacySortOptions, SortOptions},
        transform::stage::{on_stage, resources},
    };

    /// Sorts objects that are written as `apiVersion/kind/namespace/name`.
    #[track_caller]
    fn check(options: &SortOptions, expected: [&str; 9]) {
        let mut unsorted = expected;
        unsorted.sort_unstable_by_key(|object| object.len() * 31 % 11);
        let manifests = unsorted.map(|object| {
            let [name, namespace, kind, version] =
                <[&str; 4]>::try_from(object.rsplitn(4, '/').collect::<Vec<_>>())
                    .expect("it has four parts");
            format!(
                "{{apiVersion: {version}, kind: {kind}, \
                 metadata: {{name: {name}, namespace: {namespace}}}}}\n"
            )
        });
        let mut resources = resources(&manifests.join("---\n"));
        on_stage(&[], |scene| transform(&mut resources, options, scene.schema))
            .expect("the options are right");
        let sorted: Vec<String> = resources
            .iter()
            .map(|resource| {
                let version = resource.node().get("apiVersion").and_then(flumen_yaml::Node::as_str);
                let (kind, name) = (resource.kind(), resource.name());
                format!("{}/{kind}/{}/{name}", version.unwrap_or_default(), resource.namespace())
            })
            .collect();
        assert_eq!(sorted, expected);
    }

    #[test]
    fn legacy_order() {
        let options = SortOptions { order: "legacy".into(), legacy: None };
        check(
            &options,
            [
                "v1/Namespace//m",
                "other/v1/Namespace//m",
                "v1/Service/z/a",
                "v1/Service/z/b",
                "v1/Service//b",
                "apps/v1/Deployment//d",
                "a/v1/Zed//z",
                "b/v1/Zed//z",
                "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration//v",
            ],
        );
    }

    #[test]
    fn lists_of_ones_own() {
        let legacy = LegacySortOptions {
            order_first: vec!["Zed".into(), "Deployment".into()],
            order_last: vec!["Namespace".into(), "Zed".into()],
        };
        let options = SortOptions { order: "legacy".into(), legacy: Some(legacy) };
        check(
            &options,
            [
                "apps/v1/Deployment//d",
                "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration//v",
                "v1/Service/z/a",
                "v1/Service/z/b",
                "v1/Service//b",
                "v1/Namespace//m",
                "other/v1/Namespace//m",
                "a/v1/Zed//z",
                "b/v1/Zed//z",
            ],
        );
    }
}

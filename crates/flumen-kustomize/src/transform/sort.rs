//! The order of the output: as accumulated, or by kind.
//!
//! The legacy order puts what others depend on first and webhooks last, by lists that a kustomization
//! may replace; kinds on neither list come in between, by group, version and kind, then namespace
//! and name.

use std::cmp::Ordering;

use flumen_schema::Schema;
use flumen_yaml::Text;

use crate::{
    config::kind_rank,
    error::Result,
    kustomization::{check_sort_options, fields::SortOptions},
    resmap::ResMap,
    resource::Resource,
};

/// Sorts as `sortOptions` says.
pub(crate) fn transform(resources: &mut ResMap, options: &SortOptions, schema: &Schema) -> Result<()> {
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

/// What a resource is sorted by, computed once.
struct Key {
    rank: i32,
    is_namespace: bool,
    has_group: bool,
    gvk: String,
    place: String,
}

impl Key {
    fn new(resource: &Resource, rank: impl Fn(&str) -> i32, schema: &Schema) -> Self {
        fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
            if text.is_empty() { missing } else { text }
        }
        let id = resource.id(schema);
        let gvk = &id.gvk;
        Self {
            rank: rank(&gvk.kind),
            is_namespace: gvk.kind == "Namespace",
            has_group: !gvk.group.is_empty(),
            gvk: format!("{}_{}_{}", or(&gvk.group, "~G"), or(&gvk.version, "~V"), or(&gvk.kind, "~K")),
            place: format!("{}|{}", or(&id.namespace, "~X"), or(&id.name, "~N")),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let by_gvk = if self.is_namespace && other.is_namespace {
            // The core kind precedes those of the same name in other groups.
            self.has_group.cmp(&other.has_group).then_with(|| match self.has_group {
                true => self.gvk.cmp(&other.gvk),
                false => other.gvk.cmp(&self.gvk),
            })
        } else {
            self.gvk.cmp(&other.gvk)
        };
        self.rank.cmp(&other.rank).then(by_gvk).then_with(|| self.place.cmp(&other.place))
    }
}

fn sort(resources: &mut ResMap, rank: impl Fn(&str) -> i32, schema: &Schema) {
    let list = std::mem::take(resources.resources_mut());
    let mut keyed: Vec<_> =
        list.into_iter().map(|resource| (Key::new(&resource, &rank, schema), resource)).collect();
    keyed.sort_by(|(one, _), (other, _)| one.compare(other));
    *resources.resources_mut() = keyed.into_iter().map(|(_, resource)| resource).collect();
}

//! Which fields each transformer looks at.
//!
//! The defaults are static tables; a kustomization without `configurations` or `crds` borrows them
//! and copies nothing.

use std::borrow::Cow;

use flumen_object::Gvk;

use crate::error::{Error, Result};

// Long rows, one for each field: easier to compare than rows that are broken.
#[rustfmt::skip]
mod defaults;

/// One place in objects of some kinds. Empty `group`, `version` or `kind` match any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    pub(crate) group: Cow<'static, str>,
    pub(crate) version: Cow<'static, str>,
    pub(crate) kind: Cow<'static, str>,
    /// Field names separated by `/`; a backslash before a slash keeps it; `[]` marks a sequence.
    pub(crate) path: Cow<'static, str>,
    /// Whether to make the field where it is missing.
    pub(crate) create: bool,
}

pub(crate) type FieldSpecs = Cow<'static, [FieldSpec]>;

/// The fields in which objects are referred to by name, for one kind of referred object.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameReference {
    pub(crate) group: Cow<'static, str>,
    pub(crate) version: Cow<'static, str>,
    pub(crate) kind: Cow<'static, str>,
    pub(crate) referrers: FieldSpecs,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct TransformerConfig {
    pub(crate) name_prefix: FieldSpecs,
    pub(crate) name_suffix: FieldSpecs,
    pub(crate) namespace: FieldSpecs,
    pub(crate) common_labels: FieldSpecs,
    pub(crate) labels: FieldSpecs,
    pub(crate) template_labels: FieldSpecs,
    pub(crate) common_annotations: FieldSpecs,
    pub(crate) name_reference: Cow<'static, [NameReference]>,
    pub(crate) var_reference: FieldSpecs,
    pub(crate) images: FieldSpecs,
    pub(crate) replicas: FieldSpecs,
}

impl FieldSpec {
    /// A field of every object, made where it is missing.
    pub(crate) const fn anywhere(path: &'static str) -> Self {
        Self {
            group: Cow::Borrowed(""),
            version: Cow::Borrowed(""),
            kind: Cow::Borrowed(""),
            path: Cow::Borrowed(path),
            create: true,
        }
    }

    pub(crate) fn selects(&self, gvk: &Gvk) -> bool {
        fn agrees(wanted: &str, actual: &str) -> bool {
            wanted.is_empty() || wanted == actual
        }
        agrees(&self.kind, &gvk.kind)
            && agrees(&self.group, &gvk.group)
            && agrees(&self.version, &gvk.version)
    }

    /// Whether `other` speaks of the same place, for merging lists.
    fn covers(&self, other: &Self) -> bool {
        fn agrees(selector: &str, value: &str) -> bool {
            selector.is_empty() || selector == value
        }
        self.path == other.path
            && agrees(&other.group, &self.group)
            && agrees(&other.version, &self.version)
            && agrees(&other.kind, &self.kind)
    }
}

impl TransformerConfig {
    /// What kustomize looks at when nothing is configured. `labels` has no defaults.
    pub(crate) fn builtin() -> Self {
        Self {
            name_prefix: Cow::Borrowed(&defaults::NAME_PREFIX),
            name_suffix: Cow::Borrowed(&defaults::NAME_SUFFIX),
            namespace: Cow::Borrowed(&defaults::NAMESPACE),
            common_labels: Cow::Borrowed(&defaults::COMMON_LABELS),
            labels: Cow::Borrowed(&[]),
            template_labels: Cow::Borrowed(&defaults::TEMPLATE_LABELS),
            common_annotations: Cow::Borrowed(&defaults::COMMON_ANNOTATIONS),
            name_reference: Cow::Borrowed(&defaults::NAME_REFERENCE),
            var_reference: Cow::Borrowed(&defaults::VAR_REFERENCE),
            images: Cow::Borrowed(&defaults::IMAGES),
            replicas: Cow::Borrowed(&defaults::REPLICAS),
        }
    }

    /// Adds what `other` knows, in the order in which kustomize lists it.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        let pairs: [(&mut FieldSpecs, &FieldSpecs, &str); 10] = [
            (&mut self.name_prefix, &other.name_prefix, "NamePrefix"),
            (&mut self.name_suffix, &other.name_suffix, "NameSuffix"),
            (&mut self.namespace, &other.namespace, "NameSpace"),
            (&mut self.common_annotations, &other.common_annotations, "CommonAnnotations"),
            (&mut self.common_labels, &other.common_labels, "CommonLabels"),
            (&mut self.labels, &other.labels, "Labels"),
            (&mut self.template_labels, &other.template_labels, "TemplateLabels"),
            (&mut self.var_reference, &other.var_reference, "VarReference"),
            (&mut self.images, &other.images, "Images"),
            (&mut self.replicas, &other.replicas, "Replicas"),
        ];
        for (mine, theirs, what) in pairs {
            if mine.is_empty() && matches!(theirs, Cow::Borrowed(_)) {
                // The tables are sorted and without conflicts: nothing to merge, nothing to copy.
                mine.clone_from(theirs);
                continue;
            }
            merge_specs(mine, theirs)
                .map_err(|error| error.within(format!("failed to merge {what} fieldSpec")))?;
            if let Cow::Owned(specs) = mine {
                specs.sort_by_cached_key(|spec| sort_key(&spec.group, &spec.version, &spec.kind));
            }
        }
        if self.name_reference.is_empty() && matches!(other.name_reference, Cow::Borrowed(_)) {
            self.name_reference.clone_from(&other.name_reference);
            return Ok(());
        }
        merge_name_references(&mut self.name_reference, &other.name_reference)
            .map_err(|error| error.within("failed to merge NameReference fieldSpec"))
    }
}

/// Adds each of `incoming` that is not there yet.
pub(crate) fn merge_specs(specs: &mut FieldSpecs, incoming: &[FieldSpec]) -> Result<()> {
    if std::ptr::eq::<[FieldSpec]>(specs.as_ref(), incoming) {
        return Ok(());
    }
    for spec in incoming {
        merge_spec(specs, spec)?;
    }
    Ok(())
}

pub(crate) fn merge_spec(specs: &mut FieldSpecs, incoming: &FieldSpec) -> Result<()> {
    match specs.iter().find(|known| known.covers(incoming)) {
        Some(known) if known.create != incoming.create => Err(Error::new("conflicting fieldspecs")
            .hint(format!(
                "`{}` is configured both with and without `create: true`",
                incoming.path
            ))),
        Some(_) => Ok(()),
        None => {
            specs.to_mut().push(incoming.clone());
            Ok(())
        }
    }
}

fn merge_name_references(
    known: &mut Cow<'static, [NameReference]>,
    incoming: &[NameReference],
) -> Result<()> {
    if std::ptr::eq::<[NameReference]>(known.as_ref(), incoming) {
        return Ok(());
    }
    for reference in incoming {
        let same = known.iter().position(|other| {
            other.group == reference.group
                && other.version == reference.version
                && other.kind == reference.kind
        });
        let list = known.to_mut();
        match same.and_then(|index| list.get_mut(index)) {
            Some(other) => merge_specs(&mut other.referrers, &reference.referrers)?,
            None => list.push(reference.clone()),
        }
    }
    if let Cow::Owned(list) = known {
        list.sort_by_cached_key(|entry| sort_key(&entry.group, &entry.version, &entry.kind));
    }
    Ok(())
}

/// Kinds that others depend on come first, webhooks last; the rest by group, version and kind.
pub(crate) fn sort_key(group: &str, version: &str, kind: &str) -> (i32, String) {
    fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
        if text.is_empty() { missing } else { text }
    }
    let text = format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(kind, "~K"));
    (kind_rank(kind), text)
}

/// The place of a kind in the legacy order.
pub(crate) fn kind_rank(kind: &str) -> i32 {
    const FIRST: [&str; 22] = [
        "Namespace",
        "ResourceQuota",
        "StorageClass",
        "CustomResourceDefinition",
        "ServiceAccount",
        "PodSecurityPolicy",
        "Role",
        "ClusterRole",
        "RoleBinding",
        "ClusterRoleBinding",
        "ConfigMap",
        "Secret",
        "Endpoints",
        "Service",
        "LimitRange",
        "PriorityClass",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Deployment",
        "StatefulSet",
        "CronJob",
        "PodDisruptionBudget",
    ];
    match kind {
        "MutatingWebhookConfiguration" => 1,
        "ValidatingWebhookConfiguration" => 2,
        _ => match FIRST.iter().position(|first| *first == kind) {
            Some(index) => i32::try_from(index).unwrap_or(0) - 22,
            None => 0,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{FieldSpec, TransformerConfig, sort_key};

    #[track_caller]
    fn check_sorted<'a>(specs: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) {
        let keys: Vec<_> = specs.into_iter().map(|(g, v, k)| sort_key(g, v, k)).collect();
        assert!(!keys.is_empty());
        assert!(keys.is_sorted(), "{keys:?}");
    }

    #[test]
    fn builtin_tables_are_in_the_order_of_merging() {
        let config = TransformerConfig::builtin();
        for specs in [
            &config.name_prefix,
            &config.name_suffix,
            &config.namespace,
            &config.common_labels,
            &config.template_labels,
            &config.common_annotations,
            &config.var_reference,
            &config.images,
            &config.replicas,
        ] {
            check_sorted(specs.iter().map(|spec| (&*spec.group, &*spec.version, &*spec.kind)));
        }
        let references = config.name_reference.iter();
        check_sorted(references.map(|entry| (&*entry.group, &*entry.version, &*entry.kind)));
    }

    #[test]
    fn merging_the_tables_copies_nothing() {
        let mut config = TransformerConfig::default();
        config.merge(&TransformerConfig::builtin()).expect("nothing conflicts");
        config.merge(&TransformerConfig::builtin()).expect("nothing conflicts");
        assert!(matches!(config.var_reference, Cow::Borrowed(specs) if specs.len() == 72));
        assert!(matches!(config.name_reference, Cow::Borrowed(list) if list.len() == 16));
    }

    #[test]
    fn a_spec_of_ones_own_finds_its_place() {
        let mut config = TransformerConfig::builtin();
        let own = FieldSpec {
            group: "apps".into(),
            version: "".into(),
            kind: "DaemonSet".into(),
            path: "spec/template/spec/image".into(),
            create: false,
        };
        let other = TransformerConfig { images: vec![own.clone()].into(), ..Default::default() };
        config.merge(&other).expect("nothing conflicts");
        let kinds: Vec<_> = config.images.iter().map(|spec| &*spec.kind).collect();
        assert_eq!(config.images.len(), 7, "{kinds:?}");
        check_sorted(config.images.iter().map(|spec| (&*spec.group, &*spec.version, &*spec.kind)));
        assert!(config.images.contains(&own));
    }
}

//! Which fields a kustomization file and the records in it have.

mod generators;
mod references;

use flumen_yaml::{Pos, Style, Text};

pub(crate) use self::{
    generators::generator,
    references::{replacement, replacement_field},
};
use self::{
    generators::{
        charts_at, config_map, generator_options, helm_chart, helm_globals, old_helm_chart, secret,
    },
    references::var,
};
use super::fields::{
    Image, Kustomization, Label, LegacySortOptions, Located, Patch, Replica, Selector, SortOptions,
};
use crate::{
    config::FieldSpec,
    decode::{
        Problem, Result, Value, fields,
        readers::{
            boolean, checked, integer, list, optional, pairs, paths, string, string_type, texts,
        },
    },
};

/// What the file says that has a new name, or none, after reading.
#[derive(Debug, Default)]
pub(super) struct Legacy {
    pub(super) bases: Vec<Located>,
    pub(super) image_tags: Vec<Image>,
}

pub(super) fn kustomization(value: Value<'_>) -> Result<(Kustomization, Legacy)> {
    let mut k = Kustomization::default();
    let mut legacy = Legacy::default();
    let (mut charts, mut old_charts) = (None, None);
    fields!(value, "types.Kustomization", {
        "TypeMeta.apiVersion": string => k.api_version,
        "TypeMeta.kind": string => k.kind,
        "metadata": checked(object_meta) => (),
        "openapi": pairs => k.openapi,
        "namePrefix": string => k.name_prefix,
        "nameSuffix": string => k.name_suffix,
        "namespace": string => k.namespace,
        "commonLabels": pairs => k.common_labels,
        "labels": list("types.Label", label) => k.labels,
        "commonAnnotations": pairs => k.common_annotations,
        "patchesStrategicMerge":
            list("types.PatchStrategicMerge", merge_patch) => k.patches_strategic_merge,
        "patchesJson6902": list("types.Patch", patch) => k.patches_json6902,
        "patches": list("types.Patch", patch) => k.patches,
        "images": list("types.Image", image) => k.images,
        "imageTags": list("types.Image", image) => legacy.image_tags,
        "replacements": list("types.ReplacementField", replacement_field) => k.replacements,
        "replicas": list("types.Replica", replica) => k.replicas,
        "vars": list("types.Var", var) => k.vars,
        "sortOptions": optional(sort_options) => k.sort_options,
        "resources": paths => k.resources,
        "components": paths => k.components,
        "crds": paths => k.crds,
        "bases": paths => legacy.bases,
        "configMapGenerator": list("types.ConfigMapArgs", config_map) => k.config_map_generator,
        "secretGenerator": list("types.SecretArgs", secret) => k.secret_generator,
        "helmGlobals": helm_globals => (),
        "helmCharts": charts_at("types.HelmChart", helm_chart) => charts,
        "helmChartInflationGenerator":
            charts_at("types.HelmChartArgs", old_helm_chart) => old_charts,
        "generatorOptions": optional(generator_options) => k.generator_options,
        "configurations": paths => k.configurations,
        "generators": list("string", document) => k.generators,
        "transformers": list("string", document) => k.transformers,
        "validators": list("string", document) => k.validators,
        "buildMetadata": texts => k.build_metadata,
    });
    k.helm_charts = charts.or(old_charts);
    Ok((k, legacy))
}

#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) name: Text,
    pub(crate) namespace: Text,
}

pub(crate) fn object_meta(value: Value<'_>) -> Result<Metadata> {
    let mut metadata = Metadata::default();
    fields!(value, "types.ObjectMeta", {
        "name": string => metadata.name,
        "namespace": string => metadata.namespace,
        "labels": checked(pairs) => (),
        "annotations": checked(pairs) => (),
    });
    Ok(metadata)
}

pub(crate) fn label(value: Value<'_>) -> Result<Label> {
    let mut label = Label::default();
    fields!(value, "types.Label", {
        "pairs": pairs => label.pairs,
        "includeSelectors": boolean => label.include_selectors,
        "includeTemplates": boolean => label.include_templates,
        "fields": field_specs => label.fields,
    });
    Ok(label)
}

pub(crate) fn field_specs(value: Value<'_>) -> Result<Vec<FieldSpec>> {
    list("types.FieldSpec", field_spec)(value)
}

pub(crate) fn field_spec(value: Value<'_>) -> Result<FieldSpec> {
    let mut spec = FieldSpec::default();
    fields!(value, "types.FieldSpec", {
        "Gvk.group": spec_part => spec.group,
        "Gvk.version": spec_part => spec.version,
        "Gvk.kind": spec_part => spec.kind,
        "path": spec_path => spec.path,
        "create": boolean => spec.create,
    });
    Ok(spec)
}

fn spec_path(value: Value<'_>) -> Result<std::borrow::Cow<'static, str>> {
    /// Objects are not deeper, and a path that creates its fields would make one that is.
    const MAX_PARTS: usize = 500;
    let path = spec_part(value)?;
    if path.matches('/').count() >= MAX_PARTS {
        return Err(Problem::new(format!("the path has more than {MAX_PARTS} parts"), value.pos()));
    }
    Ok(path)
}

pub(crate) fn spec_part(value: Value<'_>) -> Result<std::borrow::Cow<'static, str>> {
    string(value).map(|text| text.to_string().into())
}

fn merge_patch(value: Value<'_>) -> Result<Located> {
    let text = string_type("types.PatchStrategicMerge")(value)?;
    Ok(Located { text, pos: text_pos(value) })
}

/// Where the text of a scalar begins, which may be a document of its own.
fn text_pos(value: Value<'_>) -> Pos {
    let pos = value.pos();
    match value.node().as_scalar().map(|scalar| scalar.style) {
        Some(Style::Literal | Style::Folded) => Pos::new(pos.line.saturating_add(1), 1),
        _ => pos,
    }
}

pub(crate) fn patch(value: Value<'_>) -> Result<Patch> {
    let mut patch = Patch { pos: value.pos(), ..Patch::default() };
    let mut inline = Located::default();
    let mut options = (false, false);
    fields!(value, "types.Patch", {
        "path": string => patch.path,
        "patch": document => inline,
        "target": optional(selector) => patch.target,
        "options": patch_options => options,
    });
    (patch.patch, patch.patch_pos) = (inline.text, inline.pos);
    (patch.allow_name_change, patch.allow_kind_change) = options;
    Ok(patch)
}

/// A string that holds YAML.
pub(crate) fn document(value: Value<'_>) -> Result<Located> {
    Ok(Located { text: string(value)?, pos: text_pos(value) })
}

/// Whether a patch may change the name, and whether the kind.
pub(crate) fn patch_options(value: Value<'_>) -> Result<(bool, bool)> {
    let (mut name, mut kind) = (false, false);
    fields!(value, "types.PatchArgs", {
        "allowNameChange": boolean => name,
        "allowKindChange": boolean => kind,
    });
    Ok((name, kind))
}

pub(crate) fn selector(value: Value<'_>) -> Result<Selector> {
    let mut selector = Selector { pos: value.pos(), ..Selector::default() };
    fields!(value, "types.Selector", {
        "ResId.Gvk.group": string => selector.group,
        "ResId.Gvk.version": string => selector.version,
        "ResId.Gvk.kind": string => selector.kind,
        "ResId.name": string => selector.name,
        "ResId.namespace": string => selector.namespace,
        "annotationSelector": string => selector.annotation_selector,
        "labelSelector": string => selector.label_selector,
    });
    Ok(selector)
}

pub(crate) fn image(value: Value<'_>) -> Result<Image> {
    let mut image = Image { pos: value.pos(), ..Image::default() };
    fields!(value, "types.Image", {
        "name": string => image.name,
        "newName": string => image.new_name,
        "tagSuffix": string => image.tag_suffix,
        "newTag": string => image.new_tag,
        "digest": string => image.digest,
    });
    Ok(image)
}

pub(crate) fn replica(value: Value<'_>) -> Result<Replica> {
    let mut replica = Replica { pos: value.pos(), ..Replica::default() };
    fields!(value, "types.Replica", {
        "name": string => replica.name,
        "count": integer("int64") => replica.count,
    });
    Ok(replica)
}

fn sort_options(value: Value<'_>) -> Result<SortOptions> {
    let mut options = SortOptions::default();
    fields!(value, "types.SortOptions", {
        "order": string_type("types.SortOrder") => options.order,
        "legacySortOptions": optional(legacy_sort_options) => options.legacy,
    });
    Ok(options)
}

fn legacy_sort_options(value: Value<'_>) -> Result<LegacySortOptions> {
    let mut options = LegacySortOptions::default();
    fields!(value, "types.LegacySortOptions", {
        "orderFirst": texts => options.order_first,
        "orderLast": texts => options.order_last,
    });
    Ok(options)
}

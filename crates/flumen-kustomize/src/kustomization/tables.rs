//! Which fields a kustomization file and the records in it have.

use flumen_object::Gvk;
use flumen_yaml::{Pos, Style, Text};

use super::fields::{
    FieldOptions, GeneratorArgs, GeneratorOptions, Image, Kustomization, Label, LegacySortOptions,
    Located, Patch, Replacement, ReplacementField, ReplacementTarget, Replica, Selector,
    SortOptions, SourceSelector, Var,
};
use crate::{
    config::FieldSpec,
    decode::{
        Problem, Result, Value, fields,
        readers::{
            boolean, checked, integer, list, located, object, optional, pairs, paths, string,
            string_type, texts,
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

pub(crate) fn replacement_field(value: Value<'_>) -> Result<ReplacementField> {
    let mut replacement = Replacement { pos: value.pos(), ..Replacement::default() };
    let mut path = Text::default();
    fields!(value, "types.ReplacementField", {
        "Replacement.source": optional(source_selector) => replacement.source,
        "Replacement.targets":
            list("*types.TargetSelector", replacement_target) => replacement.targets,
        "Replacement.sourceValue": optional(string) => replacement.source_value,
        "path": string => path,
    });
    Ok(ReplacementField { path, replacement, pos: value.pos() })
}

/// A replacement in a file of its own.
pub(crate) fn replacement(value: Value<'_>) -> Result<Replacement> {
    let mut replacement = Replacement { pos: value.pos(), ..Replacement::default() };
    fields!(value, "types.Replacement", {
        "source": optional(source_selector) => replacement.source,
        "targets": list("*types.TargetSelector", replacement_target) => replacement.targets,
        "sourceValue": optional(string) => replacement.source_value,
    });
    Ok(replacement)
}

fn source_selector(value: Value<'_>) -> Result<SourceSelector> {
    let mut source = SourceSelector { pos: value.pos(), ..SourceSelector::default() };
    fields!(value, "types.SourceSelector", {
        "ResId.Gvk.group": string => source.group,
        "ResId.Gvk.version": string => source.version,
        "ResId.Gvk.kind": string => source.kind,
        "ResId.name": string => source.name,
        "ResId.namespace": string => source.namespace,
        "fieldPath": string => source.field_path,
        "options": optional(field_options) => source.options,
    });
    Ok(source)
}

fn replacement_target(value: Value<'_>) -> Result<ReplacementTarget> {
    let mut target = ReplacementTarget { pos: value.pos(), ..ReplacementTarget::default() };
    fields!(value, "types.TargetSelector", {
        "select": optional(selector) => target.select,
        "reject": list("*types.Selector", selector) => target.reject,
        "fieldPaths": paths => target.field_paths,
        "options": optional(field_options) => target.options,
    });
    Ok(target)
}

fn field_options(value: Value<'_>) -> Result<FieldOptions> {
    let mut options = FieldOptions::default();
    fields!(value, "types.FieldOptions", {
        "delimiter": string => options.delimiter,
        "index": integer("int") => options.index,
        "encoding": string => options.encoding,
        "create": boolean => options.create,
    });
    Ok(options)
}

fn var(value: Value<'_>) -> Result<Var> {
    /// A variable without a field speaks of the name.
    const DEFAULT_FIELD: &str = "metadata.name";

    let mut var = Var { pos: value.pos(), ..Var::default() };
    let mut object = Var::default();
    fields!(value, "types.Var", {
        "name": string => var.name,
        "objref": var_object => object,
        "fieldref": var_field => var.field_path,
    });
    var = Var { name: var.name, field_path: var.field_path, pos: var.pos, ..object };
    if var.field_path.is_empty() {
        var.field_path = Text::literal(DEFAULT_FIELD);
    }
    Ok(var)
}

fn var_object(value: Value<'_>) -> Result<Var> {
    let mut object = Var::default();
    fields!(value, "types.Target", {
        "apiVersion": string => object.api_version,
        "Gvk.group": string => object.group,
        "Gvk.version": string => object.version,
        "Gvk.kind": string => object.kind,
        "name": string => object.object_name,
        "namespace": string => object.namespace,
    });
    match object.api_version.matches('/').count() {
        0 if object.api_version.is_empty() => {}
        0 => object.version = object.api_version.clone(),
        1 => {
            let gvk = Gvk::new(&object.api_version, Text::default());
            (object.group, object.version) = (gvk.group, gvk.version);
        }
        _ => {}
    }
    Ok(object)
}

fn var_field(value: Value<'_>) -> Result<Text> {
    let mut path = Text::default();
    fields!(value, "types.FieldSelector", { "fieldPath": string => path });
    Ok(path)
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

const CONFIG_MAP_FIELDS: &[&str] = &[
    "GeneratorArgs.namespace",
    "GeneratorArgs.name",
    "GeneratorArgs.behavior",
    "GeneratorArgs.KvPairSources.literals",
    "GeneratorArgs.KvPairSources.files",
    "GeneratorArgs.KvPairSources.envs",
    "GeneratorArgs.KvPairSources.env",
    "GeneratorArgs.options",
];

const SECRET_FIELDS: &[&str] = &[
    "GeneratorArgs.namespace",
    "GeneratorArgs.name",
    "GeneratorArgs.behavior",
    "GeneratorArgs.KvPairSources.literals",
    "GeneratorArgs.KvPairSources.files",
    "GeneratorArgs.KvPairSources.envs",
    "GeneratorArgs.KvPairSources.env",
    "GeneratorArgs.options",
    "type",
];

fn config_map(value: Value<'_>) -> Result<GeneratorArgs> {
    generator(value, "types.ConfigMapArgs", CONFIG_MAP_FIELDS).map(with_env)
}

fn secret(value: Value<'_>) -> Result<GeneratorArgs> {
    generator(value, "types.SecretArgs", SECRET_FIELDS).map(with_env)
}

/// The older `env` counts as one more of `envs`.
fn with_env((mut args, env): (GeneratorArgs, Located)) -> GeneratorArgs {
    if !env.text.is_empty() {
        args.envs.push(env);
    }
    args
}

/// A generator and its `env`, which plugins do not look at; which of its fields there are, and what
/// messages call them, is told by `names`.
pub(crate) fn generator(
    value: Value<'_>,
    record: &'static str,
    names: &'static [&'static str],
) -> Result<(GeneratorArgs, Located)> {
    let mut args = GeneratorArgs { pos: value.pos(), ..GeneratorArgs::default() };
    let mut env = Located::default();
    let mut metadata = Metadata::default();
    for field in value.fields(record, names)? {
        match field.key() {
            "namespace" => args.namespace = field.read(string)?,
            "name" => args.name = field.read(string)?,
            "behavior" => args.behavior = field.read(string)?,
            "literals" => args.literals = field.read(paths)?,
            "files" => args.files = field.read(paths)?,
            "envs" => args.envs = field.read(paths)?,
            "env" => env = field.read(located)?,
            "options" => args.options = Some(field.read(generator_options)?),
            "type" => args.secret_type = field.read(string)?,
            "metadata" => metadata = field.read(object_meta)?,
            _ => {}
        }
    }
    if args.name.is_empty() {
        args.name = metadata.name;
    }
    if args.namespace.is_empty() {
        args.namespace = metadata.namespace;
    }
    Ok((args, env))
}

pub(crate) fn generator_options(value: Value<'_>) -> Result<GeneratorOptions> {
    let mut options = GeneratorOptions::default();
    fields!(value, "types.GeneratorOptions", {
        "labels": pairs => options.labels,
        "annotations": pairs => options.annotations,
        "disableNameSuffixHash": boolean => options.disable_name_suffix_hash,
        "immutable": boolean => options.immutable,
    });
    Ok(options)
}

fn helm_globals(value: Value<'_>) -> Result<()> {
    fields!(value, "types.HelmGlobals", {
        "chartHome": checked(string) => (),
        "configHome": checked(string) => (),
    });
    Ok(())
}

/// Where a list of charts begins, unless it is empty.
fn charts_at(
    item: &'static str,
    chart: impl Fn(Value<'_>) -> Result<()> + Copy,
) -> impl Fn(Value<'_>) -> Result<Option<Pos>> + Copy {
    move |value| {
        let charts = list(item, chart)(value)?;
        Ok((!charts.is_empty()).then_some(value.pos()))
    }
}

fn helm_chart(value: Value<'_>) -> Result<()> {
    fields!(value, "types.HelmChart", {
        "name": checked(string) => (),
        "version": checked(string) => (),
        "repo": checked(string) => (),
        "releaseName": checked(string) => (),
        "namespace": checked(string) => (),
        "additionalValuesFiles": checked(texts) => (),
        "valuesFile": checked(string) => (),
        "valuesInline": object => (),
        "valuesMerge": checked(string) => (),
        "includeCRDs": checked(boolean) => (),
        "skipHooks": checked(boolean) => (),
        "apiVersions": checked(texts) => (),
        "kubeVersion": checked(string) => (),
        "nameTemplate": checked(string) => (),
        "skipTests": checked(boolean) => (),
        "debug": checked(boolean) => (),
        "devel": checked(boolean) => (),
    });
    Ok(())
}

fn old_helm_chart(value: Value<'_>) -> Result<()> {
    fields!(value, "types.HelmChartArgs", {
        "chartName": checked(string) => (),
        "chartVersion": checked(string) => (),
        "chartRepoUrl": checked(string) => (),
        "chartHome": checked(string) => (),
        "chartRepoName": checked(string) => (),
        "helmBin": checked(string) => (),
        "helmHome": checked(string) => (),
        "values": checked(string) => (),
        "valuesLocal": object => (),
        "valuesMerge": checked(string) => (),
        "releaseName": checked(string) => (),
        "releaseNamespace": checked(string) => (),
        "extraArgs": checked(texts) => (),
    });
    Ok(())
}

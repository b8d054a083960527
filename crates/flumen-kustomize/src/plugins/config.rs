//! What plugins are configured with: one table for each kind.

use flumen_yaml::Text;

use crate::{
    config::FieldSpec,
    decode::{
        Result, Value, fields,
        readers::{boolean, integer, list, named_list, optional, pairs, string, string_type},
    },
    generate::IamPolicyArgs,
    kustomization::{
        fields::{
            GeneratorArgs, Image, Located, Pairs, Patch, ReplacementField, Replica, Selector,
        },
        tables::{
            Metadata, document, field_spec, field_specs, generator, image, object_meta,
            patch_options, replacement_field, replica, selector,
        },
    },
    transform::value_add::Target,
};

// `env` is missing because it does nothing here: only kustomization files turn it into `envs`.
const CONFIG_MAP_FIELDS: &[&str] = &[
    "metadata",
    "ConfigMapArgs.GeneratorArgs.namespace",
    "ConfigMapArgs.GeneratorArgs.name",
    "ConfigMapArgs.GeneratorArgs.behavior",
    "ConfigMapArgs.GeneratorArgs.KvPairSources.literals",
    "ConfigMapArgs.GeneratorArgs.KvPairSources.files",
    "ConfigMapArgs.GeneratorArgs.KvPairSources.envs",
    "ConfigMapArgs.GeneratorArgs.options",
];

const SECRET_FIELDS: &[&str] = &[
    "metadata",
    "SecretArgs.GeneratorArgs.namespace",
    "SecretArgs.GeneratorArgs.name",
    "SecretArgs.GeneratorArgs.behavior",
    "SecretArgs.GeneratorArgs.KvPairSources.literals",
    "SecretArgs.GeneratorArgs.KvPairSources.files",
    "SecretArgs.GeneratorArgs.KvPairSources.envs",
    "SecretArgs.GeneratorArgs.options",
    "SecretArgs.type",
];

pub(super) fn config_map(value: Value<'_>) -> Result<GeneratorArgs> {
    generator(value, "builtins.ConfigMapGeneratorPlugin", CONFIG_MAP_FIELDS).map(|(args, _)| args)
}

pub(super) fn secret(value: Value<'_>) -> Result<GeneratorArgs> {
    generator(value, "builtins.SecretGeneratorPlugin", SECRET_FIELDS).map(|(args, _)| args)
}

pub(super) fn iam_policy(value: Value<'_>) -> Result<IamPolicyArgs> {
    let mut args = IamPolicyArgs::default();
    let (mut service, mut account) = <((Text, Text), (Text, Text))>::default();
    fields!(value, "builtins.IAMPolicyGeneratorPlugin", {
        "IAMPolicyGeneratorArgs.cloud": string_type("types.Cloud") => args.cloud,
        "IAMPolicyGeneratorArgs.kubernetesService": kubernetes_service => service,
        "IAMPolicyGeneratorArgs.serviceAccount": service_account => account,
    });
    (args.service_name, args.service_namespace) = service;
    (args.account_name, args.project_id) = account;
    Ok(args)
}

fn kubernetes_service(value: Value<'_>) -> Result<(Text, Text)> {
    let (mut name, mut namespace) = <(Text, Text)>::default();
    fields!(value, "types.KubernetesService", {
        "name": string => name,
        "namespace": string => namespace,
    });
    Ok((name, namespace))
}

fn service_account(value: Value<'_>) -> Result<(Text, Text)> {
    let (mut name, mut project) = <(Text, Text)>::default();
    fields!(value, "types.ServiceAccount", {
        "name": string => name,
        "projectId": string => project,
    });
    Ok((name, project))
}

impl AffixArgs {
    pub(super) fn specs(&self) -> &[FieldSpec] {
        self.specs.as_deref().unwrap_or_default()
    }
}

/// Pairs to add to fields.
#[derive(Debug, Default)]
pub(crate) struct PairsArgs {
    pub(crate) pairs: Pairs,
    pub(crate) specs: Vec<FieldSpec>,
}

pub(super) fn labels(value: Value<'_>) -> Result<PairsArgs> {
    let mut args = PairsArgs::default();
    fields!(value, "builtins.LabelTransformerPlugin", {
        "labels": pairs => args.pairs,
        "fieldSpecs": field_specs => args.specs,
    });
    Ok(args)
}

pub(super) fn annotations(value: Value<'_>) -> Result<PairsArgs> {
    let mut args = PairsArgs::default();
    fields!(value, "builtins.AnnotationsTransformerPlugin", {
        "annotations": pairs => args.pairs,
        "fieldSpecs": field_specs => args.specs,
    });
    Ok(args)
}

#[derive(Debug, Default)]
pub(crate) struct NamespaceArgs {
    pub(crate) namespace: Text,
    pub(crate) specs: Vec<FieldSpec>,
    pub(crate) unset_only: bool,
    /// `setRoleBindingSubjects`, not checked yet.
    pub(crate) subjects: Text,
}

pub(super) fn namespace(value: Value<'_>) -> Result<NamespaceArgs> {
    let mut args = NamespaceArgs::default();
    let mut metadata = Metadata::default();
    fields!(value, "builtins.NamespaceTransformerPlugin", {
        "metadata": object_meta => metadata,
        "fieldSpecs": field_specs => args.specs,
        "unsetOnly": boolean => args.unset_only,
        "setRoleBindingSubjects":
            string_type("namespace.RoleBindingSubjectMode") => args.subjects,
    });
    args.namespace = metadata.namespace;
    Ok(args)
}

/// What to put before or after names.
#[derive(Debug, Default)]
pub(crate) struct AffixArgs {
    pub(crate) text: Text,
    /// Unlike other plugins, these must be told where names are.
    pub(crate) specs: Option<Vec<FieldSpec>>,
}

pub(super) fn prefix(value: Value<'_>) -> Result<AffixArgs> {
    let mut args = AffixArgs::default();
    fields!(value, "builtins.PrefixTransformerPlugin", {
        "prefix": string => args.text,
        "fieldSpecs": optional(named_list("types.FsSlice", field_spec)) => args.specs,
    });
    Ok(args)
}

pub(super) fn suffix(value: Value<'_>) -> Result<AffixArgs> {
    let mut args = AffixArgs::default();
    fields!(value, "builtins.SuffixTransformerPlugin", {
        "suffix": string => args.text,
        "fieldSpecs": optional(named_list("types.FsSlice", field_spec)) => args.specs,
    });
    Ok(args)
}

#[derive(Debug, Default)]
pub(crate) struct ImageArgs {
    pub(crate) image: Image,
    pub(crate) specs: Vec<FieldSpec>,
}

pub(super) fn image_tag(value: Value<'_>) -> Result<ImageArgs> {
    let mut args = ImageArgs::default();
    fields!(value, "builtins.ImageTagTransformerPlugin", {
        "imageTag": image => args.image,
        "fieldSpecs": field_specs => args.specs,
    });
    Ok(args)
}

#[derive(Debug, Default)]
pub(crate) struct ReplicaArgs {
    pub(crate) replica: Replica,
    pub(crate) specs: Vec<FieldSpec>,
}

pub(super) fn replica_count(value: Value<'_>) -> Result<ReplicaArgs> {
    let mut args = ReplicaArgs::default();
    fields!(value, "builtins.ReplicaCountTransformerPlugin", {
        "replica": replica => args.replica,
        "fieldSpecs": field_specs => args.specs,
    });
    Ok(args)
}

pub(super) fn patch(value: Value<'_>) -> Result<Patch> {
    let mut patch = Patch { pos: value.pos(), ..Patch::default() };
    let mut inline = Located::default();
    let mut options = (false, false);
    fields!(value, "builtins.PatchTransformerPlugin", {
        "path": string => patch.path,
        "patch": document => inline,
        "target": optional(selector) => patch.target,
        "options": patch_options => options,
    });
    (patch.patch, patch.patch_pos) = (inline.text, inline.pos);
    (patch.allow_name_change, patch.allow_kind_change) = options;
    Ok(patch)
}

pub(super) fn json_patch(value: Value<'_>) -> Result<Patch> {
    let mut patch = Patch { pos: value.pos(), ..Patch::default() };
    let mut inline = Located::default();
    fields!(value, "builtins.PatchJson6902TransformerPlugin", {
        "target": optional(selector) => patch.target,
        "path": string => patch.path,
        "jsonOp": document => inline,
    });
    (patch.patch, patch.patch_pos) = (inline.text, inline.pos);
    Ok(patch)
}

#[derive(Debug, Default)]
pub(crate) struct MergeArgs {
    /// Files, or patches written in their place.
    pub(crate) paths: Vec<Located>,
    pub(crate) patches: Located,
}

pub(super) fn merge_patches(value: Value<'_>) -> Result<MergeArgs> {
    let mut args = MergeArgs::default();
    fields!(value, "builtins.PatchStrategicMergeTransformerPlugin", {
        "paths": list("types.PatchStrategicMerge", document) => args.paths,
        "patches": document => args.patches,
    });
    Ok(args)
}

pub(super) fn replacements(value: Value<'_>) -> Result<Vec<ReplacementField>> {
    let mut all = Vec::new();
    fields!(value, "builtins.ReplacementTransformerPlugin", {
        "replacements": list("types.ReplacementField", replacement_field) => all,
    });
    Ok(all)
}

/// A value to write into fields.
#[derive(Debug, Default)]
pub(crate) struct ValueAddArgs {
    pub(crate) value: Text,
    pub(crate) targets: Vec<ValueAddTarget>,
    /// A file with further targets.
    pub(crate) target_file: Text,
}

/// See [`Target`], which borrows from it.
#[derive(Debug, Default)]
pub(crate) struct ValueAddTarget {
    selector: Option<Selector>,
    field_path: Text,
    file_path_position: i64,
}

impl ValueAddArgs {
    pub(super) fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        self.targets.iter().map(|target| Target {
            selector: target.selector.as_ref(),
            field_path: &target.field_path,
            position: target.file_path_position,
        })
    }
}

pub(super) fn value_add(value: Value<'_>) -> Result<ValueAddArgs> {
    let mut args = ValueAddArgs::default();
    fields!(value, "builtins.ValueAddTransformerPlugin", {
        "value": string => args.value,
        "targets": list("builtins.Target", value_add_target) => args.targets,
        "targetFilePath": string => args.target_file,
    });
    Ok(args)
}

/// A file that [`ValueAddArgs::target_file`] names.
pub(super) fn value_add_targets(value: Value<'_>) -> Result<Vec<ValueAddTarget>> {
    let mut targets = Vec::new();
    fields!(value, "struct { Targets []builtins.Target }", {
        "targets": list("builtins.Target", value_add_target) => targets,
    });
    Ok(targets)
}

fn value_add_target(value: Value<'_>) -> Result<ValueAddTarget> {
    let mut target = ValueAddTarget::default();
    fields!(value, "builtins.Target", {
        "selector": optional(selector) => target.selector,
        "fieldPath": string => target.field_path,
        "filePathPosition": integer("int") => target.file_path_position,
    });
    Ok(target)
}

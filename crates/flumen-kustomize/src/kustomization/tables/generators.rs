//! Generators: config maps, secrets and charts.

use flumen_yaml::Pos;

use super::{Metadata, object_meta};
use crate::{
    decode::{
        Result, Value, fields,
        readers::{boolean, checked, list, located, object, pairs, paths, string, texts},
    },
    kustomization::fields::{GeneratorArgs, GeneratorOptions, Located},
};

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

pub(super) fn config_map(value: Value<'_>) -> Result<GeneratorArgs> {
    generator(value, "types.ConfigMapArgs", CONFIG_MAP_FIELDS).map(with_env)
}

pub(super) fn secret(value: Value<'_>) -> Result<GeneratorArgs> {
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

pub(super) fn helm_globals(value: Value<'_>) -> Result<()> {
    fields!(value, "types.HelmGlobals", {
        "chartHome": checked(string) => (),
        "configHome": checked(string) => (),
    });
    Ok(())
}

/// Where a list of charts begins, unless it is empty.
pub(super) fn charts_at(
    item: &'static str,
    chart: impl Fn(Value<'_>) -> Result<()> + Copy,
) -> impl Fn(Value<'_>) -> Result<Option<Pos>> + Copy {
    move |value| {
        let charts = list(item, chart)(value)?;
        Ok((!charts.is_empty()).then_some(value.pos()))
    }
}

pub(super) fn helm_chart(value: Value<'_>) -> Result<()> {
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

pub(super) fn old_helm_chart(value: Value<'_>) -> Result<()> {
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

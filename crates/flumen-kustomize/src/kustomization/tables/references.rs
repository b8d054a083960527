//! Values taken from other resources: replacements and variables.

use flumen_object::Gvk;
use flumen_yaml::Text;

use super::selector;
use crate::{
    decode::{
        Result, Value, fields,
        readers::{boolean, integer, list, optional, paths, string},
    },
    kustomization::fields::{
        FieldOptions, Replacement, ReplacementField, ReplacementTarget, SourceSelector, Var,
    },
};

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

pub(super) fn var(value: Value<'_>) -> Result<Var> {
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

//! `configurations`: files that tell transformers of further fields.

use std::borrow::Cow;

use crate::{
    config::{FieldSpec, FieldSpecs, NameReference, TransformerConfig, sort_key},
    decode::{Mode, Problem, Result as Read, Value, decode_file, fields, readers::named_list},
    error::Result,
    kustomization::{
        fields::Located,
        tables::{field_spec, spec_part},
    },
    loader::Loader,
};

/// The fields that transformers of a kustomization look at: the built-in ones and those of its files.
pub(crate) fn load(loader: &Loader, paths: &[Located]) -> Result<TransformerConfig> {
    let mut all = TransformerConfig::builtin();
    let mut configured = TransformerConfig::default();
    for path in paths {
        let file = loader.read(&path.text)?;
        configured.merge(&decode_file(&file, Mode::CONFIGURATION, transformer_config)?)?;
    }
    if !paths.is_empty() {
        all.merge(&configured)?;
    }
    Ok(all)
}

fn transformer_config(value: Value<'_>) -> Read<TransformerConfig> {
    refuse_repeated_keys(value)?;
    let mut config = TransformerConfig::default();
    fields!(value, "builtinconfig.TransformerConfig", {
        "namePrefix": specs => config.name_prefix,
        "nameSuffix": specs => config.name_suffix,
        "namespace": specs => config.namespace,
        "commonLabels": specs => config.common_labels,
        "labels": specs => config.labels,
        "templateLabels": specs => config.template_labels,
        "commonAnnotations": specs => config.common_annotations,
        "nameReference": name_references => config.name_reference,
        "varReference": specs => config.var_reference,
        "images": specs => config.images,
        "replicas": specs => config.replicas,
    });
    Ok(config)
}

/// Specifications in the order in which they are merged.
fn specs(value: Value<'_>) -> Read<FieldSpecs> {
    let mut specs: Vec<FieldSpec> = named_list("types.FsSlice", field_spec)(value)?;
    specs.sort_by_cached_key(|spec| sort_key(&spec.group, &spec.version, &spec.kind));
    Ok(Cow::Owned(specs))
}

fn name_references(value: Value<'_>) -> Read<Cow<'static, [NameReference]>> {
    let mut references = named_list("builtinconfig.nbrSlice", name_reference)(value)?;
    references.sort_by_cached_key(|entry| sort_key(&entry.group, &entry.version, &entry.kind));
    Ok(Cow::Owned(references))
}

fn name_reference(value: Value<'_>) -> Read<NameReference> {
    let mut reference = NameReference::default();
    let mut referrers = Vec::new();
    fields!(value, "builtinconfig.NameBackReferences", {
        "Gvk.group": spec_part => reference.group,
        "Gvk.version": spec_part => reference.version,
        "Gvk.kind": spec_part => reference.kind,
        "fieldSpecs": named_list("types.FsSlice", field_spec) => referrers,
    });
    reference.referrers = Cow::Owned(referrers);
    Ok(reference)
}

/// Unlike a kustomization, such a file must say each thing once.
fn refuse_repeated_keys(value: Value<'_>) -> Read<()> {
    let Some(map) = value.node().as_map() else { return Ok(()) };
    let mut keys: Vec<_> = map.iter().map(|entry| (&entry.key, entry.key_pos)).collect();
    keys.sort();
    let repeated = keys.windows(2).find_map(|pair| match pair {
        [(first, _), (second, pos)] if first == second => Some((*second, *pos)),
        _ => None,
    });
    match repeated {
        Some((key, pos)) => {
            Err(Problem::new(format!("line {}: key {key:?} already set in map", pos.line), pos))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use flumen_fs::MemoryTree;

    use super::*;
    use crate::loader::LoadRestriction;

    fn loaded(files: &[&str]) -> Result<TransformerConfig> {
        let mut tree = MemoryTree::new();
        let mut paths = Vec::new();
        for (index, content) in files.iter().enumerate() {
            let name = format!("{index}.yaml");
            tree.insert_file(format!("/{name}"), *content);
            paths.push(Located { text: name.into(), ..Located::default() });
        }
        let loader = Loader::open(Arc::new(tree), Path::new("/"), LoadRestriction::RootOnly, None)?;
        load(&loader, &paths)
    }

    #[track_caller]
    fn check_error(file: &str, expected: &str) {
        let error = loaded(&[file]).expect_err(file).to_string();
        assert_eq!(error, expected, "{file}");
    }

    #[test]
    fn files_add_to_the_built_in_fields() {
        let config = loaded(&[
            "namePrefix: [{path: a/b, kind: K, create: true}]\n",
            "NamePrefix:\n- path: c\n  kind: K\nimages: [{path: x}]\n",
        ])
        .expect("valid");
        let builtin = TransformerConfig::builtin();
        assert_eq!(config.name_prefix.len(), builtin.name_prefix.len() + 2);
        let places = config.name_prefix.iter().filter(|spec| spec.kind == "K");
        assert_eq!(
            places.map(|spec| (&*spec.path, spec.create)).collect::<Vec<_>>(),
            [("a/b", true), ("c", false)]
        );
        assert_eq!(config.images.len(), builtin.images.len() + 1);
    }

    #[test]
    fn name_references_are_joined_by_kind() {
        let config = loaded(&[
            "nameReference: [{kind: K, fieldSpecs: [{path: a, kind: R}]}]\n",
            "nameReference: [{kind: K, fieldSpecs: [{path: b, kind: R}]}]\n",
        ])
        .expect("valid");
        let mine: Vec<_> = config.name_reference.iter().filter(|entry| entry.kind == "K").collect();
        assert_eq!(mine.len(), 1);
        assert_eq!(mine[0].referrers.len(), 2);
    }

    #[test]
    fn nothing_configured_copies_nothing() {
        let config = loaded(&[]).expect("valid");
        assert!(matches!(config.name_reference, Cow::Borrowed(_)));
        loaded(&["", "# only a comment\n"]).expect("valid");
    }

    #[test]
    fn scalars_become_strings_outside_embedded_records() {
        let config = loaded(&["namePrefix: [{path: 1, create: yes}]\n"]).expect("valid");
        assert!(config.name_prefix.iter().any(|spec| spec.path == "1" && spec.create));
        check_error(
            "namePrefix: [{path: 1, kind: 2}]\n",
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go \
             struct field FieldSpec.namePrefix.Gvk.kind of type string",
        );
    }

    #[test]
    fn mistakes_are_refused() {
        let decoding = |what: &str| format!("error unmarshaling JSON: while decoding JSON: {what}");
        check_error("foo: 1\n", &decoding("json: unknown field \"foo\""));
        check_error(
            "- a\n",
            &decoding(
                "json: cannot unmarshal array into Go value of type builtinconfig.TransformerConfig",
            ),
        );
        check_error(
            "nameReference: [{fieldSpecs: 1}]\n",
            &decoding(
                "json: cannot unmarshal number into Go struct field \
                 NameBackReferences.nameReference.fieldSpecs of type types.FsSlice",
            ),
        );
        check_error(
            "images: []\nimages: []\n",
            &decoding("line 2: key \"images\" already set in map"),
        );
        check_error(
            "namePrefix: [{path: a, create: true}, {path: a}]\n",
            "failed to merge NamePrefix fieldSpec: conflicting fieldspecs",
        );
    }
}

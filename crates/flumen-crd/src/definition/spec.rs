//! The spec of a definition, with what all versions share set apart.

use serde_json::Value;

use crate::schema::Schema;

pub(crate) struct Spec<'a> {
    pub group: &'a str,
    pub scope: &'a str,
    pub names: Names<'a>,
    pub preserve_unknown: bool,
    pub versions: Vec<VersionSpec<'a>>,
    pub conversion: &'a Value,
    /// Whether all versions say the same, so that the server keeps it once.
    pub shares: Shares,
}

#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each part is shared or not by itself")]
pub(crate) struct Shares {
    pub schema: bool,
    pub subresources: bool,
    pub columns: bool,
    pub selectable: bool,
}

pub(crate) struct VersionSpec<'a> {
    pub raw: &'a Value,
    pub name: &'a str,
    pub served: bool,
    pub storage: bool,
    pub deprecated: bool,
    pub deprecation_warning: Option<&'a str>,
    pub schema: Option<Schema>,
    pub subresources: Option<&'a Value>,
    pub columns: &'a [Value],
    pub selectable: &'a [Value],
}

#[expect(clippy::struct_field_names, reason = "they are called so in definitions")]
pub(crate) struct Names<'a> {
    pub plural: &'a str,
    pub singular: &'a str,
    pub kind: &'a str,
    pub list_kind: &'a str,
    pub short_names: Vec<&'a str>,
    pub categories: Vec<&'a str>,
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn texts<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    list(value, key).iter().filter_map(Value::as_str).collect()
}

impl<'a> Names<'a> {
    pub(crate) fn read(value: &'a Value) -> Self {
        Self {
            plural: text(value, "plural"),
            singular: text(value, "singular"),
            kind: text(value, "kind"),
            list_kind: text(value, "listKind"),
            short_names: texts(value, "shortNames"),
            categories: texts(value, "categories"),
        }
    }
}

impl<'a> Spec<'a> {
    pub(crate) fn read(definition: &'a Value) -> Self {
        let spec = &definition["spec"];
        let raw = list(spec, "versions");
        let same = |key: &str| {
            let first = raw.first().map(|version| &version[key]);
            first.is_some_and(|first| raw.iter().all(|version| version[key] == *first))
        };
        Self {
            group: text(spec, "group"),
            scope: text(spec, "scope"),
            names: Names::read(&spec["names"]),
            preserve_unknown: spec["preserveUnknownFields"] == true,
            versions: raw.iter().map(VersionSpec::read).collect(),
            conversion: &spec["conversion"],
            shares: Shares {
                schema: same("schema"),
                subresources: same("subresources"),
                columns: same("additionalPrinterColumns"),
                selectable: same("selectableFields"),
            },
        }
    }

    pub(crate) fn schemas(&self) -> impl Iterator<Item = &Schema> {
        let count = if self.shares.schema { 1 } else { self.versions.len() };
        self.versions.iter().take(count).filter_map(|version| version.schema.as_ref())
    }
}

impl<'a> VersionSpec<'a> {
    fn read(raw: &'a Value) -> Self {
        Self {
            raw,
            name: text(raw, "name"),
            served: raw["served"] == true,
            storage: raw["storage"] == true,
            deprecated: raw["deprecated"] == true,
            deprecation_warning: raw["deprecationWarning"].as_str(),
            schema: Schema::read(&raw["schema"]["openAPIV3Schema"]),
            subresources: Some(&raw["subresources"]).filter(|value| value.is_object()),
            columns: list(raw, "additionalPrinterColumns"),
            selectable: list(raw, "selectableFields"),
        }
    }

    pub(crate) fn has_status(&self) -> bool {
        self.subresources.is_some_and(|it| it["status"].is_object())
    }
}

//! From the text of a configuration file to its keys and their places.

use std::{ops::Range, path::Path};

use flumen_yaml::{Budget, Pos, Text};
use schemars::Schema;
use serde::de::{DeserializeOwned, IgnoredAny};
use toml::{Spanned, de::DeTable};

use super::{
    ConfigError,
    format::{self, ComponentFile},
    places::{Lines, Places},
    unknown_keys,
};

/// What a file says and where.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) config: ComponentFile,
    pub(super) places: Places,
    /// The line that the text of `manifest` begins on, if its lines are lines of the file.
    pub(super) manifest_line: Option<u32>,
}

/// Which of the two forms a file has, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Toml,
    Json,
}

impl Form {
    pub(super) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

pub(super) fn parse(file: &Path, text: &str, form: Form) -> Result<Parsed, ConfigError> {
    match form {
        Form::Toml => parse_toml(file, text),
        Form::Json => parse_json(file, text),
    }
}

fn parse_toml(file: &Path, text: &str) -> Result<Parsed, ConfigError> {
    let toml = TomlFile::parse(file, text)?;
    let (config, places) = toml.decode(&format::schema())?;
    let manifest = toml.table.get_ref().get("manifest").map(Spanned::span);
    let manifest_line = manifest.and_then(|span| first_line(text, span, &toml.lines));
    Ok(Parsed { config, places, manifest_line })
}

/// A TOML text and where its parts stand.
pub(crate) struct TomlFile<'a> {
    file: &'a Path,
    text: &'a str,
    lines: Lines<'a>,
    table: Spanned<DeTable<'a>>,
}

impl<'a> TomlFile<'a> {
    pub(crate) fn parse(file: &'a Path, text: &'a str) -> Result<Self, ConfigError> {
        let lines = Lines::new(text);
        let table = DeTable::parse(text).map_err(|error| toml_error(file, &lines, &error))?;
        Ok(Self { file, text, lines, table })
    }

    /// What the text says, if it has no key that the schema does not know.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        schema: &Schema,
    ) -> Result<(T, Places), ConfigError> {
        let places = Places::of_toml(self.table.get_ref(), &self.lines);
        unknown_keys::refuse(self.file, &places, schema)?;
        let config = toml::from_str(self.text)
            .map_err(|error| toml_error(self.file, &self.lines, &error))?;
        Ok((config, places))
    }
}

fn toml_error(file: &Path, lines: &Lines<'_>, error: &toml::de::Error) -> ConfigError {
    let pos = error.span().map_or(Pos::new(1, 1), |span| lines.place(span));
    ConfigError::new(file, pos, error.message().to_owned())
}

/// The line that the text of a multi-line string begins on; a break behind the quotes is no part of it.
fn first_line(text: &str, span: Range<usize>, lines: &Lines<'_>) -> Option<u32> {
    let value = text.get(span.clone())?;
    let content = ["'''", "\"\"\""].iter().find_map(|quotes| value.strip_prefix(quotes))?;
    let begins_below = content.starts_with(['\n', '\r']);
    Some(lines.place(span).line + u32::from(begins_below))
}

fn parse_json(file: &Path, text: &str) -> Result<Parsed, ConfigError> {
    let at = |error: &serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let message = message.strip_suffix(&format!(" at line {line} column {column}"));
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let pos = Pos::new(number(line), number(column));
        ConfigError::new(file, pos, message.map_or_else(|| error.to_string(), str::to_owned))
    };
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| at(&error))?;
    // JSON is YAML, and that reader knows where things stand.
    let documents = flumen_yaml::read(&Text::from(text), 1, &Budget::default())
        .map_err(|error| ConfigError::new(file, error.pos(), error.problem().to_owned()))?;
    let places = documents.first().map(Places::of_json).unwrap_or_default();
    unknown_keys::refuse(file, &places, &format::schema())?;
    let config = serde_json::from_str(text).map_err(|error| at(&error))?;
    Ok(Parsed { config: without_empty_tables(config), places, manifest_line: None })
}

/// Programs that write JSON write every table, also those that are not used.
fn without_empty_tables(mut config: ComponentFile) -> ComponentFile {
    let has_other_source = !config.manifest.is_empty() || config.oci_artifact.is_some();
    if has_other_source && config.kustomize.as_ref().is_some_and(|table| table.path.is_empty()) {
        config.kustomize = None;
    }
    config
}

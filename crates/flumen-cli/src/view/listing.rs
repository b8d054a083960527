//! Records as they are printed: a table for people, JSON and YAML for programs, names for scripts.

use clap::ValueEnum;
use flumen_yaml::{Budget, Text};
use serde::Serialize;

use crate::{
    error::{CommandError, Failure},
    ui::Ui,
    view::printable::{Lines, printable},
};

/// Longer cells do not fit a table.
const MAX_CELL_BYTES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// One line for each
    Table,
    /// The same with more columns
    Wide,
    Json,
    Yaml,
    /// Names and nothing else
    Name,
}

/// A record that can be a line of a table.
pub(crate) trait Record: Serialize {
    /// Headings of the table, and of what is only in the wide one.
    const HEADINGS: (&'static [&'static str], &'static [&'static str]);

    /// Cells of a line: as many as there are headings of both kinds.
    fn cells(&self) -> Vec<String>;

    fn name(&self) -> &str;
}

/// Prints all records.
pub(crate) fn print<R: Record>(
    records: &[R],
    format: ListFormat,
    ui: &Ui,
) -> Result<(), CommandError> {
    let text = match format {
        ListFormat::Table => table(records, R::HEADINGS.0.len()),
        ListFormat::Wide => table(records, R::HEADINGS.0.len() + R::HEADINGS.1.len()),
        ListFormat::Json => to_json(&records)?,
        ListFormat::Yaml => to_yaml(&records)?,
        ListFormat::Name => lines(records.iter().map(Record::name)),
    };
    ui.data(text.as_bytes())
}

/// Returns each text on a line of its own.
pub(crate) fn lines<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().flat_map(|text| [text, "\n"]).collect()
}

fn table<R: Record>(records: &[R], columns: usize) -> String {
    let headings = R::HEADINGS.0.iter().chain(R::HEADINGS.1).map(ToString::to_string).collect();
    let mut lines: Vec<Vec<String>> = vec![headings];
    lines.extend(records.iter().map(|record| {
        let cells = record.cells().into_iter();
        cells.map(|cell| printable(&cell, Lines::Escape, MAX_CELL_BYTES)).collect()
    }));
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, CommandError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(format!("cannot print as JSON: {error}")))?;
    text.push('\n');
    Ok(text)
}

/// JSON is YAML, so our own reader and writer do the rest.
pub(crate) fn to_yaml(value: &impl Serialize) -> Result<String, CommandError> {
    let failed = |error: &dyn std::error::Error| {
        CommandError::from(Failure::new(format!("cannot print as YAML: {error}")))
    };
    let json = Text::from(to_json(value)?);
    let nodes = flumen_yaml::read(&json, 1, &Budget::default()).map_err(|error| failed(&error))?;
    let mut text = Vec::new();
    for node in &nodes {
        flumen_yaml::emit(node, &mut text).map_err(|error| failed(&error))?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Fruit {
        name: &'static str,
        colour: &'static str,
    }

    impl Record for Fruit {
        const HEADINGS: (&'static [&'static str], &'static [&'static str]) =
            (&["NAME"], &["COLOUR"]);

        fn cells(&self) -> Vec<String> {
            vec![self.name.into(), self.colour.into()]
        }

        fn name(&self) -> &str {
            self.name
        }
    }

    const FRUITS: [Fruit; 2] =
        [Fruit { name: "fig", colour: "violet" }, Fruit { name: "banana", colour: "\u{1b}[33m" }];

    #[test]
    fn columns_are_aligned_and_harmless() {
        assert_eq!(table(&FRUITS, 1), "NAME\nfig\nbanana\n");
        assert_eq!(table(&FRUITS, 2), "NAME    COLOUR\nfig     violet\nbanana  \\u{1b}[33m\n");
    }

    #[test]
    fn yaml_and_json_say_the_same() {
        assert_eq!(to_yaml(&&FRUITS[..1]).expect("YAML"), "- colour: violet\n  name: fig\n");
        assert_eq!(
            to_json(&&FRUITS[..1]).expect("JSON"),
            "[\n  {\n    \"name\": \"fig\",\n    \"colour\": \"violet\"\n  }\n]\n"
        );
    }
}

//! Columns, read from their text.

use serde_json::{Value, json};

use super::{Table, kinds};

/// A column of a table.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    /// `string`, `integer`, `boolean` or `date`.
    pub type_name: &'static str,
    /// `name` for the column that names the object.
    pub format: &'static str,
    /// Zero if it is printed always.
    pub priority: u8,
    pub description: String,
}

impl Column {
    /// As it is in `columnDefinitions`.
    pub fn to_value(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.type_name,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        })
    }
}

/// All tables; the first is the one of kinds without their own.
pub(super) fn read(text: &'static str) -> Vec<Table> {
    let mut shared: Vec<(&str, &str)> = Vec::new();
    let mut tables: Vec<Table> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some((name, description)) =
            line.strip_prefix("describe ").and_then(|rest| rest.split_once(' '))
        {
            shared.push((name, description));
        } else if let Some((group, kind)) =
            line.strip_prefix("table ").and_then(|rest| rest.split_once(' '))
        {
            let group = if group == "core" { "" } else { group };
            let cells = kinds::cells(group, kind);
            tables.push(Table { columns: Vec::new(), cells, group, kind });
        } else if let (Some(column), Some(table)) = (column(line, &shared), tables.last_mut()) {
            table.columns.push(column);
        }
    }
    tables
}

fn column(line: &'static str, shared: &[(&str, &str)]) -> Option<Column> {
    let mut parts = line.splitn(5, '|');
    let (name, type_name, format) = (parts.next()?, parts.next()?, parts.next()?);
    let (priority, text) = (parts.next()?.parse().ok()?, parts.next()?);
    let text = shared.iter().find(|(name, _)| *name == text).map_or(text, |(_, text)| *text);
    Some(Column { name, type_name, format, priority, description: text.replace("\\n", "\n") })
}

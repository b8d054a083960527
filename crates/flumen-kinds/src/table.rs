//! Objects of built-in kinds as the rows of a `Table`: what `kubectl get` prints.
//!
//! The columns are facts, read from one text. The cells are a list per kind that says where each one
//! comes from; a function is named only where a path cannot say it. All columns are answered, those of
//! a priority above zero too: clients leave them out.

mod access;
mod cell;
mod cluster;
mod columns;
mod duration;
mod kinds;
mod network;
mod object;
mod pod;
mod scaling;
mod selector;
mod storage;
mod workload;

use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::{Value, json};

use cell::Cell;
pub use columns::Column;
pub use duration::{age, human};
use object::Object;

/// How the objects of one kind are printed.
#[derive(Debug)]
pub struct Table {
    pub columns: Vec<Column>,
    cells: &'static [Cell],
    group: &'static str,
    kind: &'static str,
}

static TABLES: LazyLock<Vec<Table>> =
    LazyLock::new(|| columns::read(include_str!("table/columns.txt")));

impl Table {
    /// The table of a kind; one with the name and the time of creation if it has none of its own.
    pub fn of(group: &str, kind: &str) -> &'static Self {
        let tables = &*TABLES;
        tables.iter().find(|t| t.kind == kind && t.group == group).unwrap_or(&tables[0])
    }

    /// Whether it is the one of the kinds that have none of their own.
    pub fn is_usual(&self) -> bool {
        std::ptr::eq(self, &raw const TABLES[0])
    }

    /// One value a column.
    pub fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let object = Object::new(object, now);
        let mut cells = Vec::with_capacity(self.cells.len());
        for cell in self.cells {
            cell.write(object, &mut cells);
        }
        cells
    }

    /// What is said of the row as a whole: that a pod is over.
    pub fn conditions(&self, object: &Value) -> Option<Value> {
        if self.kind != "Pod" {
            return None;
        }
        let (reason, message) = match object.pointer("/status/phase")?.as_str()? {
            "Succeeded" => ("Succeeded", "The pod has completed successfully."),
            "Failed" => ("Failed", "The pod failed."),
            _ => return None,
        };
        Some(json!([
            {"type": "Completed", "status": "True", "reason": reason, "message": message}
        ]))
    }
}

#[cfg(test)]
mod tests;

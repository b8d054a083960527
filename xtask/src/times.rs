//! Times of a test run: of its steps, of the crates that Cargo built, of the test programs.
//!
//! `target/xtask-times.json` keeps them for tools; people get a table of the longest ones.

use std::{fmt::Write as _, fs};

use serde_json::{Value, json};

use crate::{Result, process::target_directory};

const FILE: &str = "xtask-times.json";
/// Rows of each part of the table. The file has all.
const ROWS: usize = 15;

#[derive(Debug, Default)]
pub(crate) struct Times {
    steps: Vec<Entry>,
    crates: Vec<Entry>,
    programs: Vec<Entry>,
}

#[derive(Debug, PartialEq)]
struct Entry {
    name: String,
    seconds: f64,
}

impl Times {
    pub(crate) fn add_step(&mut self, name: &str, seconds: f64) {
        self.steps.push(Entry { name: name.to_owned(), seconds });
    }

    pub(crate) fn add_program(&mut self, name: &str, seconds: f64) {
        self.programs.push(Entry { name: name.to_owned(), seconds });
    }

    /// Adds the units of a page that `cargo --timings` wrote.
    ///
    /// Cargo has no stable format for them but this page, which holds them as one line of JSON. A page of
    /// another form adds nothing.
    pub(crate) fn add_crates(&mut self, page: &str) {
        let units = page
            .split_once("const UNIT_DATA = ")
            .map(|(_, rest)| serde_json::Deserializer::from_str(rest).into_iter::<Value>().next());
        let Some(Some(Ok(Value::Array(units)))) = units else { return };
        for unit in units {
            let text = |key: &str| unit[key].as_str().unwrap_or_default();
            if let Some(seconds) = unit["duration"].as_f64() {
                let name = format!("{} {}{}", text("name"), text("version"), text("target"));
                self.crates.push(Entry { name, seconds });
            }
        }
    }

    /// The longest of each part, longest first.
    pub(crate) fn table(&self) -> String {
        let parts = [
            ("steps", &self.steps),
            ("crates built", &self.crates),
            ("test programs", &self.programs),
        ];
        let mut table = String::new();
        for (title, entries) in parts.into_iter().filter(|(_, entries)| !entries.is_empty()) {
            let all: f64 = entries.iter().map(|entry| entry.seconds).sum();
            let _ = writeln!(table, "times of {title}: {}, {all:.0} s in total", entries.len());
            for entry in longest(entries).into_iter().take(ROWS) {
                let _ = writeln!(table, "  {:>7.1} s  {}", entry.seconds, entry.name);
            }
        }
        table.truncate(table.trim_end().len());
        table
    }

    pub(crate) fn write(&self, seconds: u64) -> Result {
        let list = |entries: &[Entry]| -> Value {
            longest(entries)
                .into_iter()
                .map(|entry| json!({ "name": entry.name, "seconds": rounded(entry.seconds) }))
                .collect()
        };
        let all = json!({
            "seconds": seconds,
            "steps": list(&self.steps),
            "crates": list(&self.crates),
            "programs": list(&self.programs),
        });
        let path = target_directory()?.join(FILE);
        Ok(fs::write(path, serde_json::to_string_pretty(&all)? + "\n")?)
    }
}

fn longest(entries: &[Entry]) -> Vec<&Entry> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.name.cmp(&b.name)));
    sorted
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_come_first() {
        let mut times = Times::default();
        times.add_step("format", 1.0);
        times.add_step("build", 90.25);
        assert_eq!(
            times.table(),
            "times of steps: 2, 91 s in total\n     90.2 s  build\n      1.0 s  format"
        );
    }

    #[test]
    fn units_are_read_from_the_page_of_cargo() {
        let page = "<script>\nconst UNIT_DATA = [{\"name\": \"serde\", \"version\": \"1.0.0\", \
             \"target\": \" build script\", \"duration\": 2.5}];\nconst CONCURRENCY_DATA = [];";
        let mut times = Times::default();
        times.add_crates(page);
        times.add_crates("another form");
        let expected = Entry { name: "serde 1.0.0 build script".to_owned(), seconds: 2.5 };
        assert_eq!(times.crates, [expected]);
    }
}

//! Tables as `flux` prints them: cells as wide as their column, with tabs between them.

use std::fmt::Write as _;

use crate::view::printable::{Lines, printable};

/// Messages are shown whole; the limits only keep hostile ones from flooding a terminal.
const MAX_CELL_BYTES: usize = 64 << 10;
const MAX_CELL_LINES: usize = 200;

/// A table, whose headings may be left out.
#[derive(Debug, Default)]
pub(crate) struct TextTable {
    pub(crate) headings: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Draws the table. Rows end with a tab, the headings with a blank.
    pub(crate) fn render(&self) -> String {
        let rows: Vec<Vec<Vec<String>>> =
            self.rows.iter().map(|row| row.iter().map(|cell| lines(cell)).collect()).collect();
        let mut widths: Vec<usize> = self.headings.iter().map(|heading| heading.len()).collect();
        for row in &rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                let longest = cell.iter().map(|line| line.chars().count()).max();
                *width = (*width).max(longest.unwrap_or(0));
            }
        }
        let mut text = String::new();
        if !self.headings.is_empty() {
            let cells = self.headings.iter().zip(&widths);
            let padded: Vec<String> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
            text.push_str(&padded.join("\t"));
            text.push_str(" \n");
        }
        for row in &rows {
            let height = row.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..height {
                for (cell, width) in row.iter().zip(&widths) {
                    let part = cell.get(line).map_or("", String::as_str);
                    let _ = write!(text, "{part:width$}\t");
                }
                text.push('\n');
            }
        }
        text
    }
}

/// Returns the lines of a cell, safe for a terminal.
fn lines(cell: &str) -> Vec<String> {
    let safe = printable(cell, Lines::Keep(MAX_CELL_LINES), MAX_CELL_BYTES);
    safe.split('\n').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = TextTable {
            headings: vec!["NAME", "READY", "MESSAGE"],
            rows: vec![row(&["a", "", "first\nsecond"]), row(&["longer", "True", "é"])],
        };
        assert_eq!(
            table.render(),
            "NAME  \tREADY\tMESSAGE \n\
             a     \t     \tfirst  \t\n      \t     \tsecond \t\nlonger\tTrue \té      \t\n"
        );
        table.headings.clear();
        assert_eq!(
            table.render(),
            "a     \t    \tfirst \t\n      \t    \tsecond\t\nlonger\tTrue\té     \t\n"
        );
    }

    #[test]
    fn headings_stand_alone() {
        let table = TextTable { headings: vec!["NAME", "READY"], rows: Vec::new() };
        assert_eq!(table.render(), "NAME\tREADY \n");
    }
}

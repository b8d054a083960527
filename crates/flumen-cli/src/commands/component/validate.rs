//! `flumen component validate`.

use clap::Args;

use super::{list::Line, selection::Selection};
use crate::{
    error::CommandError,
    ui::Ui,
    view::listing::{self, ListFormat},
};

/// Check component files
///
/// Names every mistake with file, line and column. Nothing is fetched or built.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All files in ./components
  flumen component validate

  # Only these two
  flumen component validate web api")]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    selection: Selection,

    /// Print the valid components, if all are
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<ListFormat>,
}

pub(crate) fn run(args: &ValidateArgs, ui: &Ui) -> Result<(), CommandError> {
    let components = args.selection.load(ui)?;
    if let Some(format) = args.output {
        let lines: Vec<Line> = components.iter().map(Line::new).collect();
        return listing::print(&lines, format, ui);
    }
    ui.talk(&match components.as_slice() {
        [one] => format!("{} is valid\n", one.name()),
        all => format!("{} components are valid\n", all.len()),
    });
    Ok(())
}

//! Headings of the commands in `flumen --help`; clap itself has headings for options alone.

use std::fmt::Write as _;

use clap::Command;

/// All commands, each under one heading.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Build commands", &["build", "component"]),
    (
        "Package commands",
        &["push", "pull", "copy", "list", "inspect", "tag", "sign", "verify", "cache"],
    ),
    ("Delivery commands", &["apply", "plan", "diff", "wait", "history", "rollback", "delete"]),
    ("GitOps commands", &["controller", "get", "tree", "events", "reconcile", "suspend", "resume"]),
    ("Local cluster commands", &["up", "status", "down", "reset", "apiserver", "registry"]),
    ("Other commands", &["completion", "version"]),
];

/// Lists the commands below their headings in the help of the program.
pub(super) fn with_headings(program: Command) -> Command {
    let template = template(&program);
    program.help_template(template)
}

/// clap's own template, with our headings in the place of its list of commands.
fn template(program: &Command) -> String {
    let styles = program.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut text = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (heading, names) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let about = program.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {literal}{name}{literal:#}{:1$}  {about}",
                "",
                width - name.len()
            );
        }
        text.push('\n');
    }
    let _ = write!(text, "{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_visible_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let program = Cli::definition();
        let visible = program.get_subcommands().filter(|command| !command.is_hide_set());
        let mut visible: Vec<&str> = visible.map(Command::get_name).collect();
        visible.sort_unstable();
        assert_eq!(grouped, visible);
    }
}

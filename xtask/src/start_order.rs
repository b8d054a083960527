//! `cargo xtask start-order`: which functions the linker puts side by side.
//!
//! A small command is over in two milliseconds and runs half a megabyte of code. Wherever a piece of it lies, the system maps
//! the 64 KiB around it: with functions in the order of the crates, that is five megabytes of memory and a quarter of the time.
//! So this runs some commands, notes which functions they run, and writes a script for the linker that places those together.
//!
//! The script is committed. Names that no longer exist do no harm, and what is new stays where it is; a check says when so
//! much has changed that the script should be made again.

use std::{
    collections::{BTreeSet, HashSet},
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
};

use flumen_testkit::repository_root;

use crate::{
    Result,
    process::{capture, find, release_binary_with_symbols, run_quietly},
    progress::{Progress, say},
};

const SCRIPT: &str = "crates/flumen-cli/start-order.ld";

/// Commands that are run often and end at once, the smallest first: its functions are to share pages with few others.
const COMMANDS: [&[&str]; 7] = [
    &["version"],
    &["build", "examples/quickstart/overlays/staging"],
    &["build", "examples/quickstart/overlays/production"],
    &["build", "examples/components/overlays/plain"],
    &["build", "examples/generators/overlay"],
    &["build", "examples/replacements"],
    &["build", "examples/flux-repo/apps/local"],
];

/// The share of the names that a program must have, in percent. A build that inlines less has most of those that an
/// optimised one has.
const FOUND: usize = 70;

/// What callgrind puts in the place of a name: an address, or `(below main)`.
const UNNAMED: [char; 2] = ['0', '('];

const HEADER: &str = "\
/* Made by `cargo xtask start-order`: the functions of small commands, which share few pages this way. */
SECTIONS
{
  .text :
  {
";
const ENTRY: &str = "    *(.text.";
/// The compiler puts functions there that it takes for rare, such as the one that lets a vector grow.
const OR_UNLIKELY: &str = "* .text.unlikely.";
const FOOTER: &str = "    *(.text .text.*)
  }
}
INSERT BEFORE .init;
";

pub(crate) fn run() -> Result {
    let valgrind =
        find("valgrind").ok_or("no `valgrind` on PATH; Debian's package has that name")?;
    say("==> release build with symbols");
    let binary = release_binary_with_symbols()?;
    let scratch = tempfile::tempdir()?;
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for arguments in COMMANDS {
        say(&format!("==> flumen {}", arguments.join(" ")));
        let functions = executed(&valgrind, &binary, arguments, scratch.path())?;
        order.extend(functions.into_iter().filter(|name| seen.insert(name.clone())));
    }
    fs::write(repository_root().join(SCRIPT), script(&order))?;
    say(&format!("{} functions in {SCRIPT}", order.len()));
    Ok(())
}

/// Fails if the program has few of the functions that the script names.
pub(crate) fn step(program: &Path, progress: &Progress) {
    const TITLE: &str = "order of functions";
    match find("nm") {
        Some(nm) => progress.step_aside(TITLE, |_| check(&nm, program)),
        None => progress.skip(TITLE, "`nm` is not installed"),
    }
}

fn check(nm: &Path, program: &Path) -> Result {
    let text = fs::read_to_string(repository_root().join(SCRIPT))?;
    let named: Vec<&str> = text.lines().filter_map(name_in).collect();
    let symbols =
        capture(Command::new(nm).args(["--defined-only", "--format=just-symbols"]).arg(program))?;
    let defined: HashSet<String> = symbols.lines().map(pattern).collect();
    let found = named.iter().filter(|name| defined.contains(**name)).count();
    if found * 100 >= named.len() * FOUND && found > 0 {
        return Ok(());
    }
    let total = named.len();
    Err(format!("{SCRIPT} names {total} functions, and the program has {found} of them; run `cargo xtask start-order`")
        .into())
}

/// The functions of the program that a command runs.
fn executed(
    valgrind: &Path,
    program: &Path,
    arguments: &[&str],
    scratch: &Path,
) -> Result<BTreeSet<String>> {
    let profile = scratch.join("profile");
    let mut command = Command::new(valgrind);
    command.args(["--tool=callgrind", "--demangle=no", "--compress-strings=no"]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    run_quietly(command.arg(program).args(arguments).current_dir(repository_root()))?;
    let ours = program.to_str().ok_or("the path of the program is no text")?;
    let mut functions = BTreeSet::new();
    let mut is_ours = false;
    for line in fs::read_to_string(&profile)?.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            is_ours = object == ours;
        } else if let Some(function) = line.strip_prefix("fn=")
            && is_ours
            && !function.starts_with(UNNAMED)
        {
            functions.insert(pattern(function));
        }
    }
    Ok(functions)
}

fn script(order: &[String]) -> String {
    let mut script = HEADER.to_owned();
    for name in order {
        let _ = writeln!(script, "{ENTRY}{name}{OR_UNLIKELY}{name}*)");
    }
    script + FOOTER
}

fn name_in(line: &str) -> Option<&str> {
    Some(line.strip_prefix(ENTRY)?.split_once(OR_UNLIKELY)?.0)
}

/// A mangled name without what another version of a dependency or of the compiler would change: hashes of crates, and
/// references to earlier parts of the name, which count its characters.
fn pattern(symbol: &str) -> String {
    // `'2` marks a recursion for callgrind, `.llvm.1` a function that another crate uses, too.
    let symbol = symbol.split(['\'', '.']).next().unwrap_or_default();
    let mut pattern = String::with_capacity(symbol.len());
    let mut rest = symbol;
    while let Some(letter) = rest.chars().next() {
        pattern.push(letter);
        rest = &rest[letter.len_utf8()..];
        if letter == 'B' || (letter == 'C' && rest.starts_with('s')) {
            let digits = rest.find(|digit: char| !digit.is_ascii_alphanumeric());
            if let Some(end) = digits.filter(|end| rest[*end..].starts_with('_')) {
                pattern.push('*');
                rest = &rest[end..];
            }
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_no_hash_of_a_crate() {
        let symbol = "_RNvXs5_NtCs8Zq2dRkH2yQ_4core3fmtNtB7_5Error.llvm.123";
        assert_eq!(pattern(symbol), "_RNvXs5_NtC*_4core3fmtNtB*_5Error");
        assert_eq!(pattern("mi_malloc'2"), "mi_malloc");
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let order = ["_RNvC*_6flumen4main".to_owned(), "mi_malloc".to_owned()];
        assert_eq!(script(&order).lines().filter_map(name_in).collect::<Vec<_>>(), order);
    }
}

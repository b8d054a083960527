//! The verbs that check or renew one thing: format, lints, generated files, licences.

use crate::{
    Result, generate, generate_definitions, generate_fieldspecs, generate_schema, generate_typed,
    process::{cargo, find, show},
    progress::Progress,
    test::{Built, build},
};

pub(crate) fn format(arguments: &[String]) -> Result {
    let mut command = cargo(&["fmt", "--all"]);
    show(command.args(arguments))
}

pub(crate) fn lint() -> Result {
    show(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
}

pub(crate) fn generate(arguments: &[String]) -> Result {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("`generate` takes `--check` or nothing".into()),
    };
    let built = build(&Progress::start())?;
    match files(check, &built)?.pop() {
        None => Ok(()),
        Some(why) => Err(why.into()),
    }
}

/// Checks all generated files as one step. Files whose facts are missing are skipped.
pub(crate) fn generated(built: &Built, progress: &Progress) {
    progress.step_aside("generated files", |_| {
        for why in files(true, built)? {
            progress.skip("generated files", &why);
        }
        Ok(())
    });
}

/// Makes or checks every generated file. Returns which could not be judged, and why.
fn files(check: bool, built: &Built) -> Result<Vec<String>> {
    let unknown = [
        generate::run(check)?,
        generate_typed::run(check)?,
        generate_fieldspecs::run(check)?,
        generate_schema::run(check, built)?,
        generate_definitions::run(check)?,
    ];
    Ok(unknown.into_iter().flatten().collect())
}

pub(crate) fn deny() -> Result {
    if find("cargo-deny").is_none() {
        return Err("`cargo deny` is not installed; `cargo install cargo-deny` provides it".into());
    }
    show(&mut cargo(&["deny", "check"]))
}

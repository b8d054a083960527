//! Parameters of writes.

use flumen_fields::{FieldError, FieldErrorKind, Path};
use serde_json::Value;

use crate::{ApiError, Call, Media, Verb};

/// The group of the kinds that requests have as parameters.
pub(crate) const META_GROUP: &str = "meta.k8s.io";
const MAX_MANAGER: usize = 128;

/// What to do with fields that the kind does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// Parameters of a create, update or patch.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    pub dry_run: bool,
    /// Who will own the fields that change.
    pub manager: String,
    pub field_validation: FieldValidation,
    /// Of an apply.
    pub force: bool,
}

impl WriteOptions {
    pub(crate) fn of(call: &Call) -> Result<Self, ApiError> {
        let query = &call.query;
        let manager = query.get("fieldManager").unwrap_or_default();
        let validation = query.get("fieldValidation").unwrap_or_default();
        let is_apply = is_apply(call.media);
        let mut errors = Vec::new();
        if call.target.verb == Verb::Patch {
            if is_apply && manager.is_empty() {
                let why = "is required for apply patch";
                errors.push(FieldError::required(&Path::new("fieldManager"), why));
            } else if !is_apply && query.get("force").is_some_and(|force| !force.is_empty()) {
                let why = "may not be specified for non-apply patch";
                errors.push(FieldError::forbidden(&Path::new("force"), why));
            }
        }
        check_manager(manager, &mut errors);
        let dry_run = check_dry_run(query.all("dryRun"), &mut errors);
        let field_validation = match validation {
            "" | "Warn" => FieldValidation::Warn,
            "Strict" => FieldValidation::Strict,
            "Ignore" => FieldValidation::Ignore,
            other => {
                let at = Path::new("fieldValidation");
                let values = ["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported(&at, other, &values));
                FieldValidation::Warn
            }
        };
        if !errors.is_empty() {
            let kind = match call.target.verb {
                Verb::Create => "CreateOptions",
                Verb::Patch => "PatchOptions",
                _ => "UpdateOptions",
            };
            return Err(ApiError::invalid(META_GROUP, kind, "", &errors));
        }
        let manager =
            if manager.is_empty() { manager_of(&call.user_agent) } else { manager.to_owned() };
        let force = query.get("force").is_some_and(is_true);
        Ok(Self { dry_run, manager, field_validation, force })
    }
}

pub(crate) const fn is_apply(media: Option<Media>) -> bool {
    matches!(media, Some(Media::ApplyJson | Media::ApplyYaml | Media::ApplyCbor))
}

/// As the server reads flags: anything but a false one is true.
pub(crate) fn is_true(text: &str) -> bool {
    !matches!(&*text.to_ascii_lowercase(), "false" | "0")
}

/// Whether nothing is to be stored.
pub(crate) fn check_dry_run<'a>(
    values: impl Iterator<Item = &'a str>,
    errors: &mut Vec<FieldError>,
) -> bool {
    let values: Vec<&str> = values.collect();
    if values.iter().any(|value| *value != "All") {
        let shown = Value::from(values.clone());
        errors.push(FieldError::not_supported(&Path::new("dryRun"), shown, &["All"]));
    }
    !values.is_empty()
}

fn check_manager(manager: &str, errors: &mut Vec<FieldError>) {
    let at = Path::new("fieldManager");
    if manager.len() > MAX_MANAGER {
        errors.push(FieldError::too_long(&at, MAX_MANAGER));
    }
    for (position, letter) in manager.char_indices().filter(|(_, letter)| !is_printable(*letter)) {
        let code = u32::from(letter);
        let detail = format!("invalid character U+{code:04X} (at position {position})");
        errors.push(FieldError::new(FieldErrorKind::Invalid, &at, Some(manager.into()), detail));
    }
}

/// Letters, marks, numbers, signs and the plain space.
fn is_printable(letter: char) -> bool {
    letter == ' ' || !(letter.is_control() || letter.is_whitespace())
}

/// The program in a user agent, which names the manager of writes that do not say one.
fn manager_of(user_agent: &str) -> String {
    let program = user_agent.split('/').next().unwrap_or_default();
    let mut name = String::new();
    for letter in program.chars().filter(|letter| is_printable(*letter)) {
        if name.len() + letter.len_utf8() > MAX_MANAGER {
            break;
        }
        name.push(letter);
    }
    name
}

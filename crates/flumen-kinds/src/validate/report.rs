//! Collecting what is wrong.

use flumen_fields::{FieldError, Path, Shown};
use serde_json::Value;

use super::format::{self, Format};

pub(super) const NOT_NEGATIVE: &str = "must be greater than or equal to 0";
pub(super) const IMMUTABLE: &str = "field is immutable";

/// What was found so far, in the order of the server.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<FieldError>);

impl Report {
    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, error: FieldError) {
        self.0.push(error);
    }

    /// Takes back what was found after the report had this length.
    pub(super) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    pub(super) fn required(&mut self, at: &Path<'_>, detail: &str) {
        self.push(FieldError::required(at, detail));
    }

    pub(super) fn forbidden(&mut self, at: &Path<'_>, detail: impl Into<String>) {
        self.push(FieldError::forbidden(at, detail));
    }

    pub(super) fn invalid(
        &mut self,
        at: &Path<'_>,
        value: impl Into<Shown>,
        detail: impl Into<String>,
    ) {
        self.push(FieldError::invalid(at, value, detail));
    }

    pub(super) fn duplicate(&mut self, at: &Path<'_>, value: impl Into<Shown>) {
        self.push(FieldError::duplicate(at, value));
    }

    pub(super) fn not_supported(
        &mut self,
        at: &Path<'_>,
        value: impl Into<Shown>,
        supported: &[&str],
    ) {
        self.push(FieldError::not_supported(at, value, supported));
    }

    pub(super) fn too_long(&mut self, at: &Path<'_>, maximum: usize) {
        self.push(FieldError::too_long(at, maximum));
    }

    /// A string of this form.
    pub(super) fn form(&mut self, at: &Path<'_>, value: &str, form: impl Fn(&str) -> Vec<String>) {
        for message in form(value) {
            self.invalid(at, value, message);
        }
    }

    /// A string of this form that must be there.
    pub(super) fn required_form(&mut self, at: &Path<'_>, value: &str, form: Format) {
        if value.is_empty() {
            self.required(at, "");
        } else {
            self.form(at, value, form);
        }
    }

    /// A string of this form, if there is one.
    pub(super) fn form_if_filled(&mut self, at: &Path<'_>, value: &str, form: Format) {
        if !value.is_empty() {
            self.form(at, value, form);
        }
    }

    pub(super) fn filled(&mut self, at: &Path<'_>, value: &str) {
        if value.is_empty() {
            self.required(at, "");
        }
    }

    pub(super) fn one_of(&mut self, at: &Path<'_>, value: &str, supported: &[&str]) {
        if !supported.contains(&value) {
            self.not_supported(at, value, supported);
        }
    }

    /// One of these, and not empty.
    pub(super) fn choice(&mut self, at: &Path<'_>, value: &str, supported: &[&str]) {
        if value.is_empty() {
            self.required(at, "");
        } else {
            self.one_of(at, value, supported);
        }
    }

    pub(super) fn one_of_if_given(
        &mut self,
        at: &Path<'_>,
        value: Option<&str>,
        supported: &[&str],
    ) {
        if let Some(value) = value {
            self.one_of(at, value, supported);
        }
    }

    pub(super) fn not_negative(&mut self, at: &Path<'_>, value: i64) {
        if value < 0 {
            self.invalid(at, value, NOT_NEGATIVE);
        }
    }

    pub(super) fn not_negative_if_given(&mut self, at: &Path<'_>, value: Option<i64>) {
        self.not_negative(at, value.unwrap_or_default());
    }

    pub(super) fn positive(&mut self, at: &Path<'_>, value: i64) {
        if value <= 0 {
            self.invalid(at, value, "must be greater than zero");
        }
    }

    pub(super) fn in_range(&mut self, at: &Path<'_>, value: i64, low: i64, high: i64) {
        if !(low..=high).contains(&value) {
            self.invalid(at, value, format::between(low, high));
        }
    }

    pub(super) fn port(&mut self, at: &Path<'_>, value: i64) {
        self.in_range(at, value, 1, 65535);
    }

    /// A port by number or by name; absent is the number zero.
    pub(super) fn port_or_name(&mut self, at: &Path<'_>, value: &Value) {
        match value.as_str() {
            Some(name) => self.form(at, name, format::port_name),
            None => self.port(at, value.as_i64().unwrap_or_default()),
        }
    }

    pub(super) fn immutable(&mut self, at: &Path<'_>, new: &Value, old: &Value) {
        if new != old {
            self.invalid(at, new.clone(), IMMUTABLE);
        }
    }

    /// A string that is empty rather than absent.
    pub(super) fn immutable_text(&mut self, at: &Path<'_>, new: &str, old: &str) {
        if new != old {
            self.invalid(at, new, IMMUTABLE);
        }
    }

    /// A path with a domain before it, as `example.com/job-controller`.
    pub(super) fn domain_path(&mut self, at: &Path<'_>, value: &str) {
        if value.is_empty() {
            return self.required(at, "");
        }
        match value.split_once('/').filter(|(host, path)| !host.is_empty() && !path.is_empty()) {
            None => {
                let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
                self.invalid(at, value, detail);
            }
            Some((host, path)) => {
                self.form(at, host, format::dns_subdomain);
                let allowed =
                    |b: u8| b.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&b);
                if !path.bytes().all(allowed) {
                    let detail = r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";
                    self.invalid(at, path, detail);
                }
            }
        }
    }
}

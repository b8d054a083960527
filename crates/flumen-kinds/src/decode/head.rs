//! What a body says it is.

use super::Target;
use crate::json::{Node, Token};

/// The kind of a body.
pub(crate) struct Head {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
}

impl Head {
    pub(super) fn new(api_version: &str, kind: &str) -> Result<Self, String> {
        let (group, version) = match api_version {
            "" | "/" => ("", ""),
            _ => match api_version.split_once('/') {
                None => ("", api_version),
                Some((group, version)) if !version.contains('/') => (group, version),
                Some(_) => return Err(format!("unexpected GroupVersion string: {api_version}")),
            },
        };
        Ok(Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() })
    }

    /// What a JSON body says. Unlike the rest of the body these two names may be spelled in any case.
    pub(super) fn of(root: Node<'_, '_>) -> Result<Self, String> {
        if !matches!(root.token(), Token::Object(_) | Token::Null) {
            let mismatch = format!(
                "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
                 \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                 \"json:\\\"kind,omitempty\\\"\" }}",
                root.kind()
            );
            return Err(parse_error(&mismatch));
        }
        let mut error = None;
        let (mut api_version, mut kind) = ("", "");
        for (key, value) in root.members() {
            let (name, found) = if key.eq_ignore_ascii_case("apiVersion") {
                ("apiVersion", &mut api_version)
            } else if key.eq_ignore_ascii_case("kind") {
                ("kind", &mut kind)
            } else {
                continue;
            };
            match value.token() {
                Token::String(text) => *found = text,
                Token::Null => {}
                _ => {
                    error.get_or_insert_with(|| {
                        format!(
                            "json: cannot unmarshal {} into Go struct field .{name} of type string",
                            value.kind()
                        )
                    });
                }
            }
        }
        match error {
            Some(error) => Err(parse_error(&error)),
            None => Self::new(api_version, kind),
        }
    }

    /// The same with what is expected where the body says nothing.
    pub(super) fn or(mut self, target: &Target) -> Self {
        if self.kind.is_empty() {
            target.kind.clone_into(&mut self.kind);
        }
        if self.version.is_empty() && (self.group.is_empty() || self.group == target.group) {
            target.group.clone_into(&mut self.group);
            target.version.clone_into(&mut self.version);
        }
        self
    }

    pub(super) fn api_version(&self) -> String {
        super::target::api_version(&self.group, &self.version)
    }
}

pub(super) fn parse_error(problem: &str) -> String {
    format!("couldn't get version/kind; json parse error: {problem}")
}

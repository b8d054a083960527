//! What a registry asks for when it answers 401.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// How a registry wants to be convinced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    Basic,
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

impl Challenge {
    /// The best of all that the headers offer: tokens before passwords.
    pub(super) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let offers: Vec<Self> = headers
            .get_all(WWW_AUTHENTICATE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(read)
            .collect();
        let is_bearer = |offer: &&Self| matches!(offer, Self::Bearer { .. });
        offers.iter().find(is_bearer).or_else(|| offers.first()).cloned()
    }

    /// The same for any other request.
    pub(super) fn without_scope(&self) -> Self {
        match self.clone() {
            Self::Bearer { realm, service, .. } => Self::Bearer { realm, service, scope: None },
            Self::Basic => Self::Basic,
        }
    }
}

/// Reads `Scheme key="value", key=value, Scheme …`.
fn read(text: &str) -> Vec<Challenge> {
    let mut challenges = Vec::new();
    let mut scheme = "";
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if let Some(value) = after.strip_prefix('=') {
            let (value, after) = read_value(value);
            pairs.push((word.to_ascii_lowercase(), value));
            rest = after;
            continue;
        }
        challenges.extend(finish(scheme, &pairs));
        pairs.clear();
        scheme = word;
        rest = after;
        if word.is_empty() {
            return challenges;
        }
    }
}

/// A quoted string or a bare word, and what follows it.
fn read_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            _ => value.push(c),
        }
    }
    (value, "")
}

fn finish(scheme: &str, pairs: &[(String, String)]) -> Option<Challenge> {
    let get =
        |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    if scheme.eq_ignore_ascii_case("basic") {
        Some(Challenge::Basic)
    } else if scheme.eq_ignore_ascii_case("bearer") {
        Some(Challenge::Bearer {
            realm: get("realm")?,
            service: get("service"),
            scope: get("scope"),
        })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(realm: &str, service: Option<&str>, scope: Option<&str>) -> Challenge {
        Challenge::Bearer {
            realm: realm.to_owned(),
            service: service.map(str::to_owned),
            scope: scope.map(str::to_owned),
        }
    }

    #[track_caller]
    fn check(header: &str, expected: Option<&Challenge>) {
        let mut headers = HeaderMap::new();
        headers.insert(WWW_AUTHENTICATE, header.parse().expect("a header"));
        assert_eq!(Challenge::from_headers(&headers).as_ref(), expected, "{header}");
    }

    #[test]
    fn challenges_of_both_kinds_are_read() {
        check("Basic realm=\"x\"", Some(&Challenge::Basic));
        check("basic", Some(&Challenge::Basic));
        check(
            "Bearer realm=\"https://auth.example.com/token\",service=\"s\",scope=\"repository:a/b:pull,push\"",
            Some(&bearer(
                "https://auth.example.com/token",
                Some("s"),
                Some("repository:a/b:pull,push"),
            )),
        );
        check(
            "BEARER realm=https://a.example.com , service=s",
            Some(&bearer("https://a.example.com", Some("s"), None)),
        );
    }

    #[test]
    fn tokens_are_preferred_to_passwords() {
        check(
            "Basic realm=\"a, b\", Bearer realm=\"https://a\"",
            Some(&bearer("https://a", None, None)),
        );
    }

    #[test]
    fn quotes_can_be_escaped_and_left_open() {
        check(r#"Bearer realm="a\"b",service="x"#, Some(&bearer("a\"b", Some("x"), None)));
        check(r#"Bearer realm="a\"#, Some(&bearer("a", None, None)));
    }

    #[test]
    fn what_is_not_understood_is_no_challenge() {
        for header in ["", ",,,", "Negotiate abc==", "Bearer service=\"x\"", "=", "realm=\"x\""] {
            check(header, None);
        }
    }
}

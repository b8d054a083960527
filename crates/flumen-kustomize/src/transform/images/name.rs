//! Names of images: which ones an entry means, and how a new one is put together.

use regex_lite::Regex;

use crate::kustomization::fields::Image;

/// The `name` of an entry. kustomize takes it for a regular expression; nearly all are plain names,
/// in which only the dot means more than itself.
pub(super) enum ImageName {
    Plain(String),
    Pattern(Regex),
}

impl ImageName {
    /// None if the name is no expression.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
        if name.chars().all(is_plain) {
            return Some(Self::Plain(name.to_owned()));
        }
        let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        Regex::new(&pattern).ok().map(Self::Pattern)
    }

    /// Whether `value` is the name, with or without tag and digest.
    pub(super) fn matches(&self, value: &str) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.is_match(value),
            Self::Plain(name) => {
                let mut rest = value.chars();
                let same = name.chars().all(|wanted| match rest.next() {
                    Some(c) => c == wanted || (wanted == '.' && c != '\n'),
                    None => false,
                });
                same && is_tag_and_digest(rest.as_str())
            }
        }
    }
}

fn is_tag_and_digest(rest: &str) -> bool {
    let outside = |c: char| !(c.is_ascii_alphanumeric() || "_.{}-".contains(c));
    let rest = match rest.strip_prefix(':') {
        Some(tag) => tag.trim_start_matches(|c| !outside(c)),
        None => rest,
    };
    match rest.strip_prefix("@sha256:") {
        Some(digest) => !digest.contains(outside),
        None => rest.is_empty(),
    }
}

/// The image that `entry` makes of `value`.
pub(super) fn replaced(value: &str, entry: &Image) -> String {
    let (name, tag, digest) = split(value);
    let name = if entry.new_name.is_empty() { name } else { &entry.new_name };
    let (tag, digest) = match (entry.new_tag.as_str(), entry.digest.as_str()) {
        ("", "") if entry.tag_suffix.is_empty() => (tag.to_owned(), digest),
        ("", "") => (format!("{tag}{}", entry.tag_suffix), ""),
        (new_tag, new_digest) => (new_tag.to_owned(), new_digest),
    };
    let mut image = name.to_owned();
    for (separator, part) in [(':', tag.as_str()), ('@', digest)] {
        if !part.is_empty() {
            image.push(separator);
            image.push_str(part);
        }
    }
    image
}

/// Name, tag and digest. A colon in the host's port does not begin a tag.
fn split(image: &str) -> (&str, &str, &str) {
    let host = match image.find('/') {
        Some(slash) if slash > 0 => slash,
        _ => 0,
    };
    let find = |c: char| image[host..].find(c).map(|at| at + host);
    match (find(':'), find('@')) {
        (None, None) => (image, "", ""),
        (Some(colon), Some(at)) if colon < at => {
            (&image[..colon], &image[colon + 1..at], &image[at + 1..])
        }
        (_, Some(at)) => (&image[..at], "", &image[at + 1..]),
        (Some(colon), None) => (&image[..colon], &image[colon + 1..], ""),
    }
}

#[cfg(test)]
mod tests {
    use super::{ImageName, split};

    #[test]
    fn names_match_with_tag_and_digest() {
        let check = |name: &str, value: &str, expected: bool| {
            let parsed = ImageName::parse(name).expect("it is an expression");
            assert_eq!(parsed.matches(value), expected, "{name} {value}");
        };
        check("nginx", "nginx", true);
        check("nginx", "nginx:1.2", true);
        check("nginx", "nginx:1.2@sha256:abc", true);
        check("nginx", "nginx@sha256:abc", true);
        check("nginx", "nginx@md5:abc", false);
        check("nginx", "my/nginx", false);
        check("nginx", "nginx-extra", false);
        check("nginx", "nginx:1/2", false);
        check("a.b/c", "aXb/c:1", true);
        check("host:5000/app", "host:5000/app:2", true);
        check("(a|b)", "b:1", true);
        check("", ":tag", true);
        assert!(ImageName::parse("[").is_none());
    }

    #[test]
    fn a_port_is_not_a_tag() {
        assert_eq!(split("host:5000/app"), ("host:5000/app", "", ""));
        assert_eq!(split("host:5000/app:1@sha256:x"), ("host:5000/app", "1", "sha256:x"));
        assert_eq!(split("app@sha256:x"), ("app", "", "sha256:x"));
        assert_eq!(split("app:1"), ("app", "1", ""));
    }
}

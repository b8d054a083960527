//! What names may look like.

pub(crate) const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. \
'example.com', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or \
'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// What is wrong with a name as a label that starts with a letter; all in one text.
pub(crate) fn label_problems(name: &str) -> Option<String> {
    let mut problems = Vec::new();
    if name.len() > 63 {
        problems.push("must be no more than 63 characters");
    }
    if !(is_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase())) {
        problems.push(LABEL);
    }
    (!problems.is_empty()).then(|| problems.join(","))
}

/// The same for a name of labels with dots between them.
pub(crate) fn subdomain_problems(name: &str) -> Vec<&'static str> {
    let mut problems = Vec::new();
    if name.len() > 253 {
        problems.push("must be no more than 253 characters");
    }
    if !name.split('.').all(is_label) {
        problems.push(SUBDOMAIN);
    }
    problems
}

/// Lower case letters, digits and, inside, dashes.
pub(crate) fn is_label(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(is_end)
        && name.ends_with(is_end)
        && name.chars().all(|c| is_end(c) || c == '-')
}

#[cfg(test)]
mod tests {
    use super::{label_problems, subdomain_problems};

    #[test]
    fn labels_and_subdomains() {
        assert_eq!(label_problems("a-1"), None);
        for bad in ["", "1a", "a-", "A", "a.b", "ä"] {
            assert!(label_problems(bad).is_some(), "{bad}");
        }
        assert!(
            label_problems(&"a".repeat(64)).is_some_and(|it| it.starts_with("must be no more"))
        );
        assert!(subdomain_problems("1.example.com").is_empty());
        assert_eq!(subdomain_problems("a..b").len(), 1);
        assert_eq!(subdomain_problems(&format!("{}_", "a".repeat(253))).len(), 2);
    }
}

//! Which repository a signature may name.

use std::fmt;

use crate::Repository;

/// The repository that signatures are expected to name.
pub(super) enum Expected {
    /// Said by the caller.
    Exactly(String),
    /// Where the artifact is read from, or what that is a mirror of.
    MirrorOf { host: String, path: String },
}

impl Expected {
    /// `None` for a place without a name, where anything may be kept.
    pub(super) fn of(repository: &Repository, signed_as: Option<&str>) -> Option<Self> {
        if let Some(name) = signed_as {
            return Some(Self::Exactly(name.to_owned()));
        }
        match repository {
            Repository::Remote(remote) => {
                let reference = remote.reference();
                Some(Self::MirrorOf { host: reference.host, path: reference.repository })
            }
            Repository::Layout(_) => None,
        }
    }

    /// Whether a signature that names `signed_as` belongs here.
    pub(super) fn fits(&self, signed_as: &str) -> bool {
        match self {
            Self::Exactly(name) => name == signed_as,
            Self::MirrorOf { path, .. } => {
                let Some((host, signed_path)) = signed_as.split_once('/') else { return false };
                let below_host = path
                    .strip_suffix(signed_as)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
                is_host(host) && (signed_path == path || below_host)
            }
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(name) => f.write_str(name),
            Self::MirrorOf { host, path } => write!(f, "{host}/{path}"),
        }
    }
}

/// Tells `registry.example.com/app` from `org/app`, as container tools do.
fn is_host(part: &str) -> bool {
    part == "localhost" || part.contains(['.', ':'])
}

/// The name of a repository as signatures have it.
pub(super) fn name_of(repository: &Repository) -> Option<String> {
    Expected::of(repository, None).map(|expected| expected.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_fit_and_other_repositories_do_not() {
        let expected = |path: &str| Expected::MirrorOf {
            host: "mirror.example.com".to_owned(),
            path: path.to_owned(),
        };
        let signed_as = "registry.example.com:5000/org/app";
        assert!(expected("org/app").fits(signed_as));
        assert!(!expected("org/other").fits(signed_as));
        assert!(!expected("team/org/app").fits(signed_as), "a longer path is another repository");
        assert!(!expected("app").fits(signed_as));

        let signed_as = "registry.example.com/org/app";
        assert!(expected("registry.example.com/org/app").fits(signed_as));
        assert!(expected("cache/registry.example.com/org/app").fits(signed_as));
        assert!(!expected("my-registry.example.com/org/app").fits(signed_as));
        assert!(!expected("").fits(signed_as));
        assert!(!expected("org/app").fits("org/app"), "there is no host");
    }

    #[test]
    fn what_the_caller_says_is_all_that_fits() {
        let expected = Expected::Exactly("registry.example.com/org/app".to_owned());
        assert!(expected.fits("registry.example.com/org/app"));
        assert!(!expected.fits("other.example.com/org/app"));
    }
}

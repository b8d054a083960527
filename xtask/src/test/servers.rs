//! The API servers that tests run on.
//!
//! All tests run on the embedded one. The suites of delivery then run once more on a real Kubernetes.

use std::env;

use flumen_testkit::TEST_SERVER_VARIABLE;

use crate::Result;

/// The crates whose integration tests need a cluster, and the modules that do. None means all.
pub(super) const SUITES: [(&str, &[&str]); 5] = [
    ("flumen-cli", &["cluster::", "deploy::", "pages::"]),
    ("flumen-controller", &[]),
    ("flumen-apply", &[]),
    ("flumen-kube", &[]),
    ("flumen-pipeline", &["deploys::", "drift::", "teardown::"]),
];

/// The servers that `FLUMEN_TEST_SERVER` chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Servers {
    Embedded,
    Real,
    Both,
}

impl Servers {
    /// The servers that the environment names; both if it names none.
    pub(crate) fn chosen() -> Result<Self> {
        let name = env::var(TEST_SERVER_VARIABLE).unwrap_or_else(|_| "both".to_owned());
        Self::parse(&name)
    }

    fn parse(name: &str) -> Result<Self> {
        match name {
            "embedded" => Ok(Self::Embedded),
            "real" => Ok(Self::Real),
            "both" => Ok(Self::Both),
            other => Err(format!(
                "{TEST_SERVER_VARIABLE} is `{other}`, but must be `embedded`, `real` or `both`"
            )
            .into()),
        }
    }

    /// The server that all tests run on.
    pub(crate) const fn first(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Embedded | Self::Both => "embedded",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_choices_are_known() {
        for (name, first) in [("embedded", "embedded"), ("real", "real"), ("both", "embedded")] {
            assert_eq!(Servers::parse(name).expect("known").first(), first);
        }
        let why = Servers::parse("fake").expect_err("unknown").to_string();
        assert!(why.contains("`embedded`, `real` or `both`"), "{why}");
    }
}

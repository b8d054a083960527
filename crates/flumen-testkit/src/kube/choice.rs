//! Which API server a suite runs on.

use std::env;

use super::servers::ServerKind;
use crate::kube_programs::TEST_SERVER_VARIABLE;

/// What the environment asks for; our own server needs nothing but the test, so that is what one gets
/// who does not ask.
///
/// # Panics
/// When it asks for something else. No test should pass on a server that nobody meant.
pub(super) fn chosen() -> ServerKind {
    match env::var_os(TEST_SERVER_VARIABLE) {
        None => ServerKind::Embedded,
        Some(name) => parse(&name.to_string_lossy()).unwrap_or_else(|why| panic!("{why}")),
    }
}

fn parse(name: &str) -> Result<ServerKind, String> {
    match name {
        "embedded" => Ok(ServerKind::Embedded),
        "real" => Ok(ServerKind::Real),
        "both" => Err(format!(
            "{TEST_SERVER_VARIABLE}=both is for `cargo xtask test`; a test runs on `embedded` or `real`"
        )),
        other => {
            Err(format!("{TEST_SERVER_VARIABLE} is `{other}`, but must be `embedded` or `real`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_are_known() {
        assert_eq!(parse("embedded"), Ok(ServerKind::Embedded));
        assert_eq!(parse("real"), Ok(ServerKind::Real));
        let why = parse("both").expect_err("no server is two");
        assert!(why.contains("cargo xtask test"), "{why}");
        let why = parse("fake").expect_err("no such server");
        assert_eq!(why, "FLUMEN_TEST_SERVER is `fake`, but must be `embedded` or `real`");
    }
}

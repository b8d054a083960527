//! Durations as people write them.

use std::time::Duration;

use flumen_pipeline::config::parse_duration;

/// Parses `36h`, `1m30s` or `500ms`.
pub(crate) fn parse(text: &str) -> Result<Duration, &'static str> {
    parse_duration(text).ok_or("expected a duration such as 36h or 1m30s")
}

/// Parses a limit as kubectl does: a duration, or seconds without a unit. `0` is no limit.
pub(crate) fn parse_limit(text: &str) -> Result<Duration, &'static str> {
    match text.parse() {
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(_) if ["0s", "0m", "0h", "0ms"].contains(&text) => Ok(Duration::ZERO),
        Err(_) => parse(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_kubectl() {
        let check = |text: &str, seconds: u64| {
            assert_eq!(parse_limit(text), Ok(Duration::from_secs(seconds)), "{text}");
        };
        check("0", 0);
        check("0s", 0);
        check("30", 30);
        check("1m30s", 90);
        for text in ["", "soon", "-1s", "-1"] {
            assert!(parse_limit(text).is_err(), "{text}");
        }
    }
}

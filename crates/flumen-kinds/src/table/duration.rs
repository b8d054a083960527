//! Spans of time as people read them, with two or three significant figures.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// How long ago a time was; `<unknown>` if there is none.
pub fn age(since: Option<Timestamp>, now: Timestamp) -> String {
    since.map_or_else(|| "<unknown>".to_owned(), |since| human(now.duration_since(since).as_secs()))
}

/// A span of whole seconds.
pub fn human(seconds: i64) -> String {
    let (minutes, hours) = (seconds / MINUTE, seconds / HOUR);
    let (days, years) = (hours / 24, hours / 24 / 365);
    match seconds {
        // Clocks of two machines may differ by a second.
        i64::MIN..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => pair((minutes, "m"), (seconds % MINUTE, "s")),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => pair((hours, "h"), (minutes % 60, "m")),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => pair((days, "d"), (hours % 24, "h")),
        _ if days < 2 * 365 => format!("{days}d"),
        _ if days < 8 * 365 => pair((years, "y"), (days % 365, "d")),
        _ => format!("{years}y"),
    }
}

fn pair((large, unit): (i64, &str), (small, part): (i64, &str)) -> String {
    if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{part}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_or_three_figures() {
        let (day, year) = (24 * HOUR, 365 * 24 * HOUR);
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (599, "9m59s"),
            (600, "10m"),
            (179 * MINUTE, "179m"),
            (3 * HOUR, "3h"),
            (7 * HOUR + 59 * MINUTE, "7h59m"),
            (8 * HOUR + 1, "8h"),
            (47 * HOUR, "47h"),
            (2 * day, "2d"),
            (2 * day + HOUR, "2d1h"),
            (8 * day, "8d"),
            (2 * year - 1, "729d"),
            (2 * year, "2y"),
            (3 * year + day, "3y1d"),
            (8 * year + day, "8y"),
        ] {
            assert_eq!(human(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn no_time_is_unknown() {
        assert_eq!(age(None, Timestamp::UNIX_EPOCH), "<unknown>");
    }
}

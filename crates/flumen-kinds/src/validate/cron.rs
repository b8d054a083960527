//! Schedules of cron jobs.

use std::fmt::Write as _;

use flumen_expr::parse_go_duration;

/// Why this is no schedule, in the words of the server's parser.
pub(super) fn problem(schedule: &str) -> Option<String> {
    let mut spec = schedule;
    if spec.starts_with("TZ=") || spec.starts_with("CRON_TZ=") {
        let (_, rest) = spec.split_once('=')?;
        let Some((zone, rest)) = rest.split_once(' ') else {
            return Some(format!(
                "invalid schedule format: runtime error: slice bounds out of range [{}:-1]",
                schedule.find('=').unwrap_or_default() + 1
            ));
        };
        if !super::cron_jobs::is_known_zone(zone) {
            return Some(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        spec = rest.trim();
    }
    if let Some(name) = spec.strip_prefix('@') {
        return descriptor_problem(spec, name);
    }
    let fields: Vec<&str> = spec.split_whitespace().collect();
    if fields.len() != 5 {
        let shown = fields.join(" ");
        return Some(format!("expected exactly 5 fields, found {}: [{shown}]", fields.len()));
    }
    fields.iter().zip(BOUNDS).find_map(|(field, bounds)| field_problem(field, &bounds))
}

struct Bounds {
    low: u64,
    high: u64,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const BOUNDS: [Bounds; 5] = [
    Bounds { low: 0, high: 59, names: &[] },
    Bounds { low: 0, high: 23, names: &[] },
    Bounds { low: 1, high: 31, names: &[] },
    Bounds { low: 1, high: 12, names: &MONTHS },
    Bounds { low: 0, high: 6, names: &DAYS },
];

fn field_problem(field: &str, bounds: &Bounds) -> Option<String> {
    let mut parts = field.split(',').filter(|part| !part.is_empty());
    parts.find_map(|part| range_problem(part, bounds).err())
}

fn range_problem(text: &str, bounds: &Bounds) -> Result<(), String> {
    let (range, steps) = text.split_once('/').map_or((text, None), |(r, s)| (r, Some(s)));
    let ends: Vec<&str> = range.split('-').collect();
    let (start, mut end) = if matches!(ends[0], "*" | "?") {
        (bounds.low, bounds.high)
    } else {
        let start = number_or_name(ends[0], bounds)?;
        match ends.as_slice() {
            [_] => (start, start),
            [_, end] => (start, number_or_name(end, bounds)?),
            _ => return Err(format!("too many hyphens: {text}")),
        }
    };
    let step = match steps {
        None => 1,
        Some(steps) if steps.contains('/') => return Err(format!("too many slashes: {text}")),
        Some(steps) => {
            let step = number(steps)?;
            if ends.len() == 1 {
                end = bounds.high;
            }
            step
        }
    };
    let Bounds { low, high, .. } = bounds;
    if start < *low {
        return Err(format!("beginning of range ({start}) below minimum ({low}): {text}"));
    }
    if end > *high {
        return Err(format!("end of range ({end}) above maximum ({high}): {text}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn number_or_name(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let place = bounds.names.iter().position(|name| text.eq_ignore_ascii_case(name));
    let value = place.and_then(|place| u64::try_from(place).ok());
    value.map_or_else(|| number(text), |place| Ok(place + bounds.low))
}

fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let mut quoted = String::new();
        let _ = write!(quoted, "{text:?}");
        return Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {quoted}: invalid syntax"
        ));
    }
    let Ok(number) = digits.parse::<u64>() else {
        return Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: value out of range"
        ));
    };
    if text.starts_with('-') && number > 0 {
        return Err(format!("negative number (-{number}) not allowed: {text}"));
    }
    Ok(number)
}

fn descriptor_problem(text: &str, name: &str) -> Option<String> {
    let known = ["yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];
    if known.contains(&name) {
        return None;
    }
    let Some(duration) = name.strip_prefix("every ") else {
        return Some(format!("unrecognized descriptor: {text}"));
    };
    parse_go_duration(duration)
        .is_err()
        .then(|| format!("failed to parse duration {text}: time: invalid duration {duration:?}"))
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[track_caller]
    fn check(schedule: &str, expected: Option<&str>) {
        assert_eq!(problem(schedule).as_deref(), expected);
    }

    #[test]
    fn schedules_are_read() {
        check("*/5 0-6 1,15 jan-mar MON", None);
        check("@hourly", None);
        check("@every 1h30m", None);
        check("* * * *", Some("expected exactly 5 fields, found 4: [* * * *]"));
        check("99 * * * *", Some("end of range (99) above maximum (59): 99"));
        check("* * 0 * *", Some("beginning of range (0) below minimum (1): 0"));
        check("5-1 * * * *", Some("beginning of range (5) beyond end of range (1): 5-1"));
        check("*/0 * * * *", Some("step of range should be a positive number: */0"));
        check(
            "x * * * *",
            Some("failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
        );
        check("@never", Some("unrecognized descriptor: @never"));
    }
}

//! Points in time and spans of it.

use flumen_expr::parse_go_duration;
use jiff::{SignedDuration, Timestamp, civil::DateTime, tz::Offset};

use crate::{Fault, Outcome, functions::no_overload_of_types, value::Value};

pub(crate) fn apply<'a>(name: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    if !GETTERS.contains(&name) {
        return None;
    }
    Some(match args {
        [Value::Duration(duration)] => from_duration(name, *duration)
            .map(Value::Int)
            .ok_or_else(|| no_overload_of_types(name, args)),
        [Value::Timestamp(time)] => Ok(Value::Int(from_time(name, *time, Offset::UTC))),
        [Value::Timestamp(time), Value::Text(zone)] => {
            offset(zone).map(|offset| Value::Int(from_time(name, *time, offset)))
        }
        _ => Err(no_overload_of_types(name, args)),
    })
}

const GETTERS: [&str; 10] = [
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
];

fn from_time(name: &str, time: Timestamp, offset: Offset) -> i64 {
    let local: DateTime = offset.to_datetime(time);
    match name {
        "getFullYear" => local.year().into(),
        "getMonth" => i64::from(local.month()) - 1,
        "getDate" => local.day().into(),
        "getDayOfMonth" => i64::from(local.day()) - 1,
        "getDayOfWeek" => local.weekday().to_sunday_zero_offset().into(),
        "getDayOfYear" => i64::from(local.day_of_year()) - 1,
        "getHours" => local.hour().into(),
        "getMinutes" => local.minute().into(),
        "getSeconds" => local.second().into(),
        _ => local.millisecond().into(),
    }
}

fn from_duration(name: &str, duration: SignedDuration) -> Option<i64> {
    match name {
        "getHours" => Some(duration.as_hours()),
        "getMinutes" => Some(duration.as_mins()),
        "getSeconds" => Some(duration.as_secs()),
        "getMilliseconds" => duration.as_millis().try_into().ok(),
        _ => None,
    }
}

/// `UTC` or an offset such as `+02:00`. Names of zones mean something else on every machine and are
/// not known here.
fn offset(zone: &str) -> Result<Offset, Fault> {
    let unknown = || Fault::new(format!("unknown time zone {zone}"));
    if zone.is_empty() || zone == "UTC" {
        return Ok(Offset::UTC);
    }
    let (hours, minutes) = zone.split_once(':').ok_or_else(unknown)?;
    let negative = hours.starts_with('-');
    let hours: i32 = hours.parse().map_err(|_| unknown())?;
    let minutes: i32 = minutes.parse().map_err(|_| unknown())?;
    let seconds = hours * 3600 + if negative { -minutes } else { minutes } * 60;
    Offset::from_seconds(seconds).map_err(|_| unknown())
}

/// Reads a span as Go writes it: `1h30m`, `-1.5h`, `300ms`.
pub(crate) fn parse_duration(text: &str) -> Option<SignedDuration> {
    parse_go_duration(text).ok().map(SignedDuration::from_nanos)
}

/// Seconds, with as many decimals as it takes.
pub(crate) fn duration_to_text(duration: SignedDuration) -> String {
    let sign = if duration.is_negative() { "-" } else { "" };
    let duration = duration.unsigned_abs();
    let text = format!("{}.{:09}", duration.as_secs(), duration.subsec_nanos());
    format!("{sign}{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A span as Go writes it, or as a number and a unit in words: `3 days`.
pub fn parse_lenient_duration(text: &str) -> Option<SignedDuration> {
    const UNITS: [(&[&str], i64); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60 * 1_000_000_000),
        (&["h", "hr", "hour"], 3_600 * 1_000_000_000),
        (&["d", "day"], 24 * 3_600 * 1_000_000_000),
        (&["w", "wk", "week"], 7 * 24 * 3_600 * 1_000_000_000),
    ];
    if let Some(duration) = parse_duration(text) {
        return Some(duration);
    }
    let mut total: Option<i64> = None;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        let after = after.trim_start();
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == 'µ';
        let letters = after.find(|c| !is_letter(c)).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        rest = after;
        let unit = unit.to_lowercase();
        // The longest word of a unit may have an ending.
        let factor = UNITS.into_iter().find_map(|(words, factor)| {
            let (last, others) = words.split_last()?;
            (others.contains(&unit.as_str()) || unit.starts_with(last)).then_some(factor)
        });
        if let Some(factor) = factor {
            let amount = digits.parse::<i64>().ok()?.wrapping_mul(factor);
            total = Some(total.unwrap_or(0).wrapping_add(amount));
        }
    }
    total.map(SignedDuration::from_nanos)
}

/// A point in time, or the start of a day.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let of_day = |date: jiff::civil::Date| Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok();
    text.parse().ok().or_else(|| text.parse().ok().and_then(of_day))
}

//! Whether a value is what a schema says, in the words of the API server.
//!
//! Alternatives are weighed as its library weighs them: when none of several schemas holds, the
//! problems that are shown are those of the schema of which most was right, and how much is right is
//! counted here in the same way.

mod failure;
mod scalar;
mod unchanged;

use flumen_fields::FieldError;
use serde_json::{Map, Value};

pub(crate) use failure::NO_PLACE;
pub(crate) use unchanged::{Before, find_by_keys, key_of};

use crate::schema::{Additional, Schema};
use failure::{Failure, Failures, Place};

/// Work that one validation may be. It is far beyond any honest schema and object.
const STEPS: usize = 10_000_000;

/// Checks a value. Problems of parts that are as they were before an update are let pass.
///
/// `prefix` is where the value stands in its object, if it is not the object itself.
pub(crate) fn check(
    value: &Value,
    schema: &Schema,
    before: Before<'_>,
    prefix: Option<&str>,
) -> Vec<FieldError> {
    let mut checker = Checker { steps: STEPS };
    let result = checker.value(value, schema, &Place::Root, before);
    let mut errors: Vec<_> =
        result.failures.into_iter().map(|failure| failure.into_error(prefix)).collect();
    if checker.steps == 0 {
        let text = "the object and its schema are too large to be validated".to_owned();
        errors.push(Failure::general(text).into_error(prefix));
    }
    errors
}

/// What a check found, and how many of its steps were right.
#[derive(Default)]
struct Outcome {
    failures: Failures,
    matches: usize,
}

impl Outcome {
    fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        for failure in other.failures {
            self.add(failure);
        }
    }

    /// The same problem is told once.
    fn add(&mut self, failure: Failure) {
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }

    fn is_valid(&self) -> bool {
        self.failures.is_empty()
    }
}

struct Checker {
    steps: usize,
}

impl Checker {
    /// Checks a value that may be let pass as a whole.
    fn value(
        &mut self,
        value: &Value,
        schema: &Schema,
        place: &Place<'_>,
        before: Before<'_>,
    ) -> Outcome {
        let mut outcome = self.against(value, schema, place, before);
        if !outcome.is_valid() && before.is_unchanged(value, schema) {
            outcome.failures.clear();
        }
        outcome
    }

    fn against(
        &mut self,
        value: &Value,
        schema: &Schema,
        place: &Place<'_>,
        before: Before<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        if self.steps == 0 {
            return outcome;
        }
        self.steps -= 1;
        if value.is_null() {
            scalar::check_type(value, schema, place, &mut outcome);
            scalar::check_choices(value, schema, place, &mut outcome);
            return outcome;
        }
        if scalar::has_type(schema) {
            scalar::check_type(value, schema, place, &mut outcome);
            outcome.matches += 1;
        }
        self.alternatives(value, schema, place, before, &mut outcome);
        outcome.matches += 1;
        match value {
            Value::String(text) => {
                scalar::check_text(text, schema, place, &mut outcome);
                outcome.matches += 1;
                if scalar::check_format(text, schema, place, &mut outcome) {
                    outcome.matches += 1;
                }
            }
            Value::Number(number) => {
                scalar::check_number(number, schema, place, &mut outcome);
                outcome.matches += 2;
            }
            Value::Array(items) => {
                self.items(items, schema, place, before, &mut outcome);
                outcome.matches += 2;
            }
            _ => {}
        }
        scalar::check_choices(value, schema, place, &mut outcome);
        outcome.matches += 1;
        if let Value::Object(map) = value {
            self.fields(map, schema, place, before, &mut outcome);
            outcome.matches += 1;
        }
        outcome.matches += 1;
        outcome
    }

    fn alternatives(
        &mut self,
        value: &Value,
        schema: &Schema,
        place: &Place<'_>,
        before: Before<'_>,
        outcome: &mut Outcome,
    ) {
        if !schema.any_of.is_empty() {
            self.any_of(value, schema, place, before, outcome);
        }
        if !schema.one_of.is_empty() {
            self.one_of(value, schema, place, before, outcome);
        }
        if !schema.all_of.is_empty() {
            let mut valid = 0;
            for part in &schema.all_of {
                let found = self.against(value, part, place, before);
                valid += usize::from(found.is_valid());
                outcome.merge(found);
            }
            if valid != schema.all_of.len() {
                let none = if valid == 0 { ". None validated" } else { "" };
                let text = format!("{place:?} must validate all the schemas (allOf){none}");
                outcome.add(Failure::general(text));
            }
        }
        if let Some(not) = &schema.not
            && self.against(value, not, place, before).is_valid()
        {
            let text = format!("{place:?} must not validate the schema (not)");
            outcome.add(Failure::general(text));
        }
        outcome.matches += 1;
    }

    fn any_of(
        &mut self,
        value: &Value,
        schema: &Schema,
        place: &Place<'_>,
        before: Before<'_>,
        outcome: &mut Outcome,
    ) {
        let mut best: Option<Outcome> = None;
        for part in &schema.any_of {
            let found = self.against(value, part, place, before);
            if found.is_valid() {
                return outcome.merge(found);
            }
            if best.as_ref().is_none_or(|best| found.matches > best.matches) {
                best = Some(found);
            }
        }
        let text = format!("{place:?} must validate at least one schema (anyOf)");
        outcome.add(Failure::general(text));
        outcome.merge(best.unwrap_or_default());
    }

    fn one_of(
        &mut self,
        value: &Value,
        schema: &Schema,
        place: &Place<'_>,
        before: Before<'_>,
        outcome: &mut Outcome,
    ) {
        let (mut valid, mut first, mut best): (usize, Option<Outcome>, Option<Outcome>) =
            (0, None, None);
        for part in &schema.one_of {
            let found = self.against(value, part, place, before);
            if found.is_valid() {
                valid += 1;
                best = None;
                first = first.or(Some(found));
            } else if valid == 0 && best.as_ref().is_none_or(|best| found.matches > best.matches) {
                best = Some(found);
            }
        }
        if valid == 1 {
            return outcome.merge(first.unwrap_or_default());
        }
        let found = match valid {
            0 => "Found none valid".to_owned(),
            valid => format!("Found {valid} valid alternatives"),
        };
        let text = format!("{place:?} must validate one and only one schema (oneOf). {found}");
        outcome.add(Failure::general(text));
        outcome.merge(best.unwrap_or_default());
    }

    fn items(
        &mut self,
        items: &[Value],
        schema: &Schema,
        place: &Place<'_>,
        before: Before<'_>,
        outcome: &mut Outcome,
    ) {
        if let Some(item) = schema.item() {
            let old = before.items(schema);
            for (index, value) in items.iter().enumerate() {
                let before = old.find(value);
                let found = self.value(value, item, &Place::Index(place, index), before);
                outcome.merge(found);
            }
        }
        count(items.len(), (schema.min_items, schema.max_items), "items", place, outcome);
    }

    fn fields(
        &mut self,
        map: &Map<String, Value>,
        schema: &Schema,
        place: &Place<'_>,
        before: Before<'_>,
        outcome: &mut Outcome,
    ) {
        count(
            map.len(),
            (schema.min_properties, schema.max_properties),
            "properties",
            place,
            outcome,
        );
        for (key, value) in map {
            if let Some(property) = schema.properties.get(key) {
                let before = before.field(key, schema);
                let found = self.value(value, property, &Place::Field(place, key), before);
                outcome.merge(found);
                continue;
            }
            match &schema.additional {
                Some(Additional::Schema(additional)) => {
                    let before = before.field(key, schema);
                    let found = self.value(value, additional, &Place::Key(place, key), before);
                    outcome.merge(found);
                }
                Some(Additional::Any(false)) => {
                    let text = format!("{place}.{key} in body is a forbidden property");
                    outcome.add(Failure::invalid(place, Value::from(key.as_str()), text));
                }
                _ => {}
            }
        }
        for key in &schema.required {
            if !map.contains_key(key) {
                outcome.add(Failure::required(&Place::Key(place, key)));
            }
        }
    }
}

/// How many there may be.
fn count(
    size: usize,
    (least, most): (Option<i64>, Option<i64>),
    what: &str,
    place: &Place<'_>,
    outcome: &mut Outcome,
) {
    if let Some(least) = least
        && below(size, least)
    {
        let text = format!("{place} in body should have at least {least} {what}");
        outcome.add(Failure::invalid(place, Value::from(size), text));
    }
    if let Some(most) = most
        && above(size, most)
    {
        outcome.add(Failure::too_many(place, size, most));
    }
}

fn below(size: usize, least: i64) -> bool {
    i64::try_from(size).unwrap_or(i64::MAX) < least
}

fn above(size: usize, most: i64) -> bool {
    i64::try_from(size).unwrap_or(i64::MAX) > most
}

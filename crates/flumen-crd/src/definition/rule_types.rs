//! Rules of a schema: whether they can be read, and what they may cost.

use std::sync::Arc;

use flumen_cel::Shape;
use flumen_fields::{FieldError, FieldErrorKind, Path, Shown};

use super::{
    go_form,
    schema_rules::{Context, RuleChecker},
};
use crate::{
    compiled::{self, CompiledRule, RuleProblem},
    schema::Schema,
    shape::{LARGEST_REQUEST, shape_of},
};

/// The most that one rule may cost, over all values that it may be asked about.
const RULE_LIMIT: u64 = 10_000_000;
/// The same for all rules of a schema.
const TOTAL_LIMIT: u64 = 100_000_000;
/// So many of the most expensive rules are named when all together are too expensive.
const NAMED: usize = 4;

pub(super) struct Rules {
    is_enabled: bool,
    /// Rules that were accepted before are not refused for their price.
    is_unchanged: bool,
    levels: Vec<Level>,
    total: u64,
    expensive: Vec<(u64, String)>,
}

struct Level {
    /// How many values there may be; `None` if there is no limit.
    cardinality: Option<u64>,
    /// How many parts each of them may have.
    factor: Option<u64>,
    /// Rules are not looked for below `allOf` and the like.
    has_rules: bool,
    is_resource: bool,
}

impl Rules {
    pub(super) fn new(root: &Schema, is_unchanged: bool) -> Self {
        let level = Level {
            cardinality: Some(1),
            factor: factor(root),
            has_rules: true,
            is_resource: true,
        };
        Self {
            is_enabled: true,
            is_unchanged,
            levels: vec![level],
            total: 0,
            expensive: Vec::new(),
        }
    }

    pub(super) fn disable(&mut self) {
        self.is_enabled = false;
    }

    /// What is wrong with all rules together.
    pub(super) fn total(self, at: &Path<'_>) -> Vec<FieldError> {
        if self.total <= TOTAL_LIMIT {
            return Vec::new();
        }
        let mut errors: Vec<_> = self
            .expensive
            .into_iter()
            .map(|(_, field)| {
                let detail = "contributed to estimated rule cost total exceeding cost limit for \
                              entire OpenAPIv3 schema"
                    .to_owned();
                FieldError { kind: FieldErrorKind::Forbidden, field, value: None, detail }
            })
            .collect();
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(at, too_expensive(what, self.total, TOTAL_LIMIT)));
        errors
    }

    fn observe(&mut self, cost: u64, at: &Path<'_>) {
        self.total = self.total.saturating_add(cost);
        if cost >= TOTAL_LIMIT / 100 {
            self.expensive.push((cost, at.to_string()));
            self.expensive.sort_by(|(a, _), (b, _)| b.cmp(a));
            self.expensive.truncate(NAMED);
        }
    }

    fn price(
        &mut self,
        rule: &CompiledRule,
        shape: &Shape,
        at: &Path<'_>,
        errors: &mut Vec<FieldError>,
    ) {
        let most = LARGEST_REQUEST / (shape.min_size + 1);
        let times = self.levels.last().and_then(|level| level.cardinality).unwrap_or(most);
        let cost = rule.program.estimate(shape).saturating_mul(times);
        let place = at.child("rule");
        if !self.is_unchanged && cost > RULE_LIMIT {
            let detail = too_expensive("estimated rule cost", cost, RULE_LIMIT);
            errors.push(FieldError::forbidden(&place, detail));
        }
        self.observe(cost, &place);
    }

    fn price_message(
        &mut self,
        rule: &CompiledRule,
        shape: &Shape,
        at: &Path<'_>,
        errors: &mut Vec<FieldError>,
    ) {
        let Some(message) = &rule.message else { return };
        let cost = message.estimate(shape);
        let place = at.child("messageExpression");
        if !self.is_unchanged && cost > RULE_LIMIT {
            let detail = too_expensive("estimated messageExpression cost", cost, RULE_LIMIT);
            errors.push(FieldError::forbidden(&place, detail));
        }
        self.observe(cost, &place);
    }
}

impl RuleChecker for Rules {
    fn enter(&mut self, schema: &Schema, may_have_rules: bool) {
        let (cardinality, has_rules) = match self.levels.last() {
            Some(level) => {
                let counts = level.cardinality.zip(level.factor);
                (counts.map(|(own, each)| own.saturating_mul(each)), level.has_rules)
            }
            None => (None, false),
        };
        let has_rules = has_rules && may_have_rules;
        let is_resource = schema.embedded;
        let factor = factor(schema);
        self.levels.push(Level { cardinality, factor, has_rules, is_resource });
    }

    fn leave(&mut self) {
        self.levels.pop();
    }

    fn check(&mut self, schema: &Schema, at: &Path<'_>, context: &Context<'_>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let Some(level) = self.levels.last().filter(|it| it.has_rules && self.is_enabled) else {
            return errors;
        };
        let place = at.child("x-kubernetes-validations");
        let Some(shape): Option<Arc<Shape>> = shape_of(schema, level.is_resource) else {
            let detail = "internal error: failed to construct type information for \
                          x-kubernetes-validations rules: unable to convert structural schema to \
                          CEL declarations";
            return vec![FieldError::internal(&place, detail)];
        };
        for (index, rule) in schema.rules.iter().enumerate() {
            let at = place.index(index);
            let Some(compiled) = compiled::compile(rule, schema, &shape) else { continue };
            let shown = || Shown::Text(go_form::rule(rule));
            let compiled = match compiled {
                Ok(compiled) => {
                    self.price(&compiled, &shape, &at, &mut errors);
                    self.price_message(&compiled, &shape, &at, &mut errors);
                    compiled
                }
                Err(RuleProblem::Message(compiled, problem)) => {
                    self.price(&compiled, &shape, &at, &mut errors);
                    let place = at.child("messageExpression");
                    errors.push(FieldError::invalid(&place, shown(), problem));
                    *compiled
                }
                Err(RuleProblem::Rule(problem)) => {
                    errors.push(FieldError::invalid(&at.child("rule"), shown(), problem));
                    if rule.optional_old_self.is_some() {
                        errors.push(not_asked(rule.optional_old_self, &at));
                    }
                    continue;
                }
            };
            if !compiled.uses_old {
                if rule.optional_old_self.is_some() {
                    errors.push(not_asked(rule.optional_old_self, &at));
                }
            } else if let Some(above) = &context.uncorrelated {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within \
                     {above}"
                );
                let source = rule.rule.as_str();
                errors.push(FieldError::invalid(&at.child("rule"), source, detail));
            }
        }
        errors
    }
}

fn not_asked(optional: Option<bool>, at: &Path<'_>) -> FieldError {
    let detail = "may not be set if oldSelf is not used in rule";
    FieldError::invalid(&at.child("optionalOldSelf"), optional.unwrap_or_default(), detail)
}

/// How many parts a value may have; `None` if there is no limit.
fn factor(schema: &Schema) -> Option<u64> {
    let count = |limit: i64| u64::try_from(limit).unwrap_or(0);
    match schema.kind.as_str() {
        "object" if schema.additional.is_some() => schema.max_properties.map(count),
        "array" => schema.max_items.map(count),
        _ => Some(1),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the message tells an approximate factor")]
fn too_expensive(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, \
         maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

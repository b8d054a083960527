//! Rules in CEL, asked about an object.

use std::{collections::BTreeMap, sync::Arc};

use flumen_cel::{Budget, Fault, Shape, Value as Cel};
use flumen_fields::{FieldError, FieldErrorKind, Path};
use serde_json::Value;

use crate::{
    check::{Before, find_by_keys},
    compiled::{self, CompiledRule, RuleProblem},
    schema::Schema,
    shape::shape_of,
};

/// The rules of a schema and of all its parts.
#[derive(Debug)]
pub(crate) struct RuleSet {
    /// Words for the kind of value, which messages show in its place.
    kind: String,
    rules: Vec<Result<CompiledRule, String>>,
    shape: Option<Arc<Shape>>,
    schema: Arc<Schema>,
    items: Option<Box<Self>>,
    additional: Option<Box<Self>>,
    properties: BTreeMap<String, Self>,
}

/// What rules found, and what they would have found had it not been there before.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub errors: Vec<FieldError>,
    pub warnings: Vec<String>,
}

impl RuleSet {
    /// What all rules together may cost for one object.
    pub(crate) const BUDGET: u64 = 10_000_000;
    /// What one of them may cost.
    const CALL: u64 = 1_000_000;

    /// The rules of a schema; `None` if there are none in it.
    pub(crate) fn new(schema: &Schema, is_resource: bool) -> Option<Self> {
        let items = schema.item().and_then(|item| Self::new(item, item.embedded)).map(Box::new);
        let additional = schema
            .additional_schema()
            .and_then(|values| Self::new(values, values.embedded))
            .map(Box::new);
        let properties: BTreeMap<_, _> = schema
            .properties
            .iter()
            .filter_map(|(name, it)| Some((name.clone(), Self::new(it, it.embedded)?)))
            .collect();
        if schema.rules.is_empty()
            && items.is_none()
            && additional.is_none()
            && properties.is_empty()
        {
            return None;
        }
        let shape = if schema.rules.is_empty() { None } else { shape_of(schema, is_resource) };
        let rules = shape.iter().flat_map(|shape| {
            schema.rules.iter().filter_map(|rule| {
                Some(match compiled::compile(rule, schema, shape)? {
                    Ok(rule) => Ok(rule),
                    Err(RuleProblem::Message(rule, _)) => Ok(*rule),
                    Err(RuleProblem::Rule(problem)) => Err(problem),
                })
            })
        });
        let rules = rules.collect();
        // Only what tells elements apart is needed of the schema later.
        let slim = Schema {
            kind: schema.kind.clone(),
            list_type: schema.list_type.clone(),
            list_map_keys: schema.list_map_keys.clone(),
            ..Schema::default()
        };
        let kind = schema.kind.clone();
        let schema = Arc::new(slim);
        Some(Self { kind, rules, shape, schema, items, additional, properties })
    }

    /// Asks all rules about a value. What was the same before an update is only warned of.
    pub(crate) fn check(
        &self,
        value: &Value,
        old: Option<&Value>,
        at: &Path<'_>,
        budget: &mut u64,
    ) -> Verdict {
        self.check_ratcheting(value, old, None, at, budget)
    }

    /// The same, where `whole` is a schema by which unchanged parts are found.
    pub(crate) fn check_ratcheting(
        &self,
        value: &Value,
        old: Option<&Value>,
        whole: Option<&Schema>,
        at: &Path<'_>,
        budget: &mut u64,
    ) -> Verdict {
        let before = match (whole, old) {
            (Some(_), Some(old)) => Before::object(old),
            _ => Before::NONE,
        };
        let mut walk = Walk { budget, verdict: Verdict::default(), is_over: false };
        walk.value(self, value, old, Ratchet { before, schema: whole, parent: false }, at);
        walk.verdict
    }
}

/// What a value was, for excusing problems that were there before.
#[derive(Clone, Copy)]
struct Ratchet<'a> {
    before: Before<'a>,
    schema: Option<&'a Schema>,
    /// Whether what is around was unchanged, where the value itself cannot be compared.
    parent: bool,
}

impl<'a> Ratchet<'a> {
    fn excuses(self, value: &Value) -> bool {
        match self.schema {
            Some(schema) => self.before.is_unchanged(value, schema),
            None => self.parent,
        }
    }

    fn below(self, value: &Value, before: Before<'a>, schema: Option<&'a Schema>) -> Self {
        Self { before, schema, parent: schema.is_none() && self.excuses(value) }
    }
}

struct Walk<'b> {
    budget: &'b mut u64,
    verdict: Verdict,
    /// Nothing more is asked.
    is_over: bool,
}

impl Walk<'_> {
    fn value(
        &mut self,
        set: &RuleSet,
        value: &Value,
        old: Option<&Value>,
        ratchet: Ratchet<'_>,
        at: &Path<'_>,
    ) {
        if self.is_over || value.is_null() {
            return;
        }
        self.rules(set, value, old.filter(|old| !old.is_null()), ratchet, at);
        match value {
            Value::Array(items) => {
                let Some(inner) = &set.items else { return };
                let known = find_by_keys(old, &set.schema);
                let before = ratchet.schema.map(|schema| ratchet.before.items(schema));
                for (index, item) in items.iter().enumerate() {
                    let old = crate::check::key_of(item, &set.schema.list_map_keys)
                        .and_then(|key| known.get(&key).copied());
                    let found = before.as_ref().and_then(|before| before.find_value(item));
                    let schema = ratchet.schema.and_then(Schema::item).filter(|_| found.is_some());
                    let inner_ratchet = ratchet.below(value, Before::part(found), schema);
                    self.value(inner, item, old, inner_ratchet, &at.index(index));
                }
            }
            Value::Object(map) => {
                for (key, item) in map {
                    let old = old.and_then(|old| old.get(key));
                    let field = match (set.properties.get(key), &set.additional) {
                        (Some(inner), _) => (inner, at.child(key)),
                        (None, Some(inner)) => (inner.as_ref(), at.key(key)),
                        (None, None) => continue,
                    };
                    let before = match ratchet.schema {
                        Some(schema) => ratchet.before.field(key, schema),
                        None => Before::NONE,
                    };
                    let schema = ratchet
                        .schema
                        .and_then(|schema| schema.field(key))
                        .filter(|_| before.is_known());
                    let inner_ratchet = ratchet.below(value, before, schema);
                    self.value(field.0, item, old, inner_ratchet, &field.1);
                }
            }
            _ => {}
        }
    }

    fn rules(
        &mut self,
        set: &RuleSet,
        value: &Value,
        old: Option<&Value>,
        ratchet: Ratchet<'_>,
        at: &Path<'_>,
    ) {
        let Some(shape) = &set.shape else { return };
        let own = Cel::shaped(value, shape);
        let before = old.map(|old| Cel::shaped(old, shape));
        for rule in &set.rules {
            let rule = match rule {
                Ok(rule) => rule,
                Err(problem) => {
                    let detail = format!("rule compile error: {problem}");
                    self.refuse(set, at, detail);
                    continue;
                }
            };
            let is_optional = rule.source.optional_old_self == Some(true);
            if rule.uses_old && before.is_none() && !is_optional {
                continue;
            }
            let old = match (&before, is_optional) {
                (Some(old), true) => Some(Cel::some(old.clone())),
                (None, true) => Some(Cel::Optional(None)),
                (old, false) => old.clone(),
            };
            let mut variables = vec![("self", own.clone())];
            variables.extend(old.map(|old| ("oldSelf", old)));
            if !self.ask(set, rule, value, &variables, ratchet, at) {
                self.is_over = true;
                return;
            }
        }
    }

    /// Asks one rule; whether further rules may be asked.
    fn ask(
        &mut self,
        set: &RuleSet,
        rule: &CompiledRule,
        value: &Value,
        variables: &[(&str, Cel<'_>)],
        ratchet: Ratchet<'_>,
        at: &Path<'_>,
    ) -> bool {
        let mut budget = Budget::new(RuleSet::CALL);
        let answer = rule.program.evaluate(variables, &mut budget);
        if !self.spend(RuleSet::CALL - budget.left()) {
            let detail = "validation failed due to running out of cost budget, no further validation \
                          rules will be run";
            self.refuse(set, at, detail.to_owned());
            return false;
        }
        let named = rule_name(rule);
        match answer {
            Ok(Cel::Bool(true)) => return true,
            Ok(Cel::Bool(false)) => {}
            Ok(_) => {
                let detail = format!("no such overload evaluating rule: {named}");
                self.refuse(set, at, detail);
                return true;
            }
            Err(Fault::Exhausted) => {
                let detail = format!(
                    "'{}': no further validation rules will be run due to call cost exceeds limit \
                     for rule: {named}",
                    Fault::Exhausted
                );
                self.refuse(set, at, detail);
                return false;
            }
            Err(fault) => {
                let fault = fault.to_string();
                let detail = if fault.starts_with("no such overload") {
                    format!(
                        "'{fault}': call arguments did not match a supported operator, function or \
                         macro signature for rule: {named}"
                    )
                } else {
                    format!("{fault} evaluating rule: {named}")
                };
                self.refuse(set, at, detail);
                return true;
            }
        }
        let inner = (!rule.field_path.is_empty()).then(|| at.child(&rule.field_path));
        let place = inner.as_ref().unwrap_or(at);
        let is_excused = !rule.uses_old && ratchet.excuses(value);
        let (message, may_go_on) = self.message(rule, variables);
        let (shown, detail) = match message {
            Ok(detail) => (shown(set, value), detail),
            Err(detail) => (Some(Value::from(set.kind.as_str())), detail),
        };
        let error = error_of(rule, place, shown, detail);
        if is_excused {
            self.verdict.warnings.push(error.to_string());
        } else {
            self.verdict.errors.push(error);
        }
        may_go_on
    }

    /// What to say of a rule that does not hold, and whether further rules may be asked. An error
    /// stands for a message that used up what was left.
    fn message(
        &mut self,
        rule: &CompiledRule,
        variables: &[(&str, Cel<'_>)],
    ) -> (Result<String, String>, bool) {
        /// In bytes.
        const LONGEST: usize = 5 * 1024;
        if let Some(program) = &rule.message {
            let mut budget = Budget::new(RuleSet::CALL);
            let answer = program.evaluate(variables, &mut budget);
            if !self.spend(RuleSet::CALL - budget.left()) {
                let detail = "messageExpression evaluation failed due to running out of cost budget, \
                              no further validation rules will be run";
                return (Err(detail.to_owned()), false);
            }
            match answer {
                Err(Fault::Exhausted) => {
                    let detail = format!(
                        "no further validation rules will be run due to call cost exceeds limit for \
                         messageExpression: {:?}",
                        rule.source.message_expression
                    );
                    return (Err(detail), false);
                }
                Ok(Cel::Text(text)) => {
                    let text = text.trim();
                    if !text.is_empty() && text.len() <= LONGEST && !text.contains('\n') {
                        return (Ok(text.to_owned()), true);
                    }
                }
                _ => {}
            }
        }
        let message = rule.source.message.trim();
        let detail = if rule.source.message.is_empty() {
            format!("failed rule: {}", rule_name(rule))
        } else {
            message.to_owned()
        };
        (Ok(detail), true)
    }

    fn spend(&mut self, cost: u64) -> bool {
        match self.budget.checked_sub(cost) {
            Some(left) => {
                *self.budget = left;
                true
            }
            None => false,
        }
    }

    /// A rule that could not be asked.
    fn refuse(&mut self, set: &RuleSet, at: &Path<'_>, detail: String) {
        let shown = Some(Value::from(set.kind.as_str()));
        self.verdict.errors.push(placed(FieldError::new(
            FieldErrorKind::Invalid,
            at,
            shown,
            detail,
        )));
    }
}

fn rule_name(rule: &CompiledRule) -> &str {
    if rule.source.message.is_empty() {
        rule.source.rule.trim()
    } else {
        rule.source.message.trim()
    }
}

/// Objects and lists are not shown.
fn shown(set: &RuleSet, value: &Value) -> Option<Value> {
    (!matches!(set.kind.as_str(), "object" | "array")).then(|| value.clone())
}

fn error_of(
    rule: &CompiledRule,
    at: &Path<'_>,
    shown: Option<Value>,
    detail: String,
) -> FieldError {
    let error = match rule.source.reason.as_deref() {
        Some("FieldValueForbidden") => FieldError::forbidden(at, detail),
        Some("FieldValueRequired") => FieldError::required(at, detail),
        Some("FieldValueDuplicate") => FieldError::new(FieldErrorKind::Duplicate, at, shown, ""),
        _ => FieldError::new(FieldErrorKind::Invalid, at, shown, detail),
    };
    placed(error)
}

/// The object itself has a place that says so.
fn placed(mut error: FieldError) -> FieldError {
    if error.field.is_empty() {
        crate::check::NO_PLACE.clone_into(&mut error.field);
    }
    error
}

//! Values that the server fills in where nothing was given, and the few that it rewrites on the way
//! between a version and its own form.
//!
//! A default belongs to a type and is applied wherever that type occurs, outer types first. Most are
//! lines of a table; what depends on other fields is one small function a type.

mod image;
mod kinds;
mod pod;
mod pod_resources;
mod service;
mod workload;

pub use self::workload::inherit_early;

use std::sync::LazyLock;

use flumen_object::Quantity;
use flumen_schema::api::{Api, ApiKind, Field, Form, Presence, Type, TypeId};
use serde_json::Value;

use crate::canonical::is_empty;

/// Fills in the defaults of a canonical object. The result is canonical.
pub fn default(object: &mut Value, kind: &ApiKind) {
    default_type(object, kind.object);
}

/// The same for a body that is no resource.
pub fn default_type(object: &mut Value, of: TypeId) {
    fill_in(object, of.index());
}

/// What is to be done with each type, by its place.
static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(plans);

#[derive(Default)]
struct Plan {
    values: Vec<(&'static Field, Value)>,
    rule: Option<fn(&mut Value)>,
    /// Fields below which there is something to be done.
    below: Vec<(&'static str, Below)>,
}

#[derive(Clone, Copy)]
enum Below {
    One(usize),
    List(usize),
    Map(usize),
    /// Amounts that are kept to the thousandth.
    Resources,
}

fn fill_in(object: &mut Value, of: usize) {
    let plan = &PLANS[of];
    let Value::Object(members) = object else { return };
    for (field, value) in &plan.values {
        if is_missing(members.get(field.name), field) {
            members.insert(field.name.to_owned(), value.clone());
        }
    }
    if let Some(rule) = plan.rule {
        rule(object);
    }
    let Value::Object(members) = object else { return };
    for (name, below) in &plan.below {
        match (below, members.get_mut(*name)) {
            (Below::One(of), Some(value)) => fill_in(value, *of),
            (Below::List(of), Some(Value::Array(items))) => {
                for item in items {
                    fill_in(item, *of);
                }
            }
            (Below::Map(of), Some(Value::Object(values))) => {
                values.values_mut().for_each(|value| fill_in(value, *of));
            }
            (Below::Resources, Some(Value::Object(amounts))) => {
                amounts.values_mut().for_each(round_up);
            }
            _ => {}
        }
    }
}

/// Whether a field is as if nothing was given. Only pointers tell zero from nothing.
fn is_missing(value: Option<&Value>, field: &Field) -> bool {
    match (value, field.presence) {
        (None | Some(Value::Null), _) => true,
        (Some(_), Presence::Given | Presence::Nullable) => false,
        (Some(value), Presence::Always | Presence::Filled) => is_empty(value),
    }
}

fn round_up(amount: &mut Value) {
    if let Value::String(text) = amount
        && (text.ends_with(['n', 'u']) || text.contains(['.', '-']))
        && let Ok(quantity) = Quantity::parse(text)
        && let Some(rounded) = quantity.rounded_to_milli()
    {
        *text = rounded.to_string();
    }
}

fn plans() -> Vec<Plan> {
    let api = Api::get();
    let mut plans: Vec<Plan> = api.types().iter().map(own_plan).collect();
    for (name, field, value) in table() {
        let place = api.type_named(name).map(TypeId::index);
        if let Some(place) = place
            && let Some(field) = api.types()[place].field(field)
        {
            plans[place].values.push((field, value));
        }
    }
    for (name, rule) in kinds::RULES {
        if let Some(of) = api.type_named(name) {
            plans[of.index()].rule = Some(*rule);
        }
    }
    link(api, &mut plans);
    plans
}

/// What the facts of a type say alone.
fn own_plan(of: &'static Type) -> Plan {
    let values = of.fields.iter().filter_map(|field| {
        let value = serde_json::from_str(field.default?).ok()?;
        Some((field, value))
    });
    let is_named = !of.name.starts_with("api.resource.");
    let amounts =
        |field: &&Field| matches!(&field.form, Form::Map(of) if **of == Form::Quantity) && is_named;
    let below = of.fields.iter().filter(amounts).map(|field| (field.name, Below::Resources));
    Plan { values: values.collect(), rule: None, below: below.collect() }
}

/// The lines of the table: type, field and value.
fn table() -> impl Iterator<Item = (&'static str, &'static str, Value)> {
    include_str!("defaults/table.txt").lines().filter_map(|line| {
        let (place, value) = line.split_once(" = ")?;
        let (name, field) = place.rsplit_once('.')?;
        Some((name, field, serde_json::from_str(value).ok()?))
    })
}

/// Finds the fields below which there is something to be done, so that nothing else is walked.
fn link(api: &'static Api, plans: &mut [Plan]) {
    let mut is_active: Vec<bool> = plans
        .iter()
        .map(|plan| !plan.values.is_empty() || plan.rule.is_some() || !plan.below.is_empty())
        .collect();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (place, of) in api.types().iter().enumerate() {
            let reaches = |field: &Field| below(&field.form).is_some_and(|(_, to)| is_active[to]);
            if !is_active[place] && of.fields.iter().any(reaches) {
                is_active[place] = true;
                has_changed = true;
            }
        }
    }
    for (of, plan) in api.types().iter().zip(plans) {
        for field in &of.fields {
            if let Some((below, to)) = below(&field.form)
                && is_active[to]
            {
                plan.below.push((field.name, below));
            }
        }
    }
}

fn below(form: &Form) -> Option<(Below, usize)> {
    let place = |form: &Form| match form {
        Form::Struct(of) => Some(of.index()),
        _ => None,
    };
    match form {
        Form::Struct(of) => Some((Below::One(of.index()), of.index())),
        Form::List(of) => place(of).map(|of| (Below::List(of), of)),
        Form::Map(of) => place(of).map(|of| (Below::Map(of), of)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

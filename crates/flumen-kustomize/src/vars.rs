//! `vars`: values of fields that other fields name as `$(NAME)`.
//!
//! A variable is bound to its object when its kustomization is finished, while the object still has
//! the name that the variable uses; the value is read at the end of the build.

mod expand;

use std::{collections::BTreeMap, fmt};

use flumen_object::Gvk;
use flumen_schema::Schema;
use flumen_yaml::{Node, Scalar, Style, Tag, Text, Value};

use self::expand::{Expansion, Replacer, expand};
use crate::{
    config::FieldSpec,
    error::{Error, Result},
    field_path,
    fieldspec::{Create, Fields},
    id::ResId,
    kustomization::fields::Var,
    resmap::ResMap,
    resource::Resource,
    transform::Scene,
};

const DEFAULT_FIELD_PATH: &str = "metadata.name";

/// Variables by name; no two have the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars {
    by_name: BTreeMap<Text, Var>,
}

impl Vars {
    /// Takes over the variables of a kustomization and binds them to its resources.
    pub(crate) fn add(
        &mut self,
        incoming: &[Var],
        resources: &mut ResMap,
        schema: &Schema,
    ) -> Result<()> {
        for var in incoming {
            let wanted = wanted_id(var);
            let is_meant = |id: &ResId| {
                if var.namespace.is_empty() { id.same_name(&wanted) } else { *id == wanted }
            };
            let matches: Vec<usize> = resources
                .iter()
                .enumerate()
                .filter(|(_, resource)| {
                    is_meant(resource.id(schema)) || resource.previous_ids().any(|id| is_meant(&id))
                })
                .map(|(position, _)| position)
                .collect();
            match matches[..] {
                [] => {}
                [position] => {
                    if let Some(resource) = resources.bodies_mut().get_mut(position) {
                        resource.var_names.push(var.name.clone());
                    }
                }
                _ => {
                    return Err(Error::new(format!(
                        "found {} resId matches for var {} (unable to disambiguate)",
                        matches.len(),
                        Shown(var)
                    ))
                    .hint("name the namespace of the object in `objref`"));
                }
            }
        }
        incoming.iter().try_for_each(|var| self.insert(var.clone()))
    }

    /// Takes over the variables of a base.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        other.by_name.into_values().try_for_each(|var| self.insert(var))
    }

    fn insert(&mut self, var: Var) -> Result<()> {
        if let Some(known) = self.by_name.get(&var.name) {
            return Err(Error::new(format!("var '{}' already encountered", var.name)).hint(
                format!("the other one reads `{}` of {}", field_path_of(known), wanted_id(known)),
            ));
        }
        self.by_name.insert(var.name.clone(), var);
        Ok(())
    }

    /// Replaces `$(NAME)` in the given fields of all resources.
    pub(crate) fn resolve(
        &self,
        resources: &mut ResMap,
        specs: &[FieldSpec],
        warnings: &mut Vec<String>,
        scene: &Scene<'_>,
    ) -> Result<()> {
        if self.by_name.is_empty() {
            return Ok(());
        }
        let mut replacer = Replacer::default();
        for var in self.by_name.values() {
            replacer.insert(var.name.clone(), value_of(var, resources.resources())?);
        }
        let fields = Fields::new(specs);
        let all =
            if fields.reach_ids() { resources.resources_mut() } else { resources.bodies_mut() };
        let outcome = all.iter_mut().try_for_each(|resource| {
            fields.visit(resource, Create::Never, scene.schema, |node, _| {
                replace(node, &mut replacer)
            })?;
            resource.settle_links();
            Ok(())
        });
        let unused = replacer.unused();
        if !unused.is_empty() {
            warnings.push(format!("well-defined vars that were never replaced: {unused}"));
        }
        outcome
    }
}

/// A variable as Go prints it in kustomize's messages.
struct Shown<'a>(&'a Var);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let var = self.0;
        write!(f, "{{{} {} {{{}}}}}", var.name, wanted_id(var).gvk, field_path_of(var))
    }
}

fn field_path_of(var: &Var) -> &str {
    if var.field_path.is_empty() { DEFAULT_FIELD_PATH } else { &var.field_path }
}

/// The id of the object a variable reads from.
fn wanted_id(var: &Var) -> ResId {
    let gvk =
        Gvk { group: var.group.clone(), version: var.version.clone(), kind: var.kind.clone() };
    let (name, namespace) = (var.object_name.clone(), var.namespace.clone());
    ResId { gvk, name, namespace, cluster_scoped: false }
}

/// Reads the value of a variable from the resource that it was bound to.
fn value_of(var: &Var, resources: &[Resource]) -> Result<Expansion> {
    let is_bound = |resource: &&Resource| resource.var_names.contains(&var.name);
    let Some(resource) = resources.iter().find(is_bound) else {
        return Err(Error::new(format!(
            "var '{}' cannot be mapped to a field in the set of known resources",
            Shown(var)
        ))
        .hint(format!("no resource is {}", wanted_id(var))));
    };
    let path = with_indices_apart(field_path::split(field_path_of(var)));
    let value = match field_path::lookup(resource.node(), &path) {
        Ok(Some(node)) => expansion(node),
        _ => None,
    };
    value.ok_or_else(|| {
        Error::new(format!(
            "field specified in var '{}' not found in corresponding resource",
            Shown(var)
        ))
        .hint(format!("the resource is defined in {}", resource.origin))
    })
}

/// Makes two parts of `ports[0]`.
fn with_indices_apart(parts: Vec<String>) -> Vec<String> {
    let mut result = Vec::with_capacity(parts.len());
    for part in parts {
        let indexed = part.strip_suffix(']').and_then(|part| part.rsplit_once('['));
        match indexed {
            Some((name, index))
                if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                if !name.is_empty() {
                    result.push(name.to_owned());
                }
                result.push(index.to_owned());
            }
            _ => result.push(part),
        }
    }
    result
}

/// What a field is to a variable; none if Go cannot read it as what it is tagged.
fn expansion(node: &Node) -> Option<Expansion> {
    let Value::Scalar(scalar) = &node.value else { return Some(Expansion::Compound) };
    let text = scalar.text.as_str();
    match scalar.tag {
        Tag::Int => text.parse().ok().map(Expansion::Int),
        Tag::Float => text.parse().ok().map(Expansion::Float),
        Tag::Bool => match text {
            "true" | "True" | "TRUE" => Some(Expansion::Bool(true)),
            "false" | "False" | "FALSE" => Some(Expansion::Bool(false)),
            _ => None,
        },
        _ => Some(Expansion::Text(scalar.text.clone())),
    }
}

/// Expands what variables a field names: a string, the strings of a sequence, those of a mapping.
fn replace(node: &mut Node, replacer: &mut Replacer) -> Result<()> {
    match &mut node.value {
        Value::Scalar(scalar) => replace_scalar(scalar, replacer),
        Value::Map(map) => {
            for entry in map.iter_mut() {
                if let Value::Scalar(scalar) = &mut entry.value.value {
                    replace_scalar(scalar, replacer);
                }
            }
        }
        Value::Seq(items) => {
            for item in items {
                match &mut item.value {
                    Value::Scalar(scalar) if scalar.tag == Tag::Str => {
                        replace_scalar(scalar, replacer);
                    }
                    _ => return Err(Error::new("invalid value type expect a string")),
                }
            }
        }
    }
    Ok(())
}

fn replace_scalar(scalar: &mut Scalar, replacer: &mut Replacer) {
    if scalar.tag != Tag::Str || !scalar.text.contains('$') {
        return;
    }
    let (text, tag) = match expand(&scalar.text, replacer) {
        Expansion::Text(text) => (text, Tag::Str),
        Expansion::Int(number) => (Text::from(number.to_string()), Tag::Int),
        // In full, without an exponent.
        Expansion::Float(number) => (Text::from(number.to_string()), Tag::Float),
        Expansion::Bool(value) => (Text::from(value.to_string()), Tag::Bool),
        Expansion::Compound => return,
    };
    *scalar = Scalar { text, tag, style: Style::Plain };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::stage::{on_stage, printed, resources, spec};

    const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: svc}\n\
        spec: {ports: [{port: 80}, {port: 81}], f: 1000000.5, b: True, hex: 0x10}\n---\n";

    fn var(name: &str, field_path: &str) -> Var {
        Var {
            name: name.into(),
            version: "v1".into(),
            kind: "Service".into(),
            object_name: "svc".into(),
            field_path: field_path.into(),
            ..Var::default()
        }
    }

    /// Binds the variables to a service and resolves them in `spec.args` of a second resource.
    fn run(vars: &[Var], args: &str) -> Result<(String, Vec<String>)> {
        let pod =
            format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{args: {args}}}\n");
        let mut resources = resources(&(SERVICE.to_owned() + &pod));
        let mut warnings = Vec::new();
        on_stage(&[], |scene| {
            let mut set = Vars::default();
            set.add(vars, &mut resources, scene.schema)?;
            set.resolve(&mut resources, &[spec("spec/args", false)], &mut warnings, scene)
        })?;
        let printed = printed(&resources);
        let (_, args) = printed.split_once("  args:").expect("the field is there");
        Ok((args.to_owned(), warnings))
    }

    #[track_caller]
    fn check(vars: &[Var], args: &str, expected: &str) {
        let (args, _) = run(vars, args).expect("the variables are good");
        assert_eq!(args.trim(), expected);
    }

    #[test]
    fn a_field_that_is_one_variable_gets_its_type() {
        check(&[var("A", "")], "$(A)", "svc");
        check(&[var("A", "spec.ports[1].port")], "$(A)", "81");
        check(&[var("A", "spec.ports.0.port")], "[\"$(A)\"]", "- 80");
        check(&[var("A", "spec.b")], "{x: $(A)}", "x: true");
        check(&[var("A", "spec.f")], "$(A)", "1.0000005e+06");
    }

    #[test]
    fn within_a_text_a_variable_is_text() {
        check(&[var("A", "spec.ports[1].port")], "x$(A)y", "x81y");
        check(&[var("A", "spec.f")], "$(A)-", "1.0000005e+06-");
        check(&[var("A", "")], "'$$(A) $(B) $x $ $(A'", "$(A) $(B) $x $ $(A");
        check(&[var("A", "spec.ports")], "a$(A)", "a$(A)");
        check(&[var("A", "")], "{x: [$(A)], y: $(A)}", "x:\n    - $(A)\n    \"y\": svc");
    }

    #[test]
    fn unused_variables_are_named() {
        let (_, warnings) = run(&[var("A", ""), var("B", "spec.ports")], "$(B)").expect("good");
        assert_eq!(warnings, ["well-defined vars that were never replaced: A,B"]);
    }

    #[track_caller]
    fn check_error(vars: &[Var], args: &str, expected: &str) {
        let error = run(vars, args).expect_err("something is wrong").to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn mistakes_are_named() {
        check_error(&[var("A", ""), var("A", "spec.b")], "$(A)", "var 'A' already encountered");
        check_error(
            &[var("A", "spec.no")],
            "$(A)",
            "field specified in var '{A Service.v1.[noGrp] {spec.no}}' not found in corresponding \
             resource",
        );
        check_error(&[var("A", "spec.hex")], "$(A)", "field specified in var");
        let elsewhere = Var { namespace: "other".into(), ..var("A", "") };
        check_error(
            &[elsewhere],
            "$(A)",
            "var '{A Service.v1.[noGrp] {metadata.name}}' cannot be mapped to a field in the set of \
             known resources",
        );
        check_error(&[var("A", "")], "[$(A), 1]", "invalid value type expect a string");
    }
}

//! Macros of Kubernetes that the parser leaves as calls: comprehensions over pairs, and sorting by a key.

use cel::common::ast::{CallExpr, Expr, IdedExpr};

use crate::Dialect;

/// A comprehension that binds two names: the place and the element of a list, or the key and the value
/// of a mapping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs<'a> {
    pub what: PairMacro,
    pub range: &'a IdedExpr,
    pub key: &'a str,
    pub value: &'a str,
    /// Which pairs are looked at.
    pub filter: Option<&'a IdedExpr>,
    pub body: &'a IdedExpr,
}

/// What becomes of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairMacro {
    All,
    Exists,
    ExistsOne,
    /// `transformList`.
    List,
    /// `transformMap`: keys stay.
    Map,
    /// `transformMapEntry`: bodies are mappings of one entry.
    Entries,
}

impl<'a> Pairs<'a> {
    /// The comprehension that a call is, if it is one.
    pub(crate) fn of(call: &'a CallExpr, dialect: Dialect) -> Option<Self> {
        let range = call.target.as_deref().filter(|_| dialect == Dialect::Kubernetes)?;
        let [key, value, rest @ ..] = call.args.as_slice() else { return None };
        let what = match call.func_name.as_str() {
            "all" => PairMacro::All,
            "exists" => PairMacro::Exists,
            "existsOne" | "exists_one" => PairMacro::ExistsOne,
            "transformList" => PairMacro::List,
            "transformMap" => PairMacro::Map,
            "transformMapEntry" => PairMacro::Entries,
            _ => return None,
        };
        let transforms = matches!(what, PairMacro::List | PairMacro::Map | PairMacro::Entries);
        let (filter, body) = match rest {
            [body] => (None, body),
            [filter, body] if transforms => (Some(filter), body),
            _ => return None,
        };
        let (Expr::Ident(key), Expr::Ident(value)) = (&key.expr, &value.expr) else { return None };
        Some(Self { what, range, key, value, filter, body })
    }
}

/// `list.sortBy(element, key)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortBy<'a> {
    pub list: &'a IdedExpr,
    pub element: &'a str,
    pub key: &'a IdedExpr,
}

impl<'a> SortBy<'a> {
    pub(crate) fn of(call: &'a CallExpr, dialect: Dialect) -> Option<Self> {
        let list = call.target.as_deref().filter(|_| dialect == Dialect::Kubernetes)?;
        match (call.func_name.as_str(), call.args.as_slice()) {
            ("sortBy", [IdedExpr { expr: Expr::Ident(element), .. }, key]) => {
                Some(Self { list, element, key })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Budget, Dialect, Program, Type};

    /// The text of what an expression yields, or of why it yields nothing.
    fn evaluated(source: &str) -> String {
        let program = match Program::compile(source, &[], Dialect::Kubernetes) {
            Ok(program) => program,
            Err(error) => return error.to_string(),
        };
        let result = program.evaluate(&[], &mut Budget::default());
        result.map_or_else(|fault| fault.to_string(), |value| format!("{value:?}"))
    }

    /// Whether two expressions yield the same.
    #[track_caller]
    fn check(source: &str, same: &str) {
        let both = format!("({source}) == ({same})");
        assert_eq!(evaluated(&both), "Bool(true)", "{source}: {}", evaluated(source));
    }

    #[test]
    fn pairs_are_visited() {
        check("[1, 2].all(i, v, v == i + 1)", "true");
        check("{'a': 1}.exists(k, v, k == 'a' && v == 1)", "true");
        check("[1, 1].existsOne(i, v, v == 1)", "false");
        check("[5, 7].transformList(i, v, i * v)", "[0, 7]");
        check("[5, 7].transformList(i, v, i > 0, v)", "[7]");
        check("{'a': 1, 'b': 2}.transformMap(k, v, v + 1)", "{'a': 2, 'b': 3}");
        check("{'a': 1, 'b': 2}.transformMap(k, v, k == 'b', v)", "{'b': 2}");
        check("{'a': 'x'}.transformMapEntry(k, v, {v: k})", "{'x': 'a'}");
        check("['a', 'b'].transformMapEntry(i, v, {v: i})", "{'a': 0, 'b': 1}");
        check("{'a': 1}.all(k, v, v / 0 == 1 || v == 1)", "true");
    }

    #[test]
    fn lists_are_sorted_by_a_key() {
        check("[3, 1, 2].sortBy(x, -x)", "[3, 2, 1]");
        check("['bb', 'a'].sortBy(x, size(x))", "['a', 'bb']");
    }

    #[test]
    fn mistakes_are_found() {
        let twice = evaluated("['a', 'a'].transformMapEntry(i, v, {v: i})");
        assert_eq!(twice, "insert failed: key a already exists");
        assert!(evaluated("1.all(i, v, true)").contains("cannot be range of a comprehension"));
        assert!(evaluated("[1].all(i, v, v)").contains("expected type 'bool' but found 'int'"));
        // Flux does not have them.
        let flux = Program::compile("[1].transformList(i, v, v)", &[], Dialect::Flux);
        assert!(flux.is_err());
    }

    #[test]
    fn types_are_known() {
        let program = Program::compile("[1].transformMap(i, v, 'x')", &[], Dialect::Kubernetes);
        let program = program.expect("it compiles");
        assert_eq!(*program.result(), Type::map(Type::Int, Type::Text));
    }
}

//! `cargo xtask generate`: how the Go types of the built-in kinds become JSON.
//!
//! The facts are printed by a small Go program (`facts/typed/main.go`) and committed, so that this
//! needs no Go. Structs that are alike, mostly those of several versions of one kind, share a row.

use std::{collections::BTreeMap, fs, path::Path};

use crate::generate::{Names, constant, header, keep, table};

const FACTS: &str = "xtask/facts/typed.txt";

const USES: &str = "\
use super::{Form, Name};
use crate::typed::Presence;
use Form::{
    Bool, Bytes, Int32, Int64, IntOrString, List, Map, MicroTime, Quantity, Raw, Str, Struct, Time,
};
use Presence::{Always, Filled, Given, Nullable};";

/// Writes the table, or with `check` only compares it. It can always be judged.
pub(crate) fn run(check: bool) -> Result<Option<String>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace root")?;
    let text = fs::read_to_string(root.join(FACTS)).map_err(|error| format!("{FACTS}: {error}"))?;
    keep(root, "typed.rs", &typed_table(&Facts::read(&text)?)?, check)?;
    Ok(None)
}

#[derive(Default)]
struct Facts<'a> {
    source: &'a str,
    /// API version, kind, struct.
    kinds: Vec<(&'a str, &'a str, &'a str)>,
    structs: BTreeMap<&'a str, Vec<Field<'a>>>,
}

#[derive(Clone, Copy)]
struct Field<'a> {
    name: &'a str,
    presence: &'a str,
    shape: &'a str,
}

impl<'a> Facts<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let mut facts = Self::default();
        let mut fields: Option<&mut Vec<Field<'_>>> = None;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match (words.as_slice(), &mut fields) {
                ([name, presence, shape], Some(fields)) if line.starts_with(' ') => {
                    fields.push(Field { name, presence, shape });
                }
                (["source", _, _], None) => facts.source = &line["source ".len()..],
                (["kind", version, kind, target], None) => {
                    facts.kinds.push((version, kind, target));
                }
                (["type", name], _) => fields = Some(facts.structs.entry(name).or_default()),
                _ => return Err(format!("{FACTS}: unknown line `{line}`")),
            }
        }
        for fields in facts.structs.values_mut() {
            fields.sort_unstable_by_key(|field| field.name);
        }
        Ok(facts)
    }

    /// Gives equal numbers to structs that are alike in all that their fields reach.
    fn classes(&self) -> BTreeMap<&'a str, usize> {
        let mut classes: BTreeMap<&str, usize> =
            self.structs.keys().map(|&name| (name, 0)).collect();
        let mut count = 0;
        loop {
            let mut known = BTreeMap::new();
            let next: BTreeMap<&str, usize> = self
                .structs
                .iter()
                .map(|(&name, fields)| {
                    let row = |field: &Field<'a>| {
                        let (outer, inner) = split(field.shape);
                        let target = classes.get(inner).map_or(Err(inner), |class| Ok(*class));
                        (field.name, field.presence, outer, target)
                    };
                    let rows: Vec<_> = fields.iter().map(row).collect();
                    let number = known.len();
                    (name, *known.entry(rows).or_insert(number))
                })
                .collect();
            classes = next;
            if known.len() == count {
                return classes;
            }
            count = known.len();
        }
    }
}

/// Splits `{}[]core/v1.X` into the collections and what they hold.
fn split(shape: &str) -> (&str, &str) {
    shape.split_at(shape.len() - shape.trim_start_matches(['[', ']', '{', '}']).len())
}

fn typed_table(facts: &Facts<'_>) -> Result<String, String> {
    let classes = facts.classes();
    // The first struct of a class stands for it; classes are numbered in that order.
    let mut members: BTreeMap<usize, &Vec<Field<'_>>> = BTreeMap::new();
    for (name, fields) in &facts.structs {
        members.entry(classes[name]).or_insert(fields);
    }
    let mut names = Names::default();
    let mut shapes = Shapes { classes: &classes, rows: Vec::new() };
    let (mut starts, mut field_rows) = (Vec::new(), Vec::new());
    for fields in members.values() {
        starts.push(field_rows.len().to_string());
        for field in *fields {
            let shape = shapes.add(field.shape)?;
            let presence = match field.presence {
                "always" => "Always",
                "filled" => "Filled",
                "given" => "Given",
                "nullable" => "Nullable",
                other => return Err(format!("{FACTS}: unknown presence `{other}`")),
            };
            field_rows.push(format!("({}, {presence}, {shape})", names.add(field.name)));
        }
    }
    let mut kinds = facts.kinds.clone();
    kinds.sort_unstable_by_key(|(version, kind, _)| (*kind, *version));
    let mut kind_rows = Vec::new();
    for (version, kind, target) in kinds {
        let class = classes.get(target).ok_or_else(|| format!("{FACTS}: no type `{target}`"))?;
        kind_rows.push(format!("({}, {}, {class})", names.add(kind), names.add(version)));
    }

    let mut out = header(&format!("The Go types of {}.", facts.source));
    constant(&mut out, "Names of fields, kinds and API versions.", "NAMES", &names.text);
    table(&mut out, "Kinds: kind, API version, struct.", "KINDS", "(Name, Name, u16)", &kind_rows);
    table(&mut out, "First field of each struct.", "STRUCTS", "u16", &starts);
    let doc = "Fields by struct and name: name, when it is printed, shape.";
    table(&mut out, doc, "FIELDS", "(Name, Presence, u16)", &field_rows);
    table(&mut out, "Shapes of values.", "SHAPES", "(Form, u16)", &shapes.rows);
    Ok(out.replace("use super::Name;", USES))
}

struct Shapes<'a> {
    classes: &'a BTreeMap<&'a str, usize>,
    rows: Vec<String>,
}

impl Shapes<'_> {
    /// The number of a shape, after those of what it holds.
    fn add(&mut self, shape: &str) -> Result<usize, String> {
        let row = if let Some(inner) = shape.strip_prefix("[]") {
            format!("(List, {})", self.add(inner)?)
        } else if let Some(inner) = shape.strip_prefix("{}") {
            format!("(Map, {})", self.add(inner)?)
        } else if let Some(class) = self.classes.get(shape) {
            format!("(Struct, {class})")
        } else {
            let form = match shape {
                "string" => "Str",
                "bool" => "Bool",
                "int32" => "Int32",
                "int64" => "Int64",
                "bytes" => "Bytes",
                "time" => "Time",
                "microtime" => "MicroTime",
                "quantity" => "Quantity",
                "intorstring" => "IntOrString",
                "raw" => "Raw",
                other => return Err(format!("{FACTS}: unknown shape `{other}`")),
            };
            format!("({form}, 0)")
        };
        Ok(self.rows.iter().position(|known| *known == row).unwrap_or_else(|| {
            self.rows.push(row);
            self.rows.len() - 1
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, typed_table};

    const FACTS: &str = "\
source example v1
kind v1 A a.A
kind v2 A b.A
type a.A
  source always a.Part
type a.Part
  type filled string
type b.A
  source always b.Part
type b.Part
  type filled string
type c.Part
  type always string
";

    #[test]
    fn fields_may_be_named_as_lines_are() {
        let facts = Facts::read(FACTS).expect("facts");
        assert_eq!(facts.source, "example v1");
        assert_eq!(facts.structs["a.A"][0].name, "source");
        assert_eq!(facts.structs["a.Part"][0].name, "type");
        assert!(Facts::read("  lone always string").is_err());
    }

    #[test]
    fn structs_that_are_alike_share_a_number() {
        let facts = Facts::read(FACTS).expect("facts");
        let classes = facts.classes();
        assert_eq!(classes["a.A"], classes["b.A"]);
        assert_eq!(classes["a.Part"], classes["b.Part"]);
        assert_ne!(classes["a.Part"], classes["c.Part"]);
        let table = typed_table(&facts).expect("a table");
        assert!(table.contains("FIELDS: [(Name, Presence, u16); 3]"), "{table}");
    }
}

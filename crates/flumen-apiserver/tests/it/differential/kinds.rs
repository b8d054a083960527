//! The table of kinds that sequences are about.

use serde_json::Value;

/// Few, so that operations meet.
pub(crate) const NAMES: [&str; 2] = ["a", "b"];

#[derive(Debug)]
pub(crate) struct Kind {
    /// As in `apiVersion`, all served versions, the usual one first.
    pub versions: Vec<&'static str>,
    pub name: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    pub has_status: bool,
    pub has_scale: bool,
    pub base: Value,
    pub parts: Vec<Value>,
    pub statuses: Vec<Value>,
    pub selectors: Vec<&'static str>,
    /// The names of its objects, if sequences must leave them as they are.
    fixed_names: Vec<&'static str>,
}

impl Kind {
    /// Where the objects are.
    pub(crate) fn collection(&self, version: &str) -> String {
        let root = if version.contains('/') { "apis" } else { "api" };
        let namespace = if self.namespaced { "namespaces/${NS}/" } else { "" };
        format!("/{root}/{version}/{namespace}{}", self.plural)
    }

    /// A name that no other sequence has.
    pub(crate) fn name_of(&self, name: &str) -> String {
        let place = usize::from(name != NAMES[0]);
        if let Some(fixed) = self.fixed_names.get(place) {
            return (*fixed).to_owned();
        }
        if self.namespaced { name.to_owned() } else { format!("${{NS}}-{name}") }
    }

    /// Whether writes must change nothing: what follows from them would come when a controller finds the time.
    pub(crate) fn is_dry(&self) -> bool {
        !self.fixed_names.is_empty()
    }

    pub(crate) fn is_custom(&self) -> bool {
        self.versions.iter().any(|version| version.starts_with("diff.example.com/"))
    }
}

/// The definitions of the custom kinds in the table.
pub(crate) fn definitions() -> Vec<Value> {
    serde_json::from_str(include_str!("definitions.json")).expect("it is JSON")
}

pub(crate) fn read() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let lines = include_str!("kinds.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        if what == "kind" {
            kinds.push(head(rest));
            continue;
        }
        let kind = kinds.last_mut().unwrap_or_else(|| panic!("`{line}` is of no kind"));
        let json = || serde_json::from_str(rest).unwrap_or_else(|e| panic!("`{line}`: {e}"));
        match what {
            "base" => kind.base = json(),
            "part" => kind.parts.push(json()),
            "status" => kind.statuses.push(json()),
            "select" => kind.selectors.push(rest),
            "names" => kind.fixed_names = rest.split(' ').collect(),
            _ => panic!("`{line}` is not understood"),
        }
    }
    kinds
}

fn head(line: &'static str) -> Kind {
    let words: Vec<&str> = line.split(' ').collect();
    let [version, kind, plural, scope, subresources, others @ ..] = words.as_slice() else {
        panic!("`kind {line}` has five words")
    };
    Kind {
        versions: [version].into_iter().chain(others).copied().collect(),
        name: kind,
        plural,
        namespaced: *scope == "namespaced",
        has_status: subresources.contains("status"),
        has_scale: subresources.contains("scale"),
        base: Value::Null,
        parts: Vec::new(),
        statuses: Vec::new(),
        selectors: Vec::new(),
        fixed_names: Vec::new(),
    }
}

//! The place of a field, as messages name it: `spec.containers[0].name`.

use std::fmt;

/// A place, built on the way down. It borrows its parent, so that a walk through a valid object
/// allocates nothing.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Self>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// The object itself.
    pub const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    pub const fn new(field: &'a str) -> Self {
        Self { parent: None, step: Step::Field(field) }
    }

    #[must_use]
    pub const fn child(&'a self, field: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Field(field) }
    }

    #[must_use]
    pub const fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }

    /// An entry of a map, printed in brackets.
    #[must_use]
    pub const fn key(&'a self, key: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Key(key) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = match self.parent {
            Some(parent) => {
                parent.fmt(f)?;
                !matches!(parent.step, Step::Root)
            }
            None => false,
        };
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) if inner => write!(f, ".{name}"),
            Step::Field(name) => f.write_str(name),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn prints_as_messages_have_it() {
        let spec = Path::new("spec");
        let containers = spec.child("containers");
        let first = containers.index(0);
        assert_eq!(first.child("name").to_string(), "spec.containers[0].name");
        assert_eq!(spec.child("limits").key("cpu").to_string(), "spec.limits[cpu]");
        let root = Path::ROOT;
        assert_eq!(root.child("spec").to_string(), "spec");
        assert_eq!(root.to_string(), "");
    }
}

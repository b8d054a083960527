//! Where an object came from.

use std::{fmt, path::Path, sync::Arc};

use flumen_yaml::Pos;

/// The file and line an object was read from, and the kustomizations it passed through.
///
/// Carried to the end because every later error message needs it.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The file that holds the object, or the kustomization file that generated it.
    pub file: Option<Arc<Path>>,
    pub pos: Pos,
    /// Directories of the kustomizations that touched the object, innermost first.
    pub kustomizations: Vec<Arc<Path>>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) if self.pos.is_known() => {
                write!(f, "{}:{}:{}", file.display(), self.pos.line, self.pos.column)
            }
            Some(file) => write!(f, "{}", file.display()),
            None => f.write_str("(generated)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use flumen_yaml::Pos;

    use super::Origin;

    #[test]
    fn origins_read_like_compiler_messages() {
        let mut origin = Origin::default();
        assert_eq!(origin.to_string(), "(generated)");
        origin.file = Some(Path::new("base/web.yaml").into());
        assert_eq!(origin.to_string(), "base/web.yaml");
        origin.pos = Pos::new(3, 1);
        assert_eq!(origin.to_string(), "base/web.yaml:3:1");
    }
}

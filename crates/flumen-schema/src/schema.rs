//! The schema of one build: the built-in table, a document of the user's, or both.
//!
//! Kustomize keeps its schema in a global that is filled when first needed. The document of the
//! root kustomization replaces the built-in facts. The document of a base comes too late for that
//! if something was looked up before; then both hold, and which of them wins depends on what kind
//! of lookup it was. [`Schema`] remembers that much of the history, no more.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

use flumen_yaml::{Node, Text};

use crate::{
    Error, builtin,
    document::{self, Document, Target},
};

#[derive(Debug)]
pub struct Schema {
    chosen: bool,
    document: Option<Document>,
    layers: Layers,
    /// What was looked up while only the built-in table was there.
    history: AtomicU8,
}

/// Nothing that counts was looked up yet.
const UNUSED: u8 = 0;
/// The scope of a kind was asked that the table does not know.
const SCOPE_ASKED: u8 = 1;
/// A type was asked.
const TYPE_ASKED: u8 = 2;

/// Which facts hold, the winner last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layers {
    Builtin,
    Document,
    DocumentBuiltin,
    BuiltinDocument,
}

impl Default for Schema {
    fn default() -> Self {
        Self::builtin()
    }
}

impl Schema {
    /// The built-in facts.
    pub const fn builtin() -> Self {
        Self {
            chosen: false,
            document: None,
            layers: Layers::Builtin,
            history: AtomicU8::new(UNUSED),
        }
    }

    /// Takes the `openapi` field of a kustomization into account: its `version`, and the text of
    /// the file that its `path` names.
    ///
    /// Call it for the root kustomization first and for every base and component after that, also
    /// for those without the field, in the order in which they are read. The first that says
    /// something decides.
    pub fn choose(&mut self, version: Option<&str>, document: Option<Text>) -> Result<(), Error> {
        if self.chosen {
            return Ok(());
        }
        match (version, document) {
            (Some(_), Some(_)) => return Err(Error::VersionAndDocument),
            (Some("") | None, None) => {}
            (Some(version), None) if builtin::is_version(version) => self.chosen = true,
            (Some(version), None) => {
                return Err(Error::UnknownVersion { version: version.to_owned() });
            }
            (None, Some(text)) => {
                self.chosen = true;
                self.layers = match self.history.load(Relaxed) {
                    UNUSED => Layers::Document,
                    SCOPE_ASKED => Layers::DocumentBuiltin,
                    _ => Layers::BuiltinDocument,
                };
                self.document = Some(Document::new(text));
            }
        }
        Ok(())
    }

    /// What is wrong with the user's document, if one was chosen, needed and broken.
    ///
    /// Lookups treat a broken document as an empty one; ask this at the end of a build.
    pub fn problem(&self) -> Option<&Error> {
        self.document.as_ref()?.problem()
    }

    /// Whether objects of a kind certainly have no namespace. Unknown kinds count as namespaced.
    pub fn is_cluster_scoped(&self, api_version: &str, kind: &str) -> bool {
        let known = builtin::is_namespaced(api_version, kind).or_else(|| {
            if let Some(document) = &self.document {
                return document.is_namespaced(api_version, kind);
            }
            if self.history.load(Relaxed) == UNUSED {
                self.history.store(SCOPE_ASKED, Relaxed);
            }
            None
        });
        known == Some(false)
    }

    /// The type of an object.
    pub fn root(&self, api_version: &str, kind: &str) -> Option<TypeRef<'_>> {
        let own = || {
            let node = self.document.as_ref()?.root(api_version, kind)?;
            Some(self.wrap(Facts::Document(node)))
        };
        let builtin = || Some(self.wrap(Facts::Builtin(builtin::root(api_version, kind)?)));
        match self.layers {
            Layers::Builtin => {
                self.history.store(TYPE_ASKED, Relaxed);
                builtin()
            }
            Layers::Document => own(),
            Layers::DocumentBuiltin => builtin().or_else(own),
            Layers::BuiltinDocument => own().or_else(builtin),
        }
    }

    /// The type that a schema describes, wherever it stands: it may be one from a comment.
    pub fn describe<'s>(&'s self, schema: &'s Node) -> Option<TypeRef<'s>> {
        match document::follow(schema, |name| self.definition(name))? {
            Target::Schema(node) => Some(self.wrap(Facts::Document(node))),
            Target::Elsewhere(definition) => Some(self.wrap(Facts::Builtin(definition))),
            Target::Document => Some(self.wrap(Facts::None)),
        }
    }

    /// A type of which nothing is known, which is not the same as a place without a type: there, an
    /// object's own `apiVersion` and `kind` count.
    pub const fn opaque(&self) -> TypeRef<'_> {
        self.wrap(Facts::None)
    }

    /// A definition by its name, in the user's document or in the table.
    fn definition(&self, name: &str) -> Option<Result<&Node, builtin::Type>> {
        let own = || self.document.as_ref()?.definition(name).map(Ok);
        let builtin = || builtin::definition(name).map(Err);
        match self.layers {
            Layers::Builtin => builtin(),
            Layers::Document => own(),
            Layers::DocumentBuiltin => builtin().or_else(own),
            Layers::BuiltinDocument => own().or_else(builtin),
        }
    }

    const fn wrap<'s>(&'s self, facts: Facts<'s>) -> TypeRef<'s> {
        TypeRef { schema: self, facts }
    }
}

/// What is known of a value at some place of an object.
#[derive(Clone, Copy, Debug)]
pub struct TypeRef<'s> {
    schema: &'s Schema,
    facts: Facts<'s>,
}

#[derive(Clone, Copy, Debug)]
enum Facts<'s> {
    None,
    Builtin(builtin::Type),
    Document(&'s Node),
}

/// The keys by which the elements of a list are told apart; empty if they are scalars.
pub type MergeKeys<'s> = Cow<'s, [&'s str]>;

impl<'s> TypeRef<'s> {
    /// The type of a field of a mapping.
    #[must_use]
    pub fn field(self, name: &str) -> Option<Self> {
        match self.facts {
            Facts::None => None,
            Facts::Builtin(builtin) => self.builtin(builtin.field(name)?),
            Facts::Document(schema) => self.schema.describe(document::field(schema, name)?),
        }
    }

    /// The type of the elements of a list.
    #[must_use]
    pub fn element(self) -> Option<Self> {
        match self.facts {
            Facts::None => None,
            Facts::Builtin(builtin) => self.builtin(builtin.element()?),
            Facts::Document(schema) => self.schema.describe(document::element(schema)?),
        }
    }

    /// How a list of this type merges; none if it is replaced as a whole.
    pub fn merge_keys(self) -> Option<MergeKeys<'s>> {
        match self.facts {
            Facts::None => None,
            Facts::Builtin(builtin) => builtin.merge_keys().map(Cow::Borrowed),
            Facts::Document(schema) => document::merge_keys(schema).map(Cow::Owned),
        }
    }

    /// A document that wins over the table may have redefined what the table refers to.
    fn builtin(self, builtin: builtin::Type) -> Option<Self> {
        let schema = self.schema;
        if schema.layers == Layers::BuiltinDocument
            && let Some(name) = builtin.definition_name()
            && let Some(own) = schema.document.as_ref().and_then(|own| own.definition(name))
        {
            return schema.describe(own);
        }
        Some(schema.wrap(Facts::Builtin(builtin)))
    }
}

#[cfg(test)]
mod tests;

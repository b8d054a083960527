//! Transformers: one file each, all of the form `fn(&mut ResMap, its configuration, &Scene)`.

pub(crate) mod annotations;
pub(crate) mod hash;
pub(crate) mod images;
pub(crate) mod labels;
pub(crate) mod name_reference;
pub(crate) mod namespace;
pub(crate) mod patch;
pub(crate) mod prefix;
pub(crate) mod replacement;
pub(crate) mod replicas;
pub(crate) mod sort;
#[cfg(test)]
pub(crate) mod stage;
pub(crate) mod suffix;
pub(crate) mod value_add;

use std::{path::Path, sync::Arc};

use flumen_schema::Schema;

use crate::loader::Loader;

/// What a transformer may consult besides the resources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) schema: &'a Schema,
    /// Files of the kustomization that asked for the transformation.
    pub(crate) loader: &'a Loader,
    /// The kustomization file itself, for messages.
    pub(crate) file: &'a Arc<Path>,
}

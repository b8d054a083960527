//! The kustomization file: its fields, how they are read, and what older files wrote instead.

pub(crate) mod fields;

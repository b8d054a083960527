//! Patches as their users apply them.

mod properties;

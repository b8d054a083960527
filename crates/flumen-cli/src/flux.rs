//! Flux's kinds on the command line.
//!
//! Output, effects and exit statuses are those of `flux`, so that scripts made for it keep working. Kinds are data
//! (`flumen_inspect::kinds`); a command that takes a kind as its word is an [`OfKind`].
//!
//! ```text
//! words ─▶ OfKind ─▶ SiteArgs ─▶ flumen_inspect::Site ─▶ rows, trees, events ─▶ table
//! ```

mod of_kind;
mod site;
mod text_table;

pub(crate) mod usage;

pub(crate) use self::{
    of_kind::{Chosen, KindCommand, OfKind, distinct},
    site::SiteArgs,
    text_table::TextTable,
};

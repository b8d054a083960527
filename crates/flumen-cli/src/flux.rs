//! Flux's kinds on the command line.
//!
//! Output, effects and exit statuses are those of `flux`, so that scripts made for it go on. Kinds are data ([`kinds`]); a
//! command that takes a kind as its word is an [`OfKind`].
//!
//! ```text
//! words ─▶ OfKind ─▶ SiteArgs ─▶ Site (client, namespace, deadline) ─▶ lookup, wait ─▶ table
//! ```

mod lookup;
mod object;
mod of_kind;
mod outcome;
mod site;
mod source;
mod suspension;
mod text_table;
mod wait;
mod words;

pub(crate) mod kinds;
pub(crate) mod row;
pub(crate) mod status_selector;
pub(crate) mod usage;

pub(crate) use self::{
    kinds::{Family, Kind},
    lookup::named,
    object::{
        Conditions, handled_request, is_static, is_suspended, name_of, namespace_of, text_at,
    },
    of_kind::{Chosen, KindCommand, OfKind},
    outcome::sentence,
    site::{Site, SiteArgs},
    source::{Link, link, source_to_reconcile},
    suspension::distinct,
    text_table::TextTable,
    wait::{Verdict, health, readiness},
    words::words,
};

/// Who changes objects when these commands do.
pub(crate) const MANAGER: &str = "flumen";

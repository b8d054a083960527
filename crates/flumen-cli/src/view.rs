//! How data is shown: tables, trees, plans, diagnostics and progress.

pub(crate) mod diagnostic;
pub(crate) mod listing;
pub(crate) mod narrator;
pub(crate) mod object_tree;
pub(crate) mod plan_text;
pub(crate) mod printable;
pub(crate) mod progress;
pub(crate) mod refusals;
pub(crate) mod run_report;
pub(crate) mod structured;
pub(crate) mod text_table;

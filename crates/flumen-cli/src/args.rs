//! Options that several commands have, what their values mean, and the environment beside them.

pub(crate) mod artifact;
pub(crate) mod cluster;
pub(crate) mod duration;
pub(crate) mod env;
pub(crate) mod flux_site;
pub(crate) mod flux_usage;
pub(crate) mod home;
pub(crate) mod inventory;
pub(crate) mod key_files;
pub(crate) mod kustomizer_config;
pub(crate) mod leading_options;
pub(crate) mod of_kind;
pub(crate) mod registry;
pub(crate) mod run;
pub(crate) mod size;
pub(crate) mod source;
pub(crate) mod switch;
pub(crate) mod verify;

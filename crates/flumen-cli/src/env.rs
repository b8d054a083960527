//! Every environment variable that flumen reads, beside those of the terminal (`NO_COLOR` and its
//! kin, which the colour library reads).

use std::env;

/// `on` labels every object as `--enable-managedby-label` does; kustomize reads it too.
const MANAGED_BY_LABEL: &str = "KUSTOMIZE_ENABLE_MANAGEDBY_LABEL";

pub(crate) fn managed_by_label() -> bool {
    env::var_os(MANAGED_BY_LABEL).is_some_and(|value| value == "on")
}

/// `1` lets builds fetch what is remote, as `--remote` does.
const REMOTE: &str = "FLUMEN_REMOTE";

pub(crate) fn remote() -> bool {
    env::var_os(REMOTE).is_some_and(|value| value == "1")
}

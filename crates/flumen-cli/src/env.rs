//! Every environment variable that flumen reads, beside those of the terminal (`NO_COLOR` and its
//! kin, which the colour library reads).

use std::env;

use flumen_sign::Password;

/// `on` labels every object as `--enable-managedby-label` does; kustomize reads it too.
const MANAGED_BY_LABEL: &str = "KUSTOMIZE_ENABLE_MANAGEDBY_LABEL";

pub(crate) fn managed_by_label() -> bool {
    env::var_os(MANAGED_BY_LABEL).is_some_and(|value| value == "on")
}

/// The password of private keys; cosign reads it too.
const COSIGN_PASSWORD: &str = "COSIGN_PASSWORD";

/// `None` if the variable is not set; an empty password is one.
pub(crate) fn cosign_password() -> Option<Password> {
    env::var_os(COSIGN_PASSWORD).map(|password| Password::new(password.into_encoded_bytes()))
}

//! Every environment variable that flumen reads, beside those of the terminal (`NO_COLOR` and its
//! kin, which the colour library reads).

use std::{env, path::PathBuf};

use flumen_sign::Password;

/// `on` labels every object as `--enable-managedby-label` does; kustomize reads it too.
const MANAGED_BY_LABEL: &str = "KUSTOMIZE_ENABLE_MANAGEDBY_LABEL";

/// The directory of Docker's configuration; without it, `.docker` in the home directory.
const DOCKER_CONFIG: &str = "DOCKER_CONFIG";
const HOME: &str = "HOME";

pub(crate) fn managed_by_label() -> bool {
    env::var_os(MANAGED_BY_LABEL).is_some_and(|value| value == "on")
}

/// The file in which Docker keeps credentials and the names of its helpers.
pub(crate) fn docker_config() -> Option<PathBuf> {
    let named = env::var_os(DOCKER_CONFIG).filter(|path| !path.is_empty()).map(PathBuf::from);
    let at_home = || Some(PathBuf::from(env::var_os(HOME)?).join(".docker"));
    Some(named.or_else(at_home)?.join("config.json"))
}

/// The password of private keys; cosign reads it too.
const COSIGN_PASSWORD: &str = "COSIGN_PASSWORD";

/// `None` if the variable is not set; an empty password is one.
pub(crate) fn cosign_password() -> Option<Password> {
    env::var_os(COSIGN_PASSWORD).map(|password| Password::new(password.into_encoded_bytes()))
}

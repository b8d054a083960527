//! All environment variables that flumen reads, beside those of the terminal (`NO_COLOR` and its
//! kin, which the colour library reads) and of proxies (`HTTPS_PROXY` and its kin, which the HTTP
//! library reads).

use std::{
    env,
    path::{Path, PathBuf},
};

use flumen_kube::ConnectOptions;
use flumen_pipeline::State;
use flumen_sign::Password;

use crate::{
    args::key_files::read_text,
    error::{CommandError, Failure},
};

/// `on` labels every object as `--enable-managedby-label` does; kustomize reads it too.
const MANAGED_BY_LABEL: &str = "KUSTOMIZE_ENABLE_MANAGEDBY_LABEL";

/// The directory of Docker's configuration; without it, `.docker` in the home directory.
const DOCKER_CONFIG: &str = "DOCKER_CONFIG";
const HOME: &str = "HOME";

pub(crate) fn managed_by_label() -> bool {
    env::var_os(MANAGED_BY_LABEL).is_some_and(|value| value == "on")
}

/// `1` lets builds fetch what is remote, as `--remote` does.
const REMOTE: &str = "FLUMEN_REMOTE";

pub(crate) fn remote() -> bool {
    env::var_os(REMOTE).is_some_and(|value| value == "1")
}

/// The namespace of the controller, as Flux's manifests set it.
const RUNTIME_NAMESPACE: &str = "RUNTIME_NAMESPACE";

pub(crate) fn runtime_namespace() -> Option<String> {
    text(RUNTIME_NAMESPACE)
}

/// Set in every Pod.
const IN_POD: &str = "KUBERNETES_SERVICE_HOST";

pub(crate) fn is_in_pod() -> bool {
    text(IN_POD).is_some()
}

/// Defaults of flags of Flux's controllers.
const STORAGE_PATH: &str = "STORAGE_PATH";
const STORAGE_ADDRESS: &str = "STORAGE_ADDRESS";
const STORAGE_ADV_ADDR: &str = "STORAGE_ADV_ADDR";
const METRICS_ADDR: &str = "METRICS_ADDR";

pub(crate) fn storage_path() -> Option<PathBuf> {
    text(STORAGE_PATH).map(PathBuf::from)
}

pub(crate) fn storage_address() -> Option<String> {
    text(STORAGE_ADDRESS)
}

pub(crate) fn storage_advertised_address() -> Option<String> {
    text(STORAGE_ADV_ADDR)
}

pub(crate) fn metrics_address() -> Option<String> {
    text(METRICS_ADDR)
}

/// Returns the value of a variable, unless it is empty.
fn text(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|text| !text.is_empty())
}

/// The default namespace of commands for Flux's kinds; `flux` reads it too.
const FLUX_NAMESPACE: &str = "FLUX_SYSTEM_NAMESPACE";

pub(crate) fn flux_namespace() -> Option<String> {
    env::var(FLUX_NAMESPACE).ok().filter(|name| !name.is_empty())
}

/// Any value makes the same commands use the namespace of the context.
const FLUX_FOLLOWS_CONTEXT: &str = "FLUX_NS_FOLLOWS_KUBE_CONTEXT";

pub(crate) fn flux_follows_context() -> bool {
    env::var_os(FLUX_FOLLOWS_CONTEXT).is_some_and(|value| !value.is_empty())
}

/// Directories for data and state; the defaults are below `HOME`.
const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
const XDG_STATE_HOME: &str = "XDG_STATE_HOME";

/// Returns the local store and the records of builds.
pub(crate) fn state() -> Result<State, CommandError> {
    let data = user_directory(XDG_DATA_HOME, ".local/share")?;
    let state = user_directory(XDG_STATE_HOME, ".local/state")?;
    Ok(State::new(data.join("flumen"), state.join("flumen")))
}

/// Returns the directory of the local cluster.
pub(crate) fn local_cluster() -> Result<PathBuf, CommandError> {
    Ok(user_directory(XDG_STATE_HOME, ".local/state")?.join("flumen/cluster"))
}

/// Relative paths count as unset, as in the XDG specification.
fn user_directory(variable: &str, below_home: &str) -> Result<PathBuf, CommandError> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(variable).or_else(|| Some(absolute(HOME)?.join(below_home))).ok_or_else(|| {
        Failure::new("there is no home directory to keep state in")
            .hint(format!("set `HOME` or `{variable}`"))
            .into()
    })
}

/// Returns Docker's configuration file, with credentials and the names of its helpers.
pub(crate) fn docker_config() -> Option<PathBuf> {
    let named = env::var_os(DOCKER_CONFIG).filter(|path| !path.is_empty()).map(PathBuf::from);
    let at_home = || Some(PathBuf::from(env::var_os(HOME)?).join(".docker"));
    Some(named.or_else(at_home)?.join("config.json"))
}

/// Returns the directory for temporary files, `TMPDIR` on most systems.
pub(crate) fn temporary_directory() -> PathBuf {
    env::temp_dir()
}

/// The password of private keys; cosign reads it too.
const COSIGN_PASSWORD: &str = "COSIGN_PASSWORD";

/// Returns the password, which may be empty, or `None` if the variable is not set.
pub(crate) fn cosign_password() -> Option<Password> {
    env::var_os(COSIGN_PASSWORD).map(|password| Password::new(password.into_encoded_bytes()))
}

/// Kubeconfig files; kubectl reads it too.
const KUBECONFIG: &str = "KUBECONFIG";

/// Returns the kubeconfig files in the order in which kubectl searches them.
pub(crate) fn kubeconfigs() -> Vec<PathBuf> {
    let home = env::var_os(HOME).map(PathBuf::from);
    ConnectOptions::search_paths(env::var_os(KUBECONFIG).as_deref(), home.as_deref())
}

/// Returns kustomizer's configuration file, which names the field manager.
pub(crate) fn kustomizer_config() -> Option<PathBuf> {
    Some(PathBuf::from(env::var_os(HOME)?).join(".kustomizer/config"))
}

/// User and host, which the history of a deployment records as its author.
const USER: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];
const HOST: [&str; 2] = ["HOSTNAME", "COMPUTERNAME"];
const HOST_FILE: &str = "/etc/hostname";

/// Returns the name of this machine, or of the Pod.
pub(crate) fn host() -> Option<String> {
    let in_file = || {
        let text = read_text(Path::new(HOST_FILE)).ok()?;
        Some(text.trim().to_owned()).filter(|name| !name.is_empty())
    };
    HOST.iter().find_map(|name| text(name)).or_else(in_file)
}

pub(crate) fn author() -> String {
    let user = USER.iter().find_map(|name| text(name)).unwrap_or_else(|| "unknown".to_owned());
    match host() {
        Some(host) => format!("{user}@{host}"),
        None => user,
    }
}

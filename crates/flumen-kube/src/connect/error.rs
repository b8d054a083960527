//! What can be wrong with a kubeconfig or with connection options.

use std::path::PathBuf;

use crate::Error;

/// Why it is not known how to reach a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("no kubeconfig was found, and this is not a pod of a cluster")]
    NoKubeconfig { searched: Vec<PathBuf> },

    #[error("the kubeconfig `{}` cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },

    /// The reason is left out: it can quote what the file holds.
    #[error("{place} is not a kubeconfig{}", at(*.line, *.column))]
    Malformed { place: String, line: u64, column: u64 },

    #[error("the kubeconfig has no {kind} `{name}`")]
    Unknown { kind: &'static str, name: String, known: Vec<String> },

    #[error("the kubeconfig sets no current context")]
    NoContext { known: Vec<String> },

    #[error("the kubeconfig gives no server address for the cluster `{cluster}`")]
    NoServer { cluster: String },

    #[error("`{address}` is not the address of a server")]
    Address { address: String },

    /// A kubeconfig that is not trusted would run a program or read a file.
    #[error("the kubeconfig is refused: it uses {what}")]
    NotAllowed { what: &'static str },

    #[error("no credentials: {reason}")]
    Credentials { reason: String },

    #[error("no secure connection can be made: {reason}")]
    Tls { reason: String },

    #[error("`{name}` is not a name that one can act as")]
    Identity { name: String },

    #[error("groups or an id to act as need a user")]
    IdentityWithoutUser,
}

fn at(line: u64, column: u64) -> String {
    if line == 0 { String::new() } else { format!(": line {line}, column {column}") }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

impl ConfigError {
    pub fn hint(&self) -> Option<String> {
        let quoted = |names: &[String]| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::NoKubeconfig { searched } => {
                let hint =
                    "name one with `--kubeconfig` or `KUBECONFIG`, or an address with `--server`";
                let searched: Vec<_> =
                    searched.iter().map(|path| format!("`{}`", path.display())).collect();
                Some(if searched.is_empty() {
                    hint.to_owned()
                } else {
                    format!("{hint}; looked at {}", searched.join(", "))
                })
            }
            Self::Unknown { kind, known, .. } if known.is_empty() => {
                Some(format!("it has no {kind} at all; check `--kubeconfig` and `KUBECONFIG`"))
            }
            Self::Unknown { known, .. } => Some(format!("there are {}", quoted(known))),
            Self::NoContext { known } if known.is_empty() => {
                Some("it is empty; check `--kubeconfig` and `KUBECONFIG`".to_owned())
            }
            Self::NoContext { known } => {
                Some(format!("choose one with `--context`: {}", quoted(known)))
            }
            Self::NoServer { .. } => Some("give one with `--server`".to_owned()),
            Self::Address { .. } => {
                Some("an address looks like `https://api.example.com:6443`".to_owned())
            }
            Self::NotAllowed { .. } => {
                Some("put a token, or certificate and key, into the kubeconfig itself".to_owned())
            }
            Self::Credentials { .. } => {
                Some("check the user of the kubeconfig; a credential plugin can be run by itself to see what it wants".to_owned())
            }
            Self::IdentityWithoutUser => Some("add `--as`".to_owned()),
            Self::Unreadable { .. }
            | Self::Malformed { .. }
            | Self::Tls { .. }
            | Self::Identity { .. } => None,
        }
    }
}

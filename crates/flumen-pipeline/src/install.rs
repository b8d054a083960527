//! Installs: the clusters that components are deployed to.
//!
//! One file for each, `installs/<id>.toml`. The components are the same for all installs; what differs
//! stands here: where the cluster is, the registry that it pulls from, whose signatures it wants, and
//! the inputs that templates refer to.

mod format;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use flumen_expr::nearest;
use flumen_fs::{DiskTree, Tree, clean};
use flumen_oci::Reference;
use flumen_yaml::{Entry, Map, Node, Pos, Tag, Value};

use crate::{
    config::{ConfigError, Places, TomlFile, is_name, read_text},
    template::Values,
};

pub use self::format::{
    Approvals, ClusterTable, Input, InstallFile, RegistryTable, SignaturePolicy, SignaturesTable,
    schema,
};

/// Where inventories are kept if the file does not say.
const DEFAULT_NAMESPACE: &str = "default";

/// What TOML's reader makes of a date.
const TOML_DATE: &str = "$__toml_private_datetime";

/// An install whose file keeps all rules.
#[derive(Clone, Debug)]
pub struct Install {
    pub id: String,
    /// The file that it is configured in.
    pub file: PathBuf,
    pub cluster: ClusterAddress,
    /// The repository that artifacts are copied to; the local store if there is none.
    pub registry: Option<Reference>,
    pub signatures: Signatures,
    pub approvals: Approvals,
    inputs: BTreeMap<String, Input>,
}

/// Where a cluster is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterAddress {
    /// None for what kubectl would use.
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    /// Where inventories are kept.
    pub namespace: String,
}

/// Whose signatures artifacts need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    pub policy: SignaturePolicy,
    /// Files of public keys.
    pub keys: Vec<PathBuf>,
    pub certificates: Option<Certificates>,
    /// The repository that artifacts were signed in, as `host/path`.
    pub signed_as: Option<String>,
}

/// Signatures that are made with certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificates {
    pub trusted_root: PathBuf,
    pub identity: String,
    pub issuer: String,
}

impl Install {
    /// Reads `<dir>/<id>.toml`.
    pub fn load(dir: &Path, id: &str) -> Result<Self, ConfigError> {
        let file = dir.join(format!("{id}.toml"));
        let fail = |message: String| ConfigError::new(&file, Pos::default(), message);
        if !is_name(id) {
            return Err(fail(format!("`{id}` is not the id of an install"))
                .hint("an id has letters, digits, `_` and `-`, at most 63 of them"));
        }
        let names = DiskTree.list(dir).map_err(|error| {
            fail(error.to_string()).hint("installs are files in one directory: installs/<id>.toml")
        })?;
        let ids: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix(".toml")).collect();
        if !ids.contains(&id) {
            let error = fail(format!("there is no install `{id}`"));
            return Err(match nearest(id, ids) {
                Some(similar) => error.hint(format!("did you mean `{similar}`?")),
                None => error.hint(format!("it would be the file `{}`", file.display())),
            });
        }
        let text = read_text(&file)?;
        let (config, places) = TomlFile::parse(&file, &text)?.decode(&schema())?;
        Rules { file: &file, config: &config, places: &places }.check(id)
    }

    /// What templates can refer to before any component is deployed.
    pub fn values(&self) -> Values {
        Values::new(&self.id, table(&self.inputs))
    }
}

/// The rules of install files, in the order in which they are checked.
struct Rules<'a> {
    file: &'a Path,
    config: &'a InstallFile,
    places: &'a Places,
}

impl Rules<'_> {
    fn check(&self, id: &str) -> Result<Install, ConfigError> {
        let InstallFile { cluster, approvals, inputs, .. } = self.config;
        let registry = self.registry()?;
        let signatures = self.signatures()?;
        self.check_inputs("inputs", inputs)?;
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Ok(Install {
            id: id.to_owned(),
            file: self.file.to_owned(),
            cluster: ClusterAddress {
                kubeconfig: given(&cluster.kubeconfig).map(|path| self.beside(&path)),
                context: given(&cluster.context),
                namespace: given(&cluster.namespace)
                    .unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()),
            },
            registry,
            signatures,
            approvals: *approvals,
            inputs: inputs.clone(),
        })
    }

    fn error(&self, key: &str, message: impl Into<String>) -> ConfigError {
        ConfigError::new(self.file, self.places.find(key), message)
    }

    /// Paths in a file are relative to it.
    fn beside(&self, path: &str) -> PathBuf {
        let dir = self.file.parent().unwrap_or(Path::new("."));
        clean(&dir.join(path)).into_owned()
    }

    fn registry(&self) -> Result<Option<Reference>, ConfigError> {
        let Some(table) = &self.config.registry else { return Ok(None) };
        let key = "registry.url";
        if table.url.is_empty() {
            return Err(self.error(key, "registry.url is required"));
        }
        let reference: Reference = table.url.parse().map_err(|_| {
            self.error(key, "URL must be in format 'oci://<domain>/<org>/<repo>'")
                .hint("an example: oci://registry.example.com/install/artifacts")
        })?;
        if reference.tag.is_some() || reference.digest.is_some() {
            let error = self.error(key, "registry.url names a tag or digest");
            return Err(
                error.hint("artifacts keep the tags of their builds; name the repository only")
            );
        }
        Ok(Some(reference))
    }

    fn signatures(&self) -> Result<Signatures, ConfigError> {
        let table = &self.config.signatures;
        let parts = [
            ("trusted_root", &table.trusted_root),
            ("identity", &table.identity),
            ("issuer", &table.issuer),
        ];
        let mut missing = parts.iter().filter(|(_, value)| value.is_empty());
        let certificates = match missing.next() {
            None => Some(Certificates {
                trusted_root: self.beside(&table.trusted_root),
                identity: table.identity.clone(),
                issuer: table.issuer.clone(),
            }),
            Some(_) if parts.iter().all(|(_, value)| value.is_empty()) => None,
            Some((name, _)) => {
                let error = self.error("signatures", format!("signatures.{name} is required"));
                return Err(error.hint(
                    "certificates are checked with `trusted_root`, `identity` and `issuer` together",
                ));
            }
        };
        let nobody_counts = table.keys.is_empty() && certificates.is_none();
        if table.policy != SignaturePolicy::Off && nobody_counts {
            let error = self.error("signatures.policy", "nothing says whose signatures count");
            return Err(
                error.hint("name public keys in `keys`, or an `identity` with its `issuer`")
            );
        }
        let keys = table.keys.iter().map(|path| self.beside(path)).collect();
        let signed_as = self.signed_as(&table.signed_as)?;
        Ok(Signatures { policy: table.policy, keys, certificates, signed_as })
    }

    fn signed_as(&self, name: &str) -> Result<Option<String>, ConfigError> {
        if name.is_empty() {
            return Ok(None);
        }
        let reference = Reference::from_name(name.trim_start_matches("oci://")).map_err(|_| {
            self.error("signatures.signed_as", format!("`{name}` is not a repository"))
                .hint("an example: registry.example.com/org/app")
        })?;
        Ok(Some(reference.name()))
    }

    fn check_inputs(
        &self,
        path: &str,
        inputs: &BTreeMap<String, Input>,
    ) -> Result<(), ConfigError> {
        for (name, input) in inputs {
            let path = format!("{path}.{name}");
            if !is_name(name) {
                let message = "names of inputs have only letters, digits, `_` and `-`";
                return Err(self.error(&path, message));
            }
            match input {
                Input::Table(table) if table.contains_key(TOML_DATE) => {
                    let error = self.error(&path, "an input is no date");
                    return Err(error.hint("write it as a text, in quotes"));
                }
                Input::Table(table) => self.check_inputs(&path, table)?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn table(inputs: &BTreeMap<String, Input>) -> Node {
    let entries = inputs.iter().map(|(name, input)| Entry::new(name.as_str(), node(input)));
    Node::new(Pos::default(), Value::Map(entries.collect::<Map>()))
}

fn node(input: &Input) -> Node {
    match input {
        Input::Bool(value) => Node::scalar(value.to_string(), Tag::Bool),
        Input::Int(value) => Node::scalar(value.to_string(), Tag::Int),
        Input::Float(value) => Node::scalar(value.to_string(), Tag::Float),
        Input::Text(text) => Node::string(text.as_str()),
        Input::Table(inputs) => table(inputs),
    }
}

#[cfg(test)]
mod tests;

//! From a directory to an artifact in the registry of a cluster on this machine.

mod error;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

pub use self::error::DeliveryError;
use flumen_apply::is_inventory_name;
use flumen_build::{Built, Inputs, Options};
use flumen_fs::DiskTree;
use flumen_kube::{Client, ConnectOptions};
use flumen_kustomize::FILE_NAMES;
use flumen_oci::{
    Reference, Repository, Target,
    artifact::{Metadata, PullOptions, Pulled, Tagging, pull, push_yaml},
    client::{ClientOptions, Registry},
};

/// Builds a kustomization, or reads a directory of manifests. Nothing is fetched: a local cluster works without a network.
pub fn build_directory(directory: &Path) -> Result<Built, flumen_build::Error> {
    let has_kustomization = FILE_NAMES.iter().any(|name| directory.join(name).is_file());
    let here = vec![directory.to_owned()];
    let (kustomizations, files) =
        if has_kustomization { (here, Vec::new()) } else { (Vec::new(), here) };
    let inputs = Inputs { kustomizations, files, ..Inputs::default() };
    flumen_build::build(Arc::new(DiskTree), &inputs, &Options::default())
}

/// A cluster on this machine and its registry, to which objects are delivered.
#[derive(Clone, Debug)]
pub struct Place {
    /// `127.0.0.1:PORT`
    pub registry: String,
    pub kubeconfig: PathBuf,
}

impl Place {
    /// The namespace of inventories.
    pub const NAMESPACE: &str = "default";

    pub async fn client(&self) -> Result<Client, flumen_kube::Error> {
        let options = ConnectOptions {
            kubeconfig: Some(self.kubeconfig.clone()),
            namespace: Some(Self::NAMESPACE.to_owned()),
            ..ConnectOptions::default()
        };
        Client::connect(&options).await
    }

    /// Pushes manifests as the artifact `name`.
    pub async fn push(&self, yaml: Vec<u8>, name: &str) -> Result<Pushed, DeliveryError> {
        let reference = Reference::from_name(&format!("{}/{name}:latest", self.registry))?;
        let registry = Registry::new(
            &reference.host,
            &ClientOptions { insecure: true, ..ClientOptions::default() },
        )?;
        let repository = Repository::Remote(registry.repository(&reference.repository));
        let tag = Tagging::Always("latest");
        let digest = push_yaml(yaml, Metadata::default(), &repository, tag).await?.digest;
        let artifact = format!("oci://{}", reference.pinned(&digest));
        Ok(Pushed { artifact, repository, target: Target::Digest(digest) })
    }
}

/// An artifact in the registry.
#[derive(Debug)]
pub struct Pushed {
    /// The name of the artifact with its digest.
    pub artifact: String,
    repository: Repository,
    target: Target,
}

impl Pushed {
    /// Reads the artifact back: what is applied is what the registry holds.
    pub async fn pull(&self) -> Result<Pulled, DeliveryError> {
        Ok(pull(&self.repository, &self.target, &PullOptions::default()).await?)
    }
}

/// Returns the name of a directory, as far as it can be the name of an inventory.
pub fn directory_name(directory: &Path) -> String {
    let full = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let name = full.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let fitting = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = name.unwrap_or_default().chars().map(fitting).take(63).collect();
    let name = name.trim_matches(|c| c == '-' || c == '.');
    if is_inventory_name(name) { name.to_owned() } else { "local".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_directory_has_a_name() {
        for (directory, name) in
            [("/a/shop", "shop"), ("/a/My App", "my-app"), ("/", "local"), ("/a/_x_", "x")]
        {
            assert_eq!(directory_name(Path::new(directory)), name);
        }
    }
}

//! From a layer of an artifact to the storage.

use std::{collections::BTreeMap, io::Write as _, path::Path, sync::Arc};

use flumen_api::LayerOperation;
use flumen_archive::{Files, Ignore, PackError};
use flumen_oci::{
    Descriptor, Target,
    artifact::{Image, extract_layer},
};
use futures_util::TryStreamExt as _;

use super::{Error, Remote, Resolved};
use crate::{Storage, StorageError, Stored};

/// The name under which the current artifact is published, whatever it is.
const LATEST: &str = "latest.tar.gz";

/// An artifact that was fetched and is published.
#[derive(Clone, Debug)]
pub struct Fetched {
    pub stored: Stored,
    /// The annotations of the manifest.
    pub metadata: BTreeMap<String, String>,
}

impl Remote<'_> {
    /// Brings the artifact into the storage.
    pub async fn fetch(
        &self,
        resolved: &Resolved,
        storage: &Arc<Storage>,
    ) -> Result<Fetched, Error> {
        self.within_time(|reason| self.pull_failed(reason), self.fetch_now(resolved, storage)).await
    }

    async fn fetch_now(
        &self,
        resolved: &Resolved,
        storage: &Arc<Storage>,
    ) -> Result<Fetched, Error> {
        let image = if let Some(manifest) = &resolved.manifest {
            Image::of(&self.repository, manifest.clone()).await
        } else {
            let target = Target::Digest(resolved.digest.clone());
            Image::resolve(&self.repository, &target).await
        };
        let image = image.map_err(|error| self.pull_failed(self.words(&error)))?;
        let layer = self.select(&image)?;
        let file_name = format!("{}.tar.gz", resolved.digest);
        let selector = self.request.spec.layer_selector.as_ref();
        let stored = match selector.and_then(|selector| selector.operation).unwrap_or_default() {
            LayerOperation::Extract => self.extract(layer, &file_name, storage).await?,
            LayerOperation::Copy => self.copy(layer, &file_name, storage).await?,
        };
        storage.publish_again(self.request.owner, &stored, LATEST).map_err(|e| archive(&e))?;
        Ok(Fetched { stored, metadata: image.manifest.annotations })
    }

    fn select<'i>(&self, image: &'i Image) -> Result<&'i Descriptor, Error> {
        let layers = &image.manifest.layers;
        let first = layers.first().ok_or(Error::NoLayers)?;
        let selector = self.request.spec.layer_selector.as_ref();
        match selector.and_then(|selector| selector.media_type.as_deref()) {
            None => Ok(first),
            Some(media_type) => layers
                .iter()
                .find(|layer| layer.media_type == media_type)
                .ok_or_else(|| Error::NoSuchLayer { media_type: media_type.to_owned() }),
        }
    }

    /// Unpacks a layer and archives what of it is wanted.
    async fn extract(
        &self,
        layer: &Descriptor,
        file_name: &str,
        storage: &Arc<Storage>,
    ) -> Result<Stored, Error> {
        let budget = storage.budget();
        let unpacked = extract_layer(&self.repository, layer, budget, storage.unpacking())
            .await
            .map_err(|error| Error::Extract { reason: self.words(&error) })?;
        let (owner, file_name) = (self.request.owner.clone(), file_name.to_owned());
        let (storage, rules) = (Arc::clone(storage), self.request.spec.ignore.clone());
        let work = move || {
            let tree = unpacked.finish().map_err(|error| archive(&StorageError::Archive(error)))?;
            let files = Files { tree: &tree, root: Path::new("/") };
            let ignore = Ignore::of_source(files, rules.as_deref())
                .map_err(|error| Error::Ignore { reason: error.to_string() })?;
            storage.put(&owner, &file_name, files, &ignore).map_err(|error| archive(&error))
        };
        let worked = tokio::task::spawn_blocking(work).await;
        worked.unwrap_or_else(|error| Err(Error::Archive { reason: error.to_string() }))
    }

    /// Stores a layer as it is.
    async fn copy(
        &self,
        layer: &Descriptor,
        file_name: &str,
        storage: &Arc<Storage>,
    ) -> Result<Stored, Error> {
        let failed = |error: flumen_oci::Error| Error::Copy { reason: self.words(&error) };
        if layer.size > storage.budget().bytes {
            return Err(Error::Copy { reason: PackError::TooLarge.to_string() });
        }
        let mut content = self.repository.blob(layer).await.map_err(failed)?;
        let mut incoming = storage.incoming().map_err(|error| archive(&error))?;
        while let Some(piece) = content.try_next().await.map_err(failed)? {
            // Some kilobytes into the cache of the system: not worth another thread.
            incoming
                .write_all(&piece)
                .map_err(|error| Error::Archive { reason: error.to_string() })?;
        }
        storage.publish(self.request.owner, file_name, incoming).map_err(|error| archive(&error))
    }

    fn pull_failed(&self, reason: String) -> Error {
        Error::Pull { url: self.request.spec.url.clone(), reason }
    }
}

fn archive(error: &StorageError) -> Error {
    Error::Archive { reason: error.to_string() }
}

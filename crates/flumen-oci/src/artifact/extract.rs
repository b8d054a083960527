//! Unpacks one archive into a directory, whatever it belongs to.

use std::{io::Read, path::Path};

use super::{
    Budget,
    sink::Directory,
    transfer::read_blocking,
    unpack::{Compression, Meter, unpack, written},
};
use crate::{Descriptor, Digest, Error, Repository, Result};

/// Unpacks a compressed archive into an empty directory that nobody else uses.
///
/// The digest names the archive in messages. Links are left out.
pub fn extract(
    digest: &Digest,
    archive: &mut dyn Read,
    directory: &Path,
    budget: Budget,
) -> Result<()> {
    let mut files = Directory::new(directory.to_owned());
    unpack(digest, Compression::Gzip, archive, &mut Meter::new(budget), &mut files)?;
    files.settle().map_err(|(path, error)| written(digest, &path, error))
}

/// The same with a layer while it arrives. After an error the directory may hold a part of it.
pub async fn extract_layer(
    from: &Repository,
    layer: &Descriptor,
    directory: &Path,
    budget: Budget,
) -> Result<()> {
    if layer.size > budget.bytes {
        return Err(Error::OverBudget { digest: layer.digest.clone(), limit: budget.bytes });
    }
    let (digest, directory) = (layer.digest.clone(), directory.to_owned());
    let content = from.blob(layer).await?;
    read_blocking(content, move |content| extract(&digest, content, &directory, budget)).await
}

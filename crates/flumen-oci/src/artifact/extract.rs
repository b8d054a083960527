//! Unpacks one archive, whatever it belongs to.

use std::io::Read;

use super::{
    Budget,
    transfer::read_blocking,
    unpack::{Compression, Meter, Rules, Sink, unpack},
};
use crate::{Descriptor, Digest, Error, Repository, Result};

/// Sends the files of a compressed archive to a sink.
///
/// The digest names the archive in messages. Symbolic links are left out, hard links are empty files, and a name may
/// come more than once: the last file counts, as for Flux.
pub fn extract(
    digest: &Digest,
    archive: &mut dyn Read,
    budget: Budget,
    sink: &mut dyn Sink,
) -> Result<()> {
    unpack(digest, (Compression::Gzip, Rules::Flux), archive, &mut Meter::new(budget), sink)
}

/// The same with a layer while it arrives; returns the sink.
pub async fn extract_layer<S: Sink + Send + 'static>(
    from: &Repository,
    layer: &Descriptor,
    budget: Budget,
    mut sink: S,
) -> Result<S> {
    if layer.size > budget.bytes {
        return Err(Error::OverBudget { digest: layer.digest.clone(), limit: budget.bytes });
    }
    let digest = layer.digest.clone();
    let content = from.blob(layer).await?;
    read_blocking(content, move |content| {
        extract(&digest, content, budget, &mut sink)?;
        Ok(sink)
    })
    .await
}

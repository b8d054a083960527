//! Unpacks a single layer, whatever it belongs to.

use flumen_archive::{Budget, Meter, Rules, Sink, UnpackOptions, unpack};

use super::{
    layer::{check_size, name_of},
    transfer::read_blocking,
};
use crate::{Descriptor, Repository, Result};

/// Sends the files of a compressed layer to a sink while it arrives, and returns the sink.
///
/// Links and paths that come more than once are treated as Flux treats them.
pub async fn extract_layer<S: Sink + Send + 'static>(
    from: &Repository,
    layer: &Descriptor,
    budget: Budget,
    mut sink: S,
) -> Result<S> {
    check_size(layer, budget)?;
    let archive = name_of(&layer.digest);
    let content = from.blob(layer).await?;
    read_blocking(content, move |content| {
        let options = UnpackOptions::gzip(&archive, Rules::Flux);
        unpack(content, &options, &mut Meter::new(budget), &mut sink)?;
        Ok(sink)
    })
    .await
}

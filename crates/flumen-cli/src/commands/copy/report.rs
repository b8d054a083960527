//! What is printed about copies.

use clap::ValueEnum;
use flumen_oci::copy::Copied;
use serde::Serialize;

use super::jobs::Job;
use crate::{
    error::CommandError,
    ui::Ui,
    view::listing::{to_json, to_yaml},
};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// The address of each copy, with its digest
    Name,
    Json,
    Yaml,
}

/// One copy, as programs read it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    source: String,
    destination: String,
    digest: String,
    media_type: String,
    manifests: u64,
    blobs_copied: u64,
    blobs_skipped: u64,
    blobs_mounted: u64,
    bytes: u64,
    /// Digests of layers that may not be distributed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

impl Report {
    pub(super) fn new(job: &Job, copied: &Copied) -> Self {
        Self {
            source: job.source.to_string(),
            destination: job.destination.to_string(),
            digest: copied.descriptor.digest.to_string(),
            media_type: copied.descriptor.media_type.clone(),
            manifests: copied.manifests,
            blobs_copied: copied.blobs_copied,
            blobs_skipped: copied.blobs_skipped,
            blobs_mounted: copied.blobs_mounted,
            bytes: copied.bytes,
            left_out: copied.foreign.iter().map(|layer| layer.digest.to_string()).collect(),
        }
    }
}

/// Says which layers must come from elsewhere.
pub(super) fn left_out(reports: &[Report]) -> Vec<String> {
    let layers = reports.iter().flat_map(|r| r.left_out.iter().map(|l| (&r.source, l)));
    let say = |(source, layer)| {
        format!("{source}: layer {layer} may not be distributed and was left out")
    };
    layers.map(say).collect()
}

/// Prints one copy as a record and several as a list of them.
pub(super) fn print(
    reports: &[Report],
    is_list: bool,
    format: Format,
    ui: &Ui,
) -> Result<(), CommandError> {
    let text = match (format, reports) {
        (Format::Name, _) => {
            let names = reports.iter().map(|r| format!("{}@{}\n", r.destination, r.digest));
            names.collect()
        }
        (Format::Json, [report]) if !is_list => to_json(report)?,
        (Format::Yaml, [report]) if !is_list => to_yaml(report)?,
        (Format::Json, _) => to_json(&reports)?,
        (Format::Yaml, _) => to_yaml(&reports)?,
    };
    ui.data(text.as_bytes())
}

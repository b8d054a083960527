//! `flumen component sync`.

use clap::Args;
use flumen_oci::{Reference, copy::CopyOptions};
use flumen_pipeline::Artifact;
use serde::Serialize;

use super::{build::refuse_tag, registries::SourceRegistries, selection::Selection};
use crate::{
    args::{env, registry::RegistryArgs},
    error::{CommandError, Failure},
    runtime::block_on,
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// Copy the artifacts of the last builds to the registry of an install
///
/// An install never pulls from where artifacts are built. Signatures and all else that belongs to an
/// artifact go with it; what is there already is not sent again. The tag is the id of the build.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # One component
  flumen component sync web --to oci://install.example.com/apps/web")]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    selection: Selection,

    /// Repository of the install, `oci://host/path`
    #[arg(long, value_name = "URL")]
    to: Reference,

    /// How to print the results
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,

    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Serialize)]
struct Line {
    to: String,
    blobs_copied: u64,
    blobs_skipped: u64,
    #[serde(flatten)]
    artifact: Artifact,
}

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) =
        (&["COMPONENT", "BUILD", "DIGEST"], &["REPOSITORY", "COPIED", "SKIPPED"]);

    fn cells(&self) -> Vec<String> {
        vec![
            self.artifact.component.clone(),
            self.artifact.build_id.to_string(),
            self.artifact.digest.to_string(),
            self.to.clone(),
            self.blobs_copied.to_string(),
            self.blobs_skipped.to_string(),
        ]
    }

    fn name(&self) -> &str {
        &self.artifact.component
    }
}

pub(crate) fn run(args: &SyncArgs, ui: &Ui) -> Result<(), CommandError> {
    refuse_tag(&args.to)?;
    let components = args.selection.load(ui)?;
    block_on(async {
        let state = env::state()?;
        let registries = SourceRegistries::new(&args.registry, None)?;
        let to = args.registry.open(&args.to)?;
        let mut lines = Vec::new();
        for component in &components {
            let (name, dir) = (component.name(), args.selection.dir());
            let options = CopyOptions::default();
            let synced = flumen_pipeline::sync(&state, dir, name, &registries, &to, &options).await;
            let (artifact, copied) =
                synced.map_err(|error| Failure::from(error).within(format!("syncing `{name}`")))?;
            lines.push(Line {
                to: args.to.to_string(),
                blobs_copied: copied.blobs_copied,
                blobs_skipped: copied.blobs_skipped,
                artifact,
            });
        }
        listing::print(&lines, args.output, ui)
    })
}

//! `flumen copy artifact`.

mod images;
mod jobs;
mod places;
mod report;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use flumen_oci::{
    Location,
    client::Credentials,
    copy::{Copier, CopyOptions},
};
use futures_util::{StreamExt as _, stream};

use self::{
    jobs::Job,
    places::Places,
    report::{Format, Report},
};
use crate::{
    args::registry::RegistryArgs,
    error::{CommandError, Failure, error_chain},
    runtime::block_on,
    ui::Ui,
    view::progress::TalkArgs,
};

/// Copy between registries and layouts
#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Copy an artifact with all that belongs to it
///
/// The manifest or index, everything below it, and its signatures, attestations and bills of
/// materials arrive byte for byte; the tag appears last. What the destination has is not sent again, so
/// a copy that broke off goes on when it is repeated.
///
/// A place is `oci://host/path[:tag][@digest]` on a registry, `./dir[:tag]` for an OCI layout as a
/// directory, or `file.tar[:tag]` for one as a tar file. Paths begin with `/` or `.` or end in `.tar`; others
/// are written `oci-layout:PATH` and `oci-archive:PATH`. A destination without a tag takes that of the
/// source.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct ArtifactArgs {
    /// What to copy
    #[arg(required_unless_present = "from_file", value_name = "SOURCE")]
    source: Option<Location>,

    /// Where to
    #[arg(required_unless_present = "from_file", value_name = "DESTINATION")]
    destination: Option<Location>,

    /// Copy every tag of the source
    #[arg(long, conflicts_with = "from_file")]
    all_tags: bool,

    /// Make the copies that a file lists, a source and a destination on each line; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "destination"])]
    from_file: Option<PathBuf>,

    /// Take the container images along that the artifact's manifests name
    ///
    /// On a registry they keep their path, in a layout their full name. From a layout that has them
    /// they are taken from there.
    #[arg(long, conflicts_with = "from_file")]
    recursive: bool,

    /// Where `--recursive` says which images it copied, with their digests
    #[arg(long, value_name = "FILE", default_value = "images.lock.yaml", requires = "recursive")]
    lock: PathBuf,

    /// How many blobs are on their way at once
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u16).range(1..=100))]
    parallel: u16,

    /// How to print what was copied
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "name")]
    output: Format,

    #[command(flatten)]
    talk: TalkArgs,

    /// Credentials of the source, as `--creds`
    #[arg(
        long,
        visible_alias = "src-creds",
        value_name = "USER[:PASSWORD]",
        help_heading = "Registry"
    )]
    source_creds: Option<Credentials>,

    /// Credentials of the destination, as `--creds`
    #[arg(
        long,
        visible_alias = "dest-creds",
        value_name = "USER[:PASSWORD]",
        help_heading = "Registry"
    )]
    destination_creds: Option<Credentials>,

    #[command(flatten)]
    registry: RegistryArgs,
}

const EXAMPLES: &str = "\
Examples:
  # From one registry to another, signatures included
  flumen copy artifact oci://registry.example.com/org/app:v1.0.0 oci://mirror.example.com/org/app

  # Across an air gap, with the container images
  flumen copy artifact --recursive oci://registry.example.com/org/app:v1.0.0 app.tar
  flumen copy artifact --recursive app.tar:v1.0.0 oci://inside.example.com/org/app

  # A whole repository into a directory
  flumen copy artifact --all-tags oci://registry.example.com/org/app ./mirror";

pub(crate) fn run(args: &CopyArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => block_on(artifact(args, &args.talk.ui(ui))),
    }
}

async fn artifact(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let options = args.registry.client_options()?;
    let creds = (args.source_creds.clone(), args.destination_creds.clone());
    let places = Places::new(options, creds.0, creds.1);
    let copier = Copier::new(CopyOptions {
        parallel: usize::from(args.parallel),
        watch: args.talk.watch(),
        ..CopyOptions::default()
    });
    let jobs = jobs::jobs(args, &places, &copier).await?;
    if args.recursive {
        let copied = images::copy(&jobs, &copier, &places, args.parallel).await?;
        images::write_lock(&args.lock, &copied)?;
    }
    let copies: Vec<_> = stream::iter(&jobs)
        .map(|job| copier.copy(&job.from, &job.target, &job.to, job.destination.tag()))
        .buffered(usize::from(args.parallel))
        .collect()
        .await;
    drop(copier);
    let (mut reports, mut failures) = (Vec::new(), Vec::new());
    for (job, copy) in jobs.iter().zip(copies) {
        match copy {
            Ok(copied) => reports.push(Report::new(job, &copied)),
            Err(error) => failures.push((job, error)),
        }
    }
    // An archive with half of what it should hold is worse than none.
    if failures.is_empty() {
        places.finish().await?;
    }
    ui.warnings(&report::left_out(&reports));
    if failures.is_empty() || jobs.len() > 1 {
        let is_list = args.all_tags || args.from_file.is_some();
        report::print(&reports, is_list, args.output, ui)?;
    }
    if let Some((_, error)) = failures.pop_if(|_| jobs.len() == 1) {
        return Err(error.into());
    }
    if !failures.is_empty() {
        ui.warnings(&failures.iter().map(|(job, error)| describe(job, error)).collect::<Vec<_>>());
        let message = format!("{} of {} copies failed", failures.len(), jobs.len());
        return Err(Failure::new(message).hint("the same command copies what is missing").into());
    }
    Ok(())
}

fn describe(job: &Job, error: &flumen_oci::Error) -> String {
    format!("{}: {}", job.source, error_chain(error))
}

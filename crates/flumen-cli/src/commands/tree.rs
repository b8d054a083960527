//! `flumen tree`.

mod drawing;
mod helm;
mod inventory;

use clap::{Args, Subcommand};

use self::drawing::{Branch, Identity};
use crate::{
    error::CommandError,
    flux::{Kind, Site, SiteArgs, kinds::by_name, name_of, namespace_of, text_at},
    listing::{to_json, to_yaml},
    runtime::block_on,
    ui::Ui,
};

/// Show what an object of Flux manages, as a tree
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # What a Kustomization has applied, and what its Kustomizations and releases have
  flumen tree kustomization flux-system

  # Only the objects of Flux among it
  flumen tree kustomization flux-system --compact")]
pub(crate) struct TreeArgs {
    #[command(subcommand)]
    what: What,

    #[command(flatten)]
    site: SiteArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(visible_alias = "ks")]
    Kustomization(KustomizationArgs),
    Artifact(ArtifactArgs),
}

/// Show what a Kustomization has applied
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flumen tree kustomization apps -n apps -o json")]
struct KustomizationArgs {
    /// Name of the Kustomization
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Only objects of Flux
    #[arg(long)]
    compact: bool,

    #[command(flatten)]
    output: OutputArgs,
}

/// Show what an `ArtifactGenerator` has made
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flumen tree artifact generator apps -n apps")]
struct ArtifactArgs {
    #[command(subcommand)]
    what: Generator,
}

#[derive(Debug, Subcommand)]
enum Generator {
    Generator(GeneratorArgs),
}

/// Show what an `ArtifactGenerator` has made
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flumen tree artifact generator apps -n apps")]
struct GeneratorArgs {
    /// Name of the `ArtifactGenerator`
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Args)]
struct OutputArgs {
    /// Print `json` or `yaml` instead of a drawing
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
}

pub(crate) fn run(TreeArgs { what, site }: &TreeArgs, ui: &Ui) -> Result<(), CommandError> {
    match what {
        What::Kustomization(args) => {
            let name = required(&args.names, "kustomization")?;
            block_on(async {
                let site = site.open(ui).await?;
                args.output.print(&inventory::of(&site, name, args.compact).await?, ui)
            })
        }
        What::Artifact(ArtifactArgs { what: Generator::Generator(args) }) => {
            let name = required(&args.names, "generator")?;
            block_on(async {
                let site = site.open(ui).await?;
                args.output.print(&generated(&site, name).await?, ui)
            })
        }
    }
}

fn required<'a>(names: &'a [String], noun: &str) -> Result<&'a str, CommandError> {
    let name = names.first().map(String::as_str);
    name.ok_or_else(|| CommandError::brief(format!("{noun} name is required")))
}

async fn generated(site: &Site, name: &str) -> Result<Branch, CommandError> {
    let (generator, artifact) = (kind("ArtifactGenerator")?, kind("ExternalArtifact")?);
    let object = site.find(generator, &site.namespace, name).await?;
    let mut tree =
        Branch::new(Identity::of_kind(generator, namespace_of(&object), name_of(&object)));
    let made = object.at(&["status", "inventory"]).and_then(flumen_yaml::Node::as_seq);
    tree.branches.extend(made.into_iter().flatten().map(|made| {
        let (namespace, name) = (text_at(made, &["namespace"]), text_at(made, &["name"]));
        Branch::new(Identity::of_kind(artifact, namespace, name))
    }));
    Ok(tree)
}

fn kind(name: &str) -> Result<&'static Kind, CommandError> {
    by_name(name)
        .ok_or_else(|| CommandError::brief(format!("'{name}' is not a recognized Flux kind")))
}

impl OutputArgs {
    /// An empty line follows, except after JSON.
    fn print(&self, tree: &Branch, ui: &Ui) -> Result<(), CommandError> {
        let text = match self.output.as_deref() {
            Some("json") => to_json(tree)?,
            Some("yaml") => format!("{}\n", to_yaml(tree)?),
            _ => format!("{}\n", tree.draw()),
        };
        ui.data(text.as_bytes())
    }
}

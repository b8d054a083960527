//! `flumen tree`.

mod drawing;

use clap::{Args, Subcommand};
use flumen_inspect::Branch;

use self::drawing::draw;
use crate::{
    args::flux_site::SiteArgs,
    error::CommandError,
    runtime::block_on,
    ui::Ui,
    view::listing::{to_json, to_yaml},
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
                args.output.print(&site.kustomization_tree(name, args.compact).await?, ui)
            })
        }
        What::Artifact(ArtifactArgs { what: Generator::Generator(args) }) => {
            let name = required(&args.names, "generator")?;
            block_on(async {
                let site = site.open(ui).await?;
                args.output.print(&site.generator_tree(name).await?, ui)
            })
        }
    }
}

fn required<'a>(names: &'a [String], noun: &str) -> Result<&'a str, CommandError> {
    let name = names.first().map(String::as_str);
    name.ok_or_else(|| CommandError::brief(format!("{noun} name is required")))
}

impl OutputArgs {
    /// An empty line follows, except after JSON.
    fn print(&self, tree: &Branch, ui: &Ui) -> Result<(), CommandError> {
        let text = match self.output.as_deref() {
            Some("json") => to_json(tree)?,
            Some("yaml") => format!("{}\n", to_yaml(tree)?),
            _ => format!("{}\n", draw(tree)),
        };
        ui.data(text.as_bytes())
    }
}

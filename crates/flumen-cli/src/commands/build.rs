//! `flumen build`: kustomizations in, manifests out.

mod artifact;
mod output;

use std::{ffi::OsString, path::Path, sync::Arc};

use clap::{Args, Subcommand, ValueEnum};
use flumen_fs::DiskTree;
use flumen_kustomize::{LoadRestriction, Options, Reorder, Session};

use self::{
    artifact::ArtifactArgs,
    output::{Destination, Format, Output},
};
use crate::{args::env, building, error::CommandError, ui::Ui};

/// Print the objects that kustomizations describe
///
/// Prints what `kustomize build` 5.8.1 prints, byte for byte. Several paths are built in one go:
/// shared bases are read once, and the results are joined by a line `---`, in the order of the
/// paths. Nothing is printed or written unless every path builds, nothing contacts the network unless
/// `--remote` says so, and no program is started.
#[derive(Debug, Args)]
#[command(args_override_self = true, args_conflicts_with_subcommands = true, verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # The current directory
  flumen build

  # An overlay, straight to the cluster
  flumen build overlays/production | kubectl apply -f -

  # Three overlays in one go
  flumen build clusters/a clusters/b clusters/c > all.yaml

  # One file for each object
  mkdir out && flumen build overlays/production -o out

  # A kustomization that refers to repositories, or one in a repository
  flumen build --remote overlays/production
  flumen build --remote 'https://git.example.com/org/app//deploy?ref=v1.2.0'")]
pub(crate) struct BuildArgs {
    #[command(subcommand)]
    what: Option<What>,

    /// Directories that hold a kustomization file
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<OsString>,

    /// Write to this file instead of stdout, or one file for each object into this directory
    ///
    /// Files appear whole or not at all. In a directory they are named
    /// `[namespace_][group_]version_kind_name.yaml`, as kustomize names them.
    #[arg(short, long, value_name = "PATH", verbatim_doc_comment)]
    output: Option<OsString>,

    /// How to print the objects; JSON is one object on each line
    #[arg(long, value_enum, default_value = "yaml")]
    format: Format,

    /// Whether kustomizations may read files outside their own directory
    #[arg(long, value_enum, value_name = "RULE", default_value = "LoadRestrictionsRootOnly")]
    load_restrictor: LoadRestrictor,

    /// Order of the output; prefer `sortOptions` in the kustomization
    #[arg(long, value_enum, value_name = "ORDER")]
    reorder: Option<ReorderOutput>,

    /// Label every object with the tool that built it; prefer `buildMetadata: [managedByLabel]`
    #[arg(long)]
    enable_managedby_label: bool,

    /// Fetch what kustomizations name by URL: files, and Git repositories over http and https
    ///
    /// Also switched on by `FLUMEN_REMOTE=1`. A repository is fetched at one commit, without its
    /// history; 100 MB and a minute are the limits, 10 MB and half a minute for a file.
    #[arg(long, verbatim_doc_comment)]
    remote: bool,

    /// Without effect: errors say where they come from
    #[arg(long, hide = true)]
    stack_trace: bool,

    #[command(flatten)]
    helm: HelmArgs,

    #[command(flatten)]
    functions: FunctionArgs,
}

/// Something else than objects. These words are paths everywhere but in the first place.
#[derive(Debug, Subcommand)]
enum What {
    Artifact(ArtifactArgs),
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Helm charts (not available yet)")]
struct HelmArgs {
    /// Allow kustomizations to render Helm charts
    #[arg(long)]
    enable_helm: bool,

    /// Accepted for kustomize's sake: no program is started
    #[arg(long, value_name = "COMMAND", default_value = "helm")]
    helm_command: OsString,

    /// API versions that charts see in `.Capabilities.APIVersions`
    #[arg(long, value_name = "VERSION")]
    helm_api_versions: Vec<String>,

    /// Kubernetes version that charts see in `.Capabilities.KubeVersion`
    #[arg(long, value_name = "VERSION")]
    helm_kube_version: Option<String>,

    /// Accepted for kustomize's sake
    #[arg(long)]
    helm_debug: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(next_help_heading = "Functions and plugins (never run)")]
struct FunctionArgs {
    /// Refused: plugins are programs
    #[arg(long)]
    enable_alpha_plugins: bool,

    /// Refused: exec functions are programs
    #[arg(long)]
    enable_exec: bool,

    /// Refused: Starlark functions are programs
    #[arg(long)]
    enable_star: bool,

    /// Without effect, as in kustomize while functions are off
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<OsString>,

    /// Without effect, as in kustomize while functions are off
    #[arg(long, value_name = "OPTIONS")]
    mount: Vec<OsString>,

    /// Without effect, as in kustomize while functions are off
    #[arg(long)]
    network: bool,

    /// Without effect, as in kustomize while functions are off
    #[arg(long, value_name = "NAME", default_value = "bridge")]
    network_name: OsString,

    /// Without effect, as in kustomize while functions are off
    #[arg(long)]
    as_current_user: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LoadRestrictor {
    // An empty value is the default in kustomize, too.
    #[value(name = "LoadRestrictionsRootOnly", alias = "")]
    RootOnly,
    #[value(name = "LoadRestrictionsNone")]
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReorderOutput {
    /// Namespaces first, webhooks last
    Legacy,
    /// The order of the kustomizations
    None,
}

pub(crate) fn run(args: &BuildArgs, ui: &Ui) -> Result<(), CommandError> {
    if let Some(What::Artifact(args)) = &args.what {
        return artifact::run(args, ui);
    }
    args.functions.refuse_programs()?;
    let options = args.options();
    let destination = Destination::new(args.output.as_deref(), &DiskTree);
    let mut output = Output::new(args.format, destination);

    let mut session = Session::new(Arc::new(DiskTree));
    let mut warnings = args.deprecations();
    for path in &args.paths {
        let path = Path::new(path);
        let build = if args.paths.len() == 1 {
            session.build(path, &options)
        } else {
            session.build_shared(path, &options)
        };
        let build = build.map_err(CommandError::Build)?;
        warnings.extend(build.warnings);
        output.add(build.objects)?;
    }
    ui.warnings(&warnings);
    output.finish(ui)
}

impl BuildArgs {
    fn options(&self) -> Options {
        Options {
            load_restriction: match self.load_restrictor {
                LoadRestrictor::RootOnly => LoadRestriction::RootOnly,
                LoadRestrictor::None => LoadRestriction::None,
            },
            reorder: match self.reorder {
                None => Reorder::Unspecified,
                Some(ReorderOutput::None) => Reorder::None,
                Some(ReorderOutput::Legacy) => Reorder::Legacy,
            },
            managed_by_label: self.enable_managedby_label || env::managed_by_label(),
            enable_helm: self.helm.enable_helm,
            remotes: (self.remote || env::remote()).then(building::fetching),
        }
    }

    fn deprecations(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.reorder.is_some() {
            warnings.push("--reorder is deprecated, use `sortOptions` in the kustomization".into());
        }
        if self.enable_managedby_label {
            warnings.push(
                "--enable-managedby-label is deprecated, use `buildMetadata: [managedByLabel]` in \
                 the kustomization"
                    .into(),
            );
        }
        warnings
    }
}

impl FunctionArgs {
    /// Programs that a repository brings along are never run, so their switches must not seem to
    /// work.
    fn refuse_programs(&self) -> Result<(), CommandError> {
        let refused = [
            (self.enable_alpha_plugins, "--enable-alpha-plugins"),
            (self.enable_exec, "--enable-exec"),
            (self.enable_star, "--enable-star"),
        ];
        match refused.into_iter().find(|(is_given, _)| *is_given) {
            None => Ok(()),
            Some((_, option)) => Err(CommandError::Refused {
                option,
                reason: "a build starts no program, so exec and container functions, Starlark \
                         scripts and Go plugins never run",
                hint: "the builtin generators, transformers and validators need no option",
            }),
        }
    }
}

//! `flumen completion`: scripts that make a shell complete flumen's commands and options.

use clap::{Args, ValueEnum};
use clap_complete::{Shell as Generator, generate};

use crate::{cli::Cli, error::CommandError, ui::Ui};

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # For the current bash session
  source <(flumen completion bash)

  # For every zsh session
  flumen completion zsh > \"${fpath[1]}/_flumen\"

  # For every fish session
  flumen completion fish > ~/.config/fish/completions/flumen.fish")]
pub(crate) struct CompletionArgs {
    shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

pub(crate) fn run(args: &CompletionArgs, ui: &Ui) -> Result<(), CommandError> {
    let generator = match args.shell {
        Shell::Bash => Generator::Bash,
        Shell::Zsh => Generator::Zsh,
        Shell::Fish => Generator::Fish,
        Shell::Powershell => Generator::PowerShell,
    };
    let mut script = Vec::new();
    generate(generator, &mut Cli::definition(), "flumen", &mut script);
    ui.data(&script)
}

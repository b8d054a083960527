//! Commands that take a kind as their word: `get kustomizations`, `suspend source git`.

use std::{collections::BTreeSet, fmt};

use clap::{
    ArgMatches, Args, Command, FromArgMatches, Subcommand,
    error::{Error, ErrorKind},
};
use flumen_inspect::kinds::{Family, KINDS, Kind};

use crate::{args::switch::accept_value, error::CommandError};

/// What a command does with a kind, and its options.
pub(crate) trait KindCommand: Args + fmt::Debug {
    /// Whether this is `get`, which has plural words and lists all kinds at once, too.
    const IS_GET: bool = false;

    fn takes(kind: &Kind) -> bool;

    /// Adds the help for a kind, and hides options that the kind does not have.
    fn describe(command: Command, kind: &'static Kind) -> Command;

    /// The same for all kinds of a family, or of all families.
    fn describe_all(command: Command, _family: Option<Family>) -> Command {
        command
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Chosen {
    One(&'static Kind),
    /// All of a family, or of all families.
    All(Option<Family>),
}

/// A kind that was chosen by its word, and the options behind it.
#[derive(Debug)]
pub(crate) struct OfKind<A> {
    pub(crate) chosen: Chosen,
    pub(crate) args: A,
}

impl<A: KindCommand> OfKind<A> {
    /// Returns the kind, for commands that take only one.
    pub(crate) fn kind(&self) -> Result<&'static Kind, CommandError> {
        match self.chosen {
            Chosen::One(kind) => Ok(kind),
            Chosen::All(_) => Err(CommandError::brief("expected a single resource type")),
        }
    }
}

/// Names without repetitions.
pub(crate) fn distinct(names: &[String]) -> impl Iterator<Item = &str> {
    let mut seen = BTreeSet::new();
    names.iter().map(String::as_str).filter(move |name| seen.insert(*name))
}

const ALL: &str = "all";

fn family_word<A: KindCommand>(family: Family) -> &'static str {
    if A::IS_GET { family.get_word() } else { family.word() }
}

fn kind_word<A: KindCommand>(kind: &Kind) -> &'static str {
    if A::IS_GET { kind.get_word } else { kind.word }
}

fn members<A: KindCommand>(family: Option<Family>) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(move |kind| kind.family == family && A::takes(kind))
}

/// Families of few kinds have no `all`.
fn has_all<A: KindCommand>(family: Option<Family>) -> bool {
    A::IS_GET && family != Some(Family::Artifact)
}

fn with_options<A: KindCommand>(command: Command) -> Command {
    A::augment_args(command).mut_args(accept_value)
}

fn with_members<A: KindCommand>(mut command: Command, family: Option<Family>) -> Command {
    for kind in members::<A>(family) {
        let word = kind_word::<A>(kind);
        let mut own = A::describe(with_options::<A>(Command::new(word)), kind);
        own = own.visible_aliases(kind.alias);
        if kind.word != word {
            own = own.alias(kind.word);
        }
        command = command.subcommand(own);
    }
    if has_all::<A>(family) {
        let own = A::describe_all(with_options::<A>(Command::new(ALL)), family);
        command = command.subcommand(own);
    }
    command
}

impl<A: KindCommand> Subcommand for OfKind<A> {
    fn augment_subcommands(command: Command) -> Command {
        let mut command = with_members::<A>(command, None);
        for family in Family::ALL {
            if members::<A>(Some(family)).next().is_none() {
                continue;
            }
            let word = family_word::<A>(family);
            let names: Vec<&str> = members::<A>(Some(family)).map(|kind| kind.kind).collect();
            let mut group = Command::new(word)
                .about(names.join(", "))
                .subcommand_required(true)
                .arg_required_else_help(true);
            if word != family.word() {
                group = group.alias(family.word());
            }
            command = command.subcommand(with_members::<A>(group, Some(family)));
        }
        command
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        let is_family = |family: &Family| family_word::<A>(*family) == name;
        choose::<A>(None, name).is_some() || Family::ALL.iter().any(is_family)
    }
}

impl<A: KindCommand> FromArgMatches for OfKind<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        let missing = || Error::new(ErrorKind::MissingSubcommand);
        let (word, mut matches) = matches.remove_subcommand().ok_or_else(missing)?;
        let family = Family::ALL.into_iter().find(|family| family_word::<A>(*family) == word);
        let (chosen, mut matches) = if family.is_some() {
            let (word, matches) = matches.remove_subcommand().ok_or_else(missing)?;
            (choose::<A>(family, &word), matches)
        } else {
            (choose::<A>(None, &word), matches)
        };
        let chosen = chosen.ok_or_else(|| Error::new(ErrorKind::InvalidSubcommand))?;
        Ok(Self { chosen, args: A::from_arg_matches_mut(&mut matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn choose<A: KindCommand>(family: Option<Family>, word: &str) -> Option<Chosen> {
    let one = members::<A>(family).find(|kind| kind_word::<A>(kind) == word).map(Chosen::One);
    one.or_else(|| (word == ALL && has_all::<A>(family)).then_some(Chosen::All(family)))
}

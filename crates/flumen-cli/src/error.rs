//! How a command fails: what is printed and which exit status follows.

use std::{borrow::Cow, env, error::Error as _, io, path::PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use flumen_fs::FsError;
use flumen_object::Object;
use flumen_yaml::{EmitError, Pos};

use crate::{
    ui::Ui,
    view::{
        diagnostic::{Diagnostic, Place},
        printable::{Lines, printable},
    },
};

const SUCCESS: u8 = 0;
/// The input is wrong, paths included.
const WRONG_INPUT: u8 = 1;
/// The command line is wrong: unknown or malformed options.
const WRONG_USAGE: u8 = 2;
/// Plans wait for a decision.
const UNDECIDED: u8 = 3;
/// A plan that was asked to say so by its status has changes.
const CHANGES: u8 = 2;

/// Usage errors quote their arguments; this much of them is enough.
const MAX_USAGE_BYTES: usize = 8 << 10;

#[derive(Debug)]
pub(crate) enum CommandError {
    /// Not only errors: help and version arrive this way too.
    Usage {
        error: clap::Error,
        quotes_safely: bool,
    },
    Build(flumen_kustomize::Error),
    /// An option of kustomize that flumen will not have.
    Refused {
        option: &'static str,
        reason: &'static str,
        hint: &'static str,
    },
    /// A value that YAML has and JSON has not.
    Unprintable {
        object: Box<Object>,
        source: EmitError,
    },
    /// The result could not be written.
    Output(FsError),
    /// The result has no place in the output directory.
    FileName {
        message: String,
    },
    Stdout {
        source: io::Error,
    },
    /// No failure: two things were compared, and the difference has been printed.
    Different,
    /// No failure: somebody has to decide about these plans before anything else happens.
    Undecided {
        plans: Vec<String>,
    },
    /// No failure: a plan has changes, and the command line wants to know.
    Changes,
    /// No failure: a group of commands was named and none of them, so its help is the answer.
    Help {
        text: String,
    },
    /// A failure in one line, as Flux tells it.
    Brief {
        message: String,
    },
    /// Anything else: what is wrong, on the way to what, and what to try.
    Failure(Failure),
}

/// A failure in words.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    /// What was being done, innermost first.
    context: Vec<String>,
    hint: Option<String>,
    place: Option<(PathBuf, Pos)>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), context: Vec::new(), hint: None, place: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what was being done, from the inside out.
    pub(crate) fn within(mut self, doing: impl Into<String>) -> Self {
        self.context.push(doing.into());
        self
    }

    pub(crate) fn at(mut self, file: impl Into<PathBuf>, pos: Pos) -> Self {
        self.place = Some((file.into(), pos));
        self
    }

    /// The message of an error followed by those of its causes.
    pub(crate) fn chain(error: &dyn std::error::Error) -> Self {
        Self::new(error_chain(error))
    }
}

/// Why a file cannot be used, as programs in Go say it.
pub(crate) fn go_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// The message of an error followed by those of its causes.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<flumen_oci::Error> for CommandError {
    fn from(error: flumen_oci::Error) -> Self {
        let mut failure = Failure::chain(&error);
        failure.hint = error.hint();
        Self::Failure(failure)
    }
}

impl From<flumen_pipeline::Error> for Failure {
    fn from(error: flumen_pipeline::Error) -> Self {
        let mut failure = Self::chain(&error);
        failure.hint = error.hint();
        failure.place = error.location().map(|(file, pos)| (file.to_owned(), pos));
        failure
    }
}

impl From<flumen_pipeline::job::Ended> for Failure {
    fn from(ended: flumen_pipeline::job::Ended) -> Self {
        match ended {
            flumen_pipeline::job::Ended::Failed(error) => error.into(),
            other => Self::new(other.to_string()),
        }
    }
}

impl From<flumen_pipeline::Error> for CommandError {
    fn from(error: flumen_pipeline::Error) -> Self {
        Failure::from(error).into()
    }
}

impl From<flumen_pipeline::config::ConfigError> for CommandError {
    fn from(error: flumen_pipeline::config::ConfigError) -> Self {
        let mut failure = Failure::new(error.to_string()).at(error.file(), error.pos());
        failure.hint = error.hint_text().map(str::to_owned);
        Self::Failure(failure)
    }
}

impl From<flumen_build::Error> for CommandError {
    fn from(error: flumen_build::Error) -> Self {
        let mut failure = Failure::chain(&error);
        failure.hint = error.hint().map(ToOwned::to_owned);
        failure.place = error.location().map(|(file, pos)| (file.to_owned(), pos));
        Self::Failure(failure)
    }
}

impl From<flumen_apply::PlanFileError> for CommandError {
    fn from(error: flumen_apply::PlanFileError) -> Self {
        let mut failure = Failure::new(error.to_string());
        failure.hint = error.hint().map(str::to_owned);
        Self::Failure(failure)
    }
}

impl From<flumen_apply::Error> for CommandError {
    fn from(error: flumen_apply::Error) -> Self {
        // Its messages name their causes already; those of the client do not.
        let mut failure = match &error {
            flumen_apply::Error::Cluster(error) => Failure::chain(error),
            other => Failure::new(other.to_string()),
        };
        failure.hint = error.hint();
        Self::Failure(failure)
    }
}

impl From<flumen_local::DeliveryError> for CommandError {
    fn from(error: flumen_local::DeliveryError) -> Self {
        use flumen_local::DeliveryError;

        match error {
            DeliveryError::Build(error) => error.into(),
            DeliveryError::Registry(error) => error.into(),
            DeliveryError::Cluster(error) => error.into(),
            DeliveryError::Apply(error) => error.into(),
            error => {
                let mut failure = Failure::chain(&error);
                failure.hint = error.hint();
                failure.context.extend(error.context().map(str::to_owned));
                failure.into()
            }
        }
    }
}

impl From<flumen_inspect::Error> for CommandError {
    fn from(error: flumen_inspect::Error) -> Self {
        Self::brief(error.to_string())
    }
}

impl From<flumen_kube::Error> for CommandError {
    fn from(error: flumen_kube::Error) -> Self {
        let mut failure = Failure::chain(&error);
        failure.hint = error.hint();
        Self::Failure(failure)
    }
}

impl CommandError {
    /// Says what was being done, where the error has room for that.
    pub(crate) fn within(self, doing: impl Into<String>) -> Self {
        match self {
            Self::Failure(failure) => failure.within(doing).into(),
            other => other,
        }
    }

    /// A failure that needs no hint.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Failure::new(message).into()
    }

    /// A failure as Flux tells it.
    pub(crate) fn brief(message: impl Into<String>) -> Self {
        Self::Brief { message: message.into() }
    }

    /// A request to a cluster that failed, as Flux tells it.
    pub(crate) fn request(error: flumen_kube::Error) -> Self {
        flumen_inspect::Error::from(error).into()
    }

    /// A request to a registry that failed, as Flux tells it: with the registry's answer.
    #[expect(clippy::needless_pass_by_value, reason = "what `map_err` passes")]
    pub(crate) fn exchange(error: flumen_oci::Error) -> Self {
        Self::brief(error.exchange().map_or_else(|| error_chain(&error), str::to_owned))
    }

    /// The same failure in one line.
    pub(crate) fn in_brief(self) -> Self {
        match self {
            Self::Failure(Failure { message, hint: Some(hint), .. }) => {
                Self::brief(format!("{message} ({hint})"))
            }
            Self::Failure(failure) => Self::brief(failure.message),
            other => other,
        }
    }

    /// What is wrong, in one line.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Brief { message } => message.clone(),
            other => other.diagnostic().message.into_owned(),
        }
    }

    /// Tells the user and decides the exit status.
    pub(crate) fn report(self, ui: &Ui) -> u8 {
        match &self {
            Self::Usage { error, quotes_safely: true } => report_usage(error),
            Self::Usage { error, quotes_safely: false } => report_unsafe_usage(error, ui),
            // The reader has seen enough, as in `flumen build | head`; that is no failure.
            Self::Stdout { source } if source.kind() == io::ErrorKind::BrokenPipe => SUCCESS,
            Self::Different => WRONG_INPUT,
            Self::Undecided { plans } => {
                for plan in plans {
                    ui.step(&format!("`flumen plan approve {plan}` approves it"));
                }
                UNDECIDED
            }
            Self::Changes => CHANGES,
            Self::Help { text } => {
                // Help that nobody reads to its end is no failure.
                let _ = ui.data(text.as_bytes());
                SUCCESS
            }
            Self::Brief { message } => {
                ui.failure(message);
                WRONG_INPUT
            }
            _ => {
                let current_dir = env::current_dir().ok();
                ui.talk(&self.diagnostic().render(current_dir.as_deref()));
                WRONG_INPUT
            }
        }
    }

    fn diagnostic(&self) -> Diagnostic<'_> {
        match self {
            Self::Usage { error, .. } => Diagnostic::new(error.to_string()),
            Self::Build(error) => Diagnostic {
                message: Cow::Borrowed(error.message()),
                place: error.location().map(|location| Place {
                    file: &location.file,
                    line: location.pos.line,
                    column: location.pos.column,
                    text: location.line_text.as_deref(),
                }),
                context: error.context(),
                hint: error.hint_text(),
            },
            Self::Refused { option, reason, hint } => Diagnostic {
                hint: Some(hint),
                ..Diagnostic::new(format!("{option} is not supported: {reason}"))
            },
            Self::Unprintable { object, source } => Diagnostic {
                place: object.origin.file.as_deref().map(|file| Place {
                    file,
                    line: object.origin.pos.line,
                    column: object.origin.pos.column,
                    text: None,
                }),
                ..Diagnostic::new(unprintable(object, source))
            },
            Self::Output(error) => Diagnostic::new(match error.source() {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            }),
            Self::Failure(failure) => Diagnostic {
                place: failure.place.as_ref().map(|(file, pos)| Place {
                    file,
                    line: pos.line,
                    column: pos.column,
                    text: None,
                }),
                context: &failure.context,
                hint: failure.hint.as_deref(),
                ..Diagnostic::new(failure.message.as_str())
            },
            Self::Different => Diagnostic::new("they differ"),
            Self::Undecided { .. } => Diagnostic::new("plans wait for a decision"),
            Self::Changes => Diagnostic::new("there are changes"),
            Self::Help { .. } => Diagnostic::new("a command is missing"),
            Self::FileName { message } | Self::Brief { message } => {
                Diagnostic::new(message.as_str())
            }
            Self::Stdout { source } => {
                Diagnostic::new(format!("cannot write the output: {source}"))
            }
        }
    }
}

/// What is wrong with a value, without showing it if it may be a secret.
fn unprintable(object: &Object, source: &EmitError) -> String {
    let id = object.id();
    if id.gvk.kind == "Secret" {
        format!("{id}: the value of `{}` cannot be printed", source.path)
    } else {
        format!("{id}: {source}")
    }
}

fn report_usage(error: &clap::Error) -> u8 {
    // Help that nobody reads to its end is no failure.
    let _ = error.print();
    if error.use_stderr() { usage_status(error) } else { SUCCESS }
}

/// The same without colours, because they cannot be told from what an argument smuggles in.
fn report_unsafe_usage(error: &clap::Error, ui: &Ui) -> u8 {
    let plain = error.render().to_string();
    ui.talk(&format!("{}\n", printable(&plain, Lines::Keep(30), MAX_USAGE_BYTES)));
    usage_status(error)
}

/// What stands behind no option is input: an address that cannot be read is as wrong as a path that
/// is not there.
fn usage_status(error: &clap::Error) -> u8 {
    let is_input = error.kind() == ErrorKind::ValueValidation
        && matches!(
            error.get(ContextKind::InvalidArg),
            Some(ContextValue::String(argument)) if !argument.starts_with('-')
        );
    if is_input { WRONG_INPUT } else { WRONG_USAGE }
}

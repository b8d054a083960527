//! Why an object cannot be judged.

/// An object does not have the shape that every object of Kubernetes has.
///
/// The texts are those of the Go libraries, since people search for them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "looking up {path} from resource: .{at} accessor error: {value} is of the type {found}, expected {expected}"
    )]
    Field {
        /// The field that was asked for.
        path: String,
        /// Where the way to it ended.
        at: String,
        value: String,
        found: &'static str,
        expected: &'static str,
    },
    #[error("cannot restore struct from: {0}")]
    NotAMapping(&'static str),
    #[error("cannot restore slice from {0}")]
    NotAList(&'static str),
    #[error("cannot convert int64 to {0}")]
    Number(&'static str),
    #[error("unrecognized type: string")]
    NotAText,
    #[error("unknown phase {0}")]
    Phase(String),
    #[error("status.containerStatuses does not have the expected structure")]
    ContainerStatuses,
}

//! What each verb does, for built-in and custom resources alike.

mod body;
mod collection;
mod continuation;
mod create;
mod delete;
mod get;
mod list;
mod options;
mod patch;
mod request;
mod selection;
mod update;
mod watch;
mod write;

use std::sync::Arc;

use crate::{Answer, Api, ApiError, Call, Reason, Resource, Verb};

pub use self::watch::{WatchEvent, WatchKind};
pub(crate) use self::{request::Request, watch::Watcher};

/// Carries out a call on a resource.
pub(crate) async fn handle(
    api: &Api,
    call: &Call,
    resource: Arc<Resource>,
) -> Result<Answer, ApiError> {
    let request = Request::new(api, call, resource);
    let target = &call.target;
    if target.subresource.is_empty() {
        if !request.resource.verbs.iter().any(|verb| verb == target.verb.name()) {
            return Err(not_allowed());
        }
        return match target.verb {
            Verb::Get => get::get(&request).await,
            Verb::List => list::list(&request).await,
            Verb::Create => create::create(&request).await,
            Verb::Update => update::update(&request).await,
            Verb::Delete => delete::delete(&request).await,
            Verb::DeleteCollection => collection::delete_collection(&request).await,
            Verb::Watch => watch::watch(&request).await,
            Verb::Patch => patch::patch(&request).await,
        };
    }
    Err(not_allowed())
}

pub(crate) fn not_allowed() -> ApiError {
    let message = "the server does not allow this method on the requested resource";
    ApiError::new(405, Some(Reason::MethodNotAllowed), message)
}

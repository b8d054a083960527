//! Deletes all objects that are selected.

use std::sync::Arc;

use serde_json::json;

use super::{
    Request,
    delete::{self, DeleteOptions},
    list,
};
use crate::{Answer, ApiError, Payload, Reason, meta, rules};

pub(crate) async fn delete_collection(request: &Request<'_>) -> Result<Answer, ApiError> {
    let options = DeleteOptions::of(request)?;
    delete::warn_of_orphans(request, &options);
    let listed = list::select(request).await?;
    for item in &listed.items {
        match delete::remove(request, meta::name(item), &options).await {
            Err(error) if error.reason() == Some(Reason::NotFound) => {}
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    let resource = &request.resource;
    let items = listed.items.into_iter().map(|item| rules::list_item(resource, item));
    let metadata = json!({ "resourceVersion": listed.revision.to_string() });
    let payload =
        Payload::List { resource: Arc::clone(resource), metadata, items: items.collect() };
    Ok(Answer::new(200, payload))
}

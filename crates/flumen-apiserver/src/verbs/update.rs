//! PUT: the whole object, or its part of a subresource.

use serde_json::Value;

use super::{
    Request, body,
    options::WriteOptions,
    write::{self, Update},
};
use crate::{Answer, ApiError, meta, rules, storage::Stored};

pub(crate) async fn update(request: &Request<'_>) -> Result<Answer, ApiError> {
    let options = WriteOptions::of(request.call)?;
    let mut object = body::object(request, options.field_validation)?;
    body::match_namespace(request, &mut object)?;
    body::match_name(request, &object)?;
    write::deduplicate_owners(request, &mut object, write::Moment::Sent);
    let uid = Some(meta::uid(&object)).filter(|uid| !uid.is_empty()).map(str::to_owned);
    let subresource = &*request.target().subresource;
    let make = |live: Option<&Stored>| -> Result<Value, ApiError> {
        let object = write::own(request, live, object.clone(), &options, subresource);
        Ok(rules::to_hub(&request.resource, object))
    };
    let update = Update {
        name: &request.target().name,
        subresource,
        make: &make,
        creates: rules::creates_on_update(&request.resource),
        uid: uid.as_deref(),
        options: &options,
    };
    let (object, created) = write::update(request, &update).await?;
    Ok(request.answer(if created { 201 } else { 200 }, object))
}

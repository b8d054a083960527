//! Bodies of requests: their size and their type.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use crate::{ApiError, Details, Media, Reason, Verb};

/// What a body may have at most.
const LIMIT: usize = 3 * 1024 * 1024;
/// How long a body that is too large is still taken, so that clients that send all of it before they
/// read see the answer instead of a broken connection.
const GRACE: Duration = Duration::from_secs(5);
/// How long a body may take.
const PATIENCE: Duration = Duration::from_mins(1);

const OBJECT_TYPES: [(&str, Media); 3] = [
    ("application/json", Media::Json),
    ("application/yaml", Media::Yaml),
    ("application/vnd.kubernetes.protobuf", Media::Protobuf),
];

const PATCH_TYPES: [(&str, Media); 5] = [
    ("application/json-patch+json", Media::JsonPatch),
    ("application/merge-patch+json", Media::MergePatch),
    ("application/strategic-merge-patch+json", Media::StrategicMergePatch),
    ("application/apply-patch+yaml", Media::ApplyYaml),
    ("application/apply-patch+cbor", Media::ApplyCbor),
];

pub(crate) async fn read(mut body: Incoming) -> Result<Bytes, ApiError> {
    if body.size_hint().lower() > LIMIT as u64 {
        tokio::spawn(timeout(GRACE, drain(body)));
        return Err(too_large());
    }
    let reading = async {
        // Most bodies come as one piece, which needs no copy.
        let mut first: Option<Bytes> = None;
        let mut whole = BytesMut::new();
        let mut size = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| ApiError::bad_request("the body broke off"))?;
            let Ok(data) = frame.into_data() else { continue };
            size += data.len();
            if size > LIMIT {
                return Ok(None);
            }
            match first.take() {
                None if whole.is_empty() => first = Some(data),
                None => whole.extend_from_slice(&data),
                Some(before) => {
                    whole.reserve(before.len() + data.len());
                    whole.extend_from_slice(&before);
                    whole.extend_from_slice(&data);
                }
            }
        }
        Ok(Some(first.unwrap_or_else(|| whole.freeze())))
    };
    let read = timeout(PATIENCE, reading).await.unwrap_or_else(|_| {
        Err(ApiError::new(408, Some(Reason::Timeout), "the body of the request came too slowly"))
    })?;
    read.ok_or_else(|| {
        tokio::spawn(timeout(GRACE, drain(body)));
        too_large()
    })
}

async fn drain(mut body: Incoming) {
    while let Some(Ok(_)) = body.frame().await {}
}

fn too_large() -> ApiError {
    let message = format!("Request entity too large: limit is {LIMIT}");
    ApiError::new(413, Some(Reason::RequestEntityTooLarge), message)
}

/// The type of a body for a verb.
pub(crate) fn media(content_type: &str, verb: Verb, custom: bool) -> Result<Media, ApiError> {
    let name = content_type.split(';').next().unwrap_or_default().trim();
    if verb == Verb::Patch {
        return patch_media(name, custom);
    }
    if name.is_empty() {
        return Ok(Media::Json);
    }
    let found = OBJECT_TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, media)| *media).ok_or_else(|| unknown_format(OBJECT_TYPES.map(|(name, _)| name)))
}

fn patch_media(name: &str, custom: bool) -> Result<Media, ApiError> {
    let allowed = |media: Media| {
        media != Media::ApplyCbor && !(custom && media == Media::StrategicMergePatch)
    };
    if let Some((_, media)) =
        PATCH_TYPES.iter().find(|(known, media)| *known == name && allowed(*media))
    {
        return Ok(*media);
    }
    if custom {
        let names = PATCH_TYPES.iter().filter(|(_, media)| allowed(*media)).map(|(name, _)| *name);
        return Err(unknown_format(names));
    }
    let message = "415: Unsupported Media Type";
    Err(ApiError::new(415, Some(Reason::UnsupportedMediaType), message)
        .with_details(Details::default()))
}

fn unknown_format<'a>(names: impl IntoIterator<Item = &'a str>) -> ApiError {
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {names}"
    );
    ApiError::new(415, Some(Reason::UnsupportedMediaType), message)
}

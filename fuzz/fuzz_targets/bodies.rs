//! The body of a request, as a client may send it: it is refused, or it becomes an object that reads the
//! same again, and that defaults and validation can deal with.
#![no_main]

use flumen_kinds::{Media, Target, decode, default, duplicates, validate_create, validate_update};
use flumen_schema::api::Api;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, body)) = bytes.split_first() else { return };
    let media = match choice % 3 {
        0 => Media::Json,
        1 => Media::Yaml,
        _ => Media::Protobuf,
    };
    let _ = duplicates(body);
    let Some(kind) = Api::get().kind("apps", "v1", "Deployment") else { return };
    let target = Target::from(kind);
    let Ok(decoded) = decode(body, media, &target) else { return };
    let mut object = decoded.object;
    let again = decode(object.to_string().as_bytes(), Media::Json, &target);
    assert_eq!(again.map(|again| again.object).ok().as_ref(), Some(&object));
    default(&mut object, kind);
    let mut twice = object.clone();
    default(&mut twice, kind);
    assert_eq!(object, twice);
    let _ = validate_create(kind, &object);
    let _ = validate_update(kind, &object, &object);
});

//! `secretGenerator`.

use flumen_yaml::{Entry, Map, Text};

use super::{
    finish, manifest, mapping,
    pairs::{self, base64, value},
};
use crate::{
    error::Result,
    kustomization::fields::{GeneratorArgs, GeneratorOptions},
    resmap::ResMap,
    scalar::new_string,
    transform::Scene,
};

/// Makes a `Secret`, whose values are all encoded.
pub(crate) fn secret(
    args: &GeneratorArgs,
    shared: Option<&GeneratorOptions>,
    scene: &Scene<'_>,
) -> Result<ResMap> {
    let mut map = manifest("Secret", args)?;
    let secret_type = match args.secret_type.as_str() {
        "" => Text::literal("Opaque"),
        _ => args.secret_type.clone(),
    };
    map.push(Entry::new(Text::literal("type"), new_string(secret_type)));
    let mut data = Map::new();
    for (key, content) in pairs::load(args, scene)? {
        data.push(Entry::new(key, value(base64(content.as_bytes()).into())));
    }
    map.push(Entry::new(Text::literal("data"), mapping(data)));
    finish(map, args, shared, scene)
}

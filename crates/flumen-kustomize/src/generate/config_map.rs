//! `configMapGenerator`.

use flumen_yaml::{Entry, Map, Text};

use super::{
    finish, manifest, mapping,
    pairs::{self, base64, value},
};
use crate::{
    content::Content,
    error::{Error, Result},
    kustomization::fields::{GeneratorArgs, GeneratorOptions},
    resmap::ResMap,
    transform::Scene,
};

/// Makes a `ConfigMap`. What is not text goes to `binaryData`.
pub(crate) fn config_map(
    args: &GeneratorArgs,
    shared: Option<&GeneratorOptions>,
    scene: &Scene<'_>,
) -> Result<ResMap> {
    let mut map = manifest("ConfigMap", args)?;
    let mut data = Map::new();
    let mut binary = Map::new();
    for (key, content) in pairs::load(args, scene)? {
        match content {
            Content::Text(text) => {
                check_text(&key, &text)?;
                data.push(Entry::new(key, value(text)));
            }
            Content::Bytes(bytes) => {
                binary.push(Entry::new(key, value(base64(&bytes).into())));
            }
        }
    }
    for (field, entries) in [("data", data), ("binaryData", binary)] {
        if !entries.is_empty() {
            map.push(Entry::new(Text::literal(field), mapping(entries)));
        }
    }
    finish(map, args, shared, scene)
}

/// kustomize writes several lines as a block, and cannot read a block back that begins with a tab.
fn check_text(key: &str, text: &str) -> Result<()> {
    if text.starts_with('\t') && text.contains('\n') && can_be_block(text) {
        return Err(Error::new(format!(
            "the value of '{key}': found a tab character where an indentation space is expected"
        ))
        .hint("begin the text with something other than a tab"));
    }
    Ok(())
}

/// Whether go-yaml would write the text as a block rather than in quotes.
fn can_be_block(text: &str) -> bool {
    let is_printable =
        |c: char| matches!(c, '\t' | '\n' | ' '..='~' | '\u{A0}'..='\u{FFFD}') && c != '\u{FEFF}';
    let has_space_before_break =
        [" \n", " \u{2028}", " \u{2029}"].iter().any(|pair| text.contains(pair));
    text.chars().all(is_printable) && !has_space_before_break && !text.ends_with(' ')
}

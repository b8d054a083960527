//! The authority of a conversion webhook, which servers refuse when it is no certificate.
//!
//! Generators write `Cg==` as a place holder that an injector replaces later. Left out, the injector
//! still finds its place, and the server takes the definition.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flumen_yaml::Node;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Removes the authority from a custom resource definition unless it holds a certificate.
pub(super) fn remove_invalid(definition: &mut Node) {
    let config = definition.at_mut(&["spec", "conversion", "webhook", "clientConfig"]);
    let Some(config) = config.and_then(Node::as_map_mut) else { return };
    let bundle = config.get("caBundle").and_then(Node::as_str);
    if bundle.is_some_and(|bundle| !bundle.is_empty() && !holds_certificate(bundle)) {
        config.remove("caBundle");
    }
}

fn holds_certificate(bundle: &str) -> bool {
    let bundle = bundle.replace(['\r', '\n'], "");
    let Ok(pem) = BASE64_STANDARD.decode(bundle) else { return false };
    String::from_utf8_lossy(&pem).split(BEGIN).skip(1).any(|block| {
        let body = block.split_once(END).map(|(body, _)| body.replace(char::is_whitespace, ""));
        let der = body.and_then(|body| BASE64_STANDARD.decode(body).ok());
        der.is_some_and(|der| is_sequence(&der))
    })
}

/// Whether the bytes are one sequence of DER, as a certificate is.
fn is_sequence(der: &[u8]) -> bool {
    let (length, content) = match der {
        [0x30, length @ 0..=0x7f, content @ ..] | [0x30, 0x81, length, content @ ..] => {
            (usize::from(*length), content)
        }
        [0x30, 0x82, high, low, content @ ..] => {
            (usize::from(u16::from_be_bytes([*high, *low])), content)
        }
        _ => return false,
    };
    length == content.len() && length > 0
}

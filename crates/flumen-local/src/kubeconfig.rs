//! How clients reach the server.

mod merged;

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};

pub use self::merged::merge_kubeconfig;

/// The name of the context, the cluster and the user.
pub const CONTEXT: &str = "flumen";

/// What the context of a directory is called where there are others. Directories of several projects may have the same
/// name, so a number stands for the whole path.
pub fn context_of(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches('-');
    let number = number_of(directory.as_os_str().as_encoded_bytes());
    if name.is_empty() || name == CONTEXT {
        format!("{CONTEXT}-{number:06x}")
    } else {
        format!("{CONTEXT}-{name}-{number:06x}")
    }
}

/// Six hexadecimal digits, the same for the same bytes at all times (FNV-1a, folded).
fn number_of(bytes: &[u8]) -> u32 {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let hash = bytes.iter().fold(0x811c_9dc5, mix);
    (hash >> 24) ^ (hash & 0x00ff_ffff)
}

/// A kubeconfig with one context.
pub fn kubeconfig(server: &str, ca: Option<&str>, token: &str) -> String {
    let authority = ca.map_or_else(String::new, |pem| {
        format!("    certificate-authority-data: {}\n", STANDARD.encode(pem))
    });
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: {CONTEXT}\n  \
           cluster:\n    \
             server: {server}\n\
         {authority}\
         contexts:\n\
         - name: {CONTEXT}\n  \
           context:\n    \
             cluster: {CONTEXT}\n    \
             user: {CONTEXT}\n\
         current-context: {CONTEXT}\n\
         users:\n\
         - name: {CONTEXT}\n  \
           user:\n    \
             token: {token}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_the_same_name_have_contexts_of_their_own() {
        let names =
            ["/a/.flumen", "/b/.flumen", "/a/my cluster"].map(|it| context_of(Path::new(it)));
        assert_ne!(names[0], names[1]);
        assert!(names[0].starts_with("flumen-") && names[0].len() == "flumen-123456".len());
        assert!(names[2].starts_with("flumen-my-cluster-"), "{names:?}");
        assert_eq!(names[0], context_of(Path::new("/a/.flumen")));
    }

    #[test]
    fn has_what_clients_need() {
        let text = kubeconfig("https://127.0.0.1:6443", Some("PEM"), "secret");
        assert_eq!(
            text,
            "apiVersion: v1
kind: Config
clusters:
- name: flumen
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: UEVN
contexts:
- name: flumen
  context:
    cluster: flumen
    user: flumen
current-context: flumen
users:
- name: flumen
  user:
    token: secret
"
        );
    }
}

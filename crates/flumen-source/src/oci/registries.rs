//! Registries that sources have in common, so that connections and tokens are shared.

use std::collections::HashMap;

use flumen_oci::{
    Algorithm, Digest, Hasher,
    client::{ClientOptions, Registry},
};
use parking_lot::Mutex;

use super::{Request, SecretData};

/// More than one controller talks to. If there are more, all are opened anew.
const MAX_REGISTRIES: usize = 256;

/// Registries by everything that decides how they are spoken to, and in whose name.
#[derive(Debug, Default)]
pub struct Registries(Mutex<HashMap<Digest, Registry>>);

impl Registries {
    /// The registry that a request means, with what it is to be shown.
    pub(super) fn get(
        &self,
        host: &str,
        request: &Request<'_>,
        options: &ClientOptions,
    ) -> Result<Registry, flumen_oci::Error> {
        let key = key(host, request, options);
        if let Some(known) = self.0.lock().get(&key) {
            return Ok(known.clone());
        }
        let registry = Registry::new(host, options)?;
        let mut known = self.0.lock();
        if known.len() >= MAX_REGISTRIES {
            known.clear();
        }
        Ok(known.entry(key).or_insert(registry).clone())
    }
}

/// Equal only if all secrets are.
fn key(host: &str, request: &Request<'_>, options: &ClientOptions) -> Digest {
    let mut hasher = Hasher::new(Algorithm::Sha256);
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(host.as_bytes());
    add(&[options.insecure.into(), options.plain_http.into()]);
    for time in [options.timeouts.idle, options.timeouts.total] {
        add(&time.as_nanos().to_le_bytes());
    }
    let mut add_secrets = |secrets: &mut dyn Iterator<Item = &SecretData>| {
        for secret in secrets {
            add(b"secret");
            for (key, value) in secret {
                add(key.as_bytes());
                add(value);
            }
        }
        add(b"end");
    };
    add_secrets(&mut request.pull_secrets.iter());
    add_secrets(&mut request.certificates.into_iter());
    add_secrets(&mut request.proxy.into_iter());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flumen_oci::client::Timeouts;

    use super::*;
    use crate::Owner;

    #[test]
    fn sources_that_wait_for_other_times_share_nothing() {
        let spec = serde_json::json!({"url": "oci://a.example.com/b", "interval": "1m"});
        let (spec, registries) =
            (serde_json::from_value(spec).expect("a spec"), Registries::default());
        let request = Request {
            owner: &Owner::new("OCIRepository", "default", "app").expect("an owner"),
            spec: &spec,
            pull_secrets: &[],
            certificates: None,
            proxy: None,
            registries: &registries,
        };
        let open = |seconds| {
            let idle = Duration::from_secs(seconds);
            let timeouts = Timeouts { idle, ..Timeouts::default() };
            let options = ClientOptions { timeouts, ..ClientOptions::default() };
            registries.get("a.example.com", &request, &options).expect("a registry");
            registries.0.lock().len()
        };
        assert_eq!([open(1), open(1), open(2)], [1, 1, 2]);
    }
}

//! From a request to a repository that can be asked.

use std::net::IpAddr;

use flumen_api::{LocalReference, OciRepositorySpec};
use flumen_oci::{
    Reference, Repository,
    client::{ClientCertificate, ClientOptions, Pem, Timeouts},
};

use super::{Error, Remote, Request, SecretData, credentials, proxy};

const SCHEME: &str = "oci://";
const REPOSITORY_CHARACTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789_-./";

pub(super) fn connect(request: Request<'_>) -> Result<Remote<'_>, Error> {
    let spec = request.spec;
    let url = &spec.url;
    let name = url.strip_prefix(SCHEME).unwrap_or(url);
    let credentials = credentials::find(request.pull_secrets, name)
        .map_err(|reason| Error::Credential { reason })?;
    let named = |reference: &Option<LocalReference>| {
        let name = reference.as_ref().map_or("", |reference| &reference.name);
        format!("secret '{}/{name}'", request.owner.namespace())
    };
    let proxy = request.proxy.map(proxy::parse).transpose().map_err(|problem| {
        let reason = format!("{}: {problem}", named(&spec.proxy_secret_ref));
        Error::Proxy { reason }
    })?;
    let transport = |reason: String| Error::Transport { url: url.clone(), reason };
    let (authorities, client_certificate) = match request.certificates {
        Some(secret) => certificates(secret)
            .map_err(|problem| transport(format!("{} {problem}", named(&spec.cert_secret_ref))))?,
        None => (None, None),
    };
    let reference = parse(url)?;
    let options = ClientOptions {
        credentials,
        // With a certificate that is to be trusted, others are not.
        insecure: spec.insecure && request.certificates.is_none(),
        plain_http: allows_plain_http(&reference.host, spec),
        authorities,
        client_certificate,
        proxy,
        timeouts: timeouts(spec),
        ..ClientOptions::default()
    };
    let registry = request
        .registries
        .get(&reference.host, &request, &options)
        .map_err(|error| transport(error.to_string()))?;
    let repository = registry.repository(&reference.repository);
    // By the name under which it is asked, which is the one that messages have.
    let reference = repository.reference();
    Ok(Remote { request, reference, repository: Repository::Remote(repository) })
}

/// A slow registry is waited for as long as the source says, and no longer.
fn timeouts(spec: &OciRepositorySpec) -> Timeouts {
    let time = spec.timeout();
    Timeouts { idle: time, total: time, ..Timeouts::default() }
}

/// Whether a registry may be spoken to without TLS: if the source says so, and where others can hardly
/// listen.
pub(super) fn allows_plain_http(host: &str, spec: &OciRepositorySpec) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let is_near = match name.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(IpAddr::V6(address)) => address.is_loopback(),
        Err(_) => {
            let last = name.rsplit_once('.').map(|(_, last)| last);
            name == "localhost" || last.is_some_and(|last| matches!(last, "local" | "localhost"))
        }
    };
    spec.insecure || is_near
}

/// Reads the address of a repository, with the objections that users of Flux know.
fn parse(url: &str) -> Result<Reference, Error> {
    let invalid = |reason: String| Error::Url { url: url.to_owned(), reason };
    let Some(name) = url.strip_prefix(SCHEME) else {
        return Err(invalid("URL must be in format 'oci://<domain>/<org>/<repo>'".to_owned()));
    };
    let path = name.split_once('/').map_or(name, |(_, path)| path);
    if !path.chars().all(|c| REPOSITORY_CHARACTERS.contains(c)) {
        return Err(invalid(format!(
            "repository can only contain the characters `{REPOSITORY_CHARACTERS}`: {path}"
        )));
    }
    Reference::from_name(name)
        .map_err(|_| invalid("URL must be in format 'oci://<domain>/<org>/<repo>'".to_owned()))
}

/// The authorities and the certificate of a Secret, under their names of today and of before; or what is
/// wrong with it.
fn certificates(
    secret: &SecretData,
) -> Result<(Option<Pem>, Option<ClientCertificate>), &'static str> {
    let find = |names: [&str; 2]| {
        names.iter().find_map(|name| secret.get(*name)).filter(|pem| !pem.is_empty()).cloned()
    };
    let authorities = find(["ca.crt", "caFile"]).map(Pem::Text);
    let pair = (find(["tls.crt", "certFile"]), find(["tls.key", "keyFile"]));
    let client = match pair {
        (Some(certificate), Some(key)) => {
            let (certificate, key) = (Pem::Text(certificate), Pem::Text(key));
            Some(ClientCertificate { certificate, key })
        }
        (None, None) => None,
        (Some(_), None) => return Err("contains 'tls.crt' but missing 'tls.key'"),
        (None, Some(_)) => return Err("contains 'tls.key' but missing 'tls.crt'"),
    };
    if authorities.is_none() && client.is_none() {
        return Err("must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'");
    }
    Ok((authorities, client))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_refused_in_the_words_of_flux() {
        let refused = |url: &str| parse(url).expect_err(url).to_string();
        assert_eq!(
            refused("oci://127.0.0.1:5000/org/app:v1"),
            "URL validation failed for 'oci://127.0.0.1:5000/org/app:v1': repository can only contain \
             the characters `abcdefghijklmnopqrstuvwxyz0123456789_-./`: org/app:v1"
        );
        assert_eq!(
            refused("https://example.com/app"),
            "URL validation failed for 'https://example.com/app': URL must be in format \
             'oci://<domain>/<org>/<repo>'"
        );
        assert!(parse("oci://registry.example.com/org/app").is_ok());
    }

    fn spec(field: &str, value: impl Into<serde_json::Value>) -> OciRepositorySpec {
        let mut spec = serde_json::json!({"url": "oci://a/b", "interval": "1m"});
        spec[field] = value.into();
        serde_json::from_value(spec).expect("a spec")
    }

    #[test]
    fn slow_registries_are_waited_for_as_the_source_says() {
        for (text, seconds) in [("5m", 300), ("2s", 2)] {
            let Timeouts { idle, total, .. } = timeouts(&spec("timeout", text));
            assert_eq!((idle.as_secs(), total.as_secs()), (seconds, seconds));
        }
    }

    #[test]
    fn near_registries_may_speak_plainly() {
        let spec = |insecure: bool| spec("insecure", insecure);
        for host in
            ["127.0.0.1:5000", "localhost", "localhost:1", "[::1]:5000", "10.0.0.1", "a.local:1"]
        {
            assert!(allows_plain_http(host, &spec(false)), "{host}");
        }
        for host in ["registry.example.com", "8.8.8.8:5000", "localhost.example.com"] {
            assert!(!allows_plain_http(host, &spec(false)), "{host}");
            assert!(allows_plain_http(host, &spec(true)), "{host}");
        }
    }
}

//! Docker Hub, which has several names, and shorter ones for some of its repositories.

use std::borrow::Cow;

/// As people write it, and what names of images mean that have no host.
pub const DOCKER_HUB: &str = "docker.io";
/// Where it is asked. Flux and crane ask there, and name it so in messages and signatures.
const SERVER: &str = "index.docker.io";
/// Docker itself asks there.
const OTHER_SERVER: &str = "registry-1.docker.io";
/// What `docker login` keeps credentials under.
const LOGIN: &str = "https://index.docker.io/v1/";
/// Where repositories are whose path has one name.
const NAMESPACE: &str = "library";

/// All names of a registry, as credentials may have it.
pub fn registry_names(host: &str) -> Vec<&str> {
    if is_hub(host) { vec![SERVER, DOCKER_HUB, OTHER_SERVER] } else { vec![host] }
}

/// Under which names to look for a registry in Docker's configuration.
pub(crate) fn logins(host: &str) -> Vec<&str> {
    let first = if is_hub(host) { Some(LOGIN) } else { None };
    first.into_iter().chain(registry_names(host)).collect()
}

/// The host that answers for a registry.
pub(crate) fn server(host: &str) -> &str {
    if host == DOCKER_HUB { SERVER } else { host }
}

/// The whole path of a repository.
pub(crate) fn whole_path<'p>(host: &str, path: &'p str) -> Cow<'p, str> {
    if is_hub(host) && !path.contains('/') {
        Cow::Owned(format!("{NAMESPACE}/{path}"))
    } else {
        Cow::Borrowed(path)
    }
}

fn is_hub(host: &str) -> bool {
    [DOCKER_HUB, SERVER, OTHER_SERVER].contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ClientOptions, Registry};

    #[test]
    fn the_hub_is_asked_where_it_answers() {
        let address = |host: &str, path: &str| {
            let registry = Registry::new(host, &ClientOptions::default()).expect("a registry");
            registry.repository(path).reference().to_string()
        };
        assert_eq!(address("docker.io", "org/app"), "oci://index.docker.io/org/app");
        assert_eq!(address("docker.io", "nginx"), "oci://index.docker.io/library/nginx");
        assert_eq!(address("index.docker.io", "nginx"), "oci://index.docker.io/library/nginx");
        for host in ["registry.example.com", "docker.io.example.com", "docker.io:5000"] {
            assert_eq!(address(host, "nginx"), format!("oci://{host}/nginx"));
        }
    }

    #[test]
    fn credentials_of_the_hub_have_several_names() {
        for host in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
            let names = logins(host);
            assert_eq!(names[0], "https://index.docker.io/v1/");
            assert!(names.contains(&"docker.io") && names.contains(&"index.docker.io"));
        }
        assert_eq!(logins("registry.example.com:5000"), ["registry.example.com:5000"]);
    }
}

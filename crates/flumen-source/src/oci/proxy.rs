//! The proxy that a Secret names.

use flumen_oci::client::Proxy;
use url::Url;

use super::SecretData;

const MAX_ADDRESS: usize = 2048;
const SCHEMES: [&str; 3] = ["http", "https", "socks5"];

pub(super) fn parse(secret: &SecretData) -> Result<Proxy, String> {
    let text =
        |key: &str| secret.get(key).map(|value| String::from_utf8_lossy(value).trim().to_owned());
    let address = text("address").ok_or("key 'address' not found in secret")?;
    if address.is_empty() {
        return Err("proxy address is empty".to_owned());
    }
    if address.len() > MAX_ADDRESS {
        return Err(format!("proxy URL exceeds maximum length of {MAX_ADDRESS} characters"));
    }
    // The address may hold a password, so no message repeats it.
    let url =
        Url::parse(&address).map_err(|error| format!("failed to parse proxy address: {error}"))?;
    if !SCHEMES.contains(&url.scheme()) {
        return Err(format!(
            "proxy URL must use one of the supported schemes (http, https, socks5), got '{}'",
            url.scheme()
        ));
    }
    let (user, password) = (text("username"), text("password"));
    let user = user.as_deref().map(|user| (user, password.as_deref().unwrap_or_default()));
    Ok(Proxy::new(&address, user))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_have_an_address_of_a_known_kind() {
        let secret = |address: &str| {
            SecretData::from([
                ("address".to_owned(), address.as_bytes().to_vec()),
                ("username".to_owned(), b"user".to_vec()),
                ("password".to_owned(), b"hush".to_vec()),
            ])
        };
        let proxy = parse(&secret("http://proxy.example.com:3128")).expect("a proxy");
        assert!(!format!("{proxy:?}").contains("hush"));
        for address in ["", "proxy", "ftp://proxy.example.com"] {
            parse(&secret(address)).expect_err(address);
        }
        parse(&SecretData::new()).expect_err("no address");
    }
}

//! Where another address may lead.

use reqwest::{
    Url,
    header::{HeaderMap, LOCATION},
};

/// Follows a `Location` that came from `from`. The error says what is wrong with it.
pub(super) fn target(from: &Url, headers: &HeaderMap) -> Result<Url, String> {
    let location = headers.get(LOCATION).ok_or("a redirect without a location")?;
    let location = location.to_str().map_err(|_| "a redirect to an invalid location")?;
    resolve(from, location)
}

/// Reads an address that the other side gave, relative to where it came from.
pub(super) fn resolve(from: &Url, location: &str) -> Result<Url, String> {
    let url =
        from.join(location).map_err(|e| format!("a redirect to an invalid location ({e})"))?;
    match (from.scheme(), url.scheme()) {
        (_, "https") | ("http", "http") => {}
        ("https", "http") => return Err("a redirect from HTTPS to plain HTTP".to_owned()),
        _ => return Err("a redirect to a scheme that is not HTTP".to_owned()),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a redirect with credentials in its location".to_owned());
    }
    Ok(url)
}

/// Whether both are the same scheme, host and port: what is secret stays within.
pub(super) fn is_same_origin(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme()
        && a.host() == b.host()
        && a.port_or_known_default() == b.port_or_known_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &str, location: &str, expected: Option<&str>) {
        let from = Url::parse(from).expect("a URL");
        let resolved = resolve(&from, location).ok();
        assert_eq!(resolved.as_ref().map(Url::as_str), expected, "{location}");
    }

    #[test]
    fn locations_are_relative_to_where_they_came_from() {
        check("https://a/v2/x", "/y?z=1", Some("https://a/y?z=1"));
        check("https://a/v2/x", "https://b/y", Some("https://b/y"));
        check("http://a:5000/x", "http://b/y", Some("http://b/y"));
        check("http://a/x", "https://a/x", Some("https://a/x"));
    }

    #[test]
    fn no_location_leads_to_less_security() {
        for location in
            ["http://a/y", "file:///etc/passwd", "ftp://a/", "https://u:p@a/", "http://[::1:%zz/"]
        {
            check("https://a/v2/x", location, None);
        }
    }

    #[test]
    fn the_port_is_part_of_the_origin() {
        let url = |text| Url::parse(text).expect("a URL");
        assert!(is_same_origin(&url("https://a/x"), &url("https://a:443/y")));
        assert!(!is_same_origin(&url("https://a/x"), &url("https://a:444/x")));
        assert!(!is_same_origin(&url("https://a:80/x"), &url("http://a:80/x")));
        assert!(!is_same_origin(&url("https://a/x"), &url("https://b/x")));
    }
}

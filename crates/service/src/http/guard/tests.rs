//! Which names and origins are let in, and which are not.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};

use super::Hosts;

/// The status for these headers; nothing if the request is let in.
fn check(uri: &str, headers: &[(&str, &str)]) -> Option<u16> {
    let hosts = Hosts::new(["127.0.0.1:8080".to_owned(), "localhost:8080".to_owned()]);
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    hosts.check(&uri.parse::<Uri>().unwrap(), &map).err().map(|problem| problem.status.as_u16())
}

#[test]
fn only_our_own_names_are_answered_to() {
    for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"] {
        assert_eq!(check("/healthz", &[("host", host)]), None, "{host}");
    }
    for host in
        ["evil.example", "localhost", "localhost:8081", "localhost:8080.evil.example", "", "127.0.0.1:8080@x"]
    {
        assert_eq!(check("/healthz", &[("host", host)]), Some(421), "{host}");
    }
    assert_eq!(check("/healthz", &[]), Some(421));
    assert_eq!(check("/healthz", &[("host", "localhost:8080"), ("host", "evil.example")]), Some(421));
    assert_eq!(check("http://evil.example/healthz", &[("host", "localhost:8080")]), Some(421));
    assert_eq!(check("http://localhost:8080/healthz", &[("host", "localhost:8080")]), None);
}

#[test]
fn only_our_own_pages_may_ask() {
    let from = |name: &str, value: &str| check("/", &[("host", "localhost:8080"), (name, value)]);
    for origin in ["http://localhost:8080", "http://127.0.0.1:8080"] {
        assert_eq!(from("origin", origin), None, "{origin}");
    }
    for origin in
        ["null", "http://evil.example", "http://localhost", "https://localhost:8081", "localhost:8080", ""]
    {
        assert_eq!(from("origin", origin), Some(403), "{origin}");
    }
    for site in ["cross-site", "same-site", "whatever"] {
        assert_eq!(from("sec-fetch-site", site), Some(403), "{site}");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(from("sec-fetch-site", site), None, "{site}");
    }
}

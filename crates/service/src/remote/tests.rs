//! Addresses and certificates, as they are written down.
#![expect(clippy::disallowed_methods, reason = "Effect: files, to have a file without a certificate")]

use std::path::Path;

use super::{Lost, Remote};

#[test]
fn an_address_is_a_host_with_or_without_port_and_path() {
    let parts = |url: &str| {
        let remote = Remote::new(url, None).unwrap();
        let (host, port) = remote.address.host_and_port();
        (remote.place(), host.to_owned(), port.to_owned(), remote.path())
    };
    for (url, place, host, port, path) in [
        ("http://127.0.0.1:7717", "http://127.0.0.1:7717", "127.0.0.1", "7717", ""),
        ("http://localhost/", "http://localhost", "localhost", "80", ""),
        ("https://audit.example", "https://audit.example", "audit.example", "443", ""),
        ("https://[::1]:9/", "https://[::1]:9", "[::1]", "9", ""),
        ("http://[::1]", "http://[::1]", "[::1]", "80", ""),
        ("http://otel:4318/tenant/a/", "http://otel:4318", "otel", "4318", "/tenant/a"),
    ] {
        let expected = (place.to_owned(), host.to_owned(), port.to_owned(), path.to_owned());
        assert_eq!(parts(url), expected, "{url}");
    }
}

#[test]
fn what_is_no_address_is_refused() {
    for url in [
        "",
        "localhost:1",
        "ftp://x",
        "https://",
        "http://a b",
        "https://user@host",
        "https://a?b",
        "https://-",
    ] {
        let refused = Remote::new(url, None);
        assert!(matches!(refused, Err(Lost::Unreachable(_))), "{url}: {refused:?}");
    }
}

#[test]
fn a_file_that_vouches_for_nobody_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    for path in [empty.as_path(), Path::new("/nowhere/ca.pem")] {
        let refused = Remote::new("https://localhost", Some(path));
        assert!(matches!(refused, Err(Lost::Untrusted(_))), "{refused:?}");
    }
}

//! A service that speaks TLS itself, as a client that checks its certificate sees it.

use crate::{
    server::Service,
    support::{Sandbox, run_in_shell, skip},
};

/// A sandbox with a fresh certificate for localhost and its key; nothing if the tools are not there.
fn certified(test: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if run_in_shell(sandbox.path(), "command -v openssl && command -v curl").lines().count() < 2 {
        skip(test, "openssl and curl are not installed");
        return None;
    }
    let made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem; \
        openssl genpkey -algorithm ed25519 -out other.pem";
    run_in_shell(sandbox.path(), made);
    Some(sandbox)
}

#[test]
fn a_service_with_a_certificate_speaks_tls_and_nothing_else() {
    let Some(sandbox) = certified("tls::a_service_with_a_certificate") else { return };
    let service = Service::start_in(sandbox, &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    let url = service.address.replace("127.0.0.1", "localhost");
    assert!(url.starts_with("https://localhost:"), "{url}");
    let token = service.token("auditor", "eve", &[]);
    let ask = |more: &str| {
        run_in_shell(service.sandbox.path(), &format!("curl -sS --max-time 10 {more}; echo \" $?\""))
    };
    assert_eq!(ask(&format!("--cacert cert.pem {url}/healthz")), "ok\n 0\n");
    let listed = ask(&format!("--cacert cert.pem -H 'Authorization: Bearer {token}' {url}/v1/sessions"));
    assert_eq!(listed, "{\"sessions\":[]} 0\n");
    let distrusted = ask(&format!("{url}/healthz"));
    assert!(distrusted.contains(" 60\n"), "{distrusted}");
    let plain = ask(&url.replace("https", "http"));
    assert!(!plain.contains(" 0\n"), "{plain}");
    let old = ask(&format!("--cacert cert.pem --tls-max 1.2 {url}/healthz"));
    assert!(old.contains(" 35\n"), "{old}");
    assert_eq!(service.stop(), Some(0));
}

#[test]
fn another_address_than_loopback_needs_a_certificate_that_fits() {
    let Some(sandbox) = certified("tls::another_address") else { return };
    let refused = |more: &[&str]| {
        let ran = sandbox.run(&[&["serve", "--listen", "0.0.0.0:0"], more].concat());
        assert_eq!(ran.exit, Some(2), "{}", ran.screen());
        ran.stderr().to_owned()
    };
    assert!(refused(&[]).contains("SERVICE_LISTEN"));
    assert!(refused(&["--tls-cert", "cert.pem", "--tls-key", "other.pem"]).contains("SERVICE_LISTEN"));
    assert!(refused(&["--tls-cert", "cert.pem", "--tls-key", "missing.pem"]).contains("missing.pem"));
    assert!(refused(&["--tls-cert", "cert.pem"]).contains("--tls-key"));
    let served = "timeout 3 countersign serve --listen 0.0.0.0:0 --tls-cert cert.pem --tls-key key.pem";
    let said = run_in_shell(sandbox.path(), served);
    assert!(said.contains("\"listening\":\"https://0.0.0.0:"), "{said}");
}

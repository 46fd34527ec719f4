//! A service that speaks TLS itself, as a client that checks its certificate sees it.

use crate::{
    http::key,
    server::Service,
    support::{Sandbox, run_in_shell, skip},
};

/// A sandbox with a certificate for localhost that `ca.pem` vouches for, and others that do not fit; nothing if the tools are
/// not there.
fn certified(test: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if run_in_shell(sandbox.path(), "command -v openssl && command -v curl").lines().count() < 2 {
        skip(test, "openssl and curl are not installed");
        return None;
    }
    let made = "exec 2>log; new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc'; \
        openssl req -x509 $new -days 2 -subj '/CN=the authority' -keyout ca.key -out ca.pem && \
        openssl req -x509 $new -days 2 -subj '/CN=another authority' -keyout other.key -out other-ca.pem && \
        openssl req $new -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out request.pem && \
        openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -days 2 -copy_extensions copy -out cert.pem && \
        own='openssl req -x509 -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost'; \
        $own $new -keyout one-step.key -out one-step.pem && \
        $own -newkey ed25519 -noenc -addext basicConstraints=critical,CA:FALSE -keyout own.key -out own.pem && \
        openssl genpkey -algorithm ed25519 -out other.pem";
    assert_eq!(run_in_shell(sandbox.path(), made), "");
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
    assert_eq!(ask(&format!("--cacert ca.pem {url}/healthz")), "ok\n 0\n");
    let listed = ask(&format!("--cacert ca.pem -H 'Authorization: Bearer {token}' {url}/v1/sessions"));
    assert_eq!(listed, "{\"sessions\":[]} 0\n");
    let distrusted = ask(&format!("{url}/healthz"));
    assert!(distrusted.contains(" 60\n"), "{distrusted}");
    let plain = ask(&url.replace("https", "http"));
    assert!(!plain.contains(" 0\n"), "{plain}");
    let old = ask(&format!("--cacert ca.pem --tls-max 1.2 {url}/healthz"));
    assert!(old.contains(" 35\n"), "{old}");
    assert_eq!(service.stop(), Some(0));
}

/// The commands as somebody far away runs them: ask, sign, begin, and be refused by nobody but a wrong service.
#[test]
fn the_commands_speak_tls_with_the_service_that_they_trust_and_no_other() {
    let Some(sandbox) = certified("tls::the_commands_speak_tls") else { return };
    let service = Service::start_in(sandbox, &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    let url = service.address.replace("127.0.0.1", "localhost");
    for (role, name) in [("admin", "root"), ("agent", "codex-1"), ("approver", "ann")] {
        service.sandbox.write(&format!("{name}.token"), service.token(role, name, &[]));
    }
    service.sandbox.write("ann.key", format!("{}\n", key("ann").to_secret_text())).write("deploy.json", "{}");
    let ask = |token: &str, arguments: &[&str]| {
        let there = ["--url", &url, "--tls-ca", "ca.pem", "--token-file", token];
        let ran = service.sandbox.run(&[arguments, &there].concat());
        (ran.exit, ran.stdout().to_owned(), ran.screen())
    };
    let word = |text: &str, prefix: &str| {
        let found = text.split_whitespace().find(|word| word.starts_with(prefix));
        found.unwrap_or_else(|| panic!("no {prefix} in {text}")).to_owned()
    };
    let added = ask("root.token", &["keys", "add", &key("ann").public().to_string()]);
    assert_eq!(added.0, Some(0), "{}", added.2);
    let start = ["session", "start", "--role", "copilot", "--mode", "writes_allowed"];
    let session = word(&ask("root.token", &start).1, "ses_");
    let decide =
        ["decide", "--session", &session, "--kind", "deploy", "--payload", "deploy.json", "--proceed"];
    let asked = ask("root.token", &decide);
    assert_eq!(asked.0, Some(4), "{}", asked.2);
    let approval = word(&asked.1, "apr_");
    let granted = ask("ann.token", &["approve", &approval, "--key", "ann.key"]);
    assert!(granted.1.contains("granted until"), "{}", granted.2);
    let begun = ask("root.token", &[&decide[..], &["--approval", &approval]].concat());
    assert_eq!(begun.0, Some(0), "{}", begun.2);
    assert_eq!(ask("root.token", &["outcome", &word(&begun.1, "per_"), "succeeded"]).0, Some(0));
    let followed = ask("ann.token", &["events", "tail"]);
    assert!(followed.1.contains("EXECUTION_FINISHED"), "lines come over TLS too: {}", followed.2);
    let forbidden = ask("codex-1.token", &["keys", "list"]);
    assert!(forbidden.2.contains("URM_FORBIDDEN"), "{}", forbidden.2);

    let refused = |url: &str, ca: &[&str]| {
        let list = ["session", "list", "--token-file", "root.token", "--url", url];
        let ran = service.sandbox.run(&[&list[..], ca].concat());
        assert_eq!((ran.exit, ran.stdout()), (Some(2), ""), "{}", ran.screen());
        ran.stderr().to_owned()
    };
    let wrong_authority = refused(&url, &["--tls-ca", "other-ca.pem"]);
    assert_eq!(
        wrong_authority.replace(&url, "URL"),
        "error[SERVICE_UNTRUSTED]: URL is not trusted: nobody who is trusted here vouches for its certificate\n  \
         hint: ask for the service by the name in its certificate; name the certificate that vouches for it with --tls-ca\n"
    );
    assert_eq!(refused(&url, &[]), wrong_authority, "this machine does not know the authority either");
    let other_name = refused(&url.replace("localhost", "127.0.0.1"), &["--tls-ca", "ca.pem"]);
    assert!(other_name.contains("is not trusted: its certificate is for another name"), "{other_name}");
    let no_file = refused(&url, &["--tls-ca", "deploy.json"]);
    assert!(no_file.contains("`deploy.json`: it holds no certificate"), "{no_file}");
    let plain = refused(&url.replace("https", "http"), &[]);
    assert!(plain.contains("SERVICE_UNREACHABLE"), "{plain}");
    let variable =
        format!("COUNTERSIGN_TLS_CA=ca.pem countersign session list --url {url} --token-file root.token");
    assert!(
        run_in_shell(service.sandbox.path(), &variable).starts_with(&session),
        "the variable says the same"
    );
    assert_eq!(service.stop(), Some(0));
}

/// A certificate that vouches for itself, made in one step, with and without care.
#[test]
fn a_certificate_may_vouch_for_itself_if_it_is_one_for_a_service() {
    let Some(sandbox) = certified("tls::a_certificate_may_vouch_for_itself") else { return };
    let list = |service: &Service, ca: &str| {
        let url = service.address.replace("127.0.0.1", "localhost");
        service.sandbox.run(&["session", "list", "--token-file", "token", "--url", &url, "--tls-ca", ca])
    };
    let mut service = Service::start_in(sandbox, &["--tls-cert", "own.pem", "--tls-key", "own.key"]);
    service.sandbox.write("token", service.token("auditor", "eve", &[]));
    let trusted = list(&service, "own.pem");
    assert_eq!(trusted.exit, Some(0), "{}", trusted.screen());
    let other = list(&service, "one-step.pem");
    assert!(other.stderr().contains("SERVICE_UNTRUSTED"), "{}", other.screen());
    service.crash_and_restart(&["--tls-cert", "one-step.pem", "--tls-key", "one-step.key"]);
    let refused = list(&service, "one-step.pem");
    assert_eq!(refused.exit, Some(2));
    assert!(refused.stderr().contains("make one with `basicConstraints=CA:FALSE`"), "{}", refused.screen());
}

#[test]
fn a_server_that_speaks_only_an_older_tls_is_not_spoken_to() {
    let Some(sandbox) = certified("tls::a_server_that_speaks_only_an_older_tls") else { return };
    // The server says which port it took.
    let script = "openssl s_server -accept 0 -cert cert.pem -key key.pem -tls1_2 -www >at 2>&1 & \
        until P=$(sed -n 's/^ACCEPT .*:\\([0-9]*\\)$/\\1/p' at) && [ -n \"$P\" ]; do sleep 0.05; done; \
        curl -s -o /dev/null --cacert ca.pem https://localhost:$P/; echo \"curl $?\"; \
        countersign session list --url https://localhost:$P --tls-ca ca.pem; echo \"countersign $?\"; kill %1; wait";
    let said = run_in_shell(sandbox.path(), script);
    assert!(said.starts_with("curl 0\n"), "the server is there: {said}");
    assert!(said.contains("countersign 2\n") && said.contains("error[SERVICE_UNREACHABLE]"), "{said}");
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
    let served = "(countersign serve --listen 0.0.0.0:0 --tls-cert cert.pem --tls-key key.pem & echo $! >id) | head -1; \
        kill $(cat id)";
    let said = run_in_shell(sandbox.path(), served);
    assert!(said.contains("\"listening\":\"https://0.0.0.0:"), "{said}");
}

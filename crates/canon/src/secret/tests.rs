//! What is taken out, and what is not.

use super::*;

fn check(document: &str, shown: &str) {
    let found = redact_secrets(&Json::parse(document.as_bytes()).unwrap()).to_canonical();
    assert_eq!(found, shown, "{document}");
}

#[test]
fn what_stands_under_the_name_of_a_secret_is_taken_out() {
    for name in
        ["password", "DB_PASSWORD", "client-secret", "accessToken", "api_key", "Authorization", "cookie"]
    {
        check(&format!(r#"{{"{name}":"x"}}"#), &format!(r#"{{"{name}":"[redacted]"}}"#));
    }
    check(r#"{"credentials":{"user":"ann","parts":["a","b"]}}"#, {
        r#"{"credentials":{"parts":["[redacted]","[redacted]"],"user":"[redacted]"}}"#
    });
    for document in [
        r#"{"max_tokens":100,"password":null,"secret":true}"#,
        r#"{"path":"src/token.rs"}"#,
        r#"{"secret_name":"db"}"#,
        r#"{"tokenizer":"bpe"}"#,
    ] {
        check(document, document);
    }
}

#[test]
fn what_looks_like_a_secret_is_taken_out_of_texts() {
    for (text, shown) in [
        (
            "curl -H 'Authorization: Bearer abc.def' https://x",
            "curl -H 'Authorization: Bearer [redacted]' https://x",
        ),
        ("export AWS_SECRET_ACCESS_KEY=abc; ls", "export AWS_SECRET_ACCESS_KEY=[redacted]; ls"),
        ("mysql --password hunter2 shop", "mysql --password [redacted] shop"),
        ("mysql --password=hunter2 shop", "mysql --password=[redacted] shop"),
        (
            "git clone https://ann:hunter2@example.org/r.git",
            "git clone https://ann:[redacted]@example.org/r.git",
        ),
        ("https://example.org/?token=abc&page=2", "https://example.org/?token=[redacted]&page=2"),
        ("set ghp_0123456789abcdef0123 here", "set [redacted] here"),
        ("key AKIAIOSFODNN7EXAMPLE", "key [redacted]"),
        ("password = hunter2", "password = [redacted]"),
        ("{'password': 'hunter2', 'user': 'ann'}", "{'password': '[redacted]', 'user': 'ann'}"),
        (
            "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY-----\nb",
            "a\n[redacted]\nb",
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE", "[redacted]"),
        // What only sounds like one.
        ("the token was lost", "the token was lost"),
        ("sk-learn and npm_config", "sk-learn and npm_config"),
        ("cargo test --workspace  --locked", "cargo test --workspace  --locked"),
        ("https://example.org/a@b:c", "https://example.org/a@b:c"),
        ("", ""),
    ] {
        let document = Json::object([("text", Json::from(text.to_owned()))]);
        let wanted = Json::object([("text", Json::from(shown.to_owned()))]);
        assert_eq!(redact_secrets(&document).to_canonical(), wanted.to_canonical());
    }
}

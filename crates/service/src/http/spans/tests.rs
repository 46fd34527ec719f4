//! What OpenTelemetry's variables ask for.

use super::TraceExport;

fn asked(variables: &[(&str, &str)]) -> Option<TraceExport> {
    TraceExport::from_variables(&|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

fn named(endpoint: &str, name: &str) -> TraceExport {
    let attributes = vec![("service.name".to_owned(), name.to_owned())];
    TraceExport { endpoint: endpoint.to_owned(), attributes, ..TraceExport::default() }
}

#[test]
fn nothing_is_sent_unless_a_collector_is_named() {
    const ALL: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://otel:4318/");
    assert_eq!(asked(&[]), None);
    assert_eq!(asked(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), None);
    assert_eq!(asked(&[ALL, ("OTEL_SDK_DISABLED", "true")]), None);
    assert_eq!(asked(&[ALL, ("OTEL_TRACES_EXPORTER", "none")]), None);
    assert_eq!(asked(&[ALL]), Some(named("http://otel:4318/v1/traces", "countersign")));
}

#[test]
fn what_is_said_about_traces_counts_more_than_what_is_said_about_everything() {
    let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://otel:4318");
    let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example/in");
    assert_eq!(asked(&[all, traces]), Some(named("https://traces.example/in", "countersign")));
    let headers = [
        all,
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=1"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=Bearer%20x, b = 2 ,nothing,=3"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem"),
    ];
    let found = asked(&headers).unwrap();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(found.headers, [pair("authorization", "Bearer x"), pair("b", "2")]);
    assert_eq!(found.roots.as_deref(), Some(std::path::Path::new("ca.pem")));
    assert!(!format!("{found:?}").contains("Bearer"), "headers are not shown");
}

#[test]
fn a_service_has_one_name_and_its_attributes() {
    let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://otel:4318");
    let of_all = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,deployment.environment=test");
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let environment = pair("deployment.environment", "test");
    let attributes = |variables: &[(&str, &str)]| asked(variables).unwrap().attributes;
    assert_eq!(attributes(&[all, of_all]), [pair("service.name", "shop"), environment.clone()]);
    let own = ("OTEL_SERVICE_NAME", "audit");
    assert_eq!(attributes(&[all, of_all, own]), [pair("service.name", "audit"), environment]);
}

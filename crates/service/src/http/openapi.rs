//! The OpenAPI document, made from the endpoints that the router is made from.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use countersign_canon::{Definitions, Json, Member, Value, Wire, schema_document};

use super::{
    meters,
    problem::{ProblemBody, STATUSES},
    stream::{EVENT_STREAM, EVENTS, EXPORT, EventQuery},
};
use crate::api::{Endpoint, Method, Route, Visitor, each_endpoint};

/// The whole interface as an OpenAPI 3.1 document.
#[must_use]
pub fn openapi() -> Json<'static> {
    let mut book = Book::default();
    each_endpoint(&mut book);
    book.streamed::<EventQuery>(&EVENTS, "application/x-ndjson");
    book.streamed::<EventQuery>(&EVENT_STREAM, "text/event-stream");
    book.streamed::<Nothing>(&EXPORT, "application/x-ndjson");
    book.streamed::<Nothing>(&meters::ROUTE, "text/plain");
    book.open("/healthz", "text/plain", "Say that the service runs", &[]);
    let unready = [(StatusCode::SERVICE_UNAVAILABLE, "Decisions cannot be made now")];
    book.open("/readyz", "application/json", "Say whether decisions can be made", &unready);
    book.open("/openapi.json", "application/json", "Show this document", &[]);
    book.finish()
}

/// No parameters.
type Nothing = crate::api::GetCheckpoint;

#[derive(Default)]
struct Book {
    definitions: Definitions,
    // Requests are described where they are asked, not among the documents.
    requests: BTreeSet<String>,
    paths: BTreeMap<&'static str, Vec<(String, Json<'static>)>>,
}

/// What a request document declares: each field with its schema, and whether it must be there.
struct Declared {
    fields: Vec<(String, Json<'static>, bool)>,
    description: Json<'static>,
    // What never holds of its fields together.
    never: Option<Json<'static>>,
}

impl Declared {
    fn of<T: Wire>(requests: &mut BTreeSet<String>) -> Self {
        let document = schema_document::<T>("", "");
        let name = document.get("$ref").and_then(Json::as_str).unwrap_or_default();
        let name = name.trim_start_matches("#/$defs/");
        requests.insert(name.to_owned());
        let declared = document.get("$defs").and_then(|all| all.get(name));
        let required = declared.and_then(|it| it.get("required")?.as_array()).unwrap_or_default();
        let is_required = |key: &str| required.iter().any(|name| name.as_str() == Some(key));
        let members = declared.and_then(|it| it.get("properties")?.as_object());
        let members = members.map_or(&[][..], |object| object.members());
        let field = |member: &Member<'static>| {
            (member.key.to_string(), member.value.clone(), is_required(&member.key))
        };
        let description = declared.and_then(|it| it.get("description")).cloned();
        Self {
            fields: members.iter().map(field).collect(),
            description: description.unwrap_or_else(|| Json::from("")),
            never: declared.and_then(|it| it.get("not")).cloned(),
        }
    }

    /// The fields that stand in the body, as a closed object.
    fn body(&self, route: &Route) -> (Json<'static>, bool) {
        let in_path: BTreeSet<&str> = route.path_fields().collect();
        let fields = || self.fields.iter().filter(|(key, _, _)| !in_path.contains(key.as_str()));
        let required: Vec<Json<'static>> = fields()
            .filter(|(_, _, is_required)| *is_required)
            .map(|(key, _, _)| Json::from(key.clone()))
            .collect();
        let is_required = !required.is_empty();
        let never = self.never.clone().map(|never| ("not", never));
        let members = [
            ("type", Json::from("object")),
            ("description", self.description.clone()),
            ("additionalProperties", Json::from(false)),
            ("required", Json::from(required)),
            ("properties", Json::object(fields().map(|(key, schema, _)| (key.clone(), schema.clone())))),
        ];
        (Json::object(members.into_iter().chain(never)), is_required)
    }

    /// The fields that stand in the path, and in the query if there is no body.
    fn parameters(&self, route: &Route) -> Json<'static> {
        let in_path: BTreeSet<&str> = route.path_fields().collect();
        let parameters = self.fields.iter().filter_map(|(key, schema, is_required)| {
            let is_in_path = in_path.contains(key.as_str());
            let place = if is_in_path { "path" } else { "query" };
            (is_in_path || route.method == Method::Get).then(|| {
                Json::object([
                    ("name", Json::from(key.clone())),
                    ("in", Json::from(place)),
                    ("required", Json::from(is_in_path || *is_required)),
                    ("schema", schema.clone()),
                ])
            })
        });
        Json::array(parameters)
    }
}

impl Visitor for Book {
    fn visit<E: Endpoint>(&mut self) {
        let route = E::ROUTE;
        // What the request refers to is defined on the way.
        let _reference = E::schema(&mut self.definitions);
        let declared = Declared::of::<E>(&mut self.requests);
        let reply = E::Reply::schema(&mut self.definitions);
        let good = answer("The answer", Some(("application/json", reply)));
        let mut operation = self.operation(&route, &declared, good);
        if route.method == Method::Post {
            let (schema, is_required) = declared.body(&route);
            let body = Json::object([
                ("required", Json::from(is_required)),
                ("content", content("application/json", schema)),
            ]);
            operation.push(("requestBody", body));
        }
        self.put(&route, Json::object(operation));
    }
}

impl Book {
    fn put(&mut self, route: &Route, operation: Json<'static>) {
        let method = route.method.as_str().to_ascii_lowercase();
        self.paths.entry(route.path).or_default().push((method, operation));
    }

    fn operation(
        &mut self,
        route: &Route,
        declared: &Declared,
        good: Json<'static>,
    ) -> Vec<(&'static str, Json<'static>)> {
        let id = format!("{} {}", route.method.as_str().to_ascii_lowercase(), route.path);
        let id: String = id.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
        let words: Vec<&str> = route.access.iter().map(|access| access.as_str()).collect();
        let problem = ProblemBody::schema(&mut self.definitions);
        let problems = STATUSES.map(|(status, words)| {
            (status.as_str().to_owned(), answer(words, Some(("application/json", problem.clone()))))
        });
        let responses = [(route.status.to_string(), good)].into_iter().chain(problems);
        vec![
            ("operationId", Json::from(id)),
            ("summary", Json::from(route.summary)),
            ("description", Json::from(format!("Who may ask: {}.", words.join(", ")))),
            ("security", Json::array([Json::object([("token", Json::from(Vec::new()))])])),
            ("parameters", declared.parameters(route)),
            ("responses", Json::object(responses)),
        ]
    }

    /// A route whose answer goes on.
    fn streamed<Q: Wire>(&mut self, route: &Route, kind: &'static str) {
        let _reference = Q::schema(&mut self.definitions);
        let declared = Declared::of::<Q>(&mut self.requests);
        // A server-sent event is no text to a reader of such streams, and has no schema that all of them agree on.
        let is_text = (kind != "text/event-stream").then(|| ("type", Json::from("string")));
        let text = Json::object(is_text);
        let operation = self.operation(route, &declared, answer("The answer", Some((kind, text))));
        self.put(route, Json::object(operation));
    }

    /// A route that anybody may ask.
    fn open(
        &mut self,
        path: &'static str,
        kind: &'static str,
        summary: &'static str,
        others: &[(StatusCode, &'static str)],
    ) {
        let any = || Json::object::<&str>([]);
        let good = (StatusCode::OK.as_str().to_owned(), answer("The answer", Some((kind, any()))));
        let others = others.iter();
        let others =
            others.map(|(status, words)| (status.as_str().to_owned(), answer(words, Some((kind, any())))));
        let problem = ProblemBody::schema(&mut self.definitions);
        let misdirected =
            [StatusCode::MISDIRECTED_REQUEST, StatusCode::FORBIDDEN, StatusCode::METHOD_NOT_ALLOWED];
        let problems = STATUSES.iter().filter(|(status, _)| misdirected.contains(status));
        let problems = problems.map(|(status, words)| {
            (status.as_str().to_owned(), answer(words, Some(("application/json", problem.clone()))))
        });
        let id: String = path.chars().filter(char::is_ascii_alphanumeric).collect();
        let operation = Json::object([
            ("operationId", Json::from(id)),
            ("summary", Json::from(summary)),
            ("security", Json::from(Vec::new())),
            ("responses", Json::object([good].into_iter().chain(others).chain(problems))),
        ]);
        self.paths.entry(path).or_default().push(("get".to_owned(), operation));
    }

    fn finish(self) -> Json<'static> {
        let schemas = self.definitions.into_json();
        let members = schemas.as_object().map_or(&[][..], |object| object.members());
        let documents = members.iter().filter(|member| !self.requests.contains(member.key.as_ref()));
        let documents = documents.map(|member| (member.key.clone(), member.value.clone()));
        let scheme = Json::object([("type", Json::from("http")), ("scheme", Json::from("bearer"))]);
        let info = Json::object([
            ("title", Json::from("Countersign")),
            ("version", Json::from(env!("CARGO_PKG_VERSION"))),
            (
                "description",
                Json::from("Decides what agents may do before they do it, and proves it afterwards."),
            ),
        ]);
        let components = Json::object([
            ("securitySchemes", Json::object([("token", scheme)])),
            ("schemas", Json::object(documents)),
        ]);
        let paths = self.paths.into_iter().map(|(path, operations)| (path, Json::object(operations)));
        relocated(Json::object([
            ("openapi", Json::from("3.1.0")),
            ("info", info),
            ("paths", Json::object(paths)),
            ("components", components),
        ]))
    }
}

fn content(kind: &'static str, schema: Json<'static>) -> Json<'static> {
    Json::object([(kind, Json::object([("schema", schema)]))])
}

fn answer(description: &str, body: Option<(&'static str, Json<'static>)>) -> Json<'static> {
    let description = ("description", Json::from(description.to_owned()));
    let body = body.map(|(kind, schema)| ("content", content(kind, schema)));
    Json::object([description].into_iter().chain(body))
}

/// The same document with its references where OpenAPI keeps definitions.
fn relocated(json: Json<'static>) -> Json<'static> {
    match json.value {
        Value::String(text) => match text.strip_prefix("#/$defs/") {
            Some(name) => Json::from(format!("#/components/schemas/{name}")),
            None => Json::from(Value::String(text)),
        },
        Value::Array(items) => Json::array(items.into_iter().map(relocated)),
        Value::Object(object) => {
            let members = object.members().iter();
            Json::object(members.map(|member| (member.key.clone(), relocated(member.value.clone()))))
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => Json::from(other),
    }
}

//! Effect: network. A model on 127.0.0.1 that says what the prompt tells it to, in the words of Anthropic and of OpenAI.
//!
//! A prompt carries `STEPS:[...]`: each step is a call of a tool, `{"tool", "input"}`, or a last word, `{"say"}`. A step with
//! `"first": NAME` is given only after the test has done what it calls by that name.
#![expect(clippy::disallowed_methods, reason = "Effect: network")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};

/// What a test does between two steps.
type Between = Arc<dyn Fn(&str) + Send + Sync>;

/// A model that is listening.
pub(crate) struct Model {
    pub(crate) address: String,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    pub(crate) fn start(between: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (between, kept): (Between, _) = (Arc::new(between), Arc::clone(&heard));
        let answers = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (between, kept, answers) =
                    (Arc::clone(&between), Arc::clone(&kept), Arc::clone(&answers));
                std::thread::spawn(move || serve(&stream.unwrap(), &between, &kept, &answers));
            }
        });
        Self { address, heard }
    }

    /// What the client told the model, request by request, as one text.
    pub(crate) fn heard(&self) -> String {
        self.heard.lock().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
    }
}

fn serve(stream: &TcpStream, between: &Between, kept: &Mutex<Vec<Value>>, answers: &AtomicUsize) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() || line.is_empty() {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap().to_owned();
    let is_post = line.starts_with("POST");
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let number = answers.fetch_add(1, Ordering::SeqCst);
    let (kind, text) = match (is_post, path.as_str()) {
        (true, path) if path.ends_with("/v1/messages") => {
            kept.lock().unwrap().push(body.clone());
            let step = step(&anthropic_texts(&body), between);
            if body["stream"] == true {
                ("text/event-stream", anthropic_stream(&step, number))
            } else {
                (
                    "application/json",
                    anthropic_message(&anthropic_block(&step, number), &step, number).to_string(),
                )
            }
        }
        (true, path) if path.ends_with("/responses") => {
            kept.lock().unwrap().push(body.clone());
            ("text/event-stream", openai_stream(&step(&openai_texts(&body), between), number))
        }
        (true, path) if path.ends_with("/count_tokens") => {
            ("application/json", json!({"input_tokens": 10}).to_string())
        }
        _ => ("application/json", json!({"object": "list", "data": [], "models": []}).to_string()),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let mut stream = stream;
    // The client may be gone; then nobody misses the answer.
    let _gone = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes()));
}

/// The step that is due: as many as there are results after the prompt have been taken.
fn step(texts: &[Option<String>], between: &Between) -> Value {
    let (mut steps, mut taken) = (Vec::new(), 0);
    for text in texts {
        match text {
            None => taken += 1,
            Some(text) => {
                let found = text.split_once("STEPS:").map(|(_, rest)| rest);
                let found = found.and_then(|rest| {
                    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Vec<Value>>();
                    values.next()?.ok()
                });
                if let Some(found) = found {
                    (steps, taken) = (found, 0);
                }
            }
        }
    }
    let step = steps.get(taken).cloned().unwrap_or_else(|| json!({"say": "done"}));
    if let Some(name) = step["first"].as_str() {
        between(name);
    }
    step
}

/// Texts of the user in order, and nothing for each result of a tool.
fn anthropic_texts(body: &Value) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    for message in body["messages"].as_array().unwrap_or(&Vec::new()) {
        if message["role"] != "user" {
            continue;
        }
        texts.extend(message["content"].as_str().map(|text| Some(text.to_owned())));
        for part in message["content"].as_array().unwrap_or(&Vec::new()) {
            match part["type"].as_str() {
                Some("text") => texts.push(part["text"].as_str().map(str::to_owned)),
                Some("tool_result") => texts.push(None),
                Some(_) | None => (),
            }
        }
    }
    texts
}

fn anthropic_block(step: &Value, number: usize) -> Value {
    match step["say"].as_str() {
        Some(text) => json!({"type": "text", "text": text}),
        None => {
            json!({"type": "tool_use", "id": format!("toolu_{number:04}"), "name": step["tool"], "input": step["input"]})
        }
    }
}

fn anthropic_message(block: &Value, step: &Value, number: usize) -> Value {
    let stop = if step["say"].is_string() { "end_turn" } else { "tool_use" };
    json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "mock", "content": [block],
        "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 5}})
}

fn anthropic_stream(step: &Value, number: usize) -> String {
    let block = anthropic_block(step, number);
    let stop = if step["say"].is_string() { "end_turn" } else { "tool_use" };
    let (opening, delta) = match block["text"].as_str() {
        Some(text) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
        None => {
            let mut opening = block.clone();
            opening["input"] = json!({});
            (opening, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        }
    };
    let message = json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "mock", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 5}});
    events(&[
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": opening}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ])
}

fn openai_texts(body: &Value) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    for item in body["input"].as_array().unwrap_or(&Vec::new()) {
        match item["type"].as_str().unwrap_or("message") {
            "message" if item["role"] == "user" => {
                let parts = item["content"].as_array().cloned().unwrap_or_default();
                texts.push(Some(parts.iter().filter_map(|part| part["text"].as_str()).collect()));
            }
            kind if kind.ends_with("_call_output") => texts.push(None),
            _ => (),
        }
    }
    texts
}

fn openai_stream(step: &Value, number: usize) -> String {
    let id = format!("resp_{number}");
    let item = match step["say"].as_str() {
        Some(text) => json!({"type": "message", "role": "assistant", "id": format!("msg_{number}"),
            "content": [{"type": "output_text", "text": text}]}),
        None => {
            let mut call = json!({"type": "function_call", "call_id": format!("call_{number}"), "name": step["tool"],
                "arguments": step["input"].to_string()});
            if step["namespace"].is_string() {
                call["namespace"] = step["namespace"].clone();
            }
            call
        }
    };
    let usage = json!({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15});
    events(&[
        json!({"type": "response.created", "response": {"id": id}}),
        json!({"type": "response.output_item.done", "item": item}),
        json!({"type": "response.completed", "response": {"id": id, "usage": usage}}),
    ])
}

fn events(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

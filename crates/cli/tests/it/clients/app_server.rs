//! `countersign codex app-server` between a client that the test plays and the real app-server, frozen and current.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::channel,
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    desk::{CODEX, CODEX_0_99, Desk, FILESYSTEM_SERVER, PROGRAM, Talk, client, codex_versions},
    model::Model,
};

fn exec(command: &str) -> Value {
    json!({"tool": "exec_command", "input": {"cmd": command}})
}

/// A client of a governed app-server.
struct Client {
    talk: Talk,
    asked: u64,
}

impl Client {
    /// Starts a governed app-server in a workspace that was set up, and says hello.
    fn start(desk: &Desk, codex: &Path, more: &[&str], capabilities: Value) -> Self {
        let arguments = [&["codex", "app-server", "--bin", codex.to_str().unwrap()], more].concat();
        let mut client = Self { talk: desk.talk(&arguments), asked: 100 };
        let info = json!({"name": "test", "title": "test", "version": "1"});
        let hello = client.ask("initialize", json!({"clientInfo": info, "capabilities": capabilities}));
        assert!(hello["result"]["userAgent"].is_string(), "{hello}");
        client.talk.say(&json!({"method": "initialized"}).to_string());
        client
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let heard = self.talk.hear();
            if heard["method"].is_null() && heard["id"] == id {
                return heard;
            }
        }
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        self.talk.say(&json!({"method": method, "id": self.asked, "params": params}).to_string());
        self.asked
    }

    /// The code with which a request is denied.
    fn denied(&mut self, method: &str, params: Value) -> String {
        let answer = self.ask(method, params);
        let code = answer["error"]["data"]["decision_code"].as_str();
        code.unwrap_or_else(|| panic!("{method} was not denied: {answer}")).to_owned()
    }

    fn thread(&mut self, desk: &Desk) -> String {
        let started = self.ask(
            "thread/start",
            json!({"cwd": desk.path("work"), "approvalPolicy": "never", "sandbox": "danger-full-access"}),
        );
        assert_eq!(started["result"]["approvalPolicy"], "untrusted", "{started}");
        started["result"]["thread"]["id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
    }

    /// Starts a turn and gives everything that is told until it has ended.
    fn turn(&mut self, thread: &str, steps: &Value) -> Vec<Value> {
        let id = self.send("turn/start", turn(thread, steps));
        self.until("turn/completed", id)
    }

    /// Everything that is told until this is; the request before must not be refused.
    fn until(&mut self, method: &str, request: u64) -> Vec<Value> {
        let mut told = Vec::new();
        loop {
            let heard = self.talk.hear();
            assert!(heard["id"] != request || heard["error"].is_null(), "{heard}");
            let is_last = heard["method"] == method;
            told.push(heard);
            if is_last {
                return told;
            }
        }
    }
}

fn turn(thread: &str, steps: &Value) -> Value {
    let text = json!({"type": "text", "text": format!("STEPS:{steps}"), "text_elements": []});
    json!({"threadId": thread, "input": [text], "approvalPolicy": "never", "sandboxPolicy": {"type": "dangerFullAccess"}})
}

/// A program before Codex that edits what goes into the app-server and what comes out of it.
fn shim(desk: &Desk, codex: &Path, going_in: &str, coming_out: &str) -> PathBuf {
    let codex = codex.display();
    let text = format!(
        "#!/bin/bash\nif [ \"$1\" = app-server ] && [ $# = 1 ]; then\n  sed -u '{going_in}' | {codex} app-server | sed -u '{coming_out}'\n\
         else\n  exec {codex} \"$@\"\nfi\n"
    );
    desk.write_program("home/codex-shim", &text);
    desk.path("home/codex-shim")
}

/// The same, with one method hidden: to whoever asks it is one that nobody has.
fn hiding(desk: &Desk, codex: &Path, method: &str) -> PathBuf {
    let going_in = format!("s#\"{method}\"#\"hidden/method\"#");
    shim(desk, codex, &going_in, &format!("s#{method}#other/method#g; s#hidden/method#{method}#g"))
}

fn events(desk: &Desk) -> Vec<Value> {
    let events = desk.countersign(&["events", "tail"]);
    events.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn denied_does_not_run_allowed_does_and_approved_runs_once() {
    for codex in codex_versions("denied_does_not_run_allowed_does_and_approved_runs_once") {
        let desk = Desk::new();
        let person = desk.clone();
        let model = Model::start(move |_| person.approve_all());
        desk.configure_codex(&model, "");
        desk.countersign(&["init"]);
        desk.enrol();
        let mut client = Client::start(&desk, &codex, &[], json!({}));
        let thread = client.thread(&desk);
        // A file that other programs run by themselves: a person must approve.
        let guarded = exec("echo run >> .envrc");
        let mut granted = guarded.clone();
        granted["first"] = json!("grant");
        let steps = json!([exec("touch allowed"), exec("eval \"touch denied\""), guarded, granted, guarded]);
        let told = client.turn(&thread, &steps);
        assert!(desk.has("work/allowed"), "{told:?}");
        assert!(!desk.has("work/denied"));
        assert_eq!(desk.read("work/.envrc").as_deref(), Some("run\n"));
        assert!(!told.iter().any(|line| line["method"].as_str().unwrap_or_default().ends_with("Approval")));
        let codes: Vec<String> = events(&desk)
            .iter()
            .filter(|event| event["stream_id"].as_str().unwrap().starts_with("copilot:"))
            .filter(|event| event["detail"]["action_kind"] != "fs.read")
            .filter_map(|event| {
                event["detail"]["decision_hash"].as_str().and(event["detail"]["decision_code"].as_str())
            })
            .map(str::to_owned)
            .collect();
        let needed = "URM_APPROVAL_REQUIRED";
        assert_eq!(
            codes,
            ["WRITE_ALLOWED", "UNKNOWN_SHELL_DENIED", needed, "APPROVED_WRITE_ALLOWED", needed]
        );
    }
}

#[test]
fn patches_are_governed_whatever_the_client_wants_to_hear() {
    for codex in codex_versions("patches_are_governed_whatever_the_client_wants_to_hear") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        let unwanted = json!(["item/started", "item/completed", "turn/started", "thread/started"]);
        let mut client = Client::start(&desk, &codex, &[], json!({"optOutNotificationMethods": unwanted}));
        let thread = client.thread(&desk);
        let patch = |path: &str, change: &str| {
            exec(
                &format!("apply_patch <<'EOF'\n*** Begin Patch\n{change}\n*** End Patch\nEOF")
                    .replace("PATH", path),
            )
        };
        let outside = desk.path("outside/denied").display().to_string();
        let steps = json!([
            patch("allowed", "*** Add File: PATH\n+text"),
            patch("allowed", "*** Update File: PATH\n@@\n-text\n+other"),
            patch(&outside, "*** Add File: PATH\n+text"),
            patch(".envrc", "*** Add File: PATH\n+text"),
        ]);
        let told = client.turn(&thread, &steps);
        assert_eq!(desk.read("work/allowed").as_deref(), Some("other\n"), "{told:?}");
        assert!(!desk.has("outside/denied") && !desk.has("work/.envrc"));
        let heard = |method: &str| told.iter().any(|line| line["method"] == method);
        assert!(!heard("item/started") && !heard("item/completed") && !heard("turn/started"), "{told:?}");
        assert!(heard("turn/completed"));
        // What the agent did and what came of it is in the log all the same.
        let finished = events(&desk).iter().filter(|event| event["detail"]["state"] == "succeeded").count();
        assert!(finished >= 4, "the thread, the turn and two patches: {finished}");
    }
}

#[test]
fn mcp_tools_are_governed_where_codex_asks() {
    let Some(codex) = client("mcp_tools_are_governed_where_codex_asks", CODEX) else { return };
    let Some(server) = client("mcp_tools_are_governed_where_codex_asks", FILESYSTEM_SERVER) else { return };
    let model = Model::start(|_| ());
    let desk = Desk::new();
    desk.configure_codex(&model, &desk.file_server(&server));
    desk.countersign(&["init"]);
    let write = |name: &str| json!({"tool": "write_file", "namespace": "mcp__fs", "input": {"path": desk.path(name), "content": "text"}});
    let mut governed = Client::start(&desk, &codex, &[], json!({}));
    let thread = governed.thread(&desk);
    governed.turn(&thread, &json!([write("work/allowed")]));
    assert_eq!(desk.read("work/allowed").as_deref(), Some("text"), "{}", model.heard());
    drop(governed);
    desk.write("work/.countersign/config.yml", "schema: countersign.config.v1\nmode: read_only\n");
    let mut governed = Client::start(&desk, &codex, &[], json!({}));
    let thread = governed.thread(&desk);
    governed.turn(&thread, &json!([write("work/denied")]));
    assert!(!desk.has("work/denied"));
}

/// The agent asks, and there is nobody to say yes: the store is held, gone, or the proxy itself is.
#[test]
fn without_a_kernel_nothing_runs() {
    for codex in codex_versions("without_a_kernel_nothing_runs") {
        for case in ["held", "gone", "killed"] {
            let desk = Desk::new();
            let (owner, (held, say)) = (desk.clone(), channel());
            let model = Model::start(move |_| {
                let lock = if case == "gone" {
                    owner.remove("work/.countersign/state.db");
                    None
                } else {
                    Some(owner.hold_store())
                };
                held.send(lock).unwrap();
            });
            desk.configure_codex(&model, "");
            desk.countersign(&["init"]);
            let mut client = Client::start(&desk, &codex, &[], json!({}));
            let thread = client.thread(&desk);
            let mut step = exec("touch marker");
            step["first"] = json!("take the store away");
            let started = client.send("turn/start", turn(&thread, &json!([step])));
            let lock = say.recv_timeout(Duration::from_secs(60)).unwrap();
            // A client that says yes in our place is not heard.
            for id in 0..5 {
                client.talk.say(&json!({"id": id, "result": {"decision": "accept"}}).to_string());
            }
            if case == "killed" {
                client.talk.crash();
            } else {
                client.until("turn/completed", started);
            }
            drop(lock);
            assert!(!desk.has("work/marker"), "{case}");
        }
    }
}

#[test]
fn a_turn_that_is_started_during_another_steers_it() {
    for codex in codex_versions("a_turn_that_is_started_during_another_steers_it") {
        for is_hidden in [false, true] {
            let model = Model::start(|_| ());
            let desk = Desk::governed(&model, "");
            let bin = if is_hidden { hiding(&desk, &codex, "turn/steer") } else { codex.clone() };
            let mut client = Client::start(&desk, &bin, &[], json!({}));
            let thread = client.thread(&desk);
            let first = client.send("turn/start", turn(&thread, &json!([exec("touch began; sleep 3")])));
            let answer = client.ask("turn/start", turn(&thread, &json!([exec("touch steered")])));
            let kinds = |kind: &str| {
                events(&desk).iter().filter(|event| event["detail"]["action_kind"] == kind).count()
            };
            assert_eq!(kinds("turn.steer"), 1, "{answer}");
            if is_hidden {
                assert_eq!(answer["error"]["data"]["decision_code"], "URM_CAPABILITY_MISSING", "{answer}");
                let id = json!({"threadId": thread, "expectedTurnId": "0", "input": [{"type": "text", "text": "x"}]});
                assert_eq!(client.denied("turn/steer", id), "URM_CAPABILITY_MISSING");
            } else {
                assert!(answer["result"]["turn"]["id"].is_string(), "{answer}");
            }
            client.until("turn/completed", first);
            assert_eq!(desk.has("work/steered"), !is_hidden);
            if is_hidden {
                // Nobody is at work: this is a turn of its own.
                client.turn(&thread, &json!([exec("touch later")]));
                assert!(desk.has("work/later"));
            }
        }
    }
}

#[test]
fn what_the_client_asks_for_is_decided_too() {
    for codex in codex_versions("what_the_client_asks_for_is_decided_too") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        // The frozen version has no sandbox for these commands and refuses them within one.
        let mut client = Client::start(&desk, &codex, &["--sandbox", "danger-full-access"], json!({}));
        let command = |words: Value| json!({"command": words, "cwd": desk.path("work"), "sandboxPolicy": {"type": "dangerFullAccess"}});
        let ran = client.ask("command/exec", command(json!(["touch", "allowed"])));
        assert_eq!(ran["result"]["exitCode"], 0, "{ran}");
        assert!(desk.has("work/allowed"));
        for words in [json!(["bash", "-c", "eval 'touch denied'"]), json!(["sh", "-c", "rm -rf /"])] {
            client.denied("command/exec", command(words));
        }
        let outside = desk.path("outside/denied");
        assert_eq!(
            client.denied("command/exec", command(json!(["touch", outside]))),
            "URM_APPROVAL_REQUIRED"
        );
        let with_variables = json!({"command": ["ls"], "env": {"LD_PRELOAD": "/tmp/x.so"}});
        assert_eq!(client.denied("command/exec", with_variables), "UNKNOWN_SHELL_DENIED");
        let edit = json!({"keyPath": "approval_policy", "value": "never", "mergeStrategy": "replace"});
        assert_eq!(client.denied("config/value/write", edit), "URM_APPROVAL_REQUIRED");
        let config = json!({"cwd": desk.path("work"), "config": {"notify": ["touch", outside]}});
        assert_eq!(client.denied("thread/start", config), "URM_APPROVAL_REQUIRED");
        let thread = client.thread(&desk);
        let review = json!({"threadId": thread, "target": {"type": "uncommittedChanges"}});
        assert_eq!(client.denied("review/start", review), "UNKNOWN_SHELL_DENIED");
        assert_eq!(
            client.denied("turn/start", turn("00000000-0000-0000-0000-000000000000", &json!([]))),
            "CODEX_UNGOVERNED"
        );
        assert_eq!(client.denied("no/such/method", json!({})), "URM_CAPABILITY_MISSING");
        assert!(client.ask("model/list", json!({}))["result"].is_object());
        assert!(!desk.has("outside/denied") && !desk.has("work/denied"));
        assert!(!desk.read("home/codex/config.toml").unwrap().contains("approval_policy"));
    }
}

#[test]
fn files_are_read_and_written_for_the_client_by_the_policy() {
    let Some(codex) = client("files_are_read_and_written_for_the_client_by_the_policy", CODEX) else {
        return;
    };
    let model = Model::start(|_| ());
    let desk = Desk::governed(&model, "");
    desk.write("home/.ssh/id", "secret");
    let mut client = Client::start(&desk, &codex, &[], json!({}));
    let file = |name: &str| json!({"path": desk.path(name), "dataBase64": "dGV4dA=="});
    assert!(client.ask("fs/writeFile", file("work/made"))["result"].is_object());
    assert_eq!(desk.read("work/made").as_deref(), Some("text"));
    assert_eq!(client.denied("fs/writeFile", file("outside/denied")), "URM_APPROVAL_REQUIRED");
    assert_eq!(
        client.denied("fs/readFile", json!({"path": desk.path("home/.ssh/id")})),
        "UNKNOWN_SHELL_DENIED"
    );
    client.denied("fs/remove", json!({"path": desk.path("home"), "recursive": true}));
    let copy = json!({"sourcePath": desk.path("work/made"), "destinationPath": desk.path("outside/denied")});
    assert_eq!(client.denied("fs/copy", copy), "URM_APPROVAL_REQUIRED");
    assert_eq!(
        client.denied("fs/createDirectory", json!({"path": desk.path("outside/folder")})),
        "URM_APPROVAL_REQUIRED"
    );
    assert!(
        client.ask("fs/createDirectory", json!({"path": desk.path("work/folder")}))["result"].is_object()
    );
    // A turn takes its thread elsewhere, and with it what the client runs there.
    let thread = client.thread(&desk);
    let mut elsewhere = turn(&thread, &json!([]));
    elsewhere["cwd"] = json!(desk.path("outside"));
    let moved = client.send("turn/start", elsewhere);
    client.until("turn/completed", moved);
    let command = json!({"threadId": thread, "command": "touch denied"});
    assert_eq!(client.denied("thread/shellCommand", command), "URM_APPROVAL_REQUIRED");
    assert!(
        desk.has("work/folder")
            && desk.has("home/.ssh/id")
            && !desk.has("outside/denied")
            && !desk.has("outside/folder")
    );
}

#[test]
fn what_is_experimental_needs_an_opt_in() {
    for codex in codex_versions("what_is_experimental_needs_an_opt_in") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        let opted = json!({"experimentalApi": true});
        let value = json!({"value": "x"});
        let mut client = Client::start(&desk, &codex, &[], opted.clone());
        for method in
            ["mock/experimentalMethod", "collaborationMode/list", "thread/backgroundTerminals/clean"]
        {
            assert_eq!(client.denied(method, value.clone()), "URM_EXPERIMENTAL_DISABLED");
        }
        drop(client);
        // The log says what the client was told.
        let codes: Vec<Value> = events(&desk)
            .into_iter()
            .filter(|event| event["event"] == "POLICY_DENIED")
            .filter(|event| event["detail"]["action_kind"] == "runtime.experimental")
            .map(|event| event["detail"]["decision_code"].clone())
            .collect();
        assert_eq!(codes, ["URM_EXPERIMENTAL_DISABLED"; 3]);
        let mut client = Client::start(&desk, &codex, &["--experimental"], opted);
        assert_eq!(client.ask("mock/experimentalMethod", value)["result"]["echoed"], "x");
    }
}

#[test]
fn a_hidden_method_is_denied_and_nothing_is_emulated() {
    let hidden: [(&str, &str, &[&str]); 6] = [
        (CODEX_0_99, "app/list", &["app/list"]),
        (CODEX_0_99, "model/list", &["model/list"]),
        (
            CODEX_0_99,
            "configRequirements/read",
            &["configRequirements/read", "thread/start", "thread/resume"],
        ),
        (CODEX_0_99, "collaborationMode/list", &["collaborationMode/list"]),
        (CODEX_0_99, "mock/experimentalMethod", &["mock/experimentalMethod"]),
        (CODEX, "hooks/list", &["hooks/list"]),
    ];
    let model = Model::start(|_| ());
    for (program, method, asked) in hidden {
        let Some(codex) = client("a_hidden_method_is_denied_and_nothing_is_emulated", program) else {
            continue;
        };
        let desk = Desk::governed(&model, "");
        let bin = hiding(&desk, &codex, method);
        let mut client = Client::start(&desk, &bin, &["--experimental"], json!({"experimentalApi": true}));
        for asked in asked {
            let params = json!({"cwds": [], "value": "x", "threadId": "t"});
            assert_eq!(client.denied(asked, params), "URM_CAPABILITY_MISSING", "{method}");
        }
        let snapshots: Vec<Value> =
            events(&desk).into_iter().filter(|event| event["event"] == "CAPABILITIES_SNAPSHOT").collect();
        assert_eq!(snapshots.len(), 1);
        assert_eq!(snapshots[0]["detail"]["relied_on"][method], "absent");
    }
}

#[test]
fn a_thread_that_got_other_settings_is_refused() {
    for codex in codex_versions("a_thread_that_got_other_settings_is_refused") {
        for (from, to) in [
            (r#""approvalPolicy":"untrusted""#, r#""approvalPolicy":"never""#),
            (r#""type":"workspaceWrite""#, r#""type":"dangerFullAccess""#),
        ] {
            let model = Model::start(|_| ());
            let desk = Desk::governed(&model, "");
            let bin = shim(&desk, &codex, "", &format!("s#{from}#{to}#"));
            let mut client = Client::start(&desk, &bin, &[], json!({}));
            assert_eq!(client.denied("thread/start", json!({"cwd": desk.path("work")})), "CODEX_UNGOVERNED");
        }
    }
}

/// What the managed settings allow bounds every thread; if that leaves none that asks, there is none.
#[test]
fn requirements_bound_every_thread() {
    for codex in codex_versions("requirements_bound_every_thread") {
        let model = Model::start(|_| ());
        for (settings, sandbox) in [
            ("allowed_sandbox_modes = [\"read-only\"]\n", Some("readOnly")),
            ("allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\n", Some("workspaceWrite")),
            ("allowed_approval_policies = [\"on-request\"]\n", None),
        ] {
            let desk = Desk::governed(&model, "");
            desk.write("etc/codex/requirements.toml", settings);
            let Some(bin) = desk.managed("requirements_bound_every_thread", &codex) else { return };
            let mut client = Client::start(&desk, &bin, &[], json!({}));
            let params = json!({"cwd": desk.path("work"), "sandbox": "danger-full-access"});
            match sandbox {
                Some(sandbox) => {
                    let started = client.ask("thread/start", params);
                    assert_eq!(started["result"]["sandbox"]["type"], sandbox, "{settings}: {started}");
                }
                None => assert_eq!(client.denied("thread/start", params), "CODEX_UNGOVERNED"),
            }
        }
    }
}

#[test]
fn a_thread_that_is_resumed_is_governed_again() {
    for codex in codex_versions("a_thread_that_is_resumed_is_governed_again") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        let mut client = Client::start(&desk, &codex, &[], json!({}));
        let thread = client.thread(&desk);
        client.turn(&thread, &json!([exec("touch first")]));
        drop(client);
        let mut client = Client::start(&desk, &codex, &[], json!({}));
        assert_eq!(client.denied("turn/start", turn(&thread, &json!([]))), "CODEX_UNGOVERNED");
        let resumed = client.ask("thread/resume", json!({"threadId": thread, "approvalPolicy": "never"}));
        assert_eq!(resumed["result"]["approvalPolicy"], "untrusted", "{resumed}");
        client.turn(&thread, &json!([exec("eval \"touch denied\""), exec("touch second")]));
        assert!(desk.has("work/first") && desk.has("work/second") && !desk.has("work/denied"));
    }
}

#[test]
fn what_sub_agents_do_is_asked_for_too() {
    let Some(codex) = client("what_sub_agents_do_is_asked_for_too", CODEX) else { return };
    let model = Model::start(|_| ());
    let desk = Desk::governed(&model, "");
    let mut client = Client::start(&desk, &codex, &[], json!({}));
    let thread = client.thread(&desk);
    let inner = json!([exec("touch allowed"), exec("eval \"touch denied\"")]);
    let spawn = json!({"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": format!("STEPS:{inner}")}});
    client.turn(&thread, &json!([spawn, exec("touch began; sleep 4")]));
    assert!(
        desk.has("work/began") && desk.has("work/allowed") && !desk.has("work/denied"),
        "{}",
        model.heard()
    );
}

/// What nobody can keep exactly is granted to nobody, and nobody waits for ever for an answer about it.
#[test]
fn a_question_that_cannot_be_read_exactly_is_declined() {
    for codex in codex_versions("a_question_that_cannot_be_read_exactly_is_declined") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        let vast = "s#\\(Approval\".*\"params\":{\\)#\\1\"vast\":18446744073709551615,#";
        let bin = shim(&desk, &codex, "", vast);
        let mut client = Client::start(&desk, &bin, &[], json!({}));
        let thread = client.thread(&desk);
        client.turn(&thread, &json!([exec("touch denied")]));
        assert!(!desk.has("work/denied"));
    }
}

#[test]
fn a_request_that_is_refused_is_answered_under_its_own_id() {
    let Some(codex) = client("a_request_that_is_refused_is_answered_under_its_own_id", CODEX) else { return };
    let model = Model::start(|_| ());
    let desk = Desk::governed(&model, "");
    let mut client = Client::start(&desk, &codex, &[], json!({}));
    for (line, code) in [
        (r#"{"method":"model/list","id":7,"params":{"limit":18446744073709551615}}"#, "JSON_INTEGER_RANGE"),
        (r#"{"method":"model/list","id":7,"params":{"a":"\ud800"}}"#, "JSON_LONE_SURROGATE"),
        (r#"{"method":"model/list","Method":"fs/remove","id":7,"params":{}}"#, "HOOK_INPUT"),
        ("{\"method\":\"model/list\",\r\"id\":7,\"params\":{}}", "HOOK_INPUT"),
    ] {
        client.talk.say(line);
        let answer = loop {
            let heard = client.talk.hear();
            if heard["method"].is_null() {
                break heard;
            }
        };
        assert_eq!(
            (&answer["id"], &answer["error"]["data"]["decision_code"]),
            (&json!(7), &json!(code)),
            "{answer}"
        );
    }
}

#[test]
fn without_an_app_server_there_are_workers_only() {
    let desk = Desk::new();
    desk.countersign(&["init"]);
    let ran = desk.run(Path::new(PROGRAM), &["codex", "app-server", "--bin", "/no/such/codex"], &[]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert!(ran.stderr().contains("only workers"), "{}", ran.screen());
    let modes: Vec<Value> = events(&desk).into_iter().map(|event| event["detail"]["mode"].clone()).collect();
    assert!(modes.contains(&json!("worker_only")), "{modes:?}");
}

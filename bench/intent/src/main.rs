//! How long weighing a set takes, end to end, and how finding overlaps grows with the number of intents.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use countersign_canon::{Json, Timestamp, Wire};
use countersign_intent::{
    DocumentKind, EvaluateOptions, Intent, IntentFile, IntentId, IntentSet, Limits, Money, Registry,
    RegistryFiles, evaluate, overlaps,
};

fn main() {
    let registry = registry();
    let limits = Limits { cost_usd: Money::dollars(1000), tokens: 10_000_000 };
    println!("one set of 20 intents, end to end: parse, check, detect, plan, checksum, write");
    for (name, set) in [
        ("mergeable, just within the caps", mergeable()),
        ("conflicting, 80 commands and 200 files each", conflicting()),
    ] {
        let bytes: usize = set.1.iter().map(|file| file.bytes.as_ref().unwrap().len()).sum();
        let before = processor_ms();
        let mut times: Vec<Duration> = (0..30).map(|_| timed(|| weigh(&set, &registry, limits)).0).collect();
        let processor = (processor_ms() - before) / 30.0;
        times.sort();
        let (strategy, conflicts, out) = weigh(&set, &registry, limits);
        println!(
            "  {name}: median {:.1} ms, best {:.1} ms, worst of 30 {:.1} ms, processor {processor:.1} ms ({} KB in, {} KB out, {strategy}, {conflicts} conflicts)",
            ms(times[15]),
            ms(times[0]),
            ms(times[29]),
            bytes / 1000,
            out / 1000
        );
    }
    println!("overlaps, 20 paths for each intent, 1 in 100 in a true conflict");
    for count in [1_000, 10_000, 100_000] {
        let texts = open_intents(count);
        let before = processor_ms();
        let (load, intents) = timed(|| -> Vec<Intent> {
            texts.iter().map(|text| Intent::load(text.as_bytes(), Some(&registry)).unwrap()).collect()
        });
        drop(texts);
        let (find, conflicts) = timed(|| overlaps(&intents, None, Some(&registry)));
        println!(
            "  {count:>6} intents: load {:.0} ms, find {:.0} ms, processor {:.0} ms, {} conflicts, peak memory {} MB",
            ms(load),
            ms(find),
            processor_ms() - before,
            conflicts.len(),
            peak_mb()
        );
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed(), value)
}

/// How long this thread has been on a processor, which other work on the machine does not change; Linux's to tell.
fn processor_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e6
}

/// The peak resident size of this process so far, which is Linux's to tell.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1000
}

type SetFiles = (String, Vec<IntentFile>);

fn weigh((set, files): &SetFiles, registry: &Registry, limits: Limits) -> (String, usize, usize) {
    let document = IntentSet::read(set.as_bytes()).unwrap();
    let set = IntentSet::load(document, files, Some(registry)).unwrap();
    let created_at = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
    let outcome =
        evaluate(&set, EvaluateOptions { registry: Some(registry), limits, created_at, answers: &[] })
            .unwrap();
    let written = outcome.result.write().to_pretty().len() + outcome.plan.write().to_pretty().len();
    (outcome.plan.strategy.to_string(), outcome.result.evaluation.conflicts.len(), written)
}

fn registry() -> Registry {
    let entry = |id: &str, verb: &str| {
        format!(
            r#"{{"id": "{id}", "description": "x", "phase": "implementation", "agents": ["agent_one"], "effects": ["read"], "verb": "{verb}", "exclusive": false, "produces": [], "consumes": []}}"#
        )
    };
    let commands =
        format!(r#"{{"commands": [{}, {}]}}"#, entry("cmd_look", "analyze"), entry("cmd_change", "update"));
    Registry::load(RegistryFiles {
        workflows: &Json::parse(
            br#"{"workflows": [{"id": "flow_one", "description": "x", "phases": ["analysis"]}]}"#,
        )
        .unwrap(),
        agents: &Json::parse(br#"{"agents": [{"id": "agent_one", "description": "x"}]}"#).unwrap(),
        commands: &Json::parse(commands.as_bytes()).unwrap(),
    })
    .unwrap()
}

struct Shape<'s> {
    files: Vec<String>,
    commands: Vec<(&'s str, &'s str, String)>,
    files_max: usize,
}

fn intent(id: &str, shape: &Shape<'_>) -> String {
    let files: Vec<String> = shape.files.iter().map(|file| format!("\"{file}\"")).collect();
    let mut commands = String::new();
    for (at, (command, effect, evidence)) in shape.commands.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(commands, r#"{comma}{{"command_id": "{command}", "intent": "step {at} of {id}, described in a sentence as people do", "effects": ["{effect}"], "risk_level": "low", "evidence_refs": ["{evidence}", "doc://plan/{id}/{at}"]}}"#).unwrap();
    }
    let text = format!(
        r#"{{"id": "{id}", "type": "execution_intent", "title": "Work of {id}", "version": "1.0.0", "status": "proposed", "created_at": "2026-01-01T00:00:00Z",
        "lineage": {{"introduced_in": "0.9.1", "derived_from": [], "supersedes": []}},
        "scope": {{"project_id": "p", "repo_root": "r", "targets": {{"files": [{}], "modules": [], "areas": ["backend"]}}}},
        "objective": {{"goal": "Do what {id} is for.", "success_criteria": ["{id} is done"], "non_goals": []}},
        "selected_workflows": [{{"workflow_id": "flow_one", "phases": ["analysis"]}}],
        "selected_agents": [{{"agent_id": "agent_one", "role": "author", "responsibilities": ["the work"]}}],
        "planned_commands": [{commands}],
        "interaction": {{"mode": "semi_auto", "question_budget": 3, "question_policy": "blockers_only"}},
        "risk": {{"overall": "low", "drivers": ["{id}"], "requires_review": ["architecture"]}},
        "budgets": {{"max_files": {}, "max_commits": 2, "max_tokens": 1000, "max_cost_usd": 0.1}},
        "evidence_refs": ["doc://intent/{id}"],
        "constraints": {{"execution": "forbidden", "no_fabrication": true, "registry_only": true, "lock_scope": {{"mode": "none", "paths": []}}}},
        "audit": {{"created_by": "bench", "source": "human"}}}}"#,
        files.join(","),
        shape.files_max,
    );
    DocumentKind::Intent.seal(&Json::parse(text.as_bytes()).unwrap().into_owned()).to_canonical()
}

fn set_of(texts: Vec<(String, String)>) -> SetFiles {
    let ids: Vec<String> = texts.iter().map(|(id, _)| format!("\"{id}\"")).collect();
    let text = format!(
        r#"{{"id": "intent_set_bench", "type": "intent_set", "schema_version": "0.9.3", "created_at": "2026-02-01T00:00:00Z", "intent_ids": [{}], "context": {{"project_id": "p", "env": "dev"}}, "lineage": {{"introduced_in": "0.9.3", "derived_from": []}}}}"#,
        ids.join(",")
    );
    let set =
        DocumentKind::IntentSet.seal(&Json::parse(text.as_bytes()).unwrap().into_owned()).to_canonical();
    let files = texts.into_iter().map(|(id, text)| IntentFile {
        id: IntentId::parse(&id).unwrap(),
        file: format!("{id}.json"),
        bytes: Ok(text.into_bytes()),
    });
    (set, files.collect())
}

/// Twenty intents whose union has 80 commands, 200 files and 20 criteria: exactly what one intent may have.
fn mergeable() -> SetFiles {
    let one = |at: usize| {
        let id = format!("intent_{at:02}");
        let files: Vec<String> = (0..10).map(|file| format!("src/part{at}/file{file}.py")).collect();
        let commands = (0..4).map(|c| ("cmd_change", "write", format!("scan://file/{}", files[c]))).collect();
        let text = intent(&id, &Shape { files, commands, files_max: 25 });
        (id, text)
    };
    set_of((0..20).map(one).collect())
}

/// Twenty intents that all write and delete the same 200 files with 80 commands each.
fn conflicting() -> SetFiles {
    let one = |at: usize| {
        let id = format!("intent_{at:02}");
        let files: Vec<String> =
            (0..200).map(|file| format!("src/area{}/module{}/file{file}.py", file % 7, file % 13)).collect();
        let commands = (0..80)
            .map(|c| {
                if c % 8 == 0 {
                    ("cmd_change", "delete", format!("doc://all/{c}"))
                } else {
                    ("cmd_change", "write", format!("scan://file/{}", files[c]))
                }
            })
            .collect();
        let text = intent(&id, &Shape { files, commands, files_max: 25 });
        (id, text)
    };
    set_of((0..20).map(one).collect())
}

/// Open intents of one large repository; two in two hundred write one file together, some targets are folders and globs.
fn open_intents(count: usize) -> Vec<String> {
    let one = |at: usize| {
        let id = format!("intent_{at:06}");
        let mut files: Vec<String> = (0..18)
            .map(|file| format!("services/s{}/team{}/work{at}/file{file}.py", at % 97, at % 1009))
            .collect();
        files.push(format!("docs/guides/g{at}/"));
        files.push(format!("tests/t{at}/*.py"));
        if at % 200 < 2 {
            files[0] = format!("shared/hot{}.py", at / 200);
        }
        intent(
            &id,
            &Shape { files, commands: vec![("cmd_change", "write", "doc://plan".to_owned())], files_max: 20 },
        )
    };
    (0..count).map(one).collect()
}

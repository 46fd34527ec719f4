//! How many decisions a second become durable, next to how often the disk can sync at all; and what a million of them cost.
//!
//! `bench-store [FOLDER [sqlite|postgresql|million]…]`: the folder must be on the disk in question.

mod consumption;
mod disk;
mod over_http;
// The server that the store's tests run on.
#[expect(dead_code, reason = "the tests also crash it")]
#[path = "../../../crates/store/tests/it/server.rs"]
mod server;

use std::{
    env,
    path::Path,
    time::{Duration, Instant},
};

use countersign_ledger::LoadedVersion;
use countersign_policy::{Policy, ProbeFacts, shipped};
use countersign_service::{Node, NodeOptions};

use crate::over_http::Served;

/// How many decisions there are in the end.
const DECISIONS: usize = 1_000_000;

fn main() {
    let mut arguments = env::args_os().skip(1);
    let folder = arguments.next().map_or_else(env::temp_dir, Into::into);
    let parts: Vec<_> = arguments.collect();
    let is_wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    let folder = tempfile::tempdir_in(folder).unwrap();
    if is_wanted("sqlite") {
        on_sqlite(folder.path());
    }
    if is_wanted("postgresql") {
        on_postgresql(folder.path());
    }
    if is_wanted("million") {
        a_million(folder.path());
    }
}

fn on_sqlite(folder: &Path) {
    println!("SQLite");
    let sqlite = NodeOptions { data: folder.join("sqlite"), database: None, checkpoints: None };
    let served = over_http::start(&sqlite);
    durable_decisions(folder, &Node::open(&sqlite).unwrap(), &served, [(1, 0.0), (16, 3.0), (128, 5.0)]);
    consumption::measure(&sqlite);
    evaluations(&served);
}

fn on_postgresql(folder: &Path) {
    println!("PostgreSQL");
    let Some(server) = server::Server::start("bench") else {
        return println!("  skipped: PostgreSQL is not installed");
    };
    let database = Some(server.database());
    let postgresql = NodeOptions { data: folder.join("postgresql"), database, checkpoints: None };
    let served = over_http::start(&postgresql);
    durable_decisions(folder, &Node::open(&postgresql).unwrap(), &served, [(1, 0.0), (16, 4.0), (128, 0.0)]);
    consumption::measure(&postgresql);
}

fn a_million(folder: &Path) {
    println!("A million decisions on SQLite");
    let sqlite = NodeOptions { data: folder.join("million"), database: None, checkpoints: None };
    let served = over_http::start(&sqlite);
    let node = Node::open(&sqlite).unwrap();
    fill(&served, &node);
    decide_again(&node);
    backtest(&node);
}

/// A goal, and whether it was reached.
pub(crate) fn goal(is_reached: bool, words: &str) -> String {
    format!("{} (goal: {words})", if is_reached { "ok" } else { "MISSED" })
}

/// Decisions that are to begin, over HTTP; each number of clients with its goal, in rates of the disk.
fn durable_decisions(folder: &Path, node: &Node, served: &Served, rows: [(usize, f64); 3]) {
    for (clients, wanted) in rows {
        let before = disk::measure(folder);
        let checkpoint = || node.store().checkpoint().unwrap().unwrap().claim().unwrap().number;
        let (first, worked) = (checkpoint(), processor());
        let load = over_http::load(served.address(), &served.decisions(), clients);
        let worked = (processor() - worked).as_secs_f64() * 1e6 / load.count() as f64;
        let batch = load.count() as f64 / (checkpoint() - first) as f64;
        let after = disk::measure(folder);
        let ratio = load.rate * 2.0 / (before.rate + after.rate);
        let syncs = 2.0 * load.percentile(50).as_secs_f64() / (before.p50 + after.p50).as_secs_f64();
        let verdict = match clients {
            1 => goal(syncs <= 3.0, "at most 3 syncs"),
            _ if wanted > 0.0 => goal(ratio >= wanted, &format!("{wanted} of the disk")),
            _ => String::new(),
        };
        println!(
            "  {clients:3} clients: {:6.0} decisions/s, {ratio:5.2} of the disk ({:.0}/s before, {:.0}/s after), \
             p50 {} us = {syncs:.2} syncs, p99 {} us, {batch:.1} a commit, \
             {worked:.0} us of processor each {verdict}",
            load.rate,
            before.rate,
            after.rate,
            load.percentile(50).as_micros(),
            load.percentile(99).as_micros(),
        );
    }
}

/// What-if questions, next to an empty handler of the same framework under the same requests.
fn evaluations(served: &Served) {
    let empty = over_http::start_empty();
    for clients in [1, 16] {
        let nothing = over_http::load(empty, &served.evaluations(empty), clients).rate;
        let asked = over_http::load(served.address(), &served.evaluations(served.address()), clients).rate;
        let part = asked / nothing;
        println!(
            "  policy/eval, {clients:2} clients: {asked:.0}/s, an empty handler {nothing:.0}/s: {:.0} % {}",
            100.0 * part,
            goal(part >= 0.3, "30 %")
        );
    }
}

/// Makes the million full, looks at the memory on the way, and verifies the log once it has a million events.
fn fill(served: &Served, node: &Node) {
    const STEP: usize = 100_000;
    let mut is_verified = false;
    for step in 1..=DECISIONS / STEP {
        let start = Instant::now();
        over_http::fill(served.address(), &served.decisions(), STEP);
        let rate = STEP as f64 / start.elapsed().as_secs_f64();
        println!("  {:7} decisions, {rate:.0}/s, memory of the process {} KiB", step * STEP, memory());
        let size = node.store().checkpoint().unwrap().unwrap().claim().unwrap().head.size;
        if !is_verified && size >= 1_000_000 {
            verify(node);
            is_verified = true;
        }
    }
}

/// How long processors have worked for this process.
fn processor() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // After the name: user and system time are the 12th and 13th field, in hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
    Duration::from_millis(fields.map(|field| field.parse::<u64>().unwrap() * 10).sum())
}

/// What this process holds in memory.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Every event read, every stream and every root compared, every signature checked.
fn verify(node: &Node) {
    let start = Instant::now();
    let report = node.verify_log(&[]).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let per_million = seconds * 1e6 / report.head.size as f64;
    println!(
        "  log verify: {} events, {} checkpoints in {seconds:.2} s, {per_million:.2} s a million {}",
        report.head.size,
        report.checkpoints,
        goal(per_million <= 10.0, "10 s a million")
    );
}

/// Makes stored decisions again, from their records.
fn decide_again(node: &Node) {
    const COUNT: usize = 100_000;
    const PAGE: u32 = 10_000;
    let probe = ProbeFacts::load(br#"{"schema": "urm.probe.facts.v1", "client": "bench", "facts": []}"#).unwrap();
    let loaded = LoadedVersion::load(node.store().policy_versions().unwrap().first().unwrap()).unwrap();
    let (start, mut read, mut made, mut from) = (Instant::now(), Duration::ZERO, 0, 0);
    // Page by page, as the log is gone through.
    while made < COUNT {
        let asked = Instant::now();
        let records = node.store().decisions(from, PAGE).unwrap();
        read += asked.elapsed();
        for decision in &records {
            decision.record.redecide(&loaded, &probe).unwrap();
        }
        made += records.len();
        from = records.last().unwrap().log_index + 1;
    }
    let (seconds, read) = (start.elapsed().as_secs_f64(), read.as_secs_f64());
    println!(
        "  {made} decisions made again in {seconds:.2} s, {read:.2} s of that to read them {}",
        goal(seconds <= 3.0, "3 s")
    );
}

/// Decides everything that was recorded under another policy.
fn backtest(node: &Node) {
    let policy = Policy::load(shipped::STRICT.policy).unwrap();
    let start = Instant::now();
    let backtest = node.backtest(&policy).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "  policy backtest: {} decisions in {seconds:.2} s, {} kinds of change {}",
        backtest.decisions,
        backtest.flips.len(),
        goal(seconds <= 10.0, "seconds")
    );
}

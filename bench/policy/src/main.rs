//! The kernel against Cedar and regorus on the same policies and contexts, in one run; see README.md.

mod answer;
mod cedar;
mod rego;
mod workload;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use countersign_policy::Policy;
use cpu_time::ThreadTime;

use crate::{answer::sha256, cedar::Cedar, rego::Rego, workload::Random};

const CONTEXTS: usize = 1000;
const ROUNDS: usize = 15;
const ROUND_MIN: Duration = Duration::from_millis(2);

/// One thing to time: it runs once over some contexts.
struct Row<'r> {
    name: &'static str,
    per_run: usize,
    run: Box<dyn FnMut() + 'r>,
    figures: Vec<f64>,
}

impl<'r> Row<'r> {
    fn new(name: &'static str, per_run: usize, run: impl FnMut() + 'r) -> Self {
        Self { name, per_run, run: Box::new(run), figures: Vec::new() }
    }

    /// Nanoseconds of this thread's processor time for one context.
    fn round(&mut self) {
        let start = ThreadTime::now();
        let mut runs = 0_usize;
        while runs == 0 || start.elapsed() < ROUND_MIN {
            (self.run)();
            runs += 1;
        }
        self.figures.push(start.elapsed().as_nanos() as f64 / (runs * self.per_run) as f64);
    }

    fn median(&self) -> f64 {
        let mut figures = self.figures.clone();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    }
}

struct Figures {
    sha: f64,
    value: f64,
    full: f64,
    cedar: f64,
    rego: f64,
    load: f64,
    cedar_parse: f64,
}

fn main() {
    let mut random = Random(20_260_212);
    let contexts: Vec<String> = (0..CONTEXTS).map(|_| workload::context(&mut random)).collect();
    let bytes: usize = contexts.iter().map(String::len).sum();
    println!(
        "{CONTEXTS} contexts of {} bytes on average; median of {ROUNDS} rounds, processor time of one thread",
        bytes / CONTEXTS
    );
    let mut all = Vec::new();
    for rules in [5, 50, 500] {
        let text = workload::policy(&mut random, rules).to_canonical();
        all.push(compare(rules, &text, &contexts));
    }
    threads(&workload::policy(&mut random, 500).to_canonical(), &contexts);
    let [five, _, five_hundred] = &all[..] else { return };
    println!("\ngoal                                                      wanted    reached");
    goal("full path at 500 rules / SHA-256 of the same bytes", "<= 3", five_hundred.full / five_hundred.sha);
    goal("the same, trace as a value instead of bytes", "<= 3", five_hundred.value / five_hundred.sha);
    goal("full path at 500 rules / at 5 rules", "<= 1.5", five_hundred.full / five.full);
    goal("the same, trace as a value instead of bytes", "<= 1.5", five_hundred.value / five.value);
    goal("cedar-policy / ours at 500 rules", ">= 100", five_hundred.cedar / five_hundred.full);
    goal("regorus RVM / ours at 500 rules", ">= 50", five_hundred.rego / five_hundred.full);
    goal("cedar-policy / ours at 5 rules", ">= 8", five.cedar / five.full);
    goal("regorus RVM / ours at 5 rules", ">= 8", five.rego / five.full);
    goal("loading 500 rules / Cedar's parse alone", "<= 0.5", five_hundred.load / five_hundred.cedar_parse);
}

fn goal(what: &str, wanted: &str, reached: f64) {
    println!("{what:<56}  {wanted:>6}  {reached:>9.2}");
}

/// Times one policy in all engines, after they have agreed on every context.
fn compare(rules: usize, text: &str, contexts: &[String]) -> Figures {
    let policy = Policy::load(text.as_bytes()).expect("the policy loads");
    let nodes: usize = policy.rules().iter().map(|rule| nodes_of(&rule.when)).sum();
    let (cedar, mut rego) = (Cedar::new(&policy), Rego::new(&policy));
    let mut matched = 0_usize;
    for context in contexts {
        let bytes = context.as_bytes();
        let trace = policy.trace(bytes).expect("the context is valid");
        let ours = trace.to_canonical();
        matched += trace.evaluation.matched.len();
        assert_eq!(cedar.answer(bytes), ours, "cedar disagrees on {context}");
        assert_eq!(rego.answer(bytes), ours, "regorus disagrees on {context}");
        let slow = policy.trace_context(&countersign_policy::Context::load(bytes).expect("valid"));
        assert_eq!(slow, trace);
    }
    let cedar_text = cedar::text(&policy);
    // The peers are slow enough for a tenth of the contexts to do.
    let some = &contexts[..if rules == 500 { 100 } else { contexts.len() }];
    let parsed: Vec<countersign_policy::Context> = contexts
        .iter()
        .map(|context| countersign_policy::Context::load(context.as_bytes()).expect("valid"))
        .collect();
    let spaced: Vec<String> = contexts.iter().map(|context| context.replacen(':', ": ", 1)).collect();
    let mut rows = vec![
        Row::new("SHA-256 of the context alone", contexts.len(), || {
            for context in contexts {
                let _digest = black_box(sha256(black_box(context.as_bytes())));
            }
        }),
        Row::new("ours: decision only, typed context in", contexts.len(), || {
            parsed.iter().for_each(|context| drop(black_box(policy.evaluate(black_box(context), false))));
        }),
        Row::new("ours: JSON in, decision, ids, hash out", contexts.len(), || {
            contexts.iter().for_each(|context| drop(black_box(policy.trace(black_box(context.as_bytes())))));
        }),
        Row::new("ours: full path, trace as bytes out", contexts.len(), || {
            for context in contexts {
                let trace = policy.trace(black_box(context.as_bytes())).expect("valid");
                drop(black_box(trace.to_canonical()));
            }
        }),
        Row::new("ours: the same, context not canonical", contexts.len(), || {
            for context in &spaced {
                let trace = policy.trace(black_box(context.as_bytes())).expect("valid");
                drop(black_box(trace.to_canonical()));
            }
        }),
        Row::new("cedar-policy: JSON in, the same trace out", some.len(), || {
            some.iter().for_each(|context| drop(black_box(cedar.answer(black_box(context.as_bytes())))));
        }),
        Row::new("regorus RVM: JSON in, the same trace out", some.len(), || {
            some.iter().for_each(|context| drop(black_box(rego.answer(black_box(context.as_bytes())))));
        }),
        Row::new("ours: load (parse, check, hash, compile)", 1, || {
            drop(black_box(Policy::load(black_box(text.as_bytes()))));
        }),
        Row::new("cedar-policy: parse alone", 1, || {
            drop(black_box(cedar::parse(black_box(&cedar_text))));
        }),
    ];
    for _ in 0..ROUNDS {
        rows.iter_mut().for_each(Row::round);
    }
    println!(
        "\n{rules} rules, {nodes} nodes, {:.1} matching on average; all engines agree on all contexts",
        matched as f64 / contexts.len() as f64
    );
    for row in &rows {
        println!("  {:<44} {:>12.0} ns", row.name, row.median());
    }
    let figure =
        |name: &str| rows.iter().find(|row| row.name.starts_with(name)).map_or(f64::NAN, Row::median);
    Figures {
        sha: figure("SHA-256"),
        value: figure("ours: JSON in"),
        full: figure("ours: full path"),
        cedar: figure("cedar-policy: JSON"),
        rego: figure("regorus"),
        load: figure("ours: load"),
        cedar_parse: figure("cedar-policy: parse"),
    }
}

/// Two threads against one, by the wall clock; other work on the machine counts against it.
fn threads(text: &str, contexts: &[String]) {
    let policy = Policy::load(text.as_bytes()).expect("the policy loads");
    let work = |policy: &Policy| {
        for _ in 0..200 {
            for context in contexts {
                let trace = policy.trace(black_box(context.as_bytes())).expect("valid");
                drop(black_box(trace.to_canonical()));
            }
        }
    };
    let mut ratios = Vec::new();
    for _ in 0..9 {
        let start = Instant::now();
        work(&policy);
        let one = start.elapsed();
        let start = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| work(&policy));
            scope.spawn(|| work(&policy));
        });
        let two = start.elapsed();
        ratios.push(2.0 * one.as_secs_f64() / two.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "\n2 threads / 1 thread, throughput by the wall clock: median {:.2}, best {:.2} of {} (goal >= 1.8)",
        ratios[ratios.len() / 2],
        ratios[ratios.len() - 1],
        ratios.len()
    );
}

fn nodes_of(expr: &countersign_policy::Expr) -> usize {
    use countersign_policy::Expr;
    match expr {
        Expr::Leaf(_) => 1,
        Expr::Not(inner) => 1 + nodes_of(inner),
        Expr::And(parts) | Expr::Or(parts) => 1 + parts.iter().map(nodes_of).sum::<usize>(),
    }
}

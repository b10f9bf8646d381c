//! What the threads do: each job goes deep into a library and stops there for good.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use regex::{Captures, Regex};
use serde::{Deserialize, Deserializer, de};

/// Where a job stops.
#[derive(Clone, Default)]
pub struct Gate(Arc<AtomicUsize>);

/// A job.
pub type Job = fn(&Gate);

/// All jobs.
pub const JOBS: &[Job] = &[nested_json, replacing, sorting, sql, toml, tree, router, arguments, manifests];

thread_local! {
    static GATE: std::cell::RefCell<Option<Gate>> = const { std::cell::RefCell::new(None) };
}

impl Gate {
    /// Waits until that many threads have stopped, or for a while: a task may be stuck behind
    /// another on its worker.
    pub fn wait_for(&self, threads: usize) {
        for _ in 0..200 {
            if self.0.load(Ordering::Relaxed) >= threads {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Never comes back.
    pub fn stop(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        loop {
            std::thread::park();
        }
    }
}

/// An order of a shop.
#[derive(Debug, Deserialize)]
#[allow(dead_code)]
pub struct Order {
    name: String,
    #[serde(default, deserialize_with = "stopping")]
    lines: Vec<Line>,
    #[serde(default)]
    amount: u32,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Line {
    text: String,
    #[serde(default, deserialize_with = "stopping")]
    parts: Vec<Line>,
}

/// Reads lines, and stops at an empty list of them if this thread has a gate.
fn stopping<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Line>, D::Error> {
    let lines = Vec::<Line>::deserialize(from)?;
    if lines.is_empty() {
        GATE.with_borrow(|gate| gate.as_ref().map(Gate::stop));
        return Err(de::Error::custom("an order without lines"));
    }
    Ok(lines)
}

/// Reads an order.
pub fn parse_order(text: &str) -> serde_json::Result<Order> {
    serde_json::from_str(text)
}

fn nested_json(gate: &Gate) {
    GATE.set(Some(gate.clone()));
    let inner = (0..4).fold("[]".to_owned(), |parts, depth| {
        format!(r#"[{{"text":"line {depth}","parts":{parts}}}]"#)
    });
    let _ = parse_order(&format!(r#"{{"name":"big","lines":{inner}}}"#));
}

fn replacing(gate: &Gate) {
    let words = Regex::new(r"(?x) (?<first>\w+) \s+ (?<second>[a-z]{2,}) (?:-\d+)? ").expect("a regex");
    words.replace_all("hello there-7 and more words", |found: &Captures<'_>| {
        if found.name("first").is_some_and(|first| first.as_str() == "and") {
            gate.stop();
        }
        found["second"].to_owned()
    });
}

fn sorting(gate: &Gate) {
    let mut numbers: Vec<u64> = (0..2000).map(|number| number * 7919 % 2003).collect();
    let mut left = 500;
    numbers.sort_by(|a, b| {
        left -= 1;
        if left == 0 {
            gate.stop();
        }
        a.cmp(b)
    });
}

fn sql(gate: &Gate) {
    use sqlparser::{ast, dialect::GenericDialect, parser::Parser};
    let text = "SELECT a, (SELECT max(b) FROM t WHERE t.c IN (SELECT d FROM u)) FROM v GROUP BY 1";
    let parsed = Parser::parse_sql(&GenericDialect {}, text).expect("a query");
    let _ = ast::visit_expressions(&parsed, |expression| {
        if expression.to_string().starts_with("max") {
            gate.stop();
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    gate.stop();
}

fn toml(gate: &Gate) {
    GATE.set(Some(gate.clone()));
    let _ = toml::from_str::<Order>("name = 'small'\n[[lines]]\ntext = 'one'\nparts = []\n");
}

fn tree(gate: &Gate) {
    let names: BTreeMap<String, u32> = (0..200).map(|key| (format!("key {key}"), key)).collect();
    names.values().copied().collect::<Vec<_>>().into_iter().for_each(|value| {
        (0..1_u32).into_iter().for_each(|_| {
            if value == 150 {
                gate.stop();
            }
        });
    });
    let _: u32 = (0..2_u32).into_par_iter().map(|number| number + 1).sum();
}

fn router(gate: &Gate) {
    let app: axum::Router = axum::Router::new()
        .route("/orders/{id}", axum::routing::get(|| async { "order" }))
        .fallback(|| async { "none" });
    let time = chrono::Utc::now().to_rfc3339();
    let log = tracing_subscriber::fmt().json().with_env_filter("info").finish();
    futures::executor::block_on(async {
        let _keep = (app, time, log);
        futures::future::ready(()).await;
        gate.stop();
    });
}

fn manifests(gate: &Gate) {
    crate::manifests::read_all(&|| gate.stop());
}

fn arguments(gate: &Gate) {
    let gate = gate.clone();
    let parser = move |text: &str| -> Result<u32, String> {
        gate.stop();
        text.parse().map_err(|error| format!("{error}"))
    };
    let command = clap::Command::new("shop")
        .arg(clap::Arg::new("count").long("count").value_parser(parser));
    let _ = command.try_get_matches_from(["shop", "--count", "7"]);
}

//! A server in debug: 49 threads that stand in tokio, serde, regex and others when the main thread dies.

mod jobs;
mod manifests;

use jobs::{Gate, JOBS};

/// Workers of the runtime; each holds one job.
const WORKERS: usize = 40;
/// Threads of their own. With the main thread there are 49.
const OTHERS: usize = 8;

fn main() {
    let gate = Gate::default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .expect("a runtime");
    for number in 0..WORKERS {
        let gate = gate.clone();
        runtime.spawn(async move { answer(number, gate).await });
    }
    for number in 0..OTHERS {
        let gate = gate.clone();
        std::thread::spawn(move || JOBS[number % JOBS.len()](&gate));
    }
    gate.wait_for(WORKERS + OTHERS);
    runtime.block_on(async { die().await });
}

/// What a worker does: jobs are named by their number, and none ends.
async fn answer(number: usize, gate: Gate) {
    tokio::task::yield_now().await;
    JOBS[number % JOBS.len()](&gate);
}

async fn die() {
    // No worker is left that would wake a timer, so those that have just stopped are given their
    // moment by a plain sleep.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let order = jobs::parse_order(r#"{"name":"last","amount":"x"}"#);
    panic!("no order: {order:?}");
}

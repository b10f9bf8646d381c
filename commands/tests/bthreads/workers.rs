//! What workers left to run bthreads.

use std::collections::BTreeSet;

use crate::{cores, is_on_worker, stacks::functions};

#[test]
fn workers_that_run_bthreads_have_stacks_of_their_own() {
    for core in cores().iter().filter(|core| core.is_real()) {
        // One that runs on the stack of its worker has not put that aside.
        let running =
            core.told.values().filter(|told| told["state"] == "running" && !is_on_worker(told));
        let running: BTreeSet<u64> = running.filter_map(|told| told["tid"].as_u64()).collect();
        let workers = core.records("::bthreads -w");
        let threads: BTreeSet<u64> =
            workers.iter().filter_map(|it| it["thread"].as_u64()).collect();
        assert_eq!((threads, workers.len()), (running.clone(), running.len()), "{}", core.name);
        for worker in workers {
            assert_eq!(worker["state"], "parked", "{}: {worker}", core.name);
            let id = worker["id"].as_str().expect("an id");
            let record = core.records(&format!("{id}::stack")).remove(0);
            let functions = functions(&record);
            let has = |name: &str| functions.iter().any(|function| function == name);
            assert!(has("bthread::TaskGroup::run_main_task"), "{}: {functions:?}", core.name);
            assert!(has("bthread::TaskControl::worker_thread"), "{}: {functions:?}", core.name);
            assert_eq!(record["end"]["reason"], "outermost", "{}: {record}", core.name);
        }
    }
}

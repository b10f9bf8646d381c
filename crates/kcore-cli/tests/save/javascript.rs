//! Small cores of Node.js.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gen_cores::{Outcome, ensure};

use crate::target::{save, stacks};

/// A program that calls itself all the while, with objects that are made anew each time.
const SCRIPT: &str = "
class Worker { step(depth) { if (depth > 0) return this.step(depth - 1); return spin(20); } }
function spin(time) { const end = Date.now() + time; while (Date.now() < end); }
setInterval(function tick() { new Worker().step(4); }, 1);";

struct Node(Child);

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_core_of_a_few_megabytes_has_the_functions_of_javascript() {
    for release in ["node18", "node22", "node24"] {
        let case = match ensure("node-waiting", release).unwrap() {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                continue;
            }
        };
        let mut node = Command::new(case.exe);
        node.args(["-e", SCRIPT]).stdin(Stdio::null()).stdout(Stdio::null());
        let node = Node(node.spawn().unwrap());
        has_names(&node.0.id().to_string(), release);
    }
}

/// Its main thread is seldom elsewhere than in these functions, once it has begun.
fn has_names(pid: &str, release: &str) {
    const NAMES: [&str; 3] = ["spin", "Worker.step", "tick"];
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    let start = Instant::now();
    loop {
        save(&["--for-decoders"], pid, &core);
        let size = fs::metadata(&core).unwrap().len();
        assert!(size < 32 << 20, "{release}: {size} bytes");
        let stacks = stacks(&[core.to_str().unwrap()]);
        let functions: Vec<&String> = stacks.iter().flatten().collect();
        let has = |name: &&str| functions.iter().any(|function| function.contains(*name));
        if NAMES.iter().all(has) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{release}: {stacks:?}");
    }
}

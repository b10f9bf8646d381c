//! Workers answer requests from a queue. A replacement within a search of one of them stops the program.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use regex::{Captures, Regex};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
enum Request {
    Find { pattern: String, text: &'static str },
    Count(Vec<u64>),
    Stop,
}

#[derive(Debug, Default)]
struct Statistics {
    answered: u64,
    by_kind: BTreeMap<&'static str, (u32, f64)>,
    last: Option<Box<Value>>,
}

struct Service {
    queue: Mutex<VecDeque<Request>>,
    filled: Condvar,
    statistics: Mutex<Statistics>,
}

static GREETING: &str = "hello";
static LIMITS: [i32; 4] = [1, -2, 300, i32::MIN];

fn answer(service: &Service, request: &Request) -> Value {
    let mut statistics = service.statistics.lock().unwrap();
    statistics.answered += 1;
    let ratio = statistics.answered as f64 / 3.0;
    match request {
        Request::Find { pattern, text } => {
            statistics.by_kind.insert("find", (1, ratio));
            let found = Regex::new(pattern).unwrap();
            let stops = statistics.answered > 20;
            let replaced = found.replace_all(text, |part: &Captures<'_>| {
                let word = part[1].to_uppercase();
                if stops && word.len() > 4 {
                    std::process::abort();
                }
                word
            });
            json!({"replaced": replaced, "count": replaced.len()})
        }
        Request::Count(numbers) => {
            let seen: HashMap<u64, usize> = numbers.iter().map(|n| (*n % 7, 1)).collect();
            let last = json!({"sum": numbers.iter().sum::<u64>(), "kinds": seen.len()});
            statistics.last = Some(Box::new(last.clone()));
            last
        }
        Request::Stop => Value::Null,
    }
}

fn work(service: Arc<Service>, number: usize) -> u64 {
    let mut answered = number as u64;
    loop {
        let mut queue = service.queue.lock().unwrap();
        while queue.is_empty() {
            queue = service.filled.wait(queue).unwrap();
        }
        let request = queue.pop_front().unwrap();
        drop(queue);
        let said = answer(&service, &request);
        answered += said.to_string().len() as u64;
    }
}

fn main() {
    let service = Arc::new(Service {
        queue: Mutex::new(VecDeque::new()),
        filled: Condvar::new(),
        statistics: Mutex::new(Statistics::default()),
    });
    let workers: Vec<_> = (0..3)
        .map(|number| {
            let service = Arc::clone(&service);
            thread::Builder::new().name(format!("worker {number}")).spawn(move || work(service, number))
        })
        .collect();
    for round in 0..200_u64 {
        let text = "the quick brown fox jumps over the lazy dog";
        let find = Request::Find { pattern: r"(\w+)\s(?:q|o|f|j)".to_owned(), text };
        let count = Request::Count((0..round).collect());
        service.queue.lock().unwrap().extend([find, count]);
        service.filled.notify_all();
    }
    println!("{GREETING} {LIMITS:?} {}", workers.len());
    for worker in workers {
        worker.unwrap().join().unwrap();
    }
    let _ = Request::Stop;
}

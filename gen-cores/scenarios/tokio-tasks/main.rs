//! tokio-tasks: tasks of four runtimes wait in many places, and one runs. Each was told with what it waits for and where,
//! innermost function first, in `tasks.jsonl`.

#[path = "../../include/truth.rs"]
mod truth;

use std::fmt::Write;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Notify, RwLock, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

static TASKS: StdMutex<String> = StdMutex::new(String::new());
static SPAWNED: AtomicUsize = AtomicUsize::new(0);
/// The thread of the task that runs.
static BUSY: AtomicU32 = AtomicU32::new(0);

const HOUR: Duration = Duration::from_secs(3600);

/// What is told of a task: the functions that wait for one another, innermost first, with their lines.
struct TaskTruth {
    waits: &'static str,
    which: String,
    frames: Vec<(&'static str, u32)>,
}

fn told(waits: &'static str, which: impl ToString, frames: &[(&'static str, u32)]) -> TaskTruth {
    TaskTruth { waits, which: which.to_string(), frames: frames.to_vec() }
}

fn tell(id: tokio::task::Id, scheduler: &str, state: &str, told: &TaskTruth) {
    let frames: Vec<String> = told
        .frames
        .iter()
        .map(|(function, line)| format!(r#"{{"function":"tokio_tasks::{function}","line":{line}}}"#))
        .collect();
    writeln!(
        TASKS.lock().unwrap(),
        r#"{{"id":{id},"scheduler":{scheduler:?},"state":{state:?},"waits":{:?},"which":{:?},"frames":[{}]}}"#,
        told.waits,
        told.which,
        frames.join(",")
    )
    .unwrap();
    SPAWNED.fetch_add(1, Ordering::SeqCst);
}

fn spawn<F>(scheduler: &str, told: TaskTruth, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let handle = tokio::spawn(future);
    tell(handle.id(), scheduler, "suspended", &told);
    handle
}

const SLEEPS: u32 = line!() + 4;
/// Innermost of many.
async fn sleeps(seed: u32) -> u32 {
    let kept = seed.wrapping_mul(3);
    tokio::time::sleep(HOUR).await;
    kept
}

const MIDDLE: u32 = line!() + 4;
#[inline(never)]
async fn middle(seed: u32) -> u32 {
    let own = [seed; 8];
    let found = sleeps(seed).await;
    found + own[1]
}

const GENERIC: u32 = line!() + 2;
async fn generic<T: Clone + Send>(value: T) -> (T, u32) {
    let found = middle(4).await;
    (value.clone(), found)
}

const LOCKS: u32 = line!() + 2;
async fn locks(mutex: Arc<Mutex<u32>>) -> u32 {
    let guard = mutex.lock().await;
    *guard
}

const HOLDS: u32 = line!() + 3;
async fn holds(mutex: Arc<Mutex<u32>>) -> u32 {
    let guard = mutex.lock().await;
    let found = sleeps(1).await;
    *guard + found
}

const RECEIVES: u32 = line!() + 2;
async fn receives(mut receiver: mpsc::Receiver<u32>) -> u32 {
    receiver.recv().await.unwrap_or(0)
}

const SENDS: u32 = line!() + 3;
async fn sends(sender: mpsc::Sender<u32>) -> u32 {
    sender.send(1).await.unwrap();
    sender.send(2).await.unwrap();
    1
}

const ANSWER: u32 = line!() + 2;
async fn answer(receiver: oneshot::Receiver<u32>) -> u32 {
    receiver.await.unwrap_or(0)
}

const JOINS: u32 = line!() + 2;
async fn joins(handle: JoinHandle<u32>) -> u32 {
    handle.await.unwrap_or(0)
}

async fn both() -> (u32, u32) {
    tokio::join!(middle(5), sleeps(6))
}

async fn either(mut receiver: mpsc::Receiver<u32>) -> u32 {
    tokio::select! {
        found = receiver.recv() => found.unwrap_or(0),
        found = middle(7) => found,
    }
}

const READS: u32 = line!() + 3;
async fn reads(mut stream: TcpStream) -> usize {
    let mut bytes = [0; 16];
    stream.read(&mut bytes).await.unwrap_or(0)
}

const ACCEPTS: u32 = line!() + 2;
async fn accepts(listener: TcpListener) -> bool {
    listener.accept().await.is_ok()
}

const BOXED: u32 = line!() + 3;
fn boxed(depth: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(async move {
        if depth == 0 { sleeps(depth).await } else { boxed(depth - 1).await }
    })
}

const NOTIFIED: u32 = line!() + 2;
async fn notified(notify: Arc<Notify>) {
    notify.notified().await
}

const ACQUIRES: u32 = line!() + 2;
async fn acquires(semaphore: Arc<Semaphore>) -> bool {
    semaphore.acquire().await.is_ok()
}

const WRITES: u32 = line!() + 2;
async fn writes(lock: Arc<RwLock<u32>>) -> u32 {
    *lock.write().await
}

const LIMITED: u32 = line!() + 2;
async fn limited() -> bool {
    tokio::time::timeout(HOUR, middle(8)).await.is_ok()
}

async fn runs() {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    let tid = link.file_name().unwrap().to_str().unwrap().parse().unwrap();
    BUSY.store(tid, Ordering::SeqCst);
    loop {
        std::hint::spin_loop();
        if BUSY.load(Ordering::Relaxed) == 0 {
            break;
        }
    }
}

async fn never() -> u32 {
    middle(9).await
}

/// What waits on the main runtime.
async fn suspend() -> Vec<Box<dyn std::any::Any + Send>> {
    use std::os::fd::AsRawFd;
    const MULTI: &str = "multi_thread";
    let timer = |frames: &[_]| told("timer", "", frames);
    let mutex = Arc::new(Mutex::new(1));
    let holder = spawn(MULTI, timer(&[("sleeps", SLEEPS), ("holds", HOLDS)]), holds(mutex.clone()));
    // Until it has the mutex.
    while mutex.try_lock().is_ok() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    spawn(MULTI, told("mutex", holder.id(), &[("locks", LOCKS)]), locks(mutex));
    let asleep =
        spawn(MULTI, timer(&[("sleeps", SLEEPS), ("middle", MIDDLE)]), middle(2));
    spawn(MULTI, told("task", asleep.id(), &[("joins", JOINS)]), joins(asleep));
    let frames = [("sleeps", SLEEPS), ("middle", MIDDLE), ("generic<alloc::string::String>", GENERIC)];
    spawn(MULTI, timer(&frames), generic("text".to_owned()));
    let (sender, receiver) = mpsc::channel(1);
    let (other, second) = mpsc::channel(1);
    spawn(MULTI, told("channel", "", &[("receives", RECEIVES)]), receives(receiver));
    spawn(MULTI, told("any", 2, &[("either", 0)]), either(second));
    spawn(MULTI, told("all", 2, &[("both", 0)]), both());
    let (full, unread) = mpsc::channel(1);
    spawn(MULTI, told("channel", "", &[("sends", SENDS)]), sends(full));
    let (reply, question) = oneshot::channel();
    spawn(MULTI, told("channel", "", &[("answer", ANSWER)]), answer(question));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let accepted = listener.accept().await.unwrap();
    spawn(MULTI, told("io", stream.as_raw_fd(), &[("reads", READS)]), reads(stream));
    spawn(MULTI, told("io", listener.as_raw_fd(), &[("accepts", ACCEPTS)]), accepts(listener));
    let frames = [
        ("sleeps", SLEEPS),
        ("boxed::{async_block#0}", BOXED),
        ("boxed::{async_block#0}", BOXED),
        ("boxed::{async_block#0}", BOXED),
    ];
    spawn(MULTI, timer(&frames), boxed(2));
    let notify = Arc::new(Notify::new());
    spawn(MULTI, told("notify", "", &[("notified", NOTIFIED)]), notified(notify));
    let semaphore = Arc::new(Semaphore::new(0));
    spawn(MULTI, told("semaphore", "", &[("acquires", ACQUIRES)]), acquires(semaphore));
    let lock = Arc::new(RwLock::new(1));
    let read = lock.clone().read_owned().await;
    spawn(MULTI, told("rwlock", "", &[("writes", WRITES)]), writes(lock));
    let frames = [("sleeps", SLEEPS), ("middle", MIDDLE), ("limited", LIMITED)];
    spawn(MULTI, timer(&frames), limited());
    // One that ended, and whose result nobody took.
    let ended = tokio::spawn(async { 1_u32 });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(ended.is_finished());
    vec![
        Box::new((sender, other, unread, reply, accepted, read)),
        Box::new(ended),
    ]
}

/// What waits on a runtime of one thread, and in a `LocalSet`.
fn one_thread() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let frames = [("sleeps", SLEEPS), ("middle", MIDDLE)];
        spawn("current_thread", told("timer", "", &frames), middle(10));
        let own = tokio::task::spawn_local(middle(11));
        tell(own.id(), "local", "suspended", &told("timer", "", &frames));
        tokio::time::sleep(HOUR).await;
    });
}

fn main() {
    let runtime = |threads| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(threads).enable_all().build().unwrap()
    };
    let (first, second) = (runtime(2), runtime(1));
    std::thread::spawn(one_thread);
    let kept = first.block_on(suspend());
    // The second has one worker, which runs a task for ever: what comes after that never begins.
    let busy = second.spawn(runs());
    while BUSY.load(Ordering::SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let tid = BUSY.load(Ordering::SeqCst);
    tell(busy.id(), "multi_thread", "running", &told("", tid, &[]));
    let late = second.spawn(never());
    tell(late.id(), "multi_thread", "created", &told("", "", &[("never", 0)]));
    let gone = second.spawn(never());
    gone.abort();
    tell(gone.id(), "multi_thread", "cancelled", &told("", "", &[("never", 0)]));
    while SPAWNED.load(Ordering::SeqCst) < 22 {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(200));
    std::fs::write("tasks.jsonl", TASKS.lock().unwrap().as_str()).unwrap();
    truth::write_waiting();
    std::thread::sleep(HOUR);
    drop(kept);
}

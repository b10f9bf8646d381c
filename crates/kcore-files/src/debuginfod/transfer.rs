//! One file from one server. A thread of its own waits for the server, so that ctrl-C ends a transfer at once, whatever
//! the network does.

use std::{
    io::{self, Read, Write},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use flate2::read::GzDecoder;
use kcore_mem::Budget;
use tempfile::NamedTempFile;
use ureq::{
    Agent, Error,
    http::{HeaderMap, header},
    tls::TlsConfig,
};

use super::{Transfer, trusted};

/// How often a user is looked after while a server is waited for.
const TICK: Duration = Duration::from_millis(50);
/// Bytes of a file, at most.
const MAX_FILE: u64 = 64 << 30;
/// Bytes that are read at a time.
const CHUNK: usize = 256 << 10;
/// By which a server that packs the file on its way says how long it is (elfutils, `debuginfod.cxx`).
const SIZE: &str = "x-debuginfod-size";

/// What is asked of a server.
pub struct FileRequest<'a> {
    pub url: &'a str,
    /// How long it may be silent.
    pub patience: Duration,
    /// Says when the command has to end.
    pub budget: &'a Budget,
}

/// What came of it.
pub enum Outcome {
    /// The file, whole as far as the server tells.
    File(NamedTempFile),
    /// The server does not have it.
    NotThere,
    /// The server answered, but not with a file.
    Failed(String),
    /// The server did not answer, or stopped answering.
    Silent(String),
    /// The command has to end.
    Halted,
}

/// Who asks. Connections are kept.
#[derive(Default)]
pub struct Client(OnceLock<Agent>);

/// What both threads see.
#[derive(Default)]
struct Shared {
    received: AtomicU64,
    /// 0 as long as it is not known.
    total: AtomicU64,
    is_given_up: AtomicBool,
}

impl Client {
    /// Fetches a file into `into`. Also how long the server kept us waiting in vain.
    pub fn fetch(
        &self,
        asked: &FileRequest<'_>,
        into: NamedTempFile,
        tell: &dyn Fn(&Transfer),
    ) -> (Outcome, Duration) {
        if asked.patience.is_zero() {
            let why = "servers were waited for long enough in this run";
            return (Outcome::Failed(why.to_owned()), Duration::ZERO);
        }
        let shared = Arc::new(Shared::default());
        let (done, outcome) = mpsc::channel();
        let (agent, url, ours) = (self.agent(), asked.url.to_owned(), Arc::clone(&shared));
        let begun = thread::Builder::new().name("debuginfod".to_owned()).spawn(move || {
            // Nobody may wait for it any more.
            let _ = done.send(transfer(&agent, &url, into, &ours));
        });
        match begun {
            Ok(_) => watch(asked, &shared, &outcome, tell),
            Err(error) => (Outcome::Failed(error.to_string()), Duration::ZERO),
        }
    }

    fn agent(&self) -> Agent {
        let new = || {
            let tls = TlsConfig::builder().root_certs(trusted::roots()).build();
            Agent::config_builder()
                .tls_config(tls)
                .http_status_as_error(false)
                .accept_encoding("gzip")
                .user_agent(concat!("kcore/", env!("CARGO_PKG_VERSION")))
                .build()
                .new_agent()
        };
        self.0.get_or_init(new).clone()
    }
}

/// Waits for the outcome, for as long as bytes come.
fn watch(
    asked: &FileRequest<'_>,
    shared: &Shared,
    outcome: &mpsc::Receiver<Outcome>,
    tell: &dyn Fn(&Transfer),
) -> (Outcome, Duration) {
    let (mut heard, mut last) = (Instant::now(), 0);
    let transfer = |is_over| {
        let total = Some(shared.total.load(Ordering::Relaxed)).filter(|total| *total > 0);
        let received = shared.received.load(Ordering::Relaxed);
        tell(&Transfer { url: asked.url.to_owned(), received, total, is_over });
    };
    let ended = loop {
        match outcome.recv_timeout(TICK) {
            Ok(outcome) => break (outcome, Duration::ZERO),
            Err(RecvTimeoutError::Disconnected) => {
                break (Outcome::Failed("the transfer broke off".to_owned()), Duration::ZERO);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        transfer(false);
        let received = shared.received.load(Ordering::Relaxed);
        if received > last {
            (heard, last) = (Instant::now(), received);
        }
        if asked.budget.halt().is_some() {
            break (Outcome::Halted, Duration::ZERO);
        }
        if heard.elapsed() >= asked.patience {
            let what = if last == 0 { "no answer" } else { "no more bytes" };
            let why = format!("{what} within {} seconds", asked.patience.as_secs_f32().ceil());
            break (Outcome::Silent(why), heard.elapsed());
        }
    };
    shared.is_given_up.store(true, Ordering::Relaxed);
    transfer(true);
    ended
}

fn transfer(agent: &Agent, url: &str, into: NamedTempFile, shared: &Shared) -> Outcome {
    let response = match agent.get(url).call() {
        Ok(response) => response,
        Err(error) => return of_error(&error),
    };
    match response.status().as_u16() {
        200 => {}
        404 => return Outcome::NotThere,
        status => return Outcome::Failed(format!("the server answered with status {status}")),
    }
    let is_packed = response.headers().get(header::CONTENT_ENCODING);
    let is_packed = is_packed.is_some_and(|encoding| encoding == "gzip");
    let total = length(response.headers(), is_packed);
    shared.total.store(total.unwrap_or_default(), Ordering::Relaxed);
    let body = response.into_body().into_with_config().limit(MAX_FILE).reader();
    let copied = match is_packed {
        true => copy(GzDecoder::new(body), into, shared),
        false => copy(body, into, shared),
    };
    match copied {
        Ok(file) => {
            let received = shared.received.load(Ordering::Relaxed);
            match total.filter(|total| *total != received) {
                Some(total) => {
                    Outcome::Failed(format!("cut off: {received} of {total} bytes came"))
                }
                None => Outcome::File(file),
            }
        }
        Err(error) => Outcome::Failed(format!(
            "cut off after {} bytes: {error}",
            shared.received.load(Ordering::Relaxed)
        )),
    }
}

/// Bytes of the file: its length on the way is another one when it is packed there.
fn length(headers: &HeaderMap, is_packed: bool) -> Option<u64> {
    let number = |value: &ureq::http::HeaderValue| value.to_str().ok()?.trim().parse::<u64>().ok();
    let own = headers.get(header::CONTENT_LENGTH).filter(|_| !is_packed);
    own.or_else(|| headers.get(SIZE)).and_then(number)
}

fn copy(
    mut body: impl Read,
    mut into: NamedTempFile,
    shared: &Shared,
) -> io::Result<NamedTempFile> {
    let mut chunk = vec![0; CHUNK];
    let mut room = MAX_FILE;
    loop {
        if shared.is_given_up.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let read = body.read(&mut chunk)?;
        if read == 0 {
            into.flush()?;
            return Ok(into);
        }
        room = room.checked_sub(read as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        into.write_all(chunk.get(..read).unwrap_or_default())?;
        shared.received.fetch_add(read as u64, Ordering::Relaxed);
    }
}

/// A server that cannot be reached is asked no more.
fn of_error(error: &Error) -> Outcome {
    match error {
        Error::Io(_) | Error::Timeout(_) | Error::HostNotFound | Error::ConnectionFailed => {
            Outcome::Silent(error.to_string())
        }
        other => Outcome::Failed(other.to_string()),
    }
}

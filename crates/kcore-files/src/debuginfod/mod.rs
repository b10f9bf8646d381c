//! Files from debuginfod servers, by build-id (elfutils, `debuginfod(8)`, «WEBAPI»).
//!
//! Nothing is asked unless a user said so. What was fetched lies where the usual client has it, and so does the
//! remembrance of what no server has; both programs share it.

mod cache;
mod servers;
mod transfer;
mod trusted;

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kcore_elf::BuildId;
use kcore_mem::Budget;

use crate::{FilePlace, FileUse, WantedFile, Why, regular};

use cache::{Cached, DebuginfodCache};
pub use servers::ServerList;
use transfer::{Client, FileRequest, Outcome};

/// How long all servers together may keep a run waiting without a byte.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How far the transfer of a file has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What is fetched, and from where.
    pub url: String,
    /// Bytes that have come.
    pub received: u64,
    /// Bytes of the file, where the server says so.
    pub total: Option<u64>,
    /// Whether this is the last word about it.
    pub is_over: bool,
}

/// Who is told how far transfers have come.
pub type TellTransfer = Arc<dyn Fn(&Transfer) + Send + Sync>;

/// Servers of files, and the folder in which fetched files are kept.
pub struct Debuginfod {
    urls: Vec<String>,
    cache: DebuginfodCache,
    budget: Budget,
    tell: Option<TellTransfer>,
    client: Client,
    state: Mutex<State>,
}

/// What a run has learnt of the servers.
struct State {
    /// How long silent servers may still be waited for.
    patience: Duration,
    /// Servers that are asked no more, by number.
    silent: Vec<usize>,
    /// Why a file did not come.
    refusals: HashMap<(String, &'static str), Vec<(PathBuf, Why)>>,
}

impl Debuginfod {
    /// Those at these addresses, asked in this order. Fetched files are kept in `cache`; `budget` says when a command has
    /// to end.
    pub fn new(urls: Vec<String>, cache: PathBuf, budget: &Budget) -> Self {
        let state = State { patience: PATIENCE, silent: Vec::new(), refusals: HashMap::new() };
        Self {
            urls,
            cache: DebuginfodCache::new(cache),
            budget: budget.clone(),
            tell: None,
            client: Client::default(),
            state: Mutex::new(state),
        }
    }

    /// The same, which tells how far each transfer has come.
    #[must_use]
    pub fn telling(self, tell: TellTransfer) -> Self {
        Self { tell: Some(tell), ..self }
    }

    /// The same with another limit for all the waiting.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        self.lock().patience = patience;
        self
    }

    /// One file is fetched at a time: who waits for another one waits here.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks one server after the other. `None`: none has it, or none answers.
    fn fetch(&self, state: &mut State, id: &BuildId, kind: &'static str) -> Option<PathBuf> {
        let mut refusals = Vec::new();
        for (number, server) in self.urls.iter().enumerate() {
            let url = format!("{}/buildid/{id}/{kind}", server.trim_end_matches('/'));
            if state.silent.contains(&number) {
                let silent = Why::NotFetched("the server did not answer before".to_owned());
                refusals.push((PathBuf::from(url), silent));
                continue;
            }
            match self.ask(state, id, &url) {
                Answer::File(file) => match self.cache.keep(&id.to_string(), kind, file) {
                    Ok(path) => return Some(path),
                    Err(error) => refusals.push((url.into(), regular::why(error))),
                },
                Answer::Refused(why) => refusals.push((url.into(), why)),
                Answer::Silent(why) => {
                    state.silent.push(number);
                    refusals.push((url.into(), Why::NotFetched(why)));
                }
                Answer::Halted => return None,
            }
        }
        if !refusals.is_empty() && refusals.iter().all(|(_, why)| *why == Why::NotFound) {
            self.cache.remember_miss(&id.to_string(), kind);
        }
        state.refusals.insert((id.to_string(), kind), refusals);
        None
    }

    fn ask(&self, state: &mut State, id: &BuildId, url: &str) -> Answer {
        let into = match self.cache.new_file(&id.to_string()) {
            Ok(into) => into,
            Err(error) => {
                return Answer::Refused(Why::NotFetched(format!(
                    "{}: {error}",
                    self.cache.folder().display()
                )));
            }
        };
        let asked = FileRequest { url, patience: state.patience, budget: &self.budget };
        let tell = |transfer: &Transfer| self.tell.iter().for_each(|tell| tell(transfer));
        let (outcome, waited) = self.client.fetch(&asked, into, &tell);
        state.patience = state.patience.saturating_sub(waited);
        match outcome {
            Outcome::File(file) => match check(&file, id, &self.budget) {
                Ok(()) => Answer::File(file),
                Err(why) => Answer::Refused(why),
            },
            Outcome::NotThere => Answer::Refused(Why::NotFound),
            Outcome::Failed(why) => Answer::Refused(Why::NotFetched(why)),
            Outcome::Silent(why) => Answer::Silent(why),
            Outcome::Halted => Answer::Halted,
        }
    }
}

enum Answer {
    File(tempfile::NamedTempFile),
    Refused(Why),
    Silent(String),
    Halted,
}

/// What a server gave is not kept unless it is what was asked for.
fn check(file: &tempfile::NamedTempFile, id: &BuildId, budget: &Budget) -> Result<(), Why> {
    let image = regular::image_of(file.as_file(), file.path(), budget)?;
    let found = image.build_id();
    if found.as_ref() == Some(id) { Ok(()) } else { Err(Why::BuildIdMismatch { found }) }
}

const fn kind(for_use: FileUse) -> &'static str {
    match for_use {
        FileUse::Module => "executable",
        FileUse::Debug => "debuginfo",
    }
}

impl FilePlace for Debuginfod {
    fn name(&self) -> &'static str {
        "debuginfod"
    }

    fn candidates(&self, wanted: &WantedFile<'_>) -> Vec<PathBuf> {
        let Some(id) = wanted.build_id else { return Vec::new() };
        let kind = kind(wanted.for_use);
        let mut state = self.lock();
        match self.cache.find(&id.to_string(), kind) {
            Cached::File(path) => vec![path],
            Cached::Missed(path) => {
                let why = Why::NotFetched("no server had it a short while ago".to_owned());
                state.refusals.insert((id.to_string(), kind), vec![(path, why)]);
                Vec::new()
            }
            Cached::Nothing => self.fetch(&mut state, id, kind).into_iter().collect(),
        }
    }

    fn refusals(&self, wanted: &WantedFile<'_>) -> Vec<(PathBuf, Why)> {
        let Some(id) = wanted.build_id else { return Vec::new() };
        let key = (id.to_string(), kind(wanted.for_use));
        self.lock().refusals.get(&key).cloned().unwrap_or_default()
    }
}

impl fmt::Debug for Debuginfod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Debuginfod").field("urls", &self.urls).finish_non_exhaustive()
    }
}

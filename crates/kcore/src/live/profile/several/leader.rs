//! Who follows the processes: finds them, has each sampled, and makes one profile of what comes back.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::Receiver,
    },
    time::{Duration, Instant, SystemTime},
};

use kcore_live::{Descendant, LiveError, ProcessKey, descendants};
use kcore_profile::{About, Profile, ProfileProcess};

use super::{Order, Outcome, ProcessCost, ProcessesCost, RefusedProcess};
use crate::{
    OpenError,
    by_file::SymbolsByFile,
    live::profile::{Method, ProfileCost, ProfileOptions, ProfileProgress},
};

/// Processes that are sampled at a time, at most: each has a thread of kcore, and some files open.
const AT_ONCE: usize = 256;
/// Processes that are followed in one profile, at most.
const MAX_FOLLOWED: usize = 16 << 10;
/// Processes that share what was read of files: files of those before are given up with them.
const SHARING: usize = 64;
/// How often it is looked whether it is to end.
const TURN: Duration = Duration::from_millis(10);
/// How often processes are listed, at least and at most.
const LIST: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));
/// How many times as long as a list took is waited for the next one: two hundredths of a processor are spent for it.
const LIST_SHARE: u32 = 50;

/// Follows processes. `begin` has one of them sampled beside it.
pub struct Leader<'a, B> {
    wanted: &'a ProfileOptions,
    begin: B,
    /// All that were found.
    known: Vec<ProcessKey>,
    /// How many were begun.
    count: usize,
    symbols: Arc<SymbolsByFile>,
    finishing: Finishing<'a>,
}

/// What came back by now, and what is still to come.
pub struct Finishing<'a> {
    progress: &'a ProfileProgress,
    /// Those that are sampled now.
    working: HashMap<ProcessKey, Arc<ProfileProgress>>,
    /// Set to end the profiles of all of them.
    ended: Arc<AtomicBool>,
    /// When the first of them began to be sampled.
    begun: Option<(Instant, SystemTime)>,
    /// Samples of those that are not sampled any more.
    samples: u64,
    /// `None` until one has come back.
    profile: Option<Profile>,
    cost: ProcessesCost,
    /// Why the first one could not be sampled.
    error: Option<OpenError>,
    /// The process that started the others.
    root: (ProcessKey, String),
}

impl<'a, B: Fn(Order) -> io::Result<()>> Leader<'a, B> {
    /// Nothing is followed yet; `root` is the process that is, and those that it starts.
    pub fn new(
        root: &Descendant,
        wanted: &'a ProfileOptions,
        progress: &'a ProfileProgress,
        begin: B,
    ) -> Self {
        let finishing = Finishing {
            progress,
            working: HashMap::new(),
            ended: Arc::default(),
            begun: None,
            samples: 0,
            profile: None,
            cost: ProcessesCost { at_once: AT_ONCE, ..ProcessesCost::default() },
            error: None,
            root: (root.key, name_of(root)),
        };
        Self { wanted, begin, known: Vec::new(), count: 0, symbols: Arc::default(), finishing }
    }

    /// Has a process sampled, and those that it starts, until the time is over or none of them is left.
    pub fn follow(&mut self, root: Descendant, outcomes: &Receiver<Outcome>) {
        self.add(root);
        let (mut listed, mut pause) = (Instant::now(), Duration::ZERO);
        while !self.is_over() {
            let mut is_anyone_left = true;
            if listed.elapsed() >= pause {
                let listing = Instant::now();
                is_anyone_left = self.list();
                pause = listing.elapsed().saturating_mul(LIST_SHARE).clamp(LIST.0, LIST.1);
                listed = Instant::now();
            }
            let has_begun = self.finishing.begun.is_some();
            if self.finishing.working.is_empty() && !(is_anyone_left && has_begun) {
                return;
            }
            if let Ok(outcome) = outcomes.recv_timeout(TURN) {
                self.finishing.take(outcome);
            }
            self.finishing.look();
        }
    }

    /// No more processes are followed, and the profiles of all end.
    pub fn end(self) -> Finishing<'a> {
        self.finishing.ended.store(true, Ordering::Relaxed);
        self.finishing
    }

    fn is_over(&self) -> bool {
        let begun = self.finishing.begun;
        let is_late = begun.is_some_and(|(begun, _)| begun.elapsed() >= self.wanted.duration);
        is_late || self.finishing.progress.stop.load(Ordering::Relaxed)
    }

    /// Looks for processes that are new; says whether any of those that are followed is left.
    fn list(&mut self) -> bool {
        let Ok(found) = descendants(&self.known) else { return true };
        let new: Vec<Descendant> =
            found.into_iter().filter(|process| !self.known.contains(&process.key)).collect();
        let room = AT_ONCE.saturating_sub(self.finishing.working.len());
        let crowded = new.len().saturating_sub(room) as u64;
        self.finishing.cost.crowded = self.finishing.cost.crowded.max(crowded);
        new.into_iter().take(room).for_each(|process| self.add(process));
        self.forget()
    }

    /// Forgets those that have ended; says whether any is left.
    fn forget(&mut self) -> bool {
        let working = &self.finishing.working;
        let lives =
            |key: &ProcessKey| Descendant::of(key.pid).is_some_and(|process| process.key == *key);
        self.known.retain(|key| working.contains_key(key) || lives(key));
        !self.known.is_empty()
    }

    fn add(&mut self, process: Descendant) {
        if self.count >= MAX_FOLLOWED {
            self.finishing.cost.is_full = true;
            return;
        }
        if self.count.checked_rem(SHARING) == Some(0) {
            self.symbols = Arc::default();
        }
        self.count = self.count.saturating_add(1);
        self.known.push(process.key);
        let stop = self.finishing.ended.clone();
        let progress = Arc::new(ProfileProgress { stop, ..ProfileProgress::default() });
        let (key, name) = (process.key, name_of(&process));
        let order = Order { process, progress: progress.clone(), symbols: self.symbols.clone() };
        match (self.begin)(order) {
            Ok(()) => drop(self.finishing.working.insert(key, progress)),
            Err(error) => {
                let reason = format!("no thread could be made for it: {error}");
                self.finishing.cost.refuse(RefusedProcess { pid: key.pid, name, reason });
            }
        }
    }
}

impl Finishing<'_> {
    /// The profile of all, and what it cost, once all have come back.
    ///
    /// # Errors
    /// Why the first one could not be sampled, where no other was.
    pub fn finish(
        mut self,
        outcomes: &Receiver<Outcome>,
    ) -> Result<(Profile, ProcessesCost), OpenError> {
        self.cost.elapsed = self.begun.map(|(begun, _)| begun.elapsed()).unwrap_or_default();
        for outcome in outcomes {
            self.take(outcome);
        }
        self.cost.processes.sort_by_key(|process| process.from);
        match (self.profile, self.error) {
            (Some(mut profile), _) => {
                profile.about.elapsed = self.cost.elapsed;
                Ok((profile, self.cost))
            }
            (None, Some(error)) => Err(error),
            (None, None) => Err(LiveError::Stopped.into()),
        }
    }

    /// Counts what was sampled by now, for whoever watches.
    fn look(&mut self) {
        let begins = |progress: &Arc<ProfileProgress>| progress.begun.load(Ordering::Relaxed);
        if self.begun.is_none() && self.working.values().any(begins) {
            self.begun = Some((Instant::now(), SystemTime::now()));
            self.progress.begun.store(true, Ordering::Relaxed);
        }
        let samples = self.working.values().map(|it| it.samples.load(Ordering::Relaxed));
        let samples = samples.fold(self.samples, u64::saturating_add);
        self.progress.samples.store(samples, Ordering::Relaxed);
    }

    fn take(&mut self, outcome: Outcome) {
        let Outcome { process, result } = outcome;
        self.working.remove(&process.key);
        match result {
            Ok((profile, cost)) if was_seen(&cost) => self.add(&process, &profile, cost),
            Ok(_) => self.cost.unseen = self.cost.unseen.saturating_add(1),
            Err(error) => self.note(&process, error),
        }
    }

    /// Notes why one could not be sampled.
    fn note(&mut self, process: &Descendant, error: OpenError) {
        if is_end(&error) {
            self.cost.unseen = self.cost.unseen.saturating_add(1);
        } else {
            let (pid, name) = (process.key.pid, name_of(process));
            self.cost.refuse(RefusedProcess { pid, name, reason: error.to_string() });
        }
        self.error.get_or_insert(error);
    }

    fn add(&mut self, process: &Descendant, profile: &Profile, cost: ProfileCost) {
        // One that ended before it was looked whether any had begun.
        let (_, start) = *self.begun.get_or_insert((Instant::now(), profile.about.start));
        let from = profile.about.start.duration_since(start).unwrap_or_default();
        let number = |key: ProcessKey| u32::try_from(key.pid.get()).unwrap_or_default();
        let (root, program) = &self.root;
        let all = self.profile.get_or_insert_with(|| {
            let (program, pid) = (program.clone(), number(*root));
            Profile::new(About { program, pid, start, ..profile.about.clone() })
        });
        if process.key == *root {
            all.about.program.clone_from(&cost.program);
        }
        let until = from.saturating_add(cost.elapsed);
        let (pid, name) = (number(process.key), cost.program.as_str().into());
        let taken = ProfileProcess { pid, name, from, until };
        let no_room = all.add_process(taken, profile);
        self.cost.no_room = self.cost.no_room.saturating_add(no_room);
        self.samples = self.samples.saturating_add(cost.samples);
        let threads = profile.threads().len();
        self.cost.add(ProcessCost { pid: process.key.pid, from, threads, cost });
    }
}

/// Whether a process was looked at, also where it did nothing that counts.
fn was_seen(cost: &ProfileCost) -> bool {
    cost.samples > 0 || cost.rounds > 0 || matches!(cost.method, Method::Counters { .. })
}

/// Whether it had ended, or just did.
const fn is_end(error: &OpenError) -> bool {
    use LiveError::{Gone, NoProcess, Stopped, Zombie};
    matches!(error, OpenError::Live(Gone(_) | NoProcess(_) | Stopped | Zombie(_)))
}

fn name_of(process: &Descendant) -> String {
    String::from_utf8_lossy(&process.name).into_owned()
}

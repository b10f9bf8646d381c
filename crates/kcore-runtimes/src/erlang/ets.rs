//! Tables of ETS (`erl_db_util.h`), by the processes that own them.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Erlang,
    ids::Pid,
    missing::{Missing, Noting},
    process::ErlangProcess,
    term::Terms,
};
use crate::Host;

/// The place in `psd` where a process has its tables.
const OWNED: u64 = 48;
/// `DbTableCommon`: the next table of the owner, what `ets:new` was asked for, its owner, its name, its methods.
const NEXT: u64 = 32;
const TYPE: u64 = 172;
const OWNER: u64 = 176;
const NAME: u64 = 208;
const METHODS: u64 = 224;
/// Number of counters, where each is one; how many objects, and how many bytes.
const COUNTERS: u64 = 232;
const OBJECTS: u64 = 240;
const BYTES: u64 = 248;
/// Where the position of the key stands.
const KEY: u64 = 284;
const PLAIN_COUNTERS: u64 = 2;
/// `DB_SET` and others, bits of [`TYPE`], in the words of `ets:info`. An ordered set that many processes write has a bit
/// of its own, `DB_CA_ORDERED_SET`.
const TYPES: [(u64, &str); 5] = [
    (1 << 4, "set"),
    (1 << 5, "bag"),
    (1 << 6, "duplicate_bag"),
    (1 << 7, "ordered_set"),
    (1 << 8, "ordered_set"),
];
/// Tables of one process, at most.
const MAX_TABLES: usize = 1 << 20;

/// A table of ETS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtsTable {
    /// Where it lies.
    pub at: Addr,
    /// Its name, or why it cannot be read. Several may have the same, if they are not named tables.
    pub name: Result<Arc<str>, Missing>,
    /// The process that owns it.
    pub owner: Pid,
    /// How it is built: `hash`, `tree`, `catree`.
    pub kind: Option<&'static str>,
    /// What it may hold: `set`, `ordered_set`, `bag`, `duplicate_bag`.
    pub holds: Option<&'static str>,
    /// How many objects it has; `None` where that is counted in many places.
    pub objects: Option<u64>,
    /// Bytes of its memory; `None` as of `objects`.
    pub bytes: Option<u64>,
    /// The position of the key, from 1.
    pub key_position: Option<u32>,
}

/// The tables of all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EtsTables {
    /// Those that can be read.
    pub all: Vec<EtsTable>,
    /// Processes that own more, which cannot be read, and why.
    pub torn: Vec<(Pid, Missing)>,
}

impl Erlang {
    /// The tables of all processes.
    pub fn tables(&self, host: &dyn Host) -> EtsTables {
        let mut found = EtsTables::default();
        let noting = Noting::new(host.space());
        for process in &self.processes(host).all {
            noting.forget();
            if self.tables_of(&noting, process, &mut found.all).is_none() {
                found.torn.push((process.pid, noting.missing()));
            }
        }
        found
    }

    /// Adds the tables of a process; `None` if some of them cannot be read.
    fn tables_of(
        &self,
        noting: &Noting<'_>,
        process: &ErlangProcess,
        into: &mut Vec<EtsTable>,
    ) -> Option<()> {
        let terms = self.terms_in(noting);
        let memory = &terms.memory;
        let specific = memory.word(process.at, memory.layout.process.specific)?;
        if specific == 0 {
            return Some(());
        }
        let first = memory.word(Addr::new(specific), OWNED)?;
        let (mut next, mut count) = (first, 0);
        // They stand in a ring.
        while next != 0 && (count == 0 || next != first) {
            (count < MAX_TABLES).then_some(())?;
            let at = Addr::new(next);
            let table = self.table(&terms, noting, at).filter(|it| it.owner == process.pid)?;
            into.push(table);
            count = count.saturating_add(1);
            next = memory.word(at, NEXT)?;
        }
        Some(())
    }

    fn table(&self, terms: &Terms<'_>, noting: &Noting<'_>, at: Addr) -> Option<EtsTable> {
        let memory = &terms.memory;
        let methods = memory.pointer(at, METHODS)?;
        let kinds = self.roots.table_kinds.iter();
        let kind = kinds.clone().find(|(at, _)| *at == methods).map(|(_, name)| *name);
        let is_plain = memory.word(at, COUNTERS)? == PLAIN_COUNTERS;
        let counted = |offset| memory.word(at, offset).filter(|_| is_plain);
        let name = memory.word(at, NAME)?;
        let bits = memory.uint(at, TYPE, 4)?;
        Some(EtsTable {
            at,
            name: terms.atom(name).ok_or_else(|| noting.missing()),
            holds: TYPES.iter().find(|(bit, _)| bits & bit != 0).map(|(_, word)| *word),
            owner: terms.ids.pid(memory.word(at, OWNER)?)?,
            kind: kind.map(|name| name.trim_start_matches("db_")),
            objects: counted(OBJECTS),
            bytes: counted(BYTES),
            key_position: memory.uint32(at, KEY),
        })
    }
}

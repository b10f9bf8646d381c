//! Tables of ETS (`erl_db_util.h`), by the processes that own them.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{Erlang, ids::Pid, process::ErlangProcess, term::Terms};
use crate::Host;

/// The place in `psd` where a process has its tables.
const OWNED: u64 = 48;
/// `DbTableCommon`: the next table of the owner, its status bits apart, its owner, its name, its methods.
const NEXT: u64 = 32;
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
/// Tables of one process, at most.
const MAX_TABLES: usize = 1 << 20;

/// A table of ETS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtsTable {
    /// Where it lies.
    pub at: Addr,
    /// Its name: several may have the same, if they are not named tables.
    pub name: Option<Arc<str>>,
    /// The process that owns it.
    pub owner: Pid,
    /// How it is built: `hash`, `tree`, `catree`.
    pub kind: Option<&'static str>,
    /// How many objects it has; `None` where that is counted in many places.
    pub objects: Option<u64>,
    /// Bytes of its memory; `None` as of `objects`.
    pub bytes: Option<u64>,
    /// The position of the key, from 1.
    pub key_position: Option<u32>,
}

impl Erlang {
    /// The tables of all processes.
    pub fn tables(&self, host: &dyn Host) -> Vec<EtsTable> {
        let terms = self.terms(host);
        let all = self.processes(host).all.iter();
        all.flat_map(|process| self.tables_of(&terms, process)).collect()
    }

    fn tables_of(&self, terms: &Terms<'_>, process: &ErlangProcess) -> Vec<EtsTable> {
        let memory = &terms.memory;
        let specific = memory.pointer(process.at, memory.layout.process.specific);
        let first = specific.and_then(|specific| memory.pointer(specific, OWNED));
        let (mut found, mut next) = (Vec::new(), first);
        while let Some(at) = next.filter(|_| found.len() < MAX_TABLES) {
            let Some(table) = self.table(terms, at).filter(|it| it.owner == process.pid) else {
                break;
            };
            found.push(table);
            // They stand in a ring.
            next = memory.pointer(at, NEXT).filter(|next| Some(*next) != first);
        }
        found
    }

    fn table(&self, terms: &Terms<'_>, at: Addr) -> Option<EtsTable> {
        let memory = &terms.memory;
        let methods = memory.pointer(at, METHODS)?;
        let kinds = self.roots.table_kinds.iter();
        let kind = kinds.clone().find(|(at, _)| *at == methods).map(|(_, name)| *name);
        let is_plain = memory.word(at, COUNTERS)? == PLAIN_COUNTERS;
        let counted = |offset| memory.word(at, offset).filter(|_| is_plain);
        Some(EtsTable {
            at,
            name: terms.atom(memory.word(at, NAME)?),
            owner: terms.ids.pid(memory.word(at, OWNER)?)?,
            kind: kind.map(|name| name.trim_start_matches("db_")),
            objects: counted(OBJECTS),
            bytes: counted(BYTES),
            key_position: memory.uint32(at, KEY),
        })
    }
}

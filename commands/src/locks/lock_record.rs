//! A lock and its waiters as a record.

use std::collections::BTreeMap;

use kcore::{
    NamedFrame, Tid,
    waits::{Holder, Lock, LockKind, LockWaiter},
};
use kcore_dcmd::{Cell, Dot, Fields, Record, View};

use super::{subject, words};
use crate::names::Names;

/// A lock that threads wait for.
pub struct LockRecord<'a> {
    names: Names<'a>,
    lock: &'a Lock,
    waiters: Vec<(LockWaiter, Option<NamedFrame>)>,
    verbose: bool,
}

impl<'a> LockRecord<'a> {
    /// The record of `lock`.
    pub fn new(names: Names<'a>, lock: &'a Lock, verbose: bool) -> Self {
        let site = |waiter: &LockWaiter| (*waiter, names.core().wait_site(waiter.tid));
        let waiters = lock.waiters.iter().map(site).collect();
        Self { names, lock, waiters, verbose }
    }

    fn title(&self) -> String {
        let subject = subject::spelled(&self.names, self.lock.at);
        let (kind, held) = (self.lock.kind.spelled(), words::held(self.lock));
        match (self.lock.kind, held.is_empty()) {
            (_, true) => format!("{subject}: {kind}"),
            (LockKind::Join, _) => format!("{subject}: {held}"),
            _ => format!("{subject}: {kind}, {held}"),
        }
    }

    /// The waiters, those that wait alike in the same place on one line, the most first.
    fn lines(&self) -> Vec<String> {
        let mut alike: BTreeMap<String, Vec<Tid>> = BTreeMap::new();
        for (waiter, site) in &self.waiters {
            alike.entry(self.how(waiter, site.as_ref())).or_default().push(waiter.tid);
        }
        let mut groups: Vec<(String, Vec<Tid>)> = alike.into_iter().collect();
        groups.sort_by_key(|(_, tids)| std::cmp::Reverse(tids.len()));
        let proof = self.verbose.then(|| words::proof(self.lock.proof).to_owned());
        let lines = groups.iter().map(|(how, tids)| match tids.as_slice() {
            [tid] => format!("thread {tid} waits{how}"),
            tids => format!("{} threads wait{how}: {}", tids.len(), listed(tids)),
        });
        proof.into_iter().chain(lines).collect()
    }

    fn how(&self, waiter: &LockWaiter, site: Option<&NamedFrame>) -> String {
        let mut how = String::new();
        for part in
            [words::wait(self.lock, waiter), if waiter.has_limit { "for a time" } else { "" }]
        {
            if !part.is_empty() {
                how.push(' ');
                how.push_str(part);
            }
        }
        if let Some(place) = site.and_then(|site| self.place(site)) {
            how.push_str(" in ");
            how.push_str(&place);
        }
        how
    }

    /// Where a frame is: of a language by its file and line, since the machine's code is that of its interpreter.
    fn place(&self, site: &NamedFrame) -> Option<String> {
        let location = &site.location;
        if location.kind.is_machine_code() {
            return site.pc().map(|pc| self.names.spelled_or_address(pc.addr()));
        }
        let (function, file) = (location.function.as_deref()?, location.file.as_deref());
        let line = location.line.map(|line| format!(":{line}")).unwrap_or_default();
        Some(file.map_or_else(|| function.to_owned(), |file| format!("{function} at {file}{line}")))
    }
}

fn listed(tids: &[Tid]) -> String {
    let tids: Vec<String> = tids.iter().map(Tid::to_string).collect();
    tids.join(", ")
}

impl Record for LockRecord<'_> {
    fn kind(&self) -> &'static str {
        "lock"
    }

    fn view(&self) -> View {
        View::Line("{title}{lines*\n    {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let lock = self.lock;
        let (holder_tid, holder_id, readers) = match lock.holder {
            Holder::Thread(tid) => (Some(tid.get()), None, None),
            Holder::Absent(id) => (None, Some(id), None),
            Holder::Readers(count) => (None, None, Some(count)),
            _ => (None, None, None),
        };
        let mutex = match lock.kind {
            LockKind::Mutex(kind) => Some(kind),
            _ => None,
        };
        let flag = |value: Option<bool>| Cell::or_null(value, Cell::Bool);
        out.addr("address", lock.at)
            .opt_text("symbol", self.names.at(lock.at).and_then(|symbol| symbol.name))
            .text("kind", lock.kind.as_str())
            .opt_text("mutex_type", mutex.map(|kind| kind.mutex_type.as_str()))
            .put("is_robust", flag(mutex.map(|kind| kind.is_robust)))
            .put("inherits_priority", flag(mutex.map(|kind| kind.inherits_priority)))
            .put("is_shared", flag(mutex.map(|kind| kind.is_shared)))
            .addr("word", lock.word)
            .hex("value", lock.value.map(u64::from))
            .text("holder", lock.holder.as_str())
            .num("holder_tid", holder_tid.map(u64::from))
            .flag("holder_is_likely", holder_tid.is_some() && !lock.records_holder())
            .num("absent_id", holder_id.map(u64::from))
            .num("readers", readers.map(u64::from))
            .text("recognized_by", lock.proof.as_str())
            .put("waiters", Cell::List(self.waiters.iter().map(waiter_cell).collect()))
            .display("title", Cell::text(self.title()))
            .display("lines", Cell::List(self.lines().into_iter().map(Cell::text).collect()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.lock.at))
    }
}

fn waiter_cell((waiter, site): &(LockWaiter, Option<NamedFrame>)) -> Cell<'static> {
    let location = site.as_ref().map(|site| &site.location);
    let function = location.and_then(|it| it.function.as_deref().map(str::to_owned));
    let file = location.and_then(|it| it.file.as_deref().map(str::to_owned));
    let line = location.and_then(|it| it.line).map(u64::from);
    Cell::Object(vec![
        ("tid", Cell::Num(waiter.tid.get().into())),
        ("purpose", Cell::text(waiter.purpose.as_str())),
        ("has_time_limit", Cell::Bool(waiter.has_limit)),
        ("function", Cell::or_null(function, Cell::text)),
        ("file", Cell::or_null(file, Cell::text)),
        ("line", Cell::or_null(line, Cell::Num)),
    ])
}

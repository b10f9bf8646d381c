//! Locks: whether somebody holds them, and who, as the C library of GNU knows it (`pthread_mutex_t`,
//! `pthread_rwlock_t`).

use crate::{
    Content, Field, Object,
    eval::Evaluator,
    printers::{
        Printer,
        made::{count, truth},
    },
};

/// In `__readers`, below the readers: the phase is one of writing, a writer waits or holds the lock, and readers
/// wait (`nptl/pthread_rwlock_common.c`, `PTHREAD_RWLOCK_READER_SHIFT`, `PTHREAD_RWLOCK_WRPHASE`). In a phase
/// of writing those that are counted wait for its end, and read nothing.
const READER_SHIFT: u32 = 3;
const WRITE_PHASE: u64 = 1;

/// In `__state_` of libc++, above the readers: somebody writes, or waits until there are no readers any more
/// (`__shared_mutex_base`).
const WRITER: u64 = 1 << 31;

/// A lock.
pub struct Mutex;

impl Printer for Mutex {
    fn families(&self) -> &'static [&'static str] {
        &[
            "std::mutex",
            "std::timed_mutex",
            "std::recursive_mutex",
            "std::recursive_timed_mutex",
            "std::shared_mutex",
            "std::shared_timed_mutex",
        ]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let fields = own(evaluator, object).or_else(|| of_libc(evaluator, object))?;
        Some(Content::Fields(fields))
    }
}

/// What the locks of libc++ know themselves that the C library has not: with a limit of time, or shared.
fn own(evaluator: &Evaluator<'_>, object: &Object) -> Option<Vec<Field>> {
    let number = |name| evaluator.number_in(object, &[name]);
    if let Some(state) = number("__state_").or_else(|| declared_state(evaluator, object)) {
        let readers = state & WRITER.wrapping_sub(1);
        let writing = state & WRITER != 0 && readers == 0;
        return Some(vec![count("readers", readers), truth("writing", writing)]);
    }
    let is_held = number("__locked_").or_else(|| number("__count_"))? != 0;
    Some(vec![truth("locked", is_held)])
}

/// The state of libc++'s `shared_mutex` where clang only declares what has it: the last member, of four bytes, of an
/// object that is aligned to words.
fn declared_state(evaluator: &Evaluator<'_>, object: &Object) -> Option<u64> {
    let base = evaluator.member(object, "__base_");
    let base = base.or_else(|| evaluator.member(object, "__base"))?;
    let is_declared = evaluator.complete(&base.ty)?.node().is_declaration;
    let into = evaluator.complete(&object.ty)?.size()?.checked_sub(evaluator.word())?;
    let at = object.address().filter(|_| is_declared)?.checked_add(into)?;
    evaluator.process().space().read_uint(at, 4).ok()
}

fn of_libc(evaluator: &Evaluator<'_>, object: &Object) -> Option<Vec<Field>> {
    let number = |name| evaluator.number_in(object, &[name]);
    if let Some(writer) = number("__cur_writer") {
        let word = number("__readers")?;
        let counted = word.checked_shr(READER_SHIFT)?;
        let is_writing = word & WRITE_PHASE != 0;
        let (readers, waiting) = if is_writing { (0, counted) } else { (counted, 0) };
        let mut fields = vec![count("readers", readers), owner(writer)];
        if waiting > 0 {
            fields.push(count("waiting_readers", waiting));
        }
        return Some(fields);
    }
    Some(vec![truth("locked", number("__lock")? != 0), owner(number("__owner")?)])
}

/// The thread that holds a lock, zero for none.
fn owner(thread: u64) -> Field {
    count("owner", thread)
}

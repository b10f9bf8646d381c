//! A SIGSEGV that the kernel raised since a thread's area for restartable sequences is damaged.
//!
//! The area is `struct rseq` (Linux `include/uapi/linux/rseq.h`): `cpu_id_start` and `cpu_id`, then the address of a
//! `struct rseq_cs` or 0. The kernel reads it when the thread was preempted or took a signal, and ends a process whose address
//! leads nowhere (`kernel/rseq.c`). glibc keeps it `__rseq_offset` bytes behind the thread pointer (since 2.35).

use kcore_mem::Addr;

use crate::{
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
    refused_access::RefusedAccess,
};

/// glibc's variable with the offset, and where the area has the address.
const OFFSET: &str = "__rseq_offset";
const SEQUENCE: u64 = 8;

pub const FINDER: Finder = Finder {
    name: "rseq",
    needs: "a disassembler, and the thread's area for restartable sequences",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let lost = crash.core().has_lost_mappings();
    if lost || !crash.has_no_address() || crash.refused_access() != RefusedAccess::Nothing {
        return Ok(None);
    }
    let Some(at) = sequence_of(crash) else { return Ok(None) };
    let value = crash.core().space().read_addr(at);
    let value = value.map_err(|_| "the core does not hold the thread's area")?;
    if value.get() == 0 || crash.core().mapping_at(value).is_some() {
        return Ok(None);
    }
    let sentence = format!(
        "the kernel ended the process: the thread's area for restartable sequences was overwritten, and leads to {value}, \
         where nothing is mapped{}",
        crash.in_or_called_from()
    );
    let finding = Finding::certain(sentence);
    let finding = finding.with("rseq_cs is no address of the process", EvidenceSource::Memory(at));
    let finding =
        finding.with("the instruction touches no memory that it may not", crash.shown_by_code());
    Ok(Some(finding.then_ask("what lies before the area", EvidenceSource::Content(at))))
}

/// Where the thread's area has the address of the sequence that runs.
fn sequence_of(crash: &Crash<'_>) -> Option<Addr> {
    let core = crash.core();
    let offset = core.space().read_word(core.symbols().lookup(None, OFFSET).ok()?).ok()?;
    let area = crash.thread_pointer()?.wrapping_offset(offset.cast_signed());
    area.checked_add(SEQUENCE)
}

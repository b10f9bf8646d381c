//! `::ugrep`, `::kgrep` — searches memory for a value: who points here.

use kcore::search::{Match, Skipped, UnitSize, ValuePattern};
use kcore::{Addr, AddrRange, Origin};
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result, Spec,
    View,
};

use crate::operand;

/// Addresses that go into a pipe, at most, because the next stage handles each of them.
const MAX_PIPED: u64 = 1 << 20;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'v', value: None, help: "also show the value at each address" },
    Opt { flag: 'd', value: Some("dist"), help: "also match values below address + dist" },
    Opt { flag: 'm', value: Some("mask"), help: "compare only the bits of the mask" },
    Opt { flag: 'M', value: Some("invmask"), help: "compare all bits except those of the mask" },
    Opt { flag: 'a', value: Some("min"), help: "the first address to search" },
    Opt { flag: 'A', value: Some("max"), help: "the first address after the searched range" },
    Opt { flag: 's', value: Some("size"), help: "bytes in a unit: 1, 2, 4 or 8 (default 8)" },
];

const EXAMPLES: &[Example] = &[
    Example { line: "main::ugrep", shows: "where memory holds the address of a function" },
    Example { line: "<rsp::ugrep -d 100 -v", shows: "pointers into 0x100 bytes of the stack" },
    Example { line: "main::ugrep | ::whatis", shows: "what holds the address" },
];

/// Finds the units of memory that hold a value.
pub struct Ugrep;

impl Dcmd for Ugrep {
    fn spec(&self) -> Spec {
        Spec::new("ugrep", Group::Memory, "search memory for a value: who points here")
            .aliases(&["kgrep"])
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(
                "Searches memory for the value given as address, and shows where it stands, \
                 lowest address first. Units are aligned and have the byte order of the target. \
                 kcore searches all memory that the core holds. Where the core left out memory, \
                 kcore reads it from the verified file of an object. It skips what neither has, \
                 and a note says so.\n\n\
                 A pipe gets the first 0t1048576 addresses.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let unit = unit_size(cx, args)?;
        let wanted = wanted(cx, args, unit)?;
        if !wanted.is_possible(unit) {
            return Err(DcmdError::failed("warning: pattern does not match mask"));
        }
        let within = AddrRange::new(
            Addr::new(operand::option(cx, args, 'a', 0)?),
            Addr::new(operand::option(cx, args, 'A', u64::MAX)?),
        );
        let core = cx.core();
        let mut search = core.memory().search(wanted, unit, within);
        if search.total() == 0 {
            return Err(DcmdError::failed("warning: nothing searched"));
        }
        let mut printer = Printer { verbose: args.has('v'), unit, left: limit(cx) };
        let total = search.total();
        for batch in search.by_ref() {
            cx.progress(batch.done, total);
            cx.check_interrupt()?;
            if !printer.emit_all(cx, &batch.matches)? {
                return cx
                    .note(&format!("only the first {MAX_PIPED} addresses went into the pipe"));
            }
        }
        note_skipped(cx, search.skipped())
    }
}

/// How many matches are emitted at most.
fn limit(cx: &Cx<'_>) -> u64 {
    if cx.input().pipe_out { MAX_PIPED } else { u64::MAX }
}

fn unit_size(cx: &Cx<'_>, args: &Args) -> Result<UnitSize> {
    let size = operand::count_option(cx, args, 's', cx.core().target().word_size() as u64)?;
    UnitSize::from_bytes(size).ok_or_else(|| {
        DcmdError::failed(if size.is_power_of_two() {
            "sizes greater than 8 not supported"
        } else {
            "size must be a power of 2"
        })
    })
}

fn wanted(cx: &Cx<'_>, args: &Args, unit: UnitSize) -> Result<ValuePattern> {
    let value = cx.dot().number();
    let mut given = ['d', 'm', 'M'].into_iter().filter(|flag| args.has(*flag));
    let (option, second) = (given.next(), given.next());
    if second.is_some() {
        return Err(DcmdError::usage("only one of -d, -m and -M may be specified"));
    }
    let Some(flag) = option else { return Ok(ValuePattern::exactly(value)) };
    let number = operand::option(cx, args, flag, 0)?;
    if flag == 'd' && number == 0 {
        return Err(DcmdError::usage("the distance must be greater than 0"));
    }
    Ok(match flag {
        'd' => ValuePattern::Between {
            first: value,
            last: value.saturating_add(number.saturating_sub(1)),
        },
        'm' => ValuePattern::Masked { value, mask: number },
        _ => ValuePattern::Masked { value, mask: !number & unit.max() },
    })
}

/// Notes what was not searched, because it may hold the value.
fn note_skipped(cx: &mut Cx<'_>, skipped: Skipped) -> Result<()> {
    let bytes = skipped.bytes;
    let done = cx.core().snapshot().kept_word();
    match skipped.ranges {
        0 => Ok(()),
        1 => cx.note(&format!("a range of {bytes:#x} bytes was not {done} and not searched")),
        ranges => cx.note(&format!(
            "{ranges} ranges of {bytes:#x} bytes in all were not {done} and not searched"
        )),
    }
}

/// Emits matches, up to the limit.
struct Printer {
    verbose: bool,
    unit: UnitSize,
    left: u64,
}

impl Printer {
    /// Emits all of them. Returns whether more may follow.
    fn emit_all(&mut self, cx: &mut Cx<'_>, matches: &[Match]) -> Result<bool> {
        for found in matches {
            let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
            self.left = left;
            let origin = cx.core().space().origin(found.addr).ok();
            let (verbose, unit) = (self.verbose, self.unit);
            cx.emit(&MatchRecord { found: *found, unit, origin, verbose })?;
        }
        Ok(true)
    }
}

/// One unit of memory that holds what was looked for.
struct MatchRecord {
    found: Match,
    unit: UnitSize,
    origin: Option<Origin>,
    verbose: bool,
}

impl Record for MatchRecord {
    fn kind(&self) -> &'static str {
        "match"
    }

    fn view(&self) -> View {
        View::Line(if self.verbose { "{address:x}:\t{value:x}" } else { "{address:x}" })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.found.addr)
            .hex("value", self.found.value)
            .num("size", self.unit.bytes() as u64)
            .opt_text("origin", self.origin.map(Origin::as_str));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.found.addr))
    }
}

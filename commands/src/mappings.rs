//! `::mappings`, `$m` — the address-space mappings of the process.

use kcore::{Addr, Mapping, MappingKind, Origin};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record,
    Result, Spec, View,
};

use crate::operand;

const COLUMNS: &[Column] = &[
    Column::right("base", "BASE", 16),
    Column::right("limit", "LIMIT", 16),
    Column::right("size_in_hex", "SIZE", 16),
    Column::left("name", "NAME", 24),
    Column::left("permissions", "PERM", 4),
];

const EXAMPLES: &[Example] = &[
    Example { line: "::mappings", shows: "every mapping, lowest address first" },
    Example { line: "<rsp::mappings", shows: "the mapping that the stack pointer is in" },
    Example { line: "$m stack", shows: "the stack of the main thread" },
];

/// Lists every mapping, or those that an address or a name selects.
pub struct Mappings;

impl Dcmd for Mappings {
    fn spec(&self) -> Spec {
        Spec::new("mappings", Group::Memory, "list the address-space mappings")
            .aliases(&["$m"])
            .addr(AddrUse::Optional)
            .operands("[name]", 0, 1)
            .help(
                "LIMIT is the first address after the mapping. NAME is the file that is mapped, \
                 or the use of the memory: [ heap ], [ stack ], [ stack tid=N ] for another \
                 thread, [ vdso ] or [ anon ].\n\n\
                 With an address, shows the mapping that holds it. With a name, shows the \
                 mappings of that name. For a path its last part is enough, and you may leave \
                 out the brackets.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        match (cx.addr(), args.first()) {
            (Some(dot), _) => emit_at(cx, dot.addr()),
            (None, Some(word)) => emit_named(cx, word),
            (None, None) => emit_all(cx, |_| true).map(drop),
        }
    }
}

fn emit_at(cx: &mut Cx<'_>, at: Addr) -> Result<()> {
    let mapping = cx.core().memory().mapping_at(at).ok_or_else(|| {
        DcmdError::at(at, format!("failed to obtain mapping: no mapping for address {at:x}"))
    })?;
    emit(cx, &mapping)
}

/// A word that names no mapping may be an expression for an address.
fn emit_named(cx: &mut Cx<'_>, word: &Arg) -> Result<()> {
    let name = word.to_text();
    if emit_all(cx, |mapping| is_called(mapping, &name))? > 0 {
        return Ok(());
    }
    match operand::number(cx, word) {
        Ok(at) => emit_at(cx, Addr::new(at)),
        Err(_) => Err(DcmdError::failed(format!(
            "failed to obtain mapping: unknown object file name '{name}'"
        ))),
    }
}

fn emit_all(cx: &mut Cx<'_>, wanted: impl Fn(&Mapping) -> bool) -> Result<usize> {
    let core = cx.core();
    let mut emitted: usize = 0;
    for mapping in core.memory().mappings().filter(wanted) {
        emit(cx, &mapping)?;
        emitted = emitted.saturating_add(1);
    }
    Ok(emitted)
}

fn emit(cx: &mut Cx<'_>, mapping: &Mapping) -> Result<()> {
    let origin = cx.core().space().origin(mapping.range.start).ok();
    cx.emit(&MappingRecord { mapping, origin })
}

fn is_called(mapping: &Mapping, wanted: &str) -> bool {
    let name = mapping.name();
    let last = name.rsplit('/').next().unwrap_or(&name);
    let bare = name.trim_start_matches("[ ").trim_end_matches(" ]");
    [name.as_str(), last, bare].contains(&wanted)
}

/// One mapping, and where the first of its bytes comes from.
struct MappingRecord<'m> {
    mapping: &'m Mapping,
    origin: Option<Origin>,
}

impl Record for MappingRecord<'_> {
    fn kind(&self) -> &'static str {
        "mapping"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let range = self.mapping.range;
        let (path, offset) = match &self.mapping.kind {
            MappingKind::File { path, offset } => (Some(&**path), Some(offset.get())),
            _ => (None, None),
        };
        let thread = match self.mapping.kind {
            MappingKind::ThreadStack(tid) => Some(u64::from(tid.get())),
            _ => None,
        };
        out.addr("base", range.start)
            .addr("limit", range.end)
            .num("size", range.len())
            .opt_text("permissions", self.mapping.permissions())
            .text("kind", kind_word(&self.mapping.kind))
            .text("name", self.mapping.name())
            .opt_text("path", path)
            .hex("offset", offset)
            .num("thread", thread)
            .num("dumped", self.mapping.dumped)
            .opt_text("origin", self.origin.map(Origin::as_str))
            .display("size_in_hex", Cell::Hex(range.len()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.mapping.range.start))
    }
}

const fn kind_word(kind: &MappingKind) -> &'static str {
    match kind {
        MappingKind::File { .. } => "file",
        MappingKind::Stack => "stack",
        MappingKind::ThreadStack(_) => "thread_stack",
        MappingKind::Heap => "heap",
        MappingKind::Vdso => "vdso",
        MappingKind::Vsyscall => "vsyscall",
        MappingKind::Anonymous => "anonymous",
    }
}

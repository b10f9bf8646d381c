//! `::xdata` — what the core holds beside memory: its notes.

use std::collections::BTreeMap;

use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

/// Notes by owner and type (Linux `include/uapi/linux/elf.h`), with their names and what they hold.
const NOTES: &[(&str, u32, &str, &str)] = &[
    ("CORE", 1, "prstatus", "general registers of each thread"),
    ("CORE", 2, "fpregset", "floating-point registers of each thread"),
    ("CORE", 3, "prpsinfo", "ids, state and arguments of the process"),
    ("CORE", 6, "auxv", "auxiliary vector"),
    ("CORE", 0x4649_4c45, "file", "files that are mapped"),
    ("CORE", 0x5349_4749, "siginfo", "why a signal was sent"),
    ("LINUX", 0x200, "386_tls", "segment descriptors of a thread"),
    ("LINUX", 0x202, "x86_xstate", "extended registers of each thread"),
    ("LINUX", 0x205, "x86_xsave_layout", "where x86_xstate has each register"),
    ("LINUX", 0x401, "arm_tls", "thread pointer"),
    ("LINUX", 0x402, "arm_hw_break", "hardware breakpoints"),
    ("LINUX", 0x403, "arm_hw_watch", "hardware watchpoints"),
    ("LINUX", 0x404, "arm_system_call", "number of the system call"),
    ("LINUX", 0x405, "arm_sve", "scalable vector registers"),
    ("LINUX", 0x406, "arm_pac_mask", "masks of pointer authentication"),
    ("LINUX", 0x40a, "arm_pac_enabled_keys", "keys of pointer authentication in use"),
    ("GDB", 0xff00_0000, "gdb_tdesc", "gdb's description of the registers"),
];

/// Lists the notes of the core.
pub struct Xdata;

impl Dcmd for Xdata {
    fn spec(&self) -> Spec {
        Spec::new("xdata", Group::Process, "list what the core holds beside memory")
            .help(
                "Prints one line for each type of note, with the total size of the notes of \
                 that type.",
            )
            .examples(&[Example { line: "::xdata", shows: "the notes of the core" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let file = cx.core().file().ok_or_else(|| DcmdError::failed("no process active"))?;
        let mut kinds: BTreeMap<(String, u32), (u64, u64)> = BTreeMap::new();
        for note in file.notes() {
            let owner = String::from_utf8_lossy(note.owner).into_owned();
            let (count, size) = kinds.entry((owner, note.kind)).or_default();
            *count = count.saturating_add(1);
            *size = size.saturating_add(note.desc.len() as u64);
        }
        kinds.into_iter().try_for_each(|((owner, kind), (count, size))| {
            cx.emit(&NoteRecord { owner, kind, count, size })
        })
    }
}

/// All notes of one type.
struct NoteRecord {
    owner: String,
    kind: u32,
    count: u64,
    size: u64,
}

impl Record for NoteRecord {
    fn kind(&self) -> &'static str {
        "external_data"
    }

    fn view(&self) -> View {
        View::Line("{name_or_number:24} - {description}{description^not known} ({size} bytes)")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let known = NOTES.iter().find(|it| it.0 == self.owner && it.1 == self.kind);
        let name = known.map(|(.., name, _)| *name);
        let number = format!("{} {:#x}", self.owner, self.kind);
        out.opt_text("name", name)
            .text("owner", &self.owner)
            .hex("number", u64::from(self.kind))
            .opt_text("description", known.map(|(.., description)| *description))
            .num("count", self.count)
            .num("size", self.size)
            .display("name_or_number", Cell::text(name.map_or(number, str::to_owned)));
    }
}

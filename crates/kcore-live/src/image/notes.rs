//! The notes of a core: what gdb's `gcore` and the kernel write (Linux `fs/binfmt_elf.c`), and kcore's
//! own.

use kcore_elf::core_file::{LiveThread, MapLine, SnapshotInfo, snapshot};

use kcore_mem::Target;

use crate::{LiveError, Process, Registers, SnapThread, Snapshot, TaskStat};

const NT_PRSTATUS: u32 = 1;
const NT_FPREGSET: u32 = 2;
const NT_PRPSINFO: u32 = 3;
const NT_AUXV: u32 = 6;
const NT_FILE: u32 = 0x4649_4c45;
const NT_X86_XSTATE: u32 = 0x202;
const NT_ARM_TLS: u32 = 0x401;
const NT_SIGINFO: u32 = 0x5349_4749;
/// Bytes of `siginfo_t`.
const SIGNAL_SIZE: usize = 128;

/// What the system says of the process as a whole: read before it is stopped, since it may have ended, or
/// have become another program, after that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub(super) target: Target,
    pid: u32,
    stat: TaskStat,
    user: u32,
    group: u32,
    arguments: Vec<u8>,
    auxv: Vec<u8>,
}

impl Facts {
    /// Asks the system.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn read(process: &Process) -> Result<Self, LiveError> {
        let status = process.status();
        Ok(Self {
            target: process.target(),
            pid: u32::try_from(process.pid().get()).unwrap_or_default(),
            stat: process.stat().clone(),
            user: status.users.first().copied().unwrap_or_default(),
            group: status.groups.first().copied().unwrap_or_default(),
            arguments: process.read("cmdline", "its arguments")?,
            auxv: process.auxv()?,
        })
    }
}

/// All notes, in the order in which gdb writes them: `text` and `maps` tell of the mappings. A core that
/// has all memory of its process is no snapshot.
pub fn of(
    facts: &Facts,
    (text, maps): (&[u8], &[MapLine]),
    threads: &[SnapThread],
    snapshot: Option<&Snapshot>,
) -> Vec<u8> {
    let mut notes = Notes::default();
    notes.add(b"CORE", NT_PRPSINFO, &process_info(facts));
    threads.iter().for_each(|thread| notes.add_thread(facts, thread));
    notes.add(b"CORE", NT_AUXV, &facts.auxv);
    notes.add(b"CORE", NT_FILE, &files(maps));
    if let Some(taken) = snapshot {
        let info = SnapshotInfo {
            instants: taken.instants,
            stopped: taken.stopped,
            median: taken.median_stop(),
            clock: taken.clock,
            late: taken.late,
        };
        notes.add(snapshot::OWNER, snapshot::NT_SNAPSHOT, &info.to_bytes());
        for tid in &taken.refused {
            notes.add(snapshot::OWNER, snapshot::NT_REFUSED, &tid.to_ne_bytes());
        }
    }
    notes.add(snapshot::OWNER, snapshot::NT_MAPS, text);
    notes.0
}

#[derive(Default)]
struct Notes(Vec<u8>);

impl Notes {
    fn add(&mut self, owner: &[u8], kind: u32, desc: &[u8]) {
        let sizes = [owner.len().saturating_add(1), desc.len()];
        let sizes = sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        for word in [sizes[0], sizes[1], kind] {
            self.0.extend_from_slice(&word.to_ne_bytes());
        }
        self.0.extend_from_slice(owner);
        self.0.push(0);
        self.pad();
        self.0.extend_from_slice(desc);
        self.pad();
    }

    fn pad(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn add_thread(&mut self, facts: &Facts, thread: &SnapThread) {
        let Some(registers) = &thread.registers else {
            return self.add(snapshot::OWNER, snapshot::NT_LATE, &thread.tid.to_ne_bytes());
        };
        self.add(b"CORE", NT_PRSTATUS, &status(facts, thread.tid, registers));
        let more: [(&[u8], u32, &[u8]); 3] = [
            (b"CORE", NT_FPREGSET, &registers.floating),
            (b"LINUX", NT_X86_XSTATE, &registers.extended),
            (b"LINUX", NT_ARM_TLS, &registers.thread_pointer),
        ];
        for (owner, kind, desc) in more.into_iter().filter(|(_, _, desc)| !desc.is_empty()) {
            self.add(owner, kind, desc);
        }
        // One that takes no signal has one of number 0, as gdb writes it.
        let mut signal = registers.signal.clone();
        signal.resize(SIGNAL_SIZE, 0);
        self.add(b"CORE", NT_SIGINFO, &signal);
        let said = LiveThread {
            inner_tid: thread.inner_tid,
            state: thread.stat.as_ref().map(|stat| stat.state),
            name: thread.stat.as_ref().map(name_of).unwrap_or_default(),
        };
        self.add(snapshot::OWNER, snapshot::NT_THREAD, &said.to_bytes());
    }
}

fn name_of(stat: &TaskStat) -> String {
    String::from_utf8_lossy(&stat.name).into_owned()
}

/// `struct elf_prstatus` of 64 bits: number, code and errno of the signal that is being taken at 0, and
/// its number at 12; id at 32, registers at 112, `pr_fpvalid` behind them.
fn status(facts: &Facts, tid: i32, registers: &Registers) -> Vec<u8> {
    const PID: usize = 32;
    const REGISTERS: usize = 112;
    let mut desc = signal_words(&registers.signal);
    desc.resize(PID, 0);
    for id in [tid.cast_unsigned(), facts.stat.parent, facts.stat.group, facts.stat.session] {
        desc.extend_from_slice(&id.to_ne_bytes());
    }
    desc.resize(REGISTERS, 0);
    desc.extend_from_slice(&registers.general);
    desc.extend_from_slice(&u64::from(!registers.floating.is_empty()).to_ne_bytes());
    desc
}

/// `si_signo`, `si_errno` and `si_code` of a `siginfo_t` in the order of `struct elf_siginfo`, and
/// `pr_cursig`.
fn signal_words(signal: &[u8]) -> Vec<u8> {
    let word = |index: usize| signal.chunks_exact(4).nth(index).unwrap_or(&[0; 4]);
    let half = word(0).get(..2).unwrap_or_default();
    [word(0), word(2), word(1), half].concat()
}

/// `struct elf_prpsinfo` of 64 bits.
fn process_info(facts: &Facts) -> Vec<u8> {
    /// The letters by whose place `pr_state` counts (Linux `fs/binfmt_elf.c`, `fill_psinfo`).
    const STATES: &[u8] = b"RSDTZW";
    let stat = &facts.stat;
    let letter = u8::try_from(stat.state).unwrap_or(b'.');
    let place =
        STATES.iter().position(|state| *state == letter).and_then(|at| u8::try_from(at).ok());
    let zombie = u8::from(letter == b'Z');
    let mut desc = vec![place.unwrap_or(0), letter, zombie, stat.nice.cast_unsigned(), 0, 0, 0, 0];
    desc.extend_from_slice(&stat.flags.to_ne_bytes());
    for id in [facts.user, facts.group, facts.pid, stat.parent, stat.group, stat.session] {
        desc.extend_from_slice(&id.to_ne_bytes());
    }
    desc.extend(fixed::<16>(&stat.name));
    let arguments: Vec<u8> =
        facts.arguments.iter().map(|byte| if *byte == 0 { b' ' } else { *byte }).collect();
    desc.extend(fixed::<80>(arguments.trim_ascii_end()));
    desc
}

/// Text that ends with a NUL, in a field of fixed size.
fn fixed<const SIZE: usize>(text: &[u8]) -> [u8; SIZE] {
    let mut field = [0; SIZE];
    let end = SIZE.saturating_sub(1);
    field.iter_mut().take(end).zip(text).for_each(|(to, from)| *to = *from);
    field
}

/// `NT_FILE`: count, page size, rows, names.
fn files(maps: &[MapLine]) -> Vec<u8> {
    /// Offsets are counted in pages, whatever size they are said to have.
    const PAGE_SIZE: u64 = 4096;
    let files: Vec<&MapLine> = maps.iter().filter(|map| map.is_file()).collect();
    let mut desc = Vec::new();
    for word in [files.len() as u64, PAGE_SIZE] {
        desc.extend_from_slice(&word.to_ne_bytes());
    }
    for map in &files {
        for word in [map.range.start.get(), map.range.end.get(), map.offset.get() / PAGE_SIZE] {
            desc.extend_from_slice(&word.to_ne_bytes());
        }
    }
    for map in files {
        desc.extend_from_slice(&map.name);
        desc.push(0);
    }
    desc
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Instants, image::Head};
    use kcore_elf::{CoreFile, core_file::parse_maps};

    fn facts() -> Facts {
        let line = b"70 (app) S 1 70 60 0 -1 64 0 0 0 0 0 0 0 0 20 -5 1 0 0 0 0\n";
        Facts {
            target: Target::X86_64,
            pid: 70,
            stat: TaskStat::parse(line).unwrap(),
            user: 1000,
            group: 100,
            arguments: b"./app\0-n\0".to_vec(),
            auxv: [9_u64, 0x40_1000, 0, 0].iter().flat_map(|word| word.to_ne_bytes()).collect(),
        }
    }

    fn thread(tid: i32, registers: Option<Registers>) -> SnapThread {
        let stat = facts().stat;
        SnapThread { tid, inner_tid: 1, stat: Some(stat), registers, stopped: Duration::ZERO }
    }

    #[test]
    fn the_reader_finds_process_threads_and_files() {
        let text = b"400000-401000 r--p 2000 0:1 9 /bin/app\n500000-501000 rw-p 0 0:0 0 [heap]\n";
        let maps = parse_maps(text);
        let registers =
            Registers { general: vec![7; 216], floating: vec![8; 512], ..Registers::default() };
        let mut snapshot = Snapshot::empty(Instants::OneOfChosen);
        snapshot.threads = vec![thread(70, Some(registers)), thread(71, None)];
        snapshot.stopped = Duration::from_micros(31);
        snapshot.clock = Some(Duration::from_secs(5));
        snapshot.refused = vec![72];
        let notes = of(&facts(), (text, &maps), &snapshot.threads, Some(&snapshot));
        let head = Head::new(Target::X86_64, &notes, &[], 1);
        let core = CoreFile::parse(head.bytes.into()).unwrap();
        let process = core.process().unwrap();
        assert_eq!((process.pid, process.uid, process.nice), (70, 1000, -5));
        assert_eq!((&process.name[..], &process.args[..]), (&b"app"[..], &b"./app -n"[..]));
        assert_eq!(core.threads().len(), 1);
        let first = &core.threads()[0];
        assert_eq!(
            (first.tid, first.signal, first.registers.end - first.registers.start),
            (70, 0, 216)
        );
        assert!(first.fp_registers.is_some() && first.extended_registers.is_none());
        let live = first.live.as_ref().unwrap();
        assert_eq!((live.state, &live.name[..], live.inner_tid), (Some('S'), "app", 1));
        assert_eq!((core.late_threads(), core.refused_threads()), (&[71][..], &[72][..]));
        let file = &core.files().unwrap().files[0];
        assert_eq!((&file.path[..], file.offset.get()), (&b"/bin/app"[..], 0x2000));
        assert_eq!(core.aux(9), Some(0x40_1000));
        assert_eq!(core.maps().unwrap(), maps);
        let info = core.snapshot().unwrap();
        assert_eq!(info.stopped, Duration::from_micros(31));
        assert_eq!(info.clock, Some(Duration::from_secs(5)));
        assert_eq!(info.instants, Instants::OneOfChosen);
    }
}

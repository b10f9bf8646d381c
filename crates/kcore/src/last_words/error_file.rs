//! The file in which Java's virtual machine says why it ended (`src/hotspot/share/utilities/vmError.cpp`, JDK 11 to 25):
//! `hs_err_pidPID.log` in the working folder of the process, which may have been put beside the core.

use kcore_mem::Addr;

use super::LastWords;
use crate::{Core, Thread, Tid};

const SIGABRT: u16 = 6;

/// The runtime that writes it.
const JAVA: &str = "java";
/// Lines at the beginning that are looked at, and those that are told.
const LAST_LINE: u64 = 64;
const MAX_LINES: usize = 16;
/// With these words its first lines begin; with one of those it goes on to advice.
const BEGINS: [&str; 2] =
    ["A fatal error has been detected by", "There is insufficient memory for"];
const ADVICE: [&str; 4] =
    ["Core dump will be written", "If you would like", "An error report file", "Possible reasons"];

/// What the first lines say of the signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ToldSignal {
    /// Its number; `None` where the virtual machine gave up of itself.
    number: Option<u16>,
    pc: Option<Addr>,
    tid: Option<u32>,
}

/// A signal that a thread of the core got, and where it was.
#[derive(Clone, Copy, Debug)]
struct SeenSignal {
    number: u16,
    pc: Option<Addr>,
    tid: Tid,
}

/// What it says, if it lies there and is of this very death.
pub fn find(core: &Core, crashed: &Thread) -> Option<LastWords> {
    let mut runtimes = core.runtimes().identities();
    runtimes.find(|identity| identity.name == JAVA)?;
    let pid = core.process().pid()?;
    let name = format!("hs_err_pid{pid}.log");
    let paths = working_folder(core).map(|folder| format!("{folder}/{name}"));
    // What has no folder is looked for beside the core.
    paths.into_iter().chain([format!("/{name}")]).find_map(|path| {
        let file = core.finder.source(&path, None, 1, LAST_LINE).ok()?;
        let lines = lines_of(&file.lines, pid)?;
        // Numbers of processes are used again, and files stay where they are.
        agrees(signal_told(&lines, pid), seen(core, crashed).as_slice()).then_some(())?;
        Some(LastWords::ErrorFile { path: file.path.display().to_string(), lines })
    })
}

/// The folder that the shell noted in which the process was started.
fn working_folder(core: &Core) -> Option<String> {
    let env = core.process().initial_stack()?.env;
    let mut texts = env.iter().filter_map(|own| own.text.as_deref()?.strip_prefix("PWD="));
    texts.next().filter(|path| path.starts_with('/')).map(ToOwned::to_owned)
}

/// The lines that say why; `None` of a file that is something else, or of another process.
fn lines_of(text: &[String], pid: u32) -> Option<Vec<String>> {
    let head = text.iter().map_while(|line| line.strip_prefix('#')).map(str::trim);
    let lines: Vec<&str> = head.filter(|line| !line.is_empty()).collect();
    let first = lines.first()?;
    BEGINS.iter().any(|begin| first.starts_with(begin)).then_some(())?;
    let own = format!("pid={pid},");
    lines.iter().any(|line| line.split(' ').any(|word| word == own)).then_some(())?;
    let said = lines.iter().take_while(|line| !is_advice(line)).take(MAX_LINES);
    Some(said.map(ToString::to_string).collect())
}

/// What the lines say of the signal: `SIGSEGV (0xb) at pc=0x00007f11, pid=42, tid=43`.
fn signal_told(lines: &[String], pid: u32) -> ToldSignal {
    let own = format!("pid={pid}");
    let words = |line: &str| line.split([' ', ',']).map(ToOwned::to_owned).collect::<Vec<_>>();
    let line = lines.iter().map(|line| words(line)).find(|words| words.contains(&own));
    let line = line.unwrap_or_default();
    let hex = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let of = |key: &str| line.iter().find_map(|word| word.strip_prefix(key));
    let is_signal = line.first().is_some_and(|word| word.starts_with("SIG"));
    let number = line.get(1).filter(|_| is_signal).map(|word| word.trim_matches(['(', ')']));
    ToldSignal {
        number: number.and_then(hex).and_then(|number| u16::try_from(number).ok()),
        pc: of("pc=").and_then(hex).map(Addr::new),
        tid: of("tid=").and_then(|tid| tid.parse().ok()),
    }
}

/// The signal of which the core tells, and those that handlers were told of before.
fn seen(core: &Core, crashed: &Thread) -> Vec<SeenSignal> {
    let pc = core.registers().of_thread(crashed.tid).map(|regs| regs.pc());
    let last = SeenSignal { number: crashed.signal, pc, tid: crashed.tid };
    let handled = core.handled_signals(crashed).signals;
    let handled = handled.iter().filter_map(|signal| {
        let number = u16::try_from(signal.info.number).ok()?;
        Some(SeenSignal { number, pc: signal.stop.pc, tid: signal.stop.tid })
    });
    std::iter::once(last).chain(handled).collect()
}

/// Whether one of the signals may be the one that a file tells of. Once it has written the file, the virtual machine calls
/// `abort`, so that nothing but `SIGABRT` is left where no frame tells what came before.
fn agrees(told: ToldSignal, seen: &[SeenSignal]) -> bool {
    let same_thread =
        |own: &SeenSignal| told.tid.is_none_or(|tid| i64::from(own.tid.get()) == i64::from(tid));
    let same_pc = |own: &SeenSignal| match (told.pc, own.pc) {
        (Some(told), Some(own)) => told == own,
        _ => true,
    };
    let is_it = |own: &SeenSignal| Some(own.number) == told.number && same_pc(own);
    let [last, handled @ ..] = seen else { return false };
    let may_be_any = last.number == SIGABRT && (told.number.is_none() || handled.is_empty());
    (may_be_any && same_thread(last)) || seen.iter().any(|own| is_it(own) && same_thread(own))
}

fn is_advice(line: &str) -> bool {
    ADVICE.iter().any(|advice| line.starts_with(advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n\
        #  SIGSEGV (0xb) at pc=0x00007f11, pid=42, tid=43\n#\n# Problematic frame:\n# C  [libx.so+0x10]  f+0x4\n#\n\
        # Core dump will be written. Default location: core\n#\n\n---------------  S U M M A R Y\n";

    fn told(text: &str, pid: u32) -> Option<Vec<String>> {
        let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        lines_of(&lines, pid)
    }

    #[test]
    fn its_first_lines_say_why() {
        let lines = told(TEXT, 42).unwrap();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[1], "SIGSEGV (0xb) at pc=0x00007f11, pid=42, tid=43");
        assert_eq!(lines[3], "C  [libx.so+0x10]  f+0x4");
    }

    #[test]
    fn a_file_of_another_death_does_not_agree() {
        let lines = told(TEXT, 42).unwrap();
        let told = signal_told(&lines, 42);
        let pc = Some(Addr::new(0x7f11));
        assert_eq!(told, ToldSignal { number: Some(11), pc, tid: Some(43) });
        let seen =
            |number, pc, tid| SeenSignal { number, pc: Some(Addr::new(pc)), tid: Tid::new(tid) };
        let aborted = seen(SIGABRT, 0x9, 43);
        assert!(agrees(told, &[seen(11, 0x7f11, 43)]));
        assert!(agrees(told, &[aborted]));
        assert!(agrees(told, &[aborted, seen(11, 0x7f11, 43)]));
        // Another place, another thread, another signal, another handled one.
        assert!(!agrees(told, &[seen(11, 0x7f12, 43)]));
        assert!(!agrees(told, &[seen(SIGABRT, 0x9, 44)]));
        assert!(!agrees(told, &[seen(3, 0x7f11, 43)]));
        assert!(!agrees(told, &[aborted, seen(8, 0x7f11, 43)]));
        assert!(!agrees(told, &[aborted, seen(11, 0x7f12, 43)]));
        assert!(!agrees(told, &[]));
    }

    #[test]
    fn one_that_gave_up_of_itself_aborted() {
        let line = "Internal Error (debug.cpp:339), pid=42, tid=43".to_owned();
        let told = signal_told(&[line], 42);
        assert_eq!(told, ToldSignal { number: None, pc: None, tid: Some(43) });
        let seen = |number| SeenSignal { number, pc: None, tid: Tid::new(43) };
        assert!(agrees(told, &[seen(SIGABRT), seen(11)]));
        assert!(!agrees(told, &[seen(11)]));
    }

    #[test]
    fn what_is_of_another_process_or_something_else_says_nothing() {
        assert_eq!(told(TEXT, 4), None);
        assert_eq!(told(&TEXT.replace("fatal", "small"), 42), None);
        assert_eq!(told("", 42), None);
        assert_eq!(told("#\n#\n", 42), None);
    }
}

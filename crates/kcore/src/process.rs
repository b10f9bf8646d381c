//! What the process was given: arguments, environment, auxiliary vector, its name.

use kcore_elf::{
    LinkMapEntry,
    core_file::{AuxEntry, ProcessInfo},
};
use kcore_mem::{Addr, Fault};

use crate::{Core, LookupError};

const AT_EXECFN: u64 = 31;
/// The address of random bytes that the kernel puts on the initial stack.
pub(crate) const AT_RANDOM: u64 = 25;
const AT_PLATFORM: u64 = 15;
const AT_BASE_PLATFORM: u64 = 24;
/// Longest string that is read of arguments and environment (`MAX_ARG_STRLEN`, Linux).
const MAX_STRING: usize = 128 << 10;
/// Strings that are read of each, at most.
const MAX_STRINGS: usize = 1 << 16;
/// Bytes of all strings of each: Linux starts no program with more (`bprm_stack_limits`). Pointers
/// may all lead to one long string.
const MAX_BYTES: usize = 6 << 20;
/// Words below the strings in which the vectors are looked for.
const MAX_WORDS: u64 = 1 << 18;

/// Names of `AT_*` (Linux `include/uapi/linux/auxvec.h`, x86's in `arch/x86`).
const AUX_NAMES: &[(u64, &str)] = &[
    (2, "AT_EXECFD"),
    (3, "AT_PHDR"),
    (4, "AT_PHENT"),
    (5, "AT_PHNUM"),
    (6, "AT_PAGESZ"),
    (7, "AT_BASE"),
    (8, "AT_FLAGS"),
    (9, "AT_ENTRY"),
    (11, "AT_UID"),
    (12, "AT_EUID"),
    (13, "AT_GID"),
    (14, "AT_EGID"),
    (15, "AT_PLATFORM"),
    (16, "AT_HWCAP"),
    (17, "AT_CLKTCK"),
    (23, "AT_SECURE"),
    (24, "AT_BASE_PLATFORM"),
    (25, "AT_RANDOM"),
    (26, "AT_HWCAP2"),
    (27, "AT_RSEQ_FEATURE_SIZE"),
    (28, "AT_RSEQ_ALIGN"),
    (29, "AT_HWCAP3"),
    (30, "AT_HWCAP4"),
    (31, "AT_EXECFN"),
    (32, "AT_SYSINFO"),
    (33, "AT_SYSINFO_EHDR"),
    (51, "AT_MINSIGSTKSZ"),
];

/// The name of an entry of the auxiliary vector.
pub fn aux_name(entry: &AuxEntry) -> Option<&'static str> {
    AUX_NAMES.iter().find(|(kind, _)| *kind == entry.kind).map(|(_, name)| *name)
}

/// A string that the kernel put on the initial stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InitialString {
    /// Where it lies.
    pub at: Addr,
    /// Its text, invalid UTF-8 replaced; `None` when it was not dumped.
    pub text: Option<String>,
}

/// Why the environment that a program has now is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The program has no variable for it.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The variable was not dumped.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Arguments and environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InitialStack {
    /// `argv`.
    pub args: Vec<InitialString>,
    /// `envp`.
    pub env: Vec<InitialString>,
}

/// Bytes of arguments in the kernel's note, without the null behind them (`ELF_PRARGSZ` of `linux/elfcore.h`).
const NOTED_ARGS: usize = 79;
/// Bytes of the longest character, which the note may cut.
const LONGEST_CHARACTER: usize = 4;

/// Whether a note of arguments, joined by blanks and cut, is none of these.
fn is_overwritten(held: &[String], noted: &str) -> bool {
    // The note may end in a part of a character.
    let noted = noted.trim_end_matches([' ', char::REPLACEMENT_CHARACTER]);
    let held = held.join(" ");
    let rest = held
        .strip_prefix(noted)
        .map(|rest| rest.trim_end_matches([' ', char::REPLACEMENT_CHARACTER]));
    let is_cut = held.len() > NOTED_ARGS.saturating_sub(LONGEST_CHARACTER);
    !noted.is_empty() && rest.is_none_or(|rest| !rest.is_empty() && !is_cut)
}

/// Questions about what the kernel gave the process: see [`Core::process`].
#[derive(Clone, Copy)]
pub struct ProcessView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// How the process was started: its vectors of arguments, environment and auxiliary values.
    pub const fn process(&self) -> ProcessView<'_> {
        ProcessView { core: self }
    }
}

impl<'c> ProcessView<'c> {
    /// What the core says of the process as a whole.
    pub fn info(self) -> Option<&'c ProcessInfo> {
        self.core.file()?.process()
    }

    /// The process id.
    pub fn pid(self) -> Option<u32> {
        self.info().map(|process| process.pid)
    }

    /// The name of the program: the path of the executable, else the kernel's short name.
    pub fn program(self) -> Option<String> {
        let exe = self.core.modules().exe().map(|exe| exe.path()).filter(|path| !path.is_empty());
        exe.or_else(|| {
            let process = self.core.file()?.process()?;
            Some(String::from_utf8_lossy(&process.name).into_owned())
                .filter(|name| !name.is_empty())
        })
    }

    /// The path of the executable, or its name, where nothing of its file was found and it is no module: what the
    /// auxiliary vector leads to, else the first word of the command line, else the kernel's short name.
    pub fn executable_without_file(self) -> Option<String> {
        if self.core.modules().exe().is_some() {
            return None;
        }
        let process = self.core.file()?.process();
        let path = self.aux(AT_EXECFN).and_then(|at| self.core.string(Addr::new(at)));
        let argument = || self.short_args()?.split(' ').next().map(ToOwned::to_owned);
        let name = || process.map(|process| String::from_utf8_lossy(&process.name).into_owned());
        let is_some = |text: &String| !text.is_empty();
        path.filter(is_some)
            .or_else(|| argument().filter(is_some))
            .or_else(|| name().filter(is_some))
    }

    /// The arguments as the kernel's note has them: joined by blanks, cut at 80 bytes.
    pub fn short_args(self) -> Option<String> {
        let process = self.core.file()?.process()?;
        Some(String::from_utf8_lossy(&process.args).into_owned())
    }

    /// The arguments as the kernel's note has them, where the initial stack has others: the program has written over one of
    /// both. Programs that set a title for `ps` do.
    pub fn overwritten_args(self) -> Option<String> {
        let noted = self.short_args()?;
        let held: Option<Vec<String>> =
            self.initial_stack()?.args.into_iter().map(|arg| arg.text).collect();
        let held = held?;
        // gdb notes the first argument alone.
        let is_comparable = held.is_empty() || !self.core.written_by_gdb();
        (is_comparable && is_overwritten(&held, &noted)).then_some(noted)
    }

    /// The auxiliary vector.
    pub fn auxv(self) -> &'c [AuxEntry] {
        self.core.file().map(kcore_elf::CoreFile::auxv).unwrap_or_default()
    }

    /// The dynamic linker's list of what it loaded, in its order; empty without a dynamic linker.
    pub fn link_map(self) -> &'c [LinkMapEntry] {
        self.core.link_map.get_or_init(|| {
            let exe = self.core.modules().exe().and_then(|exe| exe.mapped().image.as_ref());
            exe.map(|exe| kcore_elf::link_map(self.core.space(), exe)).unwrap_or_default()
        })
    }

    /// The value of the entry of a kind (`AT_…`) in the auxiliary vector.
    pub fn aux(self, kind: u64) -> Option<u64> {
        self.core.file()?.aux(kind)
    }

    /// What the kernel calls the machine (`AT_PLATFORM`).
    pub fn platform(self) -> Option<String> {
        self.core.string(Addr::new(self.aux(AT_PLATFORM)?))
    }

    /// The text of an entry of the auxiliary vector that points to one.
    pub fn aux_text(self, entry: &AuxEntry) -> Option<String> {
        let is_text = matches!(entry.kind, AT_EXECFN | AT_PLATFORM | AT_BASE_PLATFORM);
        is_text.then(|| self.core.string(Addr::new(entry.value))).flatten()
    }

    /// Where the kernel put the auxiliary vector on the initial stack.
    pub fn auxv_address(self) -> Option<Addr> {
        self.core.find_vectors()
    }

    /// The environment as the variable `environ` of the C library has it now.
    ///
    /// # Errors
    /// When there is no such variable, or it was not dumped.
    pub fn environment_now(self) -> Result<Vec<InitialString>, EnvironmentError> {
        let variable = self.core.symbols().lookup(None, "environ")?;
        let start = self.core.space().read_addr(variable)?;
        Ok(self.core.strings(start))
    }

    /// Arguments and environment as the kernel put them on the initial stack, found by the
    /// auxiliary vector behind them. A program may have changed them since.
    pub fn initial_stack(self) -> Option<InitialStack> {
        let vectors = self.core.find_vectors()?;
        let env_start = self.core.skip_vector_back(vectors)?;
        let args_start = self.core.args_start(env_start)?;
        Some(InitialStack {
            args: self.core.strings(args_start),
            env: self.core.strings(env_start),
        })
    }

    /// Why the initial stack cannot be read, where that is why there is none.
    pub fn initial_stack_fault(self) -> Option<Fault> {
        let random = self.aux(AT_RANDOM)?;
        self.core.space().read_uint(Addr::new(random), 1).err()
    }
}

impl Core {
    fn string(&self, at: Addr) -> Option<String> {
        let bytes = self.space().read_cstr(at, MAX_STRING).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What was read in vain of a string that does not end in memory.
    fn lost(&self, at: Addr) -> usize {
        self.space().slice(at).map_or(0, |held| held.len().min(MAX_STRING))
    }

    fn word(&self, at: Addr) -> Option<u64> {
        self.space().read_word(at).ok()
    }

    fn word_size(&self) -> u64 {
        u64::from(self.target().word)
    }

    fn below(&self, at: Addr) -> Addr {
        Addr::new(at.get().wrapping_sub(self.word_size()))
    }

    /// Where the auxiliary vector lies: its entries stand below the bytes of `AT_RANDOM`, in the
    /// order of the note.
    fn find_vectors(&self) -> Option<Addr> {
        let first = *self.process().auxv().first()?;
        let random = self.process().aux(AT_RANDOM)?;
        let word = self.word_size();
        let mut at = Addr::new(random & !word.wrapping_sub(1));
        for _ in 0..MAX_WORDS {
            at = self.below(at);
            let next = at.checked_add(word)?;
            if self.word(at)? == first.kind && self.word(next)? == first.value {
                // Anything on the stack may look like one entry: the second tells.
                let second = self.process().auxv().get(1).map(|entry| (entry.kind, entry.value));
                let after = next.checked_add(word)?;
                let found = (self.word(after)?, self.word(after.checked_add(word)?)?);
                if second.is_none_or(|second| second == found) {
                    return Some(at);
                }
            }
        }
        None
    }

    /// The first entry of the vector of pointers that ends, with a null, right below `end`.
    fn skip_vector_back(&self, end: Addr) -> Option<Addr> {
        let mut at = self.below(end);
        if self.word(at)? != 0 {
            return None;
        }
        for _ in 0..MAX_STRINGS {
            let before = self.below(at);
            if self.word(before)? == 0 {
                return Some(at);
            }
            at = before;
        }
        None
    }

    /// `argv` ends with a null right below the environment; below its first entry stands `argc`.
    fn args_start(&self, env_start: Addr) -> Option<Addr> {
        let null = self.below(env_start);
        if self.word(null)? != 0 {
            return None;
        }
        let mut start = null;
        for count in 0..MAX_STRINGS as u64 {
            let below = self.below(start);
            if self.word(below)? == count {
                return Some(start);
            }
            start = below;
        }
        self.args_start_by_strings(null, env_start)
    }

    /// Where `argc` is gone, as on 32-bit Arm, whose `_start` pops it: the strings of the arguments lie one behind the
    /// other, and end where the first one of the environment begins.
    fn args_start_by_strings(&self, null: Addr, env_start: Addr) -> Option<Addr> {
        let mut next = self.word(env_start).filter(|next| *next != 0)?;
        let mut start = null;
        for _ in 0..MAX_STRINGS {
            let below = self.below(start);
            let string = self.word(below).filter(|at| self.string_end(*at) == Some(next));
            let Some(string) = string else { break };
            (start, next) = (below, string);
        }
        (start != null).then_some(start)
    }

    /// The address behind the null that ends a string.
    fn string_end(&self, at: u64) -> Option<u64> {
        let bytes = self.space().read_cstr(Addr::new(at), MAX_STRING).ok()?;
        at.checked_add(bytes.len() as u64)?.checked_add(1)
    }

    fn strings(&self, start: Addr) -> Vec<InitialString> {
        let mut strings = Vec::new();
        let (mut slot, mut bytes) = (start, 0);
        while let Some(at) = self.word(slot).filter(|at| *at != 0 && strings.len() < MAX_STRINGS) {
            let at = Addr::new(at);
            let text = self.string(at);
            bytes = text.as_ref().map_or_else(|| self.lost(at), String::len).saturating_add(bytes);
            if bytes > MAX_BYTES {
                break;
            }
            strings.push(InitialString { at, text });
            slot = slot.saturating_add(self.word_size());
        }
        strings
    }
}

#[cfg(test)]
mod tests {
    use super::is_overwritten;

    fn overwritten(held: &[&str], noted: &str) -> bool {
        is_overwritten(&held.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>(), noted)
    }

    #[test]
    fn a_note_of_other_arguments_tells_that_they_were_overwritten() {
        assert!(!overwritten(&["php", "a.php"], "php a.php"));
        assert!(!overwritten(&["php", "a.php", ""], "php a.php "));
        assert!(overwritten(&["php", ""], "php a.php"));
        assert!(overwritten(&[], "mydaemon: worker"));
        assert!(overwritten(&["mydaemon: worker"], "perl"));
        assert!(overwritten(&["php", "a.php"], "php"));
        assert!(!overwritten(&["php", "a.php"], ""));
        let long = "x".repeat(200);
        assert!(!overwritten(&[&long], &long[..79]));
        let wide = "\u{e4}".repeat(100);
        assert!(!overwritten(&[&wide], &format!("{}\u{fffd}", "\u{e4}".repeat(39))));
    }
}

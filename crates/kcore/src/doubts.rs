//! What makes the answers of a core doubtful.

use std::path::Path;

use kcore_elf::core_file::Damage;
use kcore_files::{SearchedPlace, WantedModule, Why};
use kcore_mem::{Addr, Arch, Fault};

use crate::{Core, Doubt, DoubtKind, FileState, FileView, Module};

/// Modules that one doubt names, at most.
const MAX_NAMED: usize = 5;
/// Where the program headers of the executable lie (Linux `include/uapi/linux/auxvec.h`).
const AT_PHDR: u64 = 3;
/// Write permission in the flags of a mapping.
const PF_W: u32 = 2;

impl FileView<'_> {
    /// The file that was named as the executable, and is not that of this process.
    pub fn refused_executable(self) -> Option<String> {
        let Some(exe) = self.core.modules().exe() else { return self.core.unfit_executable() };
        let given = exe.tried().iter().find(|tried| tried.place == SearchedPlace::Given)?;
        Some(format!("{} is not used as the executable: {}", given.path.display(), given.why))
    }
}

impl Core {
    /// Each thing that makes answers doubtful: a truncated core, modules whose files are missing or of another
    /// build, memory that was left out.
    pub fn doubts(&self) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let mut add = |kind: DoubtKind, texts: Vec<String>| {
            doubts.extend(texts.into_iter().map(|text| kind.because(text)));
        };
        add(DoubtKind::Damage, self.damage());
        add(DoubtKind::LeftOut, self.lacking_format().into_iter().collect());
        add(DoubtKind::LeftOut, self.left_out_of_excerpt().into_iter().collect());
        add(DoubtKind::Snapshot, self.doubts_of_snapshot());
        add(DoubtKind::Machine, self.unknown_machine().into_iter().collect());
        add(DoubtKind::WrongFiles, self.files_that_changed());
        add(DoubtKind::DebugInfo, self.cut_sections());
        add(DoubtKind::LeftOut, self.stacks_left_out().into_iter().collect());
        add(DoubtKind::WrongFiles, self.files().refused_executable().into_iter().collect());
        add(DoubtKind::MissingFiles, self.missing_executable().into_iter().collect());
        add(DoubtKind::MissingFiles, self.missing_modules().into_iter().collect());
        add(DoubtKind::WrongFiles, self.changed_modules());
        add(DoubtKind::WrongFiles, self.unverified_modules().into_iter().collect());
        add(DoubtKind::DebugInfo, self.doubts_of_debug());
        add(DoubtKind::Runtime, self.damaged_runtimes().collect());
        doubts
    }

    /// What is wrong with the core file.
    pub(crate) fn damage(&self) -> Vec<String> {
        let damage = self.file().into_iter().flat_map(|file| file.damage());
        let unpacked = self.parts.as_ref().and_then(|parts| parts.unpack_note.clone());
        damage.map(|damage| self.describe(damage)).chain(unpacked).collect()
    }

    /// What the format of the file cannot hold.
    fn lacking_format(&self) -> Option<String> {
        self.parts.as_ref()?.lacks.map(ToOwned::to_owned)
    }

    /// What a bundle left out of the memory of its core.
    fn left_out_of_excerpt(&self) -> Option<String> {
        let (held, whole) = self.excerpt()?;
        Some(format!(
            "{held} of {whole} bytes of memory are in this core: those that its stacks need"
        ))
    }

    /// Bytes of memory that are in a core of a part, and those that were in the whole one; `None` for a whole one.
    pub(crate) fn excerpt(&self) -> Option<(u64, u64)> {
        let file = self.file()?;
        let whole = file.excerpt_of()?;
        let loads = file.segments().iter().filter(|segment| segment.is_load());
        Some((loads.map(|segment| segment.file_size).fold(0, u64::saturating_add), whole))
    }

    fn unknown_machine(&self) -> Option<String> {
        let (arch, bits) = (self.arch(), self.target().word_size().saturating_mul(8));
        if self.arch() == Arch::Hppa {
            return Some("stacks of hppa grow upwards: only innermost frames are shown".to_owned());
        }
        let is_unknown = self.machine().is_none();
        is_unknown.then(|| format!("stacks and registers of {bits}-bit {arch} are not supported"))
    }

    fn files_that_changed(&self) -> Vec<String> {
        let lost = self.files().lost();
        let said = lost.iter().map(|path| {
            format!("{} shrank or could not be read while it was open", path.display())
        });
        said.collect()
    }

    /// Sections that no answer reads to their end.
    fn cut_sections(&self) -> Vec<String> {
        self.budget().standing_cuts().iter().map(ToString::to_string).collect()
    }

    /// Runtimes whose frames are shown as native ones.
    fn damaged_runtimes(&self) -> impl Iterator<Item = String> {
        self.runtimes().damaged().iter().map(|damage| {
            let version = damage.version.iter().map(|version| format!(" {version}"));
            format!("{}{}: {}", damage.name, version.collect::<String>(), damage.why)
        })
    }

    fn describe(&self, damage: &Damage) -> String {
        match damage {
            Damage::ProgramHeaders { present, claimed: Some(claimed) } => {
                format!("truncated: {present} of {claimed} program headers are there")
            }
            Damage::ProgramHeaders { present, claimed: None } => {
                format!("truncated: the number of program headers is lost; {present} were found")
            }
            Damage::Notes { at } => format!(
                "truncated: the notes end at offset {at:#x}; threads and registers may be missing"
            ),
            Damage::Memory { segment, offset, needs, file_size, missing } => format!(
                "truncated: segment {segment} needs {needs:#x} bytes at offset {offset:#x}, the \
                 file ends at {file_size:#x}; {missing:#x} bytes are missing in all{}",
                self.hurt_stacks()
            ),
            other => format!("damaged: {other:?}"),
        }
    }

    /// How many threads have lost their stack to truncation.
    fn hurt_stacks(&self) -> String {
        let hurt = self.count_stacks(|fault| matches!(fault, Fault::Truncated(_)));
        match hurt {
            0 => String::new(),
            hurt => {
                let all = self.threads().len();
                format!(" (stacks of {hurt} of {all} threads may be incomplete)")
            }
        }
    }

    fn count_stacks(&self, why: impl Fn(&Fault) -> bool) -> usize {
        let stacks =
            self.threads().iter().filter_map(|thread| self.registers().stack_pointer(thread.tid));
        stacks
            .filter(|sp| self.can_be_stack(*sp))
            .filter(|sp| self.space().slice(*sp).is_err_and(|fault| why(&fault)))
            .count()
    }

    /// A stack that overflowed ends in a guard page: nobody can write there, and nothing is lost
    /// that was not dumped.
    fn can_be_stack(&self, sp: Addr) -> bool {
        let flags = self.mapping_at(sp).and_then(|mapping| mapping.flags);
        flags.is_none_or(|flags| flags & PF_W != 0)
    }

    fn stacks_left_out(&self) -> Option<String> {
        let is_left_out =
            |fault: &Fault| matches!(fault, Fault::NotDumped(_) | Fault::NotCopied(_));
        let left_out = self.count_stacks(is_left_out);
        let done = self.snapshot().kept_word();
        (left_out > 0).then(|| {
            format!("stacks of {left_out} of {} threads were not {done}", self.threads().len())
        })
    }

    /// The same where the core has no module that could be the executable: a file that fitted would be one.
    fn unfit_executable(&self) -> Option<String> {
        self.file()?;
        let given = self.finder.paths().exe.as_ref()?;
        let (path, arch) = (Path::new(""), self.arch());
        let wanted = WantedModule { path, build_id: None, is_exe: true, arch };
        let tried = self.finder.find_fitting(&wanted, &|_| false).tried;
        let tried = tried.into_iter().find(|tried| tried.place == SearchedPlace::Given);
        let why = match tried.map(|tried| tried.why) {
            None | Some(Why::OtherContents) => {
                "its headers are not where the core has those of the program".to_owned()
            }
            Some(why) => why.to_string(),
        };
        Some(format!("{} is not used as the executable: {why}", given.display()))
    }

    /// The executable, of which nothing was found.
    fn missing_executable(&self) -> Option<String> {
        self.process().aux(AT_PHDR)?;
        let path = self.process().executable_without_file()?;
        Some(format!("the executable was not found: {path} (name it with -e)"))
    }

    fn missing_modules(&self) -> Option<String> {
        let is_other_build =
            |module: &&Module| module.tried().iter().any(|tried| is_mismatch(&tried.why));
        let missing: Vec<&str> = self
            .modules()
            .all()
            .iter()
            .filter(|module| matches!(module.file_state(), FileState::Missing(_)))
            .filter(|module| !is_other_build(module) && !module.is_vdso())
            .map(Module::name)
            .collect();
        (!missing.is_empty())
            .then(|| format!("files of {} not found: {}", modules(missing.len()), named(&missing)))
    }

    /// Modules for which only files of another build were found.
    fn changed_modules(&self) -> Vec<String> {
        let missing = self
            .modules()
            .all()
            .iter()
            .filter(|module| matches!(module.file_state(), FileState::Missing(_)));
        missing
            .filter_map(|module| {
                let other = module.tried().iter().find(|tried| is_mismatch(&tried.why))?;
                let path = other.path.display();
                let why = &other.why;
                let wanted = module.build_id().map(|wanted| format!(", which is {wanted}"));
                Some(format!("{path} is another build: {why}{}", wanted.unwrap_or_default()))
            })
            .collect()
    }

    fn unverified_modules(&self) -> Option<String> {
        let unverified: Vec<&str> = self
            .modules()
            .all()
            .iter()
            .filter(|module| {
                self.parts.is_some() && matches!(module.file_state(), FileState::Unverified(_))
            })
            .map(Module::name)
            .collect();
        (!unverified.is_empty())
            .then(|| format!("no build-id in the core to check files by: {}", named(&unverified)))
    }
}

const fn is_mismatch(why: &Why) -> bool {
    matches!(why, Why::BuildIdMismatch { .. } | Why::OtherContents)
}

fn modules(count: usize) -> String {
    if count == 1 { "1 module".to_owned() } else { format!("{count} modules") }
}

pub(crate) fn named(names: &[&str]) -> String {
    let shown = names.get(..MAX_NAMED).unwrap_or(names).join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

//! What a line of another debugger refers to: threads, the current frame, registers, symbols.

use kcore::{Addr, Core};
use kcore_dcmd::Shell;

/// The flag of a mapping that holds code.
const EXECUTE: u32 = 1;

/// The core and the session in which a line stands.
pub struct GdbContext<'a> {
    pub core: &'a Core,
    pub shell: &'a dyn Shell,
}

impl GdbContext<'_> {
    /// The thread with this number of gdb, which counts from 1, or with this id, as `0t4711`.
    pub fn thread(&self, number: usize) -> Option<String> {
        let tids = self.core.tids();
        let counted = number.checked_sub(1).and_then(|index| tids.get(index));
        let by_id = || tids.iter().find(|tid| usize::try_from(tid.get()) == Ok(number));
        counted.or_else(by_id).map(|tid| format!("0t{}", tid.get()))
    }

    /// The number of the current frame, inlined calls counted.
    pub fn frame(&self) -> usize {
        self.shell.current_named_frame().unwrap_or_default()
    }

    /// A register as kcore calls it: `pc`, `sp` and `fp` have the machine's own names.
    pub fn register(&self, name: &str) -> Option<String> {
        let machine = self.core.machine()?;
        let named = |id| machine.register_names().iter().find(|(_, known)| *known == id);
        let name = match name {
            "pc" => machine.pc_name(),
            "sp" => named(machine.stack_pointer())?.0,
            "fp" => named(machine.frame_pointer())?.0,
            other => other,
        };
        self.shell.variable(name).is_ok().then(|| name.to_owned())
    }

    /// The function that holds the value of an expression in kcore's language, as an address to
    /// type: its name, if that is one plain name and means nothing else.
    pub fn function(&self, expression: &str) -> Option<String> {
        let at = Addr::new(self.shell.evaluate(expression).ok()?);
        let symbol = self.core.symbols().at(at)?;
        let starts = |name: &str| {
            is_name(name) && self.shell.evaluate(name).is_ok_and(|it| it == symbol.start.get())
        };
        let names = [expression, &symbol.name];
        let name = names.into_iter().find(|name| starts(name)).map(ToOwned::to_owned);
        Some(name.unwrap_or_else(|| format!("{:x}", symbol.start)))
    }

    /// The function in which the current frame stands.
    pub fn current_function(&self) -> Option<String> {
        let pc = self.core.machine()?.pc_name();
        self.function(&format!("<{pc}"))
    }

    /// Whether a type has this name.
    pub fn is_type(&self, name: &str) -> bool {
        self.core.types().named_in(self.shell.types(), None, name).is_ok()
    }

    /// Whether a name is one of code.
    pub fn is_code(&self, name: &str) -> bool {
        let Ok(at) = self.shell.evaluate(name) else { return false };
        self.core
            .mapping_at(Addr::new(at))
            .and_then(|mapping| mapping.flags)
            .is_some_and(|flags| flags & EXECUTE != 0)
    }
}

/// Whether it is a single plain name.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

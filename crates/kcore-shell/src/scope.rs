//! What expressions of a session refer to: dot, variables, registers, symbols, memory.

use kcore::{Addr, AddrRange, AddressSpace, Fault, LookupError};
use kcore_dcmd::{DcmdError, Dot, NameScope, Result, Variable};

use crate::eval::Scope;
use crate::expr::Space;
use crate::reading::Names;
use crate::session::Session;
use crate::vars::{DERIVED, undefined};

impl Scope for Session {
    fn dot(&self) -> u64 {
        self.dot.number()
    }

    fn increment(&self) -> u64 {
        self.increment
    }

    fn last_dot(&self) -> u64 {
        self.last_dot.number()
    }

    fn radix(&self) -> u32 {
        self.radix
    }

    /// Private symbols come before those of the modules, and have no scope. Of a qualified name that is
    /// none of a symbol, debug information may know a variable: a static one of a function.
    fn symbol(&self, object: Option<&str>, name: &str) -> Result<u64, LookupError> {
        match self.table_symbol(object, name) {
            Err(LookupError::UnknownSymbol) => {
                self.qualified_variable(object, name).ok_or(LookupError::UnknownSymbol)
            }
            found => found,
        }
    }

    /// Variables and registers share one name space.
    fn variable(&self, name: &str) -> Result<u64> {
        match name {
            "." => Ok(self.dot.number()),
            "thread" => self.thread_id(),
            _ => match self.variables.get(name).or_else(|| self.derived(name)) {
                Some(value) => Ok(value),
                None => self.register(name),
            },
        }
    }

    fn typed(&self, text: &str) -> Result<u64> {
        let typed = self.options.typed;
        let typed =
            typed.ok_or_else(|| DcmdError::failed("expressions in braces are not known here"))?;
        let dot = self.dot;
        // A thread, task or frame of a pipe says whose variables are meant.
        let owner = (!matches!(dot, Dot::Number(_) | Dot::Addr(_))).then_some(dot);
        typed.word(NameScope { core: &self.core, shell: self, owner, dot }, text)
    }

    fn read(&self, space: Space, at: Addr, size: Option<u8>) -> Result<u64, Fault> {
        match space {
            Space::Process => read(self.core.space(), at, size),
            Space::Object => read(&self.core.file_space(), at, size),
        }
    }
}

impl Names for Session {
    fn is_symbol(&self, name: &str) -> bool {
        let (object, name) = scoped(name);
        // A symbol may be known whose place is not, as of a thread that there is not.
        let unknown =
            |error| matches!(error, LookupError::UnknownSymbol | LookupError::UnknownModule);
        !self.table_symbol(object, name).is_err_and(unknown)
    }

    fn is_variable(&self, name: &str) -> bool {
        let (object, name) = scoped(name);
        self.qualified_variable(object, name).is_some()
    }

    fn is_dcmd(&self, spelling: &str) -> bool {
        self.dcmd(spelling).is_some()
    }
}

/// The scope before the last backquote, and the name behind it.
pub(crate) fn scoped(text: &str) -> (Option<&str>, &str) {
    text.rsplit_once('`').map_or((None, text), |(object, name)| (Some(object), name))
}

fn read(space: &dyn AddressSpace, at: Addr, size: Option<u8>) -> Result<u64, Fault> {
    match size {
        Some(size) => space.read_uint(at, size.into()),
        None => space.read_word(at),
    }
}

impl Session {
    /// The value of a private symbol, or of one that a module has.
    fn table_symbol(&self, object: Option<&str>, name: &str) -> Result<u64, LookupError> {
        match (object, self.private_symbols.get(name)) {
            (None, Some(symbol)) => Ok(symbol.value.get()),
            _ => self.core.symbols().lookup_for(self.thread, object, name).map(Addr::get),
        }
    }

    /// Where a variable lies that debug information knows by a qualified name.
    fn qualified_variable(&self, object: Option<&str>, name: &str) -> Option<u64> {
        let is_qualified = name.contains("::");
        let found =
            is_qualified.then(|| self.core.variables().find(self.thread, object, name).ok());
        found??.address().map(Addr::get)
    }

    /// Whether the program itself, or the user, calls something so. Other modules are not asked: that a
    /// name could be another one is not worth to open all of them.
    pub(crate) fn is_program_symbol(&self, name: &str) -> bool {
        let object = if name.contains('`') { None } else { Some("a.out") };
        let (scope, bare) = scoped(name);
        self.table_symbol(scope.or(object), bare).is_ok()
            || self.private_symbols.get(name).is_some()
    }

    fn thread_id(&self) -> Result<u64> {
        let tid = self.thread.ok_or_else(|| DcmdError::failed("no process active"))?;
        Ok(tid.get().into())
    }

    /// The value of a variable that follows from the core; 0 where the core does not tell.
    fn derived(&self, name: &str) -> Option<u64> {
        let core = &self.core;
        let length = |range: AddrRange| range.end.offset_from(range.start);
        DERIVED.contains(&name).then(|| {
            let value = match name {
                "b" => core.process().executable_data().map(|range| range.start.get()),
                "d" => core.process().executable_data().and_then(length),
                "e" => core.modules().exe().and_then(|exe| exe.entry()).map(Addr::get),
                "m" => core.process().executable_magic().map(u64::from),
                _ => core.process().executable_text().and_then(length),
            };
            value.unwrap_or(0)
        })
    }

    /// The value of a register of the current frame of the current thread.
    fn register(&self, name: &str) -> Result<u64> {
        let tid = self.thread.ok_or_else(|| match self.machine_has(name) {
            true => DcmdError::failed("no process active"),
            false => undefined(name),
        })?;
        let value =
            self.core.registers().named(tid, self.frame, name).map_err(|_| undefined(name))?;
        value.ok_or_else(|| {
            let frame = self.frame;
            DcmdError::failed(format!(
                "register '{name}' was not saved: its value in frame {frame} of thread {tid} is lost"
            ))
        })
    }

    fn machine_has(&self, name: &str) -> bool {
        self.core.machine().is_some_and(|machine| {
            machine.pc_name() == name
                || machine.part_of(name).is_some()
                || machine.register_names().iter().any(|(known, _)| *known == name)
        })
    }

    /// Whether `name` is that of a register, which cannot be a variable too.
    pub(crate) fn is_register(&self, name: &str) -> bool {
        self.thread.is_some_and(|tid| self.core.registers().named(tid, self.frame, name).is_ok())
    }

    /// Every variable and register, by name.
    pub(crate) fn all_variables(&self) -> Vec<Variable> {
        let written = self.variables.iter().map(|(name, value)| Variable {
            name: name.to_owned(),
            value: Some(value.number),
            tagged: value.tagged,
            kept: true,
        });
        let derived = DERIVED.iter().filter(|name| self.variables.get(name).is_none());
        let thread = self.thread.map(|_| "thread");
        let registers = self.thread.map(|tid| self.core.registers().user(tid)).unwrap_or_default();
        let registers = registers.iter().map(|register| register.name);
        let mut all: Vec<_> = written.collect();
        all.extend(derived.copied().chain(thread).chain(registers).map(|name| Variable {
            name: name.to_owned(),
            value: self.variable(name).ok(),
            tagged: false,
            kept: false,
        }));
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

//! Classes and their names: `internal/class.h`, `variable.c` (`classname`), `vm_backtrace.c` (`rb_gen_method_name`).

use kcore_mem::Addr;

use super::{
    heap::{CLASS, Heap, ICLASS, MODULE, Object},
    layout::ClassName,
    version::Version,
};

/// Superclasses that are passed on the way to one that the program names, at most.
const MAX_SUPER: usize = 256;
/// What objects are of whose class has no name, or one that cannot be read.
const UNNAMED: &str = "#<Class>";
const MISSING: &str = "#<Class: its name is missing>";
/// Variables of a class, at most.
const MAX_VARIABLES: usize = 1 << 16;
/// Hidden variables of a class.
const CLASSPATH: &str = "__classpath__";
const TEMPORARY: &str = "__tmp_classpath__";
const ATTACHED: &str = "__attached__";

impl Heap<'_> {
    /// The class or module at an address.
    pub fn class(&self, at: Addr) -> Option<Object> {
        let class = self.object(at.get())?;
        matches!(class.kind(), CLASS | MODULE | ICLASS).then_some(class)
    }

    /// What a class or module is called; `None` of one without a name.
    pub fn class_name(&self, at: Addr) -> Option<String> {
        let mut class = self.class(at)?;
        if class.kind() == ICLASS {
            class = self.class(self.class_of(class)?)?;
        }
        let extension = self.extension(class)?;
        match self.layout.class.name {
            ClassName::Field(offset) => self.text(self.word(extension, offset)?),
            ClassName::Variable => {
                self.class_variable(extension, &[CLASSPATH, TEMPORARY]).and_then(|it| self.text(it))
            }
            ClassName::Shape => {
                let named = self.shaped(class.flags, self.pointer(extension, 0)?);
                let named =
                    named?.into_iter().find(|(name, _)| [CLASSPATH, TEMPORARY].contains(&&**name));
                self.text(named?.1)
            }
        }
    }

    /// What stands for the name of a class of which none is known.
    pub fn unnamed(&self, at: Addr) -> &'static str {
        if self.hides_name(at) { MISSING } else { UNNAMED }
    }

    /// Whether nothing tells what a class is called, which may have a name: memory that has it is missing.
    pub fn hides_name(&self, at: Addr) -> bool {
        let Some(class) = self.class(at) else { return true };
        let unread = || {
            let extension = self.extension(class)?;
            let is_known = match self.layout.class.name {
                ClassName::Field(offset) => {
                    let name = self.word(extension, offset)?;
                    self.is_special(name) || self.text(name).is_some()
                }
                // Hidden variables of a class without any have no table.
                ClassName::Variable => match self.word(extension, 8)? {
                    0 => true,
                    table => {
                        let mut entries = self.table(Addr::new(table))?;
                        entries.count == 0 || entries.next().is_some()
                    }
                },
                ClassName::Shape => self.shaped(class.flags, self.pointer(extension, 0)?).is_some(),
            };
            Some(!is_known)
        };
        unread().unwrap_or(true)
    }

    /// The class that the program names: not that of one object alone, nor one that includes a module.
    pub fn real_class(&self, at: Addr) -> Option<Addr> {
        let mut class = self.class(at)?;
        for _ in 0..MAX_SUPER {
            if class.kind() != ICLASS && !self.is_singleton(class) {
                return Some(class.at);
            }
            class = self.class(self.pointer(class.at, 16)?)?;
        }
        None
    }

    /// Whether a class is one object's own.
    pub fn is_singleton(&self, class: Object) -> bool {
        let flag = if self.layout.version >= Version::new(3, 4) { 1 } else { 0 };
        class.kind() == CLASS && class.has(flag)
    }

    /// The object whose own class it is.
    pub fn attached(&self, class: Object) -> Option<u64> {
        let extension = self.extension(class)?;
        match (self.layout.class.attached, self.layout.class.name) {
            (Some(offset), _) => self.word(extension, offset),
            (None, ClassName::Variable) => self.class_variable(extension, &[ATTACHED]),
            (None, _) => {
                let variables = self.shaped(class.flags, self.pointer(extension, 0)?)?;
                variables.into_iter().find(|(name, _)| &**name == ATTACHED).map(|(_, value)| value)
            }
        }
    }

    /// What a method of a class is called with that: `A#m`, or `A.m` of the class itself. A class without a name is
    /// left out, as MRI 3.4 does.
    pub fn method_name(&self, owner: Addr, method: &str) -> String {
        let qualified = || {
            let class = self.class(owner)?;
            if !self.is_singleton(class) {
                return Some(format!("{}#{method}", self.class_name(owner)?));
            }
            let attached = self.class(Addr::new(self.attached(class)?))?;
            Some(format!("{}.{method}", self.class_name(attached.at)?))
        };
        qualified().unwrap_or_else(|| method.to_owned())
    }

    pub(super) fn extension(&self, class: Object) -> Option<Addr> {
        match self.layout.class.extension {
            Some(offset) => self.pointer(class.at, offset),
            None => class.at.checked_add(32),
        }
    }

    /// The first of the hidden variables that a class has, of those to 3.1.
    pub(super) fn class_variable(&self, extension: Addr, names: &[&str]) -> Option<u64> {
        let table = self.pointer(extension, 8)?;
        let entries = || self.table(table).into_iter().flatten().take(MAX_VARIABLES);
        names.iter().find_map(|wanted| {
            let is_it =
                |(id, _): &(u64, u64)| self.identifier(*id).is_some_and(|name| name == *wanted);
            entries().find(is_it).map(|(_, value)| value)
        })
    }
}

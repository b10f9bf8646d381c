//! A process for tests: some memory, symbols, and types that are made here.

use kcore_mem::{Addr, AddressSpace, Arch, Budget, Endian, Fault, Origin, Region, Target};
use kcore_symbols::{
    BaseType, Composite, Encoding, Keyword, Member, MemberPlace, Type, TypeKind, TypeNode,
};

use crate::{Content, DeclaredPrinters, Limits, Object, Process, SymbolName, Value, expression};

/// A process.
pub struct MadeProcess {
    target: Target,
    memory: Vec<(u64, Vec<u8>)>,
    /// Addresses that were not dumped.
    pub lost: std::ops::Range<u64>,
    /// Symbols by where they begin.
    pub symbols: Vec<(u64, &'static str)>,
    /// Tables of virtual functions and their types.
    pub tables: Vec<(u64, Type)>,
    /// Definitions.
    pub defined: Vec<Type>,
    /// Variables of the program.
    pub variables: Vec<(&'static str, Object)>,
    /// Printers that a user declared.
    pub printers: DeclaredPrinters,
    /// What reading may take.
    pub budget: Budget,
}

impl MadeProcess {
    /// A process that has some bytes at each of some addresses.
    pub fn new(memory: &[(u64, &[u8])]) -> Self {
        Self {
            target: Target::X86_64,
            memory: memory.iter().map(|(at, bytes)| (*at, bytes.to_vec())).collect(),
            lost: 0..0,
            symbols: Vec::new(),
            tables: Vec::new(),
            defined: Vec::new(),
            variables: Vec::new(),
            printers: DeclaredPrinters::default(),
            budget: Budget::default(),
        }
    }

    /// The same with big-endian memory.
    pub fn big(memory: &[(u64, &[u8])]) -> Self {
        let target = Target { arch: Arch::Other(43), endian: Endian::Big, word: 8 };
        Self { target, ..Self::new(memory) }
    }

    /// What an object says within the default limits.
    pub fn content(&self, ty: &Type, at: u64) -> Content {
        self.value(ty, at, &Limits::default()).content
    }

    /// The value of an object.
    pub fn value(&self, ty: &Type, at: u64, limits: &Limits) -> Value {
        Object::at(ty.clone(), Addr::new(at)).value(self, limits)
    }
}

impl AddressSpace for MadeProcess {
    fn target(&self) -> Target {
        self.target
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        if self.lost.contains(&at.get()) {
            return Err(Fault::NotDumped(at));
        }
        let held = self.memory.iter().find_map(|(start, bytes)| {
            let offset = usize::try_from(at.get().checked_sub(*start)?).ok()?;
            let end = match self.lost.start.checked_sub(*start) {
                Some(lost) if !self.lost.is_empty() && lost > offset as u64 => lost as usize,
                _ => bytes.len(),
            };
            bytes.get(offset..end.min(bytes.len())).filter(|rest| !rest.is_empty())
        });
        held.ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

impl Process for MadeProcess {
    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn space(&self) -> &dyn AddressSpace {
        self
    }

    fn symbol_at(&self, at: Addr) -> Option<SymbolName> {
        let (start, name) = self.symbols.iter().find(|(start, _)| *start <= at.get())?;
        Some(SymbolName { name: (*name).into(), module: None, offset: at.get() - start })
    }

    fn definition(&self, declared: &Type) -> Option<Type> {
        self.defined.iter().find(|ty| ty.name() == declared.name()).cloned()
    }

    fn type_of_vtable(&self, vtable: Addr) -> Option<Type> {
        let found = self.tables.iter().find(|(at, _)| *at == vtable.get());
        found.map(|(_, ty)| ty.clone())
    }

    fn type_of_descriptor(&self, _at: Addr) -> Option<Type> {
        None
    }

    fn descriptors_around(&self, _at: Addr) -> Option<Addr> {
        None
    }

    fn type_named(&self, _near: &Type, name: &str) -> Option<Type> {
        self.defined.iter().find(|ty| ty.name() == Some(name)).cloned()
    }

    fn type_spelled(&self, near: &Type, text: &str) -> Option<Type> {
        match text.strip_suffix('*') {
            Some(to) => Some(self.type_spelled(near, to.trim_end())?.pointer(8)),
            None => self.type_named(near, text),
        }
    }

    fn variable_beside(&self, _near: &Type, name: &str) -> Option<Object> {
        let found = self.variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, object)| object.clone())
    }

    fn enumerator_beside(&self, _near: &Type, name: &str) -> Option<Object> {
        self.defined.iter().find_map(|ty| {
            let TypeKind::Enumeration(enumeration) = ty.kind() else { return None };
            let found = enumeration.enumerators.iter().find(|one| &*one.name == name)?;
            Some(expression::enumerator(ty, found.value, self.space().target()))
        })
    }

    fn declared_printers(&self) -> Option<&DeclaredPrinters> {
        Some(&self.printers)
    }
}

/// A type of a name and a size.
pub fn named(name: &str, size: u64, kind: TypeKind) -> Type {
    let name = Some(name.into());
    Type::made(TypeNode { id: None, name, size: Some(size), is_declaration: false, kind })
}

/// A type of numbers.
pub fn base(name: &str, size: u64, encoding: Encoding) -> Type {
    named(name, size, TypeKind::Base(BaseType { encoding, bits: None, swapped: false }))
}

/// `int`.
pub fn int() -> Type {
    base("int", 4, Encoding::Signed)
}

/// `char`.
pub fn char() -> Type {
    base("char", 1, Encoding::SignedChar)
}

/// A member of a structure.
pub fn member(name: &str, ty: &Type, place: MemberPlace) -> Member {
    let name = Some(name).filter(|name| !name.is_empty()).map(Into::into);
    Member { name, ty: ty.link(), place, is_artificial: false }
}

/// A structure.
pub fn structure(name: &str, size: u64, members: Vec<Member>) -> Type {
    named(name, size, TypeKind::Composite(Box::new(composite(members))))
}

/// What a structure has.
pub fn composite(members: Vec<Member>) -> Composite {
    Composite {
        keyword: Keyword::Struct,
        bases: Vec::new(),
        members,
        statics: Vec::new(),
        variants: None,
        arguments: Vec::new(),
        is_dynamic: false,
    }
}

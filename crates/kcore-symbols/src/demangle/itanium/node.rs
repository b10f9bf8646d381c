//! What a mangled name says, as a tree.
//!
//! Parts are referred to by number: a substitution is a second reference to the same part, so that a tree
//! has no more parts than its name has letters, whatever it unfolds to.

use super::operators::{Builtin, Operator};

/// A part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u32);

/// Parts in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    start: u32,
    len: u32,
}

/// One part of a name. Names of kinds are those of the grammar in the ABI.
#[derive(Clone, Copy, Debug)]
pub enum Node<'n> {
    /// An identifier, or a text that stands for itself.
    Name(&'n str),
    /// A part of the standard library that two letters stand for.
    Abbreviation(&'static str),
    /// A name with an ABI tag.
    Tagged(Id, Id),
    /// The names that a structured binding declares.
    Bindings(List),
    /// A name that a module owns.
    OwnedByModule(Id, Id),
    /// A module, or a partition of one, and what it is a part of.
    Module {
        parent: Option<Id>,
        name: Id,
        is_partition: bool,
    },
    /// A template parameter, by its number.
    TemplateParam(usize),
    /// A parameter of the function; 0 is `this`.
    FunctionParam(usize),
    /// A name in a scope.
    Qualified(Id, Id),
    /// A name in a function.
    Local(Id, Id),
    /// What a default argument declares, by the argument's number.
    DefaultArgument(usize, Id),
    /// A function: its name and its type.
    Typed(Id, Id),
    /// A template and its arguments.
    Template(Id, Id),
    Constructor(Id),
    Destructor(Id),
    /// `vtable for` and the like.
    Special(&'static str, Id),
    /// The table of virtual functions of the first in the second while that is made.
    ConstructionVtable(Id, Id),
    /// A temporary whose life a reference prolongs: its number, and the reference.
    ReferenceTemporary(usize, Id),
    /// A type or a function, changed by what stands behind it.
    Modified(Modifier, Id),
    Builtin(&'static Builtin),
    /// A type that the vendor of the compiler defines.
    VendorType(Id),
    /// A builtin type with a number of bits.
    Sized(&'static str, &'n str, &'static str),
    Function {
        returns: Option<Id>,
        params: Id,
    },
    Array {
        len: Option<Id>,
        element: Id,
    },
    /// A pointer to a member of a class.
    MemberPointer {
        class: Id,
        member: Id,
    },
    Vector {
        len: Id,
        element: Id,
    },
    /// Arguments of a template, or a pack of such.
    Arguments(List),
    /// Parameters of a function, operands of a call.
    Items(List),
    /// A list in braces, and its type.
    Braces(Option<Id>, Id),
    Operator(&'static Operator),
    VendorOperator(Id),
    /// A conversion function.
    Conversion(Id),
    /// A conversion in an expression.
    Cast(Id),
    Nullary(Id),
    Unary(Id, Id),
    /// An operator behind its operand.
    Postfix(Id, Id),
    Binary(Id, Id, Id),
    Ternary(Id, Id, Id, Option<Id>),
    Literal {
        of: Id,
        text: &'n str,
        is_negative: bool,
    },
    VendorExpression(Id, Id),
    Decltype(Id),
    PackExpansion(Id),
    Lambda(Id, usize),
    UnnamedType(usize),
}

/// What a declarator adds to a type or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifier {
    Const,
    Volatile,
    Restrict,
    Pointer,
    Reference,
    RvalueReference,
    Complex,
    Imaginary,
    /// A qualifier that the vendor of the compiler defines.
    Vendor(Id),
    /// Of a function, as all that follow.
    ConstThis,
    VolatileThis,
    RestrictThis,
    ReferenceThis,
    RvalueReferenceThis,
    TransactionSafe,
    Noexcept(Option<Id>),
    Throw(Id),
}

impl Modifier {
    /// Whether it belongs to a function, and so stands behind its parameters.
    pub fn is_of_function(self) -> bool {
        use Modifier::{
            ConstThis, Noexcept, ReferenceThis, RestrictThis, RvalueReferenceThis, Throw,
            TransactionSafe, VolatileThis,
        };
        matches!(
            self,
            ConstThis
                | VolatileThis
                | RestrictThis
                | ReferenceThis
                | RvalueReferenceThis
                | TransactionSafe
                | Noexcept(_)
                | Throw(_)
        )
    }

    /// Whether it is `const`, `volatile` or `restrict` of a type.
    pub fn is_qualifier(self) -> bool {
        matches!(self, Self::Const | Self::Volatile | Self::Restrict)
    }

    /// The same of a function.
    pub fn of_function(self) -> Self {
        match self {
            Self::Const => Self::ConstThis,
            Self::Volatile => Self::VolatileThis,
            Self::Restrict => Self::RestrictThis,
            other => other,
        }
    }
}

/// The parts of one name.
#[derive(Debug, Default)]
pub struct Tree<'n> {
    nodes: Vec<Node<'n>>,
    items: Vec<Id>,
}

impl<'n> Tree<'n> {
    /// Adds a part; `None` when there are more than numbers.
    pub fn add(&mut self, node: Node<'n>) -> Option<Id> {
        let id = Id(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(node);
        Some(id)
    }

    /// Adds parts in a row.
    pub fn add_list(&mut self, items: &[Id]) -> Option<List> {
        let start = u32::try_from(self.items.len()).ok()?;
        let len = u32::try_from(items.len()).ok()?;
        self.items.extend_from_slice(items);
        Some(List { start, len })
    }

    /// The part of a number that this tree gave out.
    pub fn get(&self, id: Id) -> Node<'n> {
        self.nodes.get(id.0 as usize).copied().unwrap_or(Node::Name(""))
    }

    /// Parts in a row.
    pub fn list(&self, list: List) -> &[Id] {
        let start = list.start as usize;
        self.items.get(start..start.saturating_add(list.len as usize)).unwrap_or_default()
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What a function's own qualifiers stand around.
    pub fn without_function_modifiers(&self, mut id: Id) -> Id {
        while let Node::Modified(modifier, inner) = self.get(id)
            && modifier.is_of_function()
        {
            id = inner;
        }
        id
    }
}

impl Id {
    /// Its number, for tables beside the tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

//! What a variable is.

use std::sync::Arc;

use kcore_mem::Svma;

use super::Expression;
use crate::DieId;

/// An argument, a local, or a variable of a module.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its entry: that of the instance that runs, where there is one.
    pub id: DieId,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// The entry of its type; `None` of one without a type.
    pub ty: Option<DieId>,
    /// Whether it is an argument.
    pub kind: VariableKind,
    /// Where it lies.
    pub location: VariableLocation,
    /// The line of its declaration.
    pub line: Option<u32>,
    /// Whether the debug information says for each part of the code where it lies, and not once for all of it.
    pub is_tracked: bool,
    /// Whether it is a result of a function of Go, which is a local there.
    pub is_result: bool,
    /// Whether the compiler made it: `this`, the bound of an array.
    pub is_artificial: bool,
    /// Whether other files may use it by its name.
    pub is_external: bool,
}

/// Whether a variable is an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableKind {
    /// An argument.
    Argument,
    /// Any other.
    Local,
}

/// Where a variable lies while certain code runs.
#[derive(Clone, Debug)]
pub enum VariableLocation {
    /// Nowhere: the compiler kept it not, or not there.
    OptimizedOut,
    /// Where an expression says.
    Expression(Expression),
    /// Its value is a constant.
    Constant(ConstantValue),
    /// What says where it lies is damaged.
    Damaged(gimli::Error),
}

/// The value of a variable that is a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstantValue {
    /// A number.
    Number(i128),
    /// The bytes as they would stand in memory.
    Bytes(Arc<[u8]>),
}

/// A function that holds an address, or one that was inlined there, with the variables that are in scope.
#[derive(Clone, Debug)]
pub struct FunctionScope {
    /// Its entry: of a function that was inlined, that of the call.
    pub id: DieId,
    /// Whether it was inlined into the next one.
    pub is_inlined: bool,
    /// The entries of the blocks that hold the address, the innermost first, and the function itself;
    /// each is followed by the abstract instance that it is one of.
    pub blocks: Vec<DieId>,
    /// Arguments first, in order of declaration; then the locals of the innermost block, and so on
    /// outwards. A name may stand several times: the first local counts, else the argument.
    pub variables: Vec<Variable>,
}

/// The functions that hold an address.
#[derive(Clone, Debug)]
pub struct Scopes {
    /// The innermost inlined one first, that which the machine called last.
    pub functions: Vec<FunctionScope>,
    /// Where the frame base of that last one lies.
    pub frame_base: VariableLocation,
    /// What gives the frame base of the function that it stands in, of one within another that uses its variables.
    pub static_link: Option<VariableLocation>,
    /// The first address of its code.
    pub entry: Option<Svma>,
}

impl Scopes {
    /// The entry of the function that the machine called.
    pub fn function(&self) -> Option<DieId> {
        self.functions.last().map(|function| function.id)
    }
}

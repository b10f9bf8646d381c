//! What a type is, whatever language it comes from.

use std::sync::{Arc, OnceLock, Weak};

use crate::{DieId, Type};

/// A type as one entry of debug information describes it. Types that it is made of are links: they
/// are read when somebody follows them.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeNode {
    /// The entry; `None` for a type that was made here.
    pub id: Option<DieId>,
    /// Its own name without scopes, template arguments included; `None` if it is anonymous.
    pub name: Option<Arc<str>>,
    /// Its size in bytes where the entry states one; see [`Type::size`].
    pub size: Option<u64>,
    /// Whether the entry only announces a type that is defined elsewhere.
    pub is_declaration: bool,
    /// What it is.
    pub kind: TypeKind,
}

/// What kinds of types there are.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// No value at all: `void`, or a type that DWARF leaves open, as that of `nullptr`.
    Void,
    /// A number, a character, a truth value.
    Base(BaseType),
    /// A pointer or a reference.
    Pointer(PointerType),
    /// Another name for a type, or a type with a qualifier.
    Alias(AliasType),
    /// A structure, class or union, or an enumeration of Rust, which is one with a variant part.
    Composite(Box<Composite>),
    /// Names for numbers.
    Enumeration(Enumeration),
    /// An array or a vector of the machine.
    Array(ArrayType),
    /// A function.
    Function(FunctionType),
    /// A pointer to a member of a class.
    MemberPointer(MemberPointerType),
    /// An entry that no language known here uses as a type, by its `DW_TAG_*`.
    Unknown(u16),
}

/// The way to another type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeLink {
    /// `void`: DWARF has no entry for it.
    Void,
    /// An entry of the same module's debug information.
    Die(DieId),
    /// A type at hand.
    Type(Box<Type>),
    /// A type that is made of this one, and was not complete when the link was made.
    Open(OpenType),
}

/// A type that is still being made, for those that it consists of. It must be kept by somebody else.
#[derive(Clone, Debug, Default)]
pub struct OpenType(Arc<OnceLock<Weak<TypeNode>>>);

impl OpenType {
    /// Says which type it is; only the first time counts.
    pub(super) fn complete(&self, node: &Arc<TypeNode>) {
        self.0.get_or_init(|| Arc::downgrade(node));
    }

    /// The type, once it is complete.
    pub(super) fn node(&self) -> Option<Arc<TypeNode>> {
        self.0.get()?.upgrade()
    }
}

impl PartialEq for OpenType {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A number, a character, a truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseType {
    /// How its bits are read.
    pub encoding: Encoding,
    /// How many of its bits count, if that is not all (`_BitInt`).
    pub bits: Option<u64>,
    /// Whether its bytes stand in the other order than the target's.
    pub swapped: bool,
}

/// How the bits of a [`BaseType`] are read (`DW_ATE_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// An integer with sign.
    Signed,
    /// An integer without sign.
    Unsigned,
    /// `char` of C where it has a sign.
    SignedChar,
    /// `char` of C where it has none; a byte.
    UnsignedChar,
    /// A code unit or a code point of Unicode: `char16_t`, `char32_t`, `char` of Rust.
    Unicode,
    /// True or false.
    Bool,
    /// A binary floating-point number.
    Float,
    /// A complex one: two of half its size.
    ComplexFloat,
    /// A decimal floating-point number, or what else no language known here has.
    Other(u8),
}

/// A pointer or a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct PointerType {
    /// Which of the two, and which kind.
    pub kind: PointerKind,
    /// What it points to.
    pub to: TypeLink,
}

/// Kinds of pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointerKind {
    /// A pointer.
    Pointer,
    /// `&` of C++.
    Reference,
    /// `&&` of C++.
    RvalueReference,
}

/// Another name for a type, or a type with a qualifier.
#[derive(Clone, Debug, PartialEq)]
pub struct AliasType {
    /// Which.
    pub kind: AliasKind,
    /// The type itself.
    pub to: TypeLink,
}

/// Kinds of aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AliasKind {
    /// `typedef`.
    Typedef,
    /// `const`.
    Const,
    /// `volatile`.
    Volatile,
    /// `restrict`.
    Restrict,
    /// `_Atomic`.
    Atomic,
    /// One that changes nothing of how values are read: a packed or shared type, say.
    Other,
}

/// A structure, class or union.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    /// The word before its name.
    pub keyword: Keyword,
    /// Its base classes, in order.
    pub bases: Vec<BaseClass>,
    /// Its members, in order, those alone that every value has.
    pub members: Vec<Member>,
    /// Variables of the class, of which there is one for all values.
    pub statics: Vec<StaticMember>,
    /// What it has besides by the value of a discriminant: the data of an enumeration of Rust.
    pub variants: Option<VariantPart>,
    /// The arguments of the template or generic type that it is made of.
    pub arguments: Vec<TypeArgument>,
    /// Whether objects begin with, or hold, a pointer to a table of virtual functions of their own.
    pub is_dynamic: bool,
}

/// The word before the name of a composite type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keyword {
    /// `struct`.
    Struct,
    /// `class`.
    Class,
    /// `union`: all members lie at the same place.
    Union,
}

/// A base class.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseClass {
    /// The class.
    pub ty: TypeLink,
    /// Where it lies in an object.
    pub place: MemberPlace,
    /// Whether it is a virtual base, shared by all classes that name it so.
    pub is_virtual: bool,
}

/// A member of a composite type.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name; `None` if it is anonymous, so that its own members count as those of the whole.
    pub name: Option<Arc<str>>,
    /// Its type.
    pub ty: TypeLink,
    /// Where it lies in an object.
    pub place: MemberPlace,
    /// Whether the compiler made it: a pointer to virtual functions.
    pub is_artificial: bool,
}

/// Where a member lies in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberPlace {
    /// So many bytes from its beginning.
    Offset(u64),
    /// A bit-field.
    Bits(BitField),
    /// Where a DWARF expression says, which begins with the address of the object on its stack: that of
    /// a virtual base follows from the object's table of virtual functions.
    Expression(Arc<[u8]>),
}

/// Where a bit-field lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitField {
    /// Bits from the beginning of the object to its first bit in memory order: the least significant
    /// one where bytes stand in little-endian order, else the most significant one.
    pub offset: u64,
    /// How many bits it has.
    pub size: u64,
}

/// A variable of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticMember {
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its type.
    pub ty: TypeLink,
    /// The name of its symbol, mangled, if the entry tells.
    pub linkage_name: Option<Arc<str>>,
    /// Its value, if that is known to the compiler.
    pub constant: Option<i128>,
}

/// What a value has by the value of a discriminant.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantPart {
    /// The member that decides; `None` where there is only one variant.
    pub discriminant: Option<Member>,
    /// The variants.
    pub variants: Vec<Variant>,
}

/// One of several things that a value may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The values of the discriminant that choose it, both ends included, as unsigned numbers of the
    /// discriminant's size; empty for the one that all other values choose.
    pub values: Vec<(u128, u128)>,
    /// Its members: in Rust one, named like the variant.
    pub members: Vec<Member>,
}

/// An argument of a template or generic type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeArgument {
    /// The name of the parameter.
    pub name: Option<Arc<str>>,
    /// The type, or the type of the value.
    pub ty: TypeLink,
    /// The value, if it is not a type that is meant.
    pub value: Option<i128>,
}

/// Names for numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumeration {
    /// The type of the numbers, if the entry names one.
    pub underlying: Option<TypeLink>,
    /// The names, in order of declaration.
    pub enumerators: Vec<Enumerator>,
    /// Whether names belong to the type: `enum class`.
    pub is_class: bool,
}

/// A name for a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerator {
    /// The name.
    pub name: Arc<str>,
    /// The number.
    pub value: i128,
}

/// An array or a vector of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayType {
    /// What it consists of.
    pub element: TypeLink,
    /// Its dimensions, the outermost first.
    pub dimensions: Vec<Dimension>,
    /// Bytes from one element to the next, if that is not an element's size.
    pub stride: Option<u64>,
    /// Whether it is a vector of the machine.
    pub is_vector: bool,
    /// Bounds, strides and a description in memory, which arrays of Fortran have; `None` for an array that lies as in C.
    pub layout: Option<Box<ArrayLayout>>,
}

/// How an array lies that has bounds of its own, or a description of itself in memory. The expressions begin with the
/// address of the object, which is that of the description if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    /// The first index in each dimension.
    pub first: Vec<ArrayBound>,
    /// Bytes from one element to the next in each dimension; `None` where they lie side by side.
    pub strides: Vec<Option<ArrayBound>>,
    /// Whether the first index changes fastest from one element in memory to the next.
    pub is_column_major: bool,
    /// Where the elements are, if not where the object is.
    pub elements: Option<Arc<[u8]>>,
    /// What is not 0 if there are elements.
    pub presence: Option<ArrayPresence>,
    /// `DW_AT_rank`: how many dimensions an array of assumed rank has. The array then states one, whose expressions begin
    /// with the number of the dimension instead, the first of which is 0.
    pub rank: Option<ArrayBound>,
}

/// A number that a type states, or that follows from an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayBound {
    /// This one.
    Number(i64),
    /// What a DWARF expression gives.
    Expression(Arc<[u8]>),
    /// What a variable holds, which a frame has.
    Variable(DieId),
}

/// Whether an array has elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayPresence {
    /// `DW_AT_allocated`: the array has memory unless this expression gives 0.
    Allocated(Arc<[u8]>),
    /// `DW_AT_associated`: the pointer leads to an array unless this expression gives 0.
    Associated(Arc<[u8]>),
}

/// How many elements an array has in one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// So many.
    Count(u64),
    /// As many as the object has room for: a flexible array member, an array declared without a bound.
    Open,
    /// What a DWARF expression gives as the last index, in a frame: an array of variable length.
    UpperBound(Arc<[u8]>),
    /// What the variable at an entry holds as the last index.
    UpperBoundIn(DieId),
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionType {
    /// What it returns.
    pub returns: TypeLink,
    /// Its parameters, without `this`.
    pub parameters: Vec<TypeLink>,
    /// Whether more may follow: `...`.
    pub is_variadic: bool,
}

/// A pointer to a member of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberPointerType {
    /// The member's type; a function's for a member function.
    pub to: TypeLink,
    /// The class.
    pub class: TypeLink,
}

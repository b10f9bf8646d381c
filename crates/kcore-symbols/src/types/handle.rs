//! A type at hand, with the debug information that its parts are read from.

use std::sync::Arc;

use super::{
    model::{
        AliasKind, AliasType, ArrayType, Composite, Dimension, OpenType, PointerKind, PointerType,
        TypeKind, TypeLink, TypeNode,
    },
    spelling,
};
use crate::{DebugInfo, DieId, Language, TypeError};

/// Aliases, elements of elements and the like that are followed to find out one thing of a type.
/// Damaged debug information has circles of them.
pub(super) const MAX_LINKS: usize = 64;
/// The same where aliases lead to aliases, as those of generated code do.
const MAX_ALIASES: usize = 1024;

/// A type. It is cheap to copy, and keeps the debug information alive that it was read from.
#[derive(Clone)]
pub struct Type {
    info: Option<Arc<DebugInfo>>,
    node: Arc<TypeNode>,
}

impl Type {
    /// A type read from debug information.
    pub(crate) const fn of(info: Arc<DebugInfo>, node: Arc<TypeNode>) -> Self {
        Self { info: Some(info), node }
    }

    /// A type that no debug information describes; its links are types at hand.
    pub fn made(node: TypeNode) -> Self {
        Self { info: None, node: Arc::new(node) }
    }

    /// The same, for a type that is made of itself: what linked to `open` leads to it.
    pub fn made_open(node: TypeNode, open: &OpenType) -> Self {
        let ty = Self::made(node);
        open.complete(&ty.node);
        ty
    }

    fn made_of(kind: TypeKind, size: Option<u64>) -> Self {
        Self::made(TypeNode { id: None, name: None, size, is_declaration: false, kind })
    }

    /// `void`.
    pub fn void() -> Self {
        Self::made_of(TypeKind::Void, None)
    }

    /// A pointer of `size` bytes to this type.
    #[must_use]
    pub fn pointer(&self, size: u64) -> Self {
        let pointer = PointerType { kind: PointerKind::Pointer, to: self.link() };
        Self::made_of(TypeKind::Pointer(pointer), Some(size))
    }

    /// An array of `count` of this type; without a count it is open.
    #[must_use]
    pub fn array(&self, count: Option<u64>) -> Self {
        let dimension = count.map_or(Dimension::Open, Dimension::Count);
        Self::made_of(
            TypeKind::Array(ArrayType {
                element: self.link(),
                dimensions: vec![dimension],
                stride: None,
                is_vector: false,
                layout: None,
            }),
            None,
        )
    }

    /// This type with a qualifier.
    #[must_use]
    pub fn qualified(&self, kind: AliasKind) -> Self {
        Self::made_of(TypeKind::Alias(AliasType { kind, to: self.link() }), None)
    }

    /// A link to this type.
    pub fn link(&self) -> TypeLink {
        TypeLink::Type(Box::new(self.clone()))
    }

    /// What its entry says.
    pub fn node(&self) -> &TypeNode {
        &self.node
    }

    /// The debug information that it was read from.
    pub const fn debug_info(&self) -> Option<&Arc<DebugInfo>> {
        self.info.as_ref()
    }

    /// Its entry.
    pub fn id(&self) -> Option<DieId> {
        self.node.id
    }

    /// What it is.
    pub fn kind(&self) -> &TypeKind {
        &self.node.kind
    }

    /// Its own name, without scopes.
    pub fn name(&self) -> Option<&str> {
        self.node.name.as_deref()
    }

    /// The language of the compilation unit that describes it.
    pub fn language(&self) -> Option<Language> {
        self.info.as_ref()?.language_of(self.node.id?)
    }

    /// Whether clang made the debug information that describes it.
    pub fn is_of_clang(&self) -> bool {
        let info = self.info.as_ref().zip(self.node.id);
        info.is_some_and(|(info, id)| info.is_of_clang(id))
    }

    /// The names of the namespaces, modules and types that it lies in, outermost first.
    pub fn scope(&self) -> Vec<Arc<str>> {
        match (&self.info, self.node.id) {
            (Some(info), Some(id)) => info.scope_of(id),
            _ => Vec::new(),
        }
    }

    /// Its name with scopes: `ns::Outer::Inner<int>`; `None` for a type without a name.
    pub fn qualified_name(&self) -> Option<String> {
        spelling::qualified_name(self)
    }

    /// As C and C++ spell it, without a variable: `struct node *`, `char [16]`, `int (*)(void)`,
    /// `const std::vector<int> &`; `(anon)` stands for the name of a type that has none.
    pub fn spelled(&self) -> String {
        spelling::spelled(self)
    }

    /// As C and C++ declare a variable of this type: `char *name[4]`.
    pub fn declared(&self, name: &str) -> String {
        spelling::declared(self, name)
    }

    /// The type at the end of a link.
    ///
    /// # Errors
    /// When the entry cannot be read, or is no type.
    pub fn follow(&self, link: &TypeLink) -> Result<Self, TypeError> {
        match (link, &self.info) {
            (TypeLink::Void, _) => Ok(Self::void()),
            (TypeLink::Type(ty), _) => Ok((**ty).clone()),
            (TypeLink::Die(id), Some(info)) => info.type_at(*id),
            (TypeLink::Die(id), None) => Err(TypeError::NoEntry(*id)),
            (TypeLink::Open(open), _) => {
                open.node().map(|node| Self { info: None, node }).ok_or(TypeError::Incomplete)
            }
        }
    }

    /// The type without one alias, for aliases; what a pointer or a reference points to; the element
    /// of an array; `None` for all others.
    ///
    /// # Errors
    /// As [`Type::follow`].
    pub fn target(&self) -> Result<Option<Self>, TypeError> {
        let link = match self.kind() {
            TypeKind::Pointer(pointer) => &pointer.to,
            TypeKind::Alias(alias) => &alias.to,
            TypeKind::Array(array) => &array.element,
            TypeKind::MemberPointer(pointer) => &pointer.to,
            _ => return Ok(None),
        };
        self.follow(link).map(Some)
    }

    /// The type behind all typedefs and qualifiers.
    ///
    /// # Errors
    /// As [`Type::follow`], and when aliases go round in a circle, or are too many.
    pub fn stripped(&self) -> Result<Self, TypeError> {
        self.strip(|_| true)
    }

    /// The type behind qualifiers; typedefs stay.
    ///
    /// # Errors
    /// As [`Type::stripped`].
    pub fn unqualified(&self) -> Result<Self, TypeError> {
        self.strip(|kind| kind != AliasKind::Typedef)
    }

    fn strip(&self, through: impl Fn(AliasKind) -> bool) -> Result<Self, TypeError> {
        let mut ty = self.clone();
        // One of those that were met, further on each time: whatever goes round in a circle meets it again.
        let mut met = ty.identity();
        for count in 1..=MAX_ALIASES {
            ty = match ty.kind() {
                TypeKind::Alias(alias) if through(alias.kind) => ty.follow(&alias.to)?,
                _ => return Ok(ty),
            };
            if ty.identity() == met {
                return Err(TypeError::Endless(self.spelled()));
            }
            if count.is_power_of_two() {
                met = ty.identity();
            }
        }
        Err(TypeError::TooDeep(self.spelled(), MAX_ALIASES))
    }

    /// Its structure, if it is a structure, class or union. Aliases are not followed.
    pub fn composite(&self) -> Option<&Composite> {
        match self.kind() {
            TypeKind::Composite(composite) => Some(composite),
            _ => None,
        }
    }

    /// What a function of a class returns, by the function's name, where the class itself declares it.
    pub fn method_result(&self, name: &str) -> Option<Self> {
        let (info, id) = (self.info.as_ref()?, self.node.id?);
        self.follow(&super::read::result_of(info, id, name)?).ok()
    }

    /// Bytes of a value. `None` where nobody can tell: of a type that is only declared, of a function,
    /// of an array without a bound.
    pub fn size(&self) -> Option<u64> {
        self.size_within(MAX_LINKS)
    }

    fn size_within(&self, links: usize) -> Option<u64> {
        if self.node.size.is_some() {
            return self.node.size;
        }
        let links = links.checked_sub(1)?;
        match self.kind() {
            TypeKind::Alias(_) => self.stripped().ok()?.size_within(links),
            TypeKind::Enumeration(enumeration) => {
                self.follow(enumeration.underlying.as_ref()?).ok()?.size_within(links)
            }
            // The bytes of an array that a description in memory tells of are known only once that is read.
            TypeKind::Array(array)
                if array.layout.as_ref().is_some_and(|it| it.elements.is_some()) =>
            {
                None
            }
            TypeKind::Array(array) => {
                let element = match array.stride {
                    Some(stride) => stride,
                    None => self.follow(&array.element).ok()?.size_within(links)?,
                };
                array.dimensions.iter().try_fold(element, |size, dimension| match dimension {
                    Dimension::Count(count) => size.checked_mul(*count),
                    _ => None,
                })
            }
            _ => None,
        }
    }
}

/// Tells types apart by their entry in the debug information, without comparing their contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeIdentity(usize, Option<DieId>);

impl Type {
    /// Its identity, valid while the type is alive.
    pub fn identity(&self) -> TypeIdentity {
        match (&self.info, self.node.id) {
            (Some(info), Some(id)) => TypeIdentity(Arc::as_ptr(info).addr(), Some(id)),
            _ => TypeIdentity(Arc::as_ptr(&self.node).addr(), None),
        }
    }
}

impl PartialEq for Type {
    /// Whether both were read from one entry; of types made here, whether they say the same.
    fn eq(&self, other: &Self) -> bool {
        let same_info = match (&self.info, &other.info) {
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            (None, None) => true,
            _ => false,
        };
        same_info && (Arc::ptr_eq(&self.node, &other.node) || self.node == other.node)
    }
}

impl std::fmt::Debug for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Type").field(&self.node.id).field(&self.node.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alias_of(depth: usize) -> Type {
        let pointer = Type::void().pointer(8);
        (0..depth).fold(pointer, |ty, _| ty.qualified(AliasKind::Typedef))
    }

    #[test]
    fn aliases_of_aliases_are_followed_as_far_as_generated_code_needs() {
        let deep = alias_of(1000);
        assert_eq!(deep.size(), Some(8));
        assert_eq!(deep.stripped().map(|ty| ty.name().is_none()), Ok(true));
        let endless = alias_of(2000).stripped();
        assert!(matches!(endless, Err(TypeError::TooDeep(..))), "{endless:?}");
    }
}

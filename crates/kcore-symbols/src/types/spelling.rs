//! Names of types as C and C++ write them.

use std::cell::Cell;

use super::{
    Type,
    handle::MAX_LINKS,
    model::{
        AliasKind, AliasType, ArrayType, Composite, Dimension, FunctionType, Keyword, PointerKind,
        TypeKind, TypeLink, TypeNode,
    },
};
use crate::Language;

/// Types that the name of one type is made of, at most. The parameters of functions may be functions that
/// have one another as parameters, again and again.
const MAX_PARTS: u32 = 256;

/// What stands for the name of a type that has none.
const NAMELESS: &str = "(anon)";

/// The name with scopes; `None` without a name.
pub fn qualified_name(ty: &Type) -> Option<String> {
    let name = ty.name()?;
    let mut qualified = String::new();
    for scope in ty.scope() {
        qualified.push_str(&scope);
        qualified.push_str("::");
    }
    qualified.push_str(name);
    Some(qualified)
}

/// The type as C and C++ spell it.
pub fn spelled(ty: &Type) -> String {
    declared(ty, "")
}

/// The declaration of a variable.
pub fn declared(ty: &Type, name: &str) -> String {
    declare(ty, name.to_owned(), SpellingBudget { links: MAX_LINKS, parts: &Cell::new(MAX_PARTS) })
}

/// How much of a type is still spelled.
#[derive(Clone, Copy)]
struct SpellingBudget<'a> {
    /// Types within one another.
    links: usize,
    /// Types in all.
    parts: &'a Cell<u32>,
}

impl SpellingBudget<'_> {
    /// The room that one type leaves for those that it is made of.
    fn less(self) -> Option<Self> {
        self.parts.set(self.parts.get().checked_sub(1)?);
        Some(Self { links: self.links.checked_sub(1)?, ..self })
    }
}

/// A declaration of `inner`, which is what stands at the place of the variable.
fn declare(ty: &Type, inner: String, room: SpellingBudget<'_>) -> String {
    let Some(room) = room.less() else { return joined("...", &inner) };
    let declare_link = |link: &TypeLink, inner: String| match ty.follow(link) {
        Ok(target) => declare(&target, inner, room),
        Err(_) => joined("?", &inner),
    };
    match ty.kind() {
        TypeKind::Pointer(pointer) if ty.name().is_none() => {
            let sign = match pointer.kind {
                PointerKind::Pointer => "*",
                PointerKind::Reference => "&",
                PointerKind::RvalueReference => "&&",
            };
            declare_link(&pointer.to, format!("{sign}{inner}"))
        }
        TypeKind::Alias(alias) if ty.name().is_none() => {
            let word = match alias.kind {
                AliasKind::Const => "const",
                AliasKind::Volatile => "volatile",
                AliasKind::Restrict => "restrict",
                AliasKind::Atomic => "_Atomic",
                AliasKind::Typedef | AliasKind::Other => return declare_link(&alias.to, inner),
            };
            if let Some(array) = elements_with(ty, alias) {
                return declare(&array, inner, room);
            }
            let is_pointer = ty
                .follow(&alias.to)
                .is_ok_and(|to| matches!(to.kind(), TypeKind::Pointer(_)) && to.name().is_none());
            match is_pointer {
                true => declare_link(&alias.to, joined(word, &inner)),
                false => joined(word, &declare_link(&alias.to, inner)),
            }
        }
        TypeKind::Array(array) if ty.name().is_none() => {
            let dimensions: String = array.dimensions.iter().map(dimension).collect();
            declare_link(&array.element, format!("{}{dimensions}", grouped(inner)))
        }
        TypeKind::Function(function) => {
            let parameters = parameters(ty, function, room);
            declare_link(&function.returns, format!("{}({parameters})", grouped(inner)))
        }
        TypeKind::MemberPointer(pointer) => {
            let class = ty.follow(&pointer.class).ok();
            let class = class.and_then(|class| class.qualified_name());
            let class = class.unwrap_or_else(|| NAMELESS.to_owned());
            declare_link(&pointer.to, format!("{class}::*{inner}"))
        }
        _ => joined(&named(ty), &inner),
    }
}

/// An array behind a qualifier as C has it: the elements have the qualifier, once. gcc says it of `__func__`
/// for both.
fn elements_with(ty: &Type, alias: &AliasType) -> Option<Type> {
    let to = ty.follow(&alias.to).ok()?;
    let TypeKind::Array(array) = to.kind() else { return None };
    let element = to.follow(&array.element).ok().filter(|_| to.name().is_none())?;
    let is_it = matches!(element.kind(), TypeKind::Alias(own) if own.kind == alias.kind);
    let element = if is_it { element } else { element.qualified(alias.kind) };
    let kind = TypeKind::Array(ArrayType { element: element.link(), ..array.clone() });
    Some(Type::made(TypeNode { id: None, kind, ..to.node().clone() }))
}

/// What stands in brackets behind a pointer's asterisk must be told from what binds closer.
fn grouped(inner: String) -> String {
    match inner.starts_with(['*', '&']) || inner.contains("::*") {
        true => format!("({inner})"),
        false => inner,
    }
}

/// Both with a blank between them, if there are both.
fn joined(left: &str, right: &str) -> String {
    let between = if left.is_empty() || right.is_empty() { "" } else { " " };
    format!("{left}{between}{right}")
}

fn dimension(dimension: &Dimension) -> String {
    match dimension {
        Dimension::Count(count) => format!("[{count}]"),
        _ => "[]".to_owned(),
    }
}

fn parameters(ty: &Type, function: &FunctionType, room: SpellingBudget<'_>) -> String {
    let spelled = |link| match ty.follow(link) {
        Ok(target) => declare(&target, String::new(), room),
        Err(_) => "?".to_owned(),
    };
    let mut all: Vec<String> = function.parameters.iter().map(spelled).collect();
    if function.is_variadic {
        all.push("...".to_owned());
    }
    if all.is_empty() { "void".to_owned() } else { all.join(", ") }
}

/// A type that has a name, or should have.
fn named(ty: &Type) -> String {
    let name = || ty.qualified_name().unwrap_or_else(|| NAMELESS.to_owned());
    match ty.kind() {
        TypeKind::Void => ty.name().unwrap_or("void").to_owned(),
        TypeKind::Composite(composite) => joined(keyword(ty, composite), &name()),
        TypeKind::Enumeration(_) => joined(tag_word(ty, "enum"), &name()),
        _ => name(),
    }
}

fn keyword(ty: &Type, composite: &Composite) -> &'static str {
    tag_word(
        ty,
        match composite.keyword {
            Keyword::Struct => "struct",
            Keyword::Class => "class",
            Keyword::Union => "union",
        },
    )
}

/// The word that C wants before the name of a structure; other languages want none.
fn tag_word(ty: &Type, word: &'static str) -> &'static str {
    match ty.language() {
        Some(Language::C) | None => word,
        _ if ty.name().is_none() => word,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::TypeNode;
    use super::*;

    fn function(parameters: &Type, count: usize) -> Type {
        let parameters = vec![parameters.link(); count];
        let returns = TypeLink::Void;
        let kind = TypeKind::Function(FunctionType { returns, parameters, is_variadic: false });
        Type::made(TypeNode { id: None, name: None, size: None, is_declaration: false, kind })
    }

    #[test]
    fn functions_of_functions_are_spelled_as_far_as_anybody_reads() {
        let of_two = |ty: Type| function(&function(&ty, 2), 2);
        assert_eq!(function(&Type::void().pointer(8), 2).spelled(), "void (void *, void *)");
        let deep = (0..20).fold(Type::void(), |ty, _| of_two(ty));
        assert!(deep.spelled().contains("..."));
        assert!(deep.spelled().len() < 8192, "{} bytes", deep.spelled().len());
    }

    #[test]
    fn many_parameters_end_somewhere() {
        let spelled = function(&Type::void().pointer(8), 100_000).spelled();
        assert!(spelled.len() < 700_000 && spelled.ends_with("..., ...)"), "{}", spelled.len());
    }
}

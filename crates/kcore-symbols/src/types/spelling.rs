//! Names of types as C and C++ write them.

use super::{
    Type,
    handle::MAX_LINKS,
    model::{
        AliasKind, AliasType, ArrayType, Composite, Dimension, FunctionType, Keyword, PointerKind,
        TypeKind, TypeLink, TypeNode,
    },
};
use crate::Language;

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
    declare(ty, String::new(), MAX_LINKS)
}

/// The declaration of a variable.
pub fn declared(ty: &Type, name: &str) -> String {
    declare(ty, name.to_owned(), MAX_LINKS)
}

/// A declaration of `inner`, which is what stands at the place of the variable.
fn declare(ty: &Type, inner: String, links: usize) -> String {
    let Some(links) = links.checked_sub(1) else { return joined("...", &inner) };
    let declare_link = |link: &TypeLink, inner: String| match ty.follow(link) {
        Ok(target) => declare(&target, inner, links),
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
                return declare(&array, inner, links);
            }
            let is_pointer = ty
                .follow(&alias.to)
                .is_ok_and(|to| matches!(to.kind(), TypeKind::Pointer(_)) && to.name().is_none());
            match is_pointer {
                true => declare_link(&alias.to, joined(word, &inner)),
                false => {
                    let declared = declare_link(&alias.to, inner);
                    // Arrays are constant, and their elements again.
                    let is_said = declared.strip_prefix(word).is_some_and(|it| it.starts_with(' '));
                    if is_said { declared } else { joined(word, &declared) }
                }
            }
        }
        TypeKind::Array(array) if ty.name().is_none() => {
            let dimensions: String = array.dimensions.iter().map(dimension).collect();
            declare_link(&array.element, format!("{}{dimensions}", grouped(inner)))
        }
        TypeKind::Function(function) => {
            let parameters = parameters(ty, function, links);
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

fn parameters(ty: &Type, function: &FunctionType, links: usize) -> String {
    let spelled = |link| match ty.follow(link) {
        Ok(target) => declare(&target, String::new(), links),
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

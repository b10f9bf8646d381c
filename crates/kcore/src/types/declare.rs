//! Types that a user declares.

use std::{collections::BTreeSet, sync::Arc};

use kcore_symbols::{AliasKind, AliasType, Type, TypeKind, TypeNode};

use super::{
    SessionType, SessionTypes, TypeLookupError, Types,
    lexer::{tokens, written},
    lookup::Lookup,
    parser::{self, Declaration},
};

/// Declarations of one text, at most.
const MAX_DECLARATIONS: usize = 1 << 16;
/// Pointers, arrays and aliases that are looked through for what a text defines.
const MAX_PARTS: usize = 64;

impl Types<'_> {
    /// Gives the type that `text` describes a name in the session: `struct { int a; char b[4]; }`. A
    /// structure that it defines with a tag is a type of the session as well.
    ///
    /// # Errors
    /// When it describes none, or there is a type of that name in the session.
    pub fn name(
        &self,
        session: &mut SessionTypes,
        text: &str,
        name: &str,
    ) -> Result<(), TypeLookupError> {
        let ty = self.named_in(session, None, text)?;
        if let Some(declared) = declared_with_body(text, &ty, name) {
            return self.declare(session, &format!("typedef {declared};")).map(|_| ());
        }
        if text.contains('{') && ty.debug_info().is_none() {
            // A structure that a parameter defines has no name behind its declaration.
            self.named_in(session, None, &ty.spelled())?;
        }
        let declaration = written(&tokens(&format!("typedef {};", ty.declared(name)))?);
        let types = vec![(name.to_owned(), alias(name, &ty))];
        add_all(session, types, &declaration.into()).map(|_| ())
    }

    /// Reads declarations of C (`typedef struct { int a; } foo_t;`, `struct node { … };`) into a session,
    /// and says the names of the types, in order. What was read before an error stays.
    ///
    /// # Errors
    /// When a declaration reads like none, names a type that is not there, or one that is there already.
    pub fn declare(
        &self,
        session: &mut SessionTypes,
        text: &str,
    ) -> Result<Vec<String>, TypeLookupError> {
        let tokens = tokens(text)?;
        let (mut at, mut names) = (0, Vec::new());
        for _ in 0..MAX_DECLARATIONS {
            if at >= tokens.len() {
                break;
            }
            let lookup = Lookup::new(*self, session, None);
            let (declaration, next) = parser::declaration(&tokens, at, &lookup)?;
            let text = written(tokens.get(at..next).unwrap_or_default()).into();
            names.extend(declare(session, declaration, &text)?);
            at = next;
        }
        Ok(names)
    }
}

/// The declaration of a variable whose type `text` defines with a body, which has no name by which it
/// could be spelled. `None` of a type that has no body there.
fn declared_with_body(text: &str, ty: &Type, name: &str) -> Option<String> {
    let (body, _) = text.split_at_checked(text.rfind('}')?.saturating_add(1))?;
    let defined = defined_in(ty)?;
    Some(ty.declared(name).replacen(&defined.spelled(), body.trim(), 1))
}

/// The structure, union or enumeration that a type is made of, if no debug information has it.
fn defined_in(ty: &Type) -> Option<Type> {
    let mut defined = ty.clone();
    for _ in 0..MAX_PARTS {
        if defined.debug_info().is_some() {
            return None;
        }
        let Some(target) = defined.target().ok()? else {
            let kind = defined.kind();
            return matches!(kind, TypeKind::Composite(_) | TypeKind::Enumeration(_))
                .then_some(defined);
        };
        defined = target;
    }
    None
}

/// Adds all that a declaration makes, and says the names; nothing of one that cannot be added whole.
fn declare(
    session: &mut SessionTypes,
    declaration: Declaration,
    text: &Arc<str>,
) -> Result<Vec<String>, TypeLookupError> {
    let tagged = declaration.tagged.map(|(tag, ty)| {
        let name = format!("{} {}", tag.word(), ty.name().unwrap_or_default());
        (name, ty)
    });
    let typedefs = declaration.typedefs.into_iter().map(|declared| {
        let name = declared.name.as_deref().unwrap_or_default();
        (name.to_owned(), alias(name, &declared.ty))
    });
    add_all(session, tagged.into_iter().chain(typedefs).collect(), text)
}

/// Adds types, each by a name that is new to the session and to the others.
fn add_all(
    session: &mut SessionTypes,
    types: Vec<(String, Type)>,
    declaration: &Arc<str>,
) -> Result<Vec<String>, TypeLookupError> {
    let mut seen = BTreeSet::new();
    let mut is_known = |name: &String| session.get(name).is_some() || !seen.insert(name.clone());
    let names: Vec<String> = types.iter().map(|(name, _)| name.clone()).collect();
    if let Some(known) = names.iter().find(|name| is_known(name)).cloned() {
        return Err(TypeLookupError::Exists(known));
    }
    for (name, ty) in types {
        session.add(name, SessionType { ty, declaration: Arc::clone(declaration) });
    }
    Ok(names)
}

/// Another name for a type.
fn alias(name: &str, ty: &Type) -> Type {
    Type::made(TypeNode {
        id: None,
        name: Some(name.into()),
        size: None,
        is_declaration: false,
        kind: TypeKind::Alias(AliasType { kind: AliasKind::Typedef, to: ty.link() }),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{DataModel, basic, parser::Tag};
    use super::*;

    /// The basic types of C alone.
    struct Basic;

    impl parser::Names for Basic {
        fn named(&self, _: Option<Tag>, name: &str) -> Result<Type, TypeLookupError> {
            basic::named(name, self.model()).ok_or(TypeLookupError::NotFound)
        }

        fn model(&self) -> DataModel {
            DataModel::Lp64
        }
    }

    fn declared(text: &str) -> Option<String> {
        declared_with_body(text, &parser::type_name(text, &Basic).unwrap(), "name")
    }

    #[test]
    fn a_body_stands_where_the_name_of_its_type_would() {
        let of = |text| declared(text).unwrap();
        assert_eq!(of("struct { int a; }"), "struct { int a; } name");
        assert_eq!(of("struct pair { int a; } *[2]"), "struct pair { int a; } *name[2]");
        assert_eq!(of("enum { A, B } (*)[4]"), "enum { A, B } (*name)[4]");
        assert_eq!(declared("int *"), None);
        assert_eq!(declared("int (*)(struct { int a; })"), None, "its body is that of a parameter");
    }

    #[test]
    fn a_declaration_is_made_whole_or_not_at_all() {
        let mut session = SessionTypes::default();
        let mut declare_text = |text: &str| {
            let tokens = tokens(text).unwrap();
            let (declaration, _) = parser::declaration(&tokens, 0, &Basic).unwrap();
            declare(&mut session, declaration, &text.into())
        };
        let twice = declare_text("typedef struct pair { int a; } pair_t, *pair_t;");
        assert_eq!(twice, Err(TypeLookupError::Exists("pair_t".into())));
        let names = declare_text("typedef struct pair { int a; } pair_t, *pair_p;").unwrap();
        assert_eq!(names, ["struct pair", "pair_t", "pair_p"]);
        let again = declare_text("typedef struct pair { int a; } other_t;");
        assert_eq!(again, Err(TypeLookupError::Exists("struct pair".into())));
        assert_eq!(session.iter().count(), 3);
        assert_eq!(session.declarations().count(), 1);
    }
}

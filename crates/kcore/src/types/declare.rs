//! Types that a user declares.

use std::sync::Arc;

use kcore_symbols::{AliasKind, AliasType, Type, TypeKind, TypeNode};

use super::{
    SessionType, SessionTypes, TypeLookupError,
    lexer::{tokens, written},
    lookup::Lookup,
    parser::{self, Declaration},
};
use crate::Core;

/// Declarations of one text, at most.
const MAX_DECLARATIONS: usize = 1 << 16;

impl Core {
    /// Gives the type that `text` describes a name in the session: `struct { int a; char b[4]; }`.
    ///
    /// # Errors
    /// When it describes none, or there is a type of that name in the session.
    pub fn name_type(
        &self,
        session: &mut SessionTypes,
        text: &str,
        name: &str,
    ) -> Result<(), TypeLookupError> {
        let ty = self.type_named_in(session, None, text)?;
        // A body has no name by which it could be spelled.
        let declared = match text.contains('{') {
            true => format!("{} {name}", text.trim()),
            false => ty.declared(name),
        };
        let declaration = written(&tokens(&format!("typedef {declared};"))?);
        add_alias(session, name, &ty, declaration.into())
    }

    /// Reads declarations of C (`typedef struct { int a; } foo_t;`, `struct node { … };`) into a session,
    /// and says the names of the types, in order. What was read before an error stays.
    ///
    /// # Errors
    /// When a declaration reads like none, names a type that is not there, or one that is there already.
    pub fn declare_types(
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
            let lookup = Lookup::new(self, session, None);
            let (declaration, next) = parser::declaration(&tokens, at, &lookup)?;
            let text = written(tokens.get(at..next).unwrap_or_default()).into();
            names.extend(declare(session, declaration, &text)?);
            at = next;
        }
        Ok(names)
    }
}

/// Adds what a declaration makes, and says the names.
fn declare(
    session: &mut SessionTypes,
    declaration: Declaration,
    text: &Arc<str>,
) -> Result<Vec<String>, TypeLookupError> {
    let mut names = Vec::new();
    if let Some((tag, ty)) = declaration.tagged {
        let name = format!("{} {}", tag.word(), ty.name().unwrap_or_default());
        check_new(session, &name)?;
        session.add(name.clone(), SessionType { ty, declaration: Arc::clone(text) });
        names.push(name);
    }
    for declared in declaration.typedefs {
        let name = declared.name.as_deref().unwrap_or_default();
        add_alias(session, name, &declared.ty, Arc::clone(text))?;
        names.push(name.to_owned());
    }
    Ok(names)
}

fn check_new(session: &SessionTypes, name: &str) -> Result<(), TypeLookupError> {
    match session.get(name) {
        Some(_) => Err(TypeLookupError::Exists(name.to_owned())),
        None => Ok(()),
    }
}

fn add_alias(
    session: &mut SessionTypes,
    name: &str,
    ty: &Type,
    declaration: Arc<str>,
) -> Result<(), TypeLookupError> {
    check_new(session, name)?;
    let ty = Type::made(TypeNode {
        id: None,
        name: Some(name.into()),
        size: None,
        is_declaration: false,
        kind: TypeKind::Alias(AliasType { kind: AliasKind::Typedef, to: ty.link() }),
    });
    session.add(name.to_owned(), SessionType { ty, declaration });
    Ok(())
}

//! What expressions have of Fortran: subscripts in parentheses and `%` before a member. Both have other meanings in C,
//! and are read so only behind an array or a derived type of Fortran.

use kcore_symbols::{Language, Type, TypeKind};

use super::{
    ExpressionFault,
    name::is_name,
    parse::{Parsed, Parser},
    tree::{Node, SubscriptNode, Tree},
};

/// Subscripts of one array, at most: Fortran has 15 dimensions.
const MAX_SUBSCRIPTS: usize = 15;
/// Pointers to pointers, and arrays of arrays, that are looked through.
const MAX_STEPS: usize = 8;

/// Which signs of Fortran may follow an operand.
#[derive(Clone, Copy, Default)]
pub struct FortranSigns {
    /// Parentheses with subscripts.
    pub parentheses: bool,
    /// `%` before a member.
    pub percent: bool,
}

impl FortranSigns {
    /// Those of the object that a chain of members and elements begins with.
    pub fn of(first: &Node) -> Self {
        match &first.tree {
            Tree::Object(object) => Self::of_type(&object.ty).unwrap_or_default(),
            Tree::Group(inner) => Self::of(inner),
            _ => Self::default(),
        }
    }

    fn of_type(ty: &Type) -> Option<Self> {
        let (mut ty, mut has_elements) = (ty.stripped().ok()?, false);
        for _ in 0..MAX_STEPS {
            let inner = match ty.kind() {
                TypeKind::Array(array) if array.layout.is_some() => {
                    has_elements = true;
                    ty.follow(&array.element)
                }
                TypeKind::Pointer(pointer) => ty.follow(&pointer.to),
                _ => break,
            };
            ty = inner.ok()?.stripped().ok()?;
        }
        let is_composite = ty.composite().is_some() && ty.language() == Some(Language::Fortran);
        Some(Self { parentheses: has_elements || is_composite, percent: is_composite })
    }
}

/// Whether a text begins with `%` and the name of a member.
pub fn begins_with_member(text: &str) -> bool {
    let name = text.strip_prefix('%').unwrap_or_default().trim_start();
    name.starts_with(|c: char| is_name(c) && !c.is_ascii_digit())
}

/// The subscripts in the parentheses that begin here.
pub fn elements(parser: &mut Parser<'_>, base: Node) -> Parsed<Tree> {
    parser.require("(")?;
    let mut subscripts = Vec::new();
    loop {
        if subscripts.len() >= MAX_SUBSCRIPTS {
            return Err(ExpressionFault::Limit("15 subscripts"));
        }
        subscripts.push(subscript(parser)?);
        if !parser.takes(",") {
            break;
        }
    }
    parser.require(")")?;
    Ok(Tree::Elements(Box::new(base), subscripts))
}

fn subscript(parser: &mut Parser<'_>) -> Parsed<SubscriptNode> {
    let mut bounds = [None, None, None];
    let mut is_section = false;
    for bound in &mut bounds {
        parser.blanks();
        if !parser.rest().starts_with([':', ',', ')']) {
            *bound = Some(parser.nested(Parser::choice)?);
        }
        if !parser.takes(":") {
            break;
        }
        is_section = true;
    }
    match bounds {
        [Some(index), None, None] if !is_section => Ok(SubscriptNode::Index(index)),
        bounds if is_section => Ok(SubscriptNode::Section(bounds)),
        _ => Err(parser.expected("a subscript")),
    }
}

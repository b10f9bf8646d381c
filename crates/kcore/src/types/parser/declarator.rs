//! Declarators: what stands around the name of a variable.

use std::sync::Arc;

use kcore_symbols::{AliasKind, FunctionType, PointerKind, PointerType, Type, TypeKind, TypeNode};

use super::{
    super::{TypeLookupError, layout::Declared, lexer::Token},
    Parser,
};

/// Pointers to pointers, arrays of arrays of one declaration.
const MAX_MODIFIERS: usize = 32;

/// What turns a type into another, in the order in which it is applied.
enum Modifier {
    Pointer(PointerKind),
    Qualifier(AliasKind),
    Array(Option<u64>),
    Function { parameters: Vec<Type>, is_variadic: bool },
}

impl Parser<'_> {
    /// A declarator, applied to the type before it.
    pub fn declarator(&mut self, base: Type) -> Result<Declared, TypeLookupError> {
        let mut modifiers = Vec::new();
        let name = self.nested(|parser| parser.modifiers(&mut modifiers))?;
        if modifiers.len() > MAX_MODIFIERS {
            return Err(TypeLookupError::Limit("32 pointers and arrays of one type"));
        }
        let size = self.names.model().long();
        let ty = modifiers.into_iter().fold(base, |ty, modifier| modifier.apply(ty, size));
        Ok(Declared { name, ty, bits: None })
    }

    /// The modifiers of a declarator, those that bind least first, and its name.
    fn modifiers(
        &mut self,
        found: &mut Vec<Modifier>,
    ) -> Result<Option<Arc<str>>, TypeLookupError> {
        self.pointers(found);
        let mut inner = Vec::new();
        let mut name = None;
        if self.begins_group() {
            self.step();
            name = self.nested(|parser| parser.modifiers(&mut inner))?;
            self.expect(")")?;
        } else if let Some(word) = self.word().map(Arc::<str>::from) {
            self.step();
            name = Some(word);
        }
        let mut suffixes = Vec::new();
        while let Some(suffix) = self.suffix()? {
            suffixes.push(suffix);
        }
        found.extend(suffixes.into_iter().rev());
        found.append(&mut inner);
        Ok(name)
    }

    fn pointers(&mut self, found: &mut Vec<Modifier>) {
        loop {
            if self.takes("*") {
                found.push(Modifier::Pointer(PointerKind::Pointer));
            } else if self.takes("&") {
                found.push(Modifier::Pointer(PointerKind::Reference));
            } else if self.takes("&&") {
                found.push(Modifier::Pointer(PointerKind::RvalueReference));
            } else if let Some(kind) = self.word().and_then(qualifier) {
                self.step();
                found.push(Modifier::Qualifier(kind));
            } else {
                return;
            }
        }
    }

    /// Whether a bracket holds a declarator, not parameters.
    fn begins_group(&self) -> bool {
        let next = self.tokens.get(self.at.saturating_add(1));
        self.is_sign("(") && matches!(next, Some(Token::Sign("*" | "&" | "&&" | "(")))
    }

    fn suffix(&mut self) -> Result<Option<Modifier>, TypeLookupError> {
        if self.takes("[") {
            let count = if self.is_sign("]") { None } else { Some(self.unsigned()?) };
            self.expect("]")?;
            return Ok(Some(Modifier::Array(count)));
        }
        if self.is_sign("(") {
            self.step();
            return self.nested(Self::parameters).map(Some);
        }
        Ok(None)
    }

    fn parameters(&mut self) -> Result<Modifier, TypeLookupError> {
        let (mut parameters, mut is_variadic) = (Vec::new(), false);
        while !self.takes(")") {
            if self.takes("...") {
                is_variadic = true;
            } else {
                let base = self.specifiers()?;
                parameters.push(self.declarator(base)?.ty);
            }
            if !self.takes(",") && !self.is_sign(")") {
                return Err(self.unexpected());
            }
        }
        // `(void)` has none.
        parameters.retain(|ty| !matches!(ty.kind(), TypeKind::Void));
        Ok(Modifier::Function { parameters, is_variadic })
    }
}

/// The qualifier that a word is.
pub fn qualifier(word: &str) -> Option<AliasKind> {
    Some(match word {
        "const" => AliasKind::Const,
        "volatile" => AliasKind::Volatile,
        "restrict" | "__restrict" => AliasKind::Restrict,
        "_Atomic" => AliasKind::Atomic,
        _ => return None,
    })
}

impl Modifier {
    fn apply(self, ty: Type, pointer_size: u64) -> Type {
        match self {
            Self::Pointer(PointerKind::Pointer) => ty.pointer(pointer_size),
            Self::Pointer(kind) => {
                made(TypeKind::Pointer(PointerType { kind, to: ty.link() }), Some(pointer_size))
            }
            Self::Qualifier(kind) => ty.qualified(kind),
            Self::Array(count) => ty.array(count),
            Self::Function { parameters, is_variadic } => {
                let parameters = parameters.iter().map(Type::link).collect();
                let function = FunctionType { returns: ty.link(), parameters, is_variadic };
                made(TypeKind::Function(function), None)
            }
        }
    }
}

/// A type without a name.
pub fn made(kind: TypeKind, size: Option<u64>) -> Type {
    Type::made(TypeNode { id: None, name: None, size, is_declaration: false, kind })
}

//! Types as C and C++ declare them: `struct node *[4]`, `int (*)(void)`, `struct { int a; char b[4]; }`.

use std::sync::Arc;

use kcore_symbols::{
    AliasKind, Enumeration, Enumerator, FunctionType, Keyword, PointerKind, PointerType, Type,
    TypeKind, TypeNode,
};

use super::{
    DataModel, TypeLookupError,
    layout::{self, Declared},
    lexer::{Token, tokens},
    specifiers::Words,
};

/// Brackets, bodies and parameter lists within one another.
const MAX_DEPTH: usize = 32;
/// Pointers to pointers, arrays of arrays of one declaration.
const MAX_MODIFIERS: usize = 32;

/// What names in a type mean.
pub trait Names {
    /// The type of a name behind `struct`, `union`, `class` or `enum`, or of a name alone.
    ///
    /// # Errors
    /// When there is none.
    fn named(&self, tag: Option<Tag>, name: &str) -> Result<Type, TypeLookupError>;

    /// How wide pointers and `long` are.
    fn model(&self) -> DataModel;
}

/// A word before the name of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `struct`, `class` or `union`.
    Composite(Keyword),
    /// `enum`.
    Enum,
}

impl Tag {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "struct" => Self::Composite(Keyword::Struct),
            "class" => Self::Composite(Keyword::Class),
            "union" => Self::Composite(Keyword::Union),
            "enum" => Self::Enum,
            _ => return None,
        })
    }
}

/// Reads a type without a variable.
///
/// # Errors
/// When it reads like no type, or a name in it is none.
pub fn type_name(text: &str, names: &dyn Names) -> Result<Type, TypeLookupError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, names, depth: 0 };
    let base = parser.specifiers()?;
    let declared = parser.declarator(base)?;
    match (declared.name, parser.tokens.get(parser.at)) {
        (None, None) => Ok(declared.ty),
        (Some(name), _) => Err(TypeLookupError::Syntax(name.to_string())),
        (None, Some(_)) => Err(parser.unexpected()),
    }
}

/// What turns a type into another, in the order in which it is applied.
enum Modifier {
    Pointer(PointerKind),
    Qualifier(AliasKind),
    Array(Option<u64>),
    Function { parameters: Vec<Type>, is_variadic: bool },
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    names: &'a dyn Names,
    depth: usize,
}

impl Parser<'_> {
    fn word(&self) -> Option<&str> {
        match self.tokens.get(self.at) {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn is_sign(&self, wanted: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(sign)) if *sign == wanted)
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.step();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), TypeLookupError> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> TypeLookupError {
        match self.tokens.get(self.at) {
            Some(Token::Word(word)) => TypeLookupError::Syntax(word.clone()),
            Some(Token::Number(number)) => TypeLookupError::Syntax(number.to_string()),
            Some(Token::Sign(sign)) => TypeLookupError::Syntax((*sign).to_owned()),
            None => TypeLookupError::Unfinished,
        }
    }

    /// Goes one level deeper, as far as that is allowed.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, TypeLookupError>,
    ) -> Result<T, TypeLookupError> {
        if self.depth >= MAX_DEPTH {
            return Err(TypeLookupError::Limit("32 types within one another"));
        }
        self.depth = self.depth.saturating_add(1);
        let result = read(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    /// The words before a declarator: qualifiers and one type.
    fn specifiers(&mut self) -> Result<Type, TypeLookupError> {
        let mut qualifiers = Vec::new();
        let mut words = Words::default();
        let mut ty = None;
        while let Some(word) = self.word() {
            if let Some(kind) = qualifier(word) {
                qualifiers.push(kind);
            } else if ty.is_none() && words.take(word) {
            } else if ty.is_some() || !words.is_empty() {
                break;
            } else if let Some(tag) = Tag::of(word) {
                self.step();
                ty = Some(self.tagged(tag)?);
                continue;
            } else {
                ty = Some(self.names.named(None, word)?);
            }
            self.step();
        }
        let ty = match ty {
            Some(ty) => ty,
            None if words.is_empty() => return Err(self.unexpected()),
            None => self.basic(words)?,
        };
        Ok(qualifiers.into_iter().fold(ty, |ty, kind| ty.qualified(kind)))
    }

    fn basic(&self, words: Words) -> Result<Type, TypeLookupError> {
        let mut found = words.names().iter().filter_map(|name| self.names.named(None, name).ok());
        found.next().ok_or(TypeLookupError::NotFound)
    }

    /// What follows `struct`, `union`, `class` or `enum`: a name, a body, or both.
    fn tagged(&mut self, tag: Tag) -> Result<Type, TypeLookupError> {
        let name: Option<Arc<str>> = self.word().map(Into::into);
        if name.is_some() {
            self.step();
        }
        if self.is_sign("{") {
            return self.nested(|parser| parser.body(tag, name));
        }
        let name = name.ok_or_else(|| self.unexpected())?;
        self.names.named(Some(tag), &name)
    }

    fn body(&mut self, tag: Tag, name: Option<Arc<str>>) -> Result<Type, TypeLookupError> {
        self.expect("{")?;
        let (kind, size) = match tag {
            Tag::Enum => (self.enumerators()?, Some(4)),
            Tag::Composite(keyword) => {
                let members = self.members()?;
                layout::composite(keyword, members, self.names.model())?
            }
        };
        self.expect("}")?;
        Ok(Type::made(TypeNode { id: None, name, size, is_declaration: false, kind }))
    }

    fn enumerators(&mut self) -> Result<TypeKind, TypeLookupError> {
        let mut enumerators = Vec::new();
        let mut next: i128 = 0;
        while let Some(name) = self.word().map(Arc::<str>::from) {
            self.step();
            if self.takes("=") {
                next = self.number()?;
            }
            enumerators.push(Enumerator { name, value: next });
            next = next.saturating_add(1);
            if !self.takes(",") {
                break;
            }
        }
        Ok(TypeKind::Enumeration(Enumeration { underlying: None, enumerators, is_class: false }))
    }

    fn number(&mut self) -> Result<i128, TypeLookupError> {
        let is_negative = self.takes("-");
        match self.tokens.get(self.at) {
            Some(Token::Number(number)) => {
                let number = *number;
                self.step();
                Ok(if is_negative { number.saturating_neg() } else { number })
            }
            _ => Err(self.unexpected()),
        }
    }

    fn members(&mut self) -> Result<Vec<Declared>, TypeLookupError> {
        let mut members = Vec::new();
        while !self.is_sign("}") {
            let base = self.specifiers()?;
            loop {
                let mut member = self.declarator(base.clone())?;
                if self.takes(":") {
                    member.bits = Some(self.unsigned()?);
                }
                members.push(member);
                if !self.takes(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(members)
    }

    fn unsigned(&mut self) -> Result<u64, TypeLookupError> {
        let at = self.at;
        let number = self.number()?;
        u64::try_from(number).map_err(|_| {
            self.at = at;
            self.unexpected()
        })
    }

    /// A declarator, applied to the type before it.
    fn declarator(&mut self, base: Type) -> Result<Declared, TypeLookupError> {
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

fn qualifier(word: &str) -> Option<AliasKind> {
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

fn made(kind: TypeKind, size: Option<u64>) -> Type {
    Type::made(TypeNode { id: None, name: None, size, is_declaration: false, kind })
}

#[cfg(test)]
mod tests {
    use kcore_symbols::{MemberPlace, TypeLink};

    use super::{super::basic, *};

    struct Basic;

    impl Names for Basic {
        fn named(&self, tag: Option<Tag>, name: &str) -> Result<Type, TypeLookupError> {
            let found = tag.is_none().then(|| basic::named(name, self.model())).flatten();
            found.ok_or(TypeLookupError::NotFound)
        }

        fn model(&self) -> DataModel {
            DataModel::Lp64
        }
    }

    fn read(text: &str) -> Result<Type, TypeLookupError> {
        type_name(text, &Basic)
    }

    #[test]
    fn what_is_read_is_spelled_the_same() {
        for text in [
            "int *",
            "char [16]",
            "char *[4]",
            "char (*)[4]",
            "int (*)(char *, ...)",
            "int (*[3])(void)",
            "const char *",
            "char *const",
            "int [2][3]",
            "int &&",
            "void *(*)(void *)",
            "int (*(*)(char))(double)",
        ] {
            assert_eq!(read(text).unwrap().spelled(), text);
        }
        assert_eq!(read("unsigned long const*").unwrap().spelled(), "const long unsigned int *");
    }

    #[test]
    fn sizes_follow_from_the_parts() {
        for (text, size) in [("char *[4]", 32), ("char (*)[4]", 8), ("short [2][3]", 12)] {
            assert_eq!(read(text).unwrap().size(), Some(size), "{text}");
        }
        assert_eq!(read("int []").unwrap().size(), None);
    }

    #[test]
    fn structures_are_laid_out_as_c_does() {
        let ty =
            read("struct { char c; int a, *p; short s:3, t:14; union { double d; }; }").unwrap();
        assert_eq!(ty.size(), Some(32));
        let members = &ty.composite().unwrap().members;
        let place = |index: usize| members[index].place.clone();
        assert_eq!(place(1), MemberPlace::Offset(4));
        assert_eq!(place(2), MemberPlace::Offset(8));
        let MemberPlace::Bits(bits) = place(4) else { panic!("no bit-field") };
        assert_eq!((bits.offset, bits.size), (18 * 8, 14), "it would cross its unit");
        assert_eq!(place(5), MemberPlace::Offset(24));
        assert!(matches!(&members[5].ty, TypeLink::Type(inner) if inner.size() == Some(8)));
    }

    #[test]
    fn enumerations_count_on() {
        let ty = read("enum { A, B = 5, C, D = -1 }").unwrap();
        let TypeKind::Enumeration(enumeration) = ty.kind() else { panic!("no enumeration") };
        let values: Vec<_> = enumeration.enumerators.iter().map(|name| name.value).collect();
        assert_eq!(values, [0, 5, 6, -1]);
    }

    #[test]
    fn what_is_no_type_says_where() {
        for (text, near) in [("int x", "x"), ("int )", ")"), ("int [x]", "x"), ("int 5", "5")] {
            assert_eq!(read(text), Err(TypeLookupError::Syntax(near.into())), "{text}");
        }
        for text in ["", "int [", "struct", "int (*"] {
            assert_eq!(read(text), Err(TypeLookupError::Unfinished), "{text}");
        }
        assert_eq!(read("struct node *"), Err(TypeLookupError::NotFound));
        assert_eq!(read("unsigned float"), Err(TypeLookupError::NotFound));
    }

    #[test]
    fn depth_is_bounded() {
        for text in ["(*".repeat(100_000 / 4), "*".repeat(60_000), "[1]".repeat(1000)] {
            assert!(matches!(read(&format!("int {text}")), Err(TypeLookupError::Limit(_))));
        }
        let nested = format!("{}int a;{}", "struct { ".repeat(500), "} b;".repeat(500));
        assert!(matches!(read(&nested), Err(TypeLookupError::Limit(_))));
    }
}

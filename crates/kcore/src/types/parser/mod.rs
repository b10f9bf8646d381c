//! Types as C and C++ declare them: `struct node *[4]`, `int (*)(void)`, `struct { int a; char b[4]; }`.
//!
//! [`cursor`] goes through the words, [`specifiers`] reads what stands before a declarator, and
//! [`declarator`] what stands around the name of a variable.

mod cursor;
mod declarator;
mod specifiers;

use kcore_symbols::{Keyword, OpenType, Type};

use super::{
    DataModel, TypeLookupError,
    layout::Declared,
    lexer::{Token, tokens},
};
use cursor::Parser;

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
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Enum => "enum",
            Self::Composite(Keyword::Struct) => "struct",
            Self::Composite(Keyword::Class) => "class",
            Self::Composite(Keyword::Union) => "union",
        }
    }

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
    let mut parser = Parser::new(&tokens, 0, names);
    let base = parser.specifiers()?;
    let declared = parser.declarator(base)?;
    match (declared.name, parser.tokens.get(parser.at)) {
        (None, None) => Ok(declared.ty),
        (Some(name), _) => Err(TypeLookupError::Syntax(name.to_string())),
        (None, Some(_)) => Err(parser.unexpected()),
    }
}

/// What a declaration makes.
pub struct Declaration {
    /// The names that it gives to types, behind `typedef`.
    pub typedefs: Vec<Declared>,
    /// The structure, union or enumeration that it defines, with its tag.
    pub tagged: Option<(Tag, Type)>,
}

/// Reads the declaration that begins at word `at`, up to its semicolon; says where the next one begins.
///
/// # Errors
/// As [`type_name`], and for what declares no type.
pub fn declaration(
    tokens: &[Token],
    at: usize,
    names: &dyn Names,
) -> Result<(Declaration, usize), TypeLookupError> {
    let mut parser = Parser::new(tokens, at, names);
    let is_typedef = parser.word() == Some("typedef");
    if is_typedef {
        parser.step();
    }
    let tag = parser.word().and_then(Tag::of);
    let body = tokens.get(parser.at.saturating_add(2));
    let base = parser.specifiers()?;
    let is_definition = body == Some(&Token::Sign("{")) && base.name().is_some();
    let tagged = tag.filter(|_| is_definition).map(|tag| (tag, base.clone()));
    let mut typedefs = Vec::new();
    while is_typedef && !parser.is_sign(";") {
        let declared = parser.declarator(base.clone())?;
        typedefs.push(declared);
        if !parser.takes(",") {
            break;
        }
    }
    parser.expect(";")?;
    Ok((Declaration { typedefs, tagged }, parser.at))
}

#[cfg(test)]
mod tests {
    use kcore_symbols::{MemberPlace, TypeKind, TypeLink};

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
    fn a_structure_may_point_to_itself() {
        let ty = read("struct node { struct node *next; int value; }").unwrap();
        let next = ty.follow(&ty.composite().unwrap().members[0].ty).unwrap();
        assert_eq!(next.spelled(), "struct node *");
        assert_eq!(next.target().unwrap().unwrap().stripped().unwrap(), ty);
        let itself = read("struct node { struct node inner; }");
        assert_eq!(itself, Err(TypeLookupError::Damaged(kcore_symbols::TypeError::Incomplete)));
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

//! The language of a compilation unit.

use gimli::DwLang;

/// A source language, by `DW_AT_language` of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// Any C.
    C,
    /// Any C++.
    Cpp,
    /// Rust.
    Rust,
    /// Assembly.
    Asm,
    /// Go.
    Go,
    /// Any Fortran.
    Fortran,
    /// Any Ada.
    Ada,
    /// D.
    D,
    /// Objective-C and Objective-C++.
    ObjC,
    /// Swift.
    Swift,
    /// Zig.
    Zig,
    /// OCaml.
    Ocaml,
    /// Haskell.
    Haskell,
    /// Another one, by its `DW_LANG_*` number.
    Other(u16),
}

impl Language {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "c++",
            Self::Rust => "rust",
            Self::Asm => "asm",
            Self::Go => "go",
            Self::Fortran => "fortran",
            Self::Ada => "ada",
            Self::D => "d",
            Self::ObjC => "objc",
            Self::Swift => "swift",
            Self::Zig => "zig",
            Self::Ocaml => "ocaml",
            Self::Haskell => "haskell",
            Self::Other(_) => "other",
        }
    }

    /// The name of a language of which kcore knows the functions, and shows the values as those of C; `None` of a
    /// language whose own forms are known, and of numbers that DWARF 5 has no language for.
    pub const fn shown_as_c(self) -> Option<&'static str> {
        Some(match self {
            Self::Ada => "Ada",
            Self::D => "D",
            Self::ObjC => "Objective-C",
            Self::Swift => "Swift",
            Self::Zig => "Zig",
            Self::Ocaml => "OCaml",
            Self::Haskell => "Haskell",
            Self::Other(number) => match DwLang(number) {
                gimli::DW_LANG_Cobol74 | gimli::DW_LANG_Cobol85 => "COBOL",
                gimli::DW_LANG_Pascal83 => "Pascal",
                gimli::DW_LANG_Modula2 => "Modula-2",
                gimli::DW_LANG_Modula3 => "Modula-3",
                gimli::DW_LANG_Java => "Java",
                gimli::DW_LANG_PLI => "PL/I",
                gimli::DW_LANG_Julia => "Julia",
                _ => return None,
            },
            Self::C | Self::Cpp | Self::Rust | Self::Asm | Self::Go | Self::Fortran => return None,
        })
    }
}

impl From<DwLang> for Language {
    fn from(language: DwLang) -> Self {
        match language {
            gimli::DW_LANG_C
            | gimli::DW_LANG_C89
            | gimli::DW_LANG_C99
            | gimli::DW_LANG_C11
            | gimli::DW_LANG_C17 => Self::C,
            gimli::DW_LANG_C_plus_plus
            | gimli::DW_LANG_C_plus_plus_03
            | gimli::DW_LANG_C_plus_plus_11
            | gimli::DW_LANG_C_plus_plus_14
            | gimli::DW_LANG_C_plus_plus_17
            | gimli::DW_LANG_C_plus_plus_20 => Self::Cpp,
            gimli::DW_LANG_Rust => Self::Rust,
            gimli::DW_LANG_Mips_Assembler => Self::Asm,
            gimli::DW_LANG_Go => Self::Go,
            gimli::DW_LANG_Fortran77
            | gimli::DW_LANG_Fortran90
            | gimli::DW_LANG_Fortran95
            | gimli::DW_LANG_Fortran03
            | gimli::DW_LANG_Fortran08
            | gimli::DW_LANG_Fortran18 => Self::Fortran,
            gimli::DW_LANG_Ada83 | gimli::DW_LANG_Ada95 => Self::Ada,
            gimli::DW_LANG_D => Self::D,
            gimli::DW_LANG_ObjC | gimli::DW_LANG_ObjC_plus_plus => Self::ObjC,
            gimli::DW_LANG_Swift => Self::Swift,
            gimli::DW_LANG_Zig => Self::Zig,
            gimli::DW_LANG_OCaml => Self::Ocaml,
            gimli::DW_LANG_Haskell => Self::Haskell,
            other => Self::Other(other.0),
        }
    }
}

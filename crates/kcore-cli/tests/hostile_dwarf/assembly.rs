//! Debug information written entry by entry, as a compiler would never write it, and assembled into a program.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Tags (DWARF 5, table 7.3).
pub mod tag {
    pub const ARRAY: u16 = 0x01;
    pub const CLASS: u16 = 0x02;
    pub const ENUMERATION: u16 = 0x04;
    pub const PARAMETER: u16 = 0x05;
    pub const MEMBER: u16 = 0x0d;
    pub const POINTER: u16 = 0x0f;
    pub const STRUCTURE: u16 = 0x13;
    pub const TYPEDEF: u16 = 0x16;
    pub const INHERITANCE: u16 = 0x1c;
    pub const SUBRANGE: u16 = 0x21;
    pub const BASE: u16 = 0x24;
    pub const CONST: u16 = 0x26;
    pub const ENUMERATOR: u16 = 0x28;
    pub const SUBPROGRAM: u16 = 0x2e;
    pub const TEMPLATE_TYPE: u16 = 0x2f;
    pub const VARIANT_PART: u16 = 0x33;
    pub const VARIANT: u16 = 0x19;
    pub const VARIABLE: u16 = 0x34;
    pub const VOLATILE: u16 = 0x35;
    pub const NAMESPACE: u16 = 0x39;
    pub const IMPORTED_UNIT: u16 = 0x3d;
    pub const LEXICAL_BLOCK: u16 = 0x0b;
}

/// Attributes (DWARF 5, table 7.5).
pub mod at {
    pub const SIBLING: u16 = 0x01;
    pub const LOCATION: u16 = 0x02;
    pub const NAME: u16 = 0x03;
    pub const BYTE_SIZE: u16 = 0x0b;
    pub const BIT_SIZE: u16 = 0x0d;
    pub const LOW_PC: u16 = 0x11;
    pub const HIGH_PC: u16 = 0x12;
    pub const DISCR: u16 = 0x15;
    pub const DISCR_VALUE: u16 = 0x16;
    pub const IMPORT: u16 = 0x18;
    pub const CONST_VALUE: u16 = 0x1c;
    pub const CONTAINING_TYPE: u16 = 0x1d;
    pub const LOWER_BOUND: u16 = 0x22;
    pub const UPPER_BOUND: u16 = 0x2f;
    pub const ABSTRACT_ORIGIN: u16 = 0x31;
    pub const COUNT: u16 = 0x37;
    pub const MEMBER_LOCATION: u16 = 0x38;
    pub const DECLARATION: u16 = 0x3c;
    pub const ENCODING: u16 = 0x3e;
    pub const EXTERNAL: u16 = 0x3f;
    pub const FRAME_BASE: u16 = 0x40;
    pub const SPECIFICATION: u16 = 0x47;
    pub const TYPE: u16 = 0x49;
    pub const DATA_LOCATION: u16 = 0x50;
    pub const DATA_BIT_OFFSET: u16 = 0x6b;
}

/// The value of an attribute.
pub enum V<'a> {
    /// An unsigned number.
    U(u64),
    /// A signed number.
    S(i64),
    /// A string.
    Text(&'a str),
    /// Another entry, by its label.
    To(&'a str),
    /// A place in the unit, which need not be an entry.
    Offset(u32),
    /// A type by its signature.
    Signature(u64),
    /// An expression, in the assembler's words: `.byte 0x30` and so on.
    Expression(&'a str),
    /// A place in a section of lists.
    Section(u32),
    /// An address, by its symbol.
    Symbol(&'a str),
    /// It is there.
    Flag,
}

impl V<'_> {
    const fn form(&self) -> u8 {
        match self {
            Self::U(_) => 0x0f,
            Self::S(_) => 0x0d,
            Self::Text(_) => 0x08,
            Self::To(_) | Self::Offset(_) => 0x13,
            Self::Signature(_) => 0x20,
            Self::Expression(_) => 0x18,
            Self::Section(_) => 0x17,
            Self::Symbol(_) => 0x01,
            Self::Flag => 0x19,
        }
    }

    fn write(&self, out: &mut String, serial: usize) {
        let line = match self {
            Self::U(value) => format!(".uleb128 {value:#x}"),
            Self::S(value) => format!(".sleb128 {value}"),
            Self::Text(text) => format!(".asciz \"{text}\""),
            Self::To(label) => format!(".long .Ldie_{label}-.Lunit"),
            Self::Offset(at) | Self::Section(at) => format!(".long {at:#x}"),
            Self::Signature(of) => format!(".quad {of:#x}"),
            Self::Symbol(symbol) => format!(".quad {symbol}"),
            Self::Expression(code) => {
                format!(
                    ".uleb128 .Lend{serial}-.Lstart{serial}\n.Lstart{serial}:\n{code}\n.Lend{serial}:"
                )
            }
            Self::Flag => return,
        };
        out.push_str(&line);
        out.push('\n');
    }
}

/// One unit's debug information under construction, and the program that it is of.
#[derive(Default)]
pub struct Unit {
    abbreviations: String,
    entries: String,
    data: String,
    codes: HashMap<String, usize>,
    serial: usize,
}

impl Unit {
    /// An entry without children.
    pub fn leaf(&mut self, label: &str, tag: u16, attributes: &[(u16, V<'_>)]) -> &mut Self {
        self.entry(label, tag, false, attributes)
    }

    /// An entry whose children follow, up to [`Unit::close`].
    pub fn open(&mut self, label: &str, tag: u16, attributes: &[(u16, V<'_>)]) -> &mut Self {
        self.entry(label, tag, true, attributes)
    }

    /// The end of the children.
    pub fn close(&mut self) -> &mut Self {
        self.entries.push_str(".byte 0\n");
        self
    }

    /// More of the program's data, in the assembler's words.
    pub fn data(&mut self, text: &str) -> &mut Self {
        self.data.push_str(text);
        self.data.push('\n');
        self
    }

    fn entry(
        &mut self,
        label: &str,
        tag: u16,
        has_children: bool,
        attributes: &[(u16, V<'_>)],
    ) -> &mut Self {
        let code = self.code(tag, has_children, attributes);
        if !label.is_empty() {
            let _ = writeln!(self.entries, ".Ldie_{label}:");
        }
        let _ = writeln!(self.entries, ".uleb128 {code}");
        for (_, value) in attributes {
            self.serial += 1;
            value.write(&mut self.entries, self.serial);
        }
        self
    }

    /// The number of the abbreviation for entries of this shape. The unit's own has 1.
    fn code(&mut self, tag: u16, has_children: bool, attributes: &[(u16, V<'_>)]) -> usize {
        let mut shape = format!("{tag}\n.byte {}\n", u8::from(has_children));
        for (attribute, value) in attributes {
            let _ = writeln!(shape, ".uleb128 {attribute}, {}", value.form());
        }
        let next = self.codes.len() + 2;
        if let Some(code) = self.codes.get(&shape) {
            return *code;
        }
        let _ = writeln!(self.abbreviations, ".uleb128 {next}, {shape}.byte 0, 0");
        self.codes.insert(shape, next);
        next
    }

    /// A structure of one member, `first`.
    pub fn structure_of(&mut self, name: &str, size: u64, member: &str, at: u64) -> &mut Self {
        self.open(name, tag::STRUCTURE, &[(at::NAME, V::Text(name)), (at::BYTE_SIZE, V::U(size))])
            .leaf(
                "",
                tag::MEMBER,
                &[
                    (at::NAME, V::Text("first")),
                    (at::TYPE, V::To(member)),
                    (at::MEMBER_LOCATION, V::U(at)),
                ],
            )
            .close()
    }

    /// A variable of the program's data.
    pub fn variable(&mut self, name: &str, ty: &str) -> &mut Self {
        self.located(name, ty, &format!(".byte 3\n.quad {name}"))
    }

    /// A variable with a location of its own.
    pub fn located(&mut self, name: &str, ty: &str, location: &str) -> &mut Self {
        let attributes = [
            (at::NAME, V::Text(name)),
            (at::TYPE, V::To(ty)),
            (at::EXTERNAL, V::Flag),
            (at::LOCATION, V::Expression(location)),
        ];
        self.leaf(&format!("variable_{name}"), tag::VARIABLE, &attributes)
    }

    /// `int`, `unsigned long` and `char`, which other entries name.
    pub fn basic(&mut self) -> &mut Self {
        for (label, name, size, encoding) in
            [("int", "int", 4, 5), ("long", "unsigned long", 8, 7), ("char", "char", 1, 6)]
        {
            let name = (at::NAME, V::Text(name));
            let attributes = [name, (at::BYTE_SIZE, V::U(size)), (at::ENCODING, V::U(encoding))];
            self.leaf(label, tag::BASE, &attributes);
        }
        self
    }

    /// The whole source: a program that dies at once, its data, and this unit.
    fn source(&self) -> String {
        format!(
            ".globl _start\n.text\n_start:\n.cfi_startproc\nmov $8, %eax\nmov %eax, (%rax)\nud2\n\
             .cfi_endproc\n.Lend_text:\n.data\n.balign 16\nanchor: .quad 0\n{data}\n\
             .section .debug_abbrev,\"\",@progbits\n.uleb128 1, 0x11\n.byte 1\n\
             .uleb128 0x03, 0x08\n.uleb128 0x13, 0x0b\n.uleb128 0x11, 0x01\n.uleb128 0x12, 0x07\n\
             .byte 0, 0\n{abbreviations}.byte 0\n\
             .section .debug_info,\"\",@progbits\n.Lunit:\n.long .Lunit_end-.Lversion\n.Lversion:\n\
             .short 5\n.byte 1, 8\n.long 0\n.uleb128 1\n.asciz \"hostile.c\"\n.byte 0x1d\n\
             .quad _start\n.quad .Lend_text-_start\n{entries}.byte 0\n.Lunit_end:\n",
            data = self.data,
            abbreviations = self.abbreviations,
            entries = self.entries,
        )
    }

    /// Assembles and links it as `program` in a folder.
    pub fn build(&self, dir: &Path) -> PathBuf {
        let source = dir.join("hostile.s");
        std::fs::write(&source, self.source()).unwrap();
        let output = Command::new("gcc")
            .args(["-nostdlib", "-static", "-no-pie", "-Wl,--build-id", "-o", "program"])
            .arg(&source)
            .current_dir(dir)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}", errors.lines().take(20).collect::<String>());
        dir.join("program")
    }
}

//! One line of `::nm`.

use kcore::{Module, SymbolKind};
use kcore_dcmd::{Arg, Args, Cell, Cx, DcmdError, Dot, Fields, Record, Result, View};

use super::row::Row;
use super::select::type_name;

/// Columns in their order; each shows when its field was asked for.
const VIEW: &str = "\
    {header?\
    {c_ndx?Index }\
    {c_val?{in_hex?Value              }{in_dec?Value                }{in_oct?Value                   }}\
    {c_sz?{in_hex?Size               }{in_dec?Size                 }{in_oct?Size                    }}\
    {c_type?Type  }{c_bind?Bind  }{c_oth?Other }{c_shndx?Shndx    }\
    {c_obj?Object          }{c_ctype?C Type                                             }\
    {c_ctfid?CTF ID    }{c_name?Name}\n}\
    {c_ndx?{index:5}|}\
    {c_val?{in_hex?0x{value:0x}}{in_dec?{value:d>20}}{in_oct?0{value:0o}}|}\
    {c_sz?{in_hex?0x{size_in_hex:0x}}{in_dec?{size_in_hex:d>20}}{in_oct?0{size_in_hex:0o}}|}\
    {c_type?{kind:5}|}{c_bind?{binding:5}|}{c_oth?0x{other:x3}|}{c_shndx?{section:8}|}\
    {c_obj?{object_text:15}|}{c_ctype?{unknown_type:50}|}{c_ctfid?{no_id:9}|}{c_name?{name}}";

/// A command that can be read back.
const COMMAND: &str =
    "{value:#x}::nmadd {is_function?-f }{is_data?-o }-s {size_in_hex:#x} {typed_name}";

/// What MDB shows for a symbol without a type. Types come from debug information, which has no numbered table.
const NO_TYPE: &str = "<unknown type>";

/// The fields that `-f` names, each with the cell that switches its column on.
const FIELDS: [(&str, &str); 11] = [
    ("ndx", "c_ndx"),
    ("val", "c_val"),
    ("sz", "c_sz"),
    ("type", "c_type"),
    ("bind", "c_bind"),
    ("oth", "c_oth"),
    ("shndx", "c_shndx"),
    ("obj", "c_obj"),
    ("ctype", "c_ctype"),
    ("ctfid", "c_ctfid"),
    ("name", "c_name"),
];

/// Which of [`FIELDS`] are shown.
#[derive(Clone, Copy)]
pub struct Columns([bool; FIELDS.len()]);

impl Columns {
    /// Reads `-f`.
    ///
    /// # Errors
    /// If it names an unknown field.
    pub fn new(args: &Args) -> Result<Self> {
        let Some(text) = args.value('f').map(Arg::to_text) else {
            return Ok(Self(
                FIELDS.map(|(name, _)| !matches!(name, "ndx" | "obj" | "ctype" | "ctfid")),
            ));
        };
        let words: Vec<_> =
            text.split(',').map(|word| if word == "size" { "sz" } else { word }).collect();
        match words.iter().find(|word| !FIELDS.iter().any(|(name, _)| name == *word)) {
            Some(unknown) => Err(DcmdError::usage(format!("invalid field name -- '{unknown}'"))),
            None => Ok(Self(FIELDS.map(|(name, _)| words.contains(&name)))),
        }
    }
}

/// The radix of values and sizes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Base {
    Hex,
    Decimal,
    Octal,
}

impl Base {
    /// Reads `-x`, `-d`, `-o`; without one the radix decides.
    ///
    /// # Errors
    /// If more than one is given.
    pub fn new(cx: &Cx<'_>, args: &Args) -> Result<Self> {
        let options = [('x', Self::Hex), ('d', Self::Decimal), ('o', Self::Octal)];
        let mut given = options.iter().filter(|(flag, _)| args.has(*flag)).map(|(_, base)| *base);
        match (given.next(), given.next(), cx.shell().radix()) {
            (Some(_), Some(_), _) => Err(DcmdError::usage("only one of -d, -o, -x may be given")),
            (Some(base), None, _) => Ok(base),
            (None, _, 10) => Ok(Self::Decimal),
            (None, _, 8) => Ok(Self::Octal),
            (None, ..) => Ok(Self::Hex),
        }
    }
}

/// One symbol.
pub struct SymbolRecord<'s> {
    pub row: Row<'s>,
    pub columns: Columns,
    pub base: Base,
    /// Whether it is shown as a command.
    pub commands: bool,
    /// Whether the header stands before it.
    pub header: bool,
}

impl Record for SymbolRecord<'_> {
    fn kind(&self) -> &'static str {
        "symbol"
    }

    fn view(&self) -> View {
        match self.commands {
            false => View::Line(VIEW),
            true if self.row.typed_name().is_some() => View::Line(COMMAND),
            true => View::Hidden,
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let row = &self.row;
        out.num("index", row.index)
            .hex("value", row.value)
            .addr("address", row.address)
            .num("size", row.size)
            .text("kind", type_name(row.kind))
            .text("binding", row.binding)
            .num("other", row.other)
            .text("section", row.section.as_ref())
            .opt_text("object", row.module.map(Module::name))
            .text("name", row.name.as_str())
            .text("linkage_name", row.linkage_name.as_ref());
        let object = row.module.map(|module| if module.is_exe() { "exec" } else { module.name() });
        out.display("object_text", Cell::text(object.unwrap_or_default()))
            .display("unknown_type", Cell::text(NO_TYPE))
            .display("no_id", Cell::text(""))
            .display("typed_name", Cell::or_null(row.typed_name(), Cell::text))
            .display("size_in_hex", Cell::Hex(row.size))
            .display("is_function", Cell::Bool(row.kind.is_function()))
            .display("is_data", Cell::Bool(row.kind == SymbolKind::Object))
            .display("header", Cell::Bool(self.header))
            .display("in_hex", Cell::Bool(self.base == Base::Hex))
            .display("in_dec", Cell::Bool(self.base == Base::Decimal))
            .display("in_oct", Cell::Bool(self.base == Base::Octal));
        for ((_, key), shown) in FIELDS.iter().zip(self.columns.0) {
            out.display(key, Cell::Bool(shown));
        }
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Number(self.row.value))
    }
}

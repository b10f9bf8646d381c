//! `::enum` — the names of an enumeration.

use kcore::{EnumNames, Type};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt,
    Record, Result, Spec, View, prefixed,
};

use crate::{operand, type_words::split};

const OPTIONS: &[Opt] = &[
    Opt { flag: 'e', value: None, help: "leave out the prefix that all names share" },
    Opt { flag: 'x', value: None, help: "show numbers in hexadecimal" },
];

const EXAMPLES: &[Example] = &[
    Example { line: "::enum kind", shows: "each name with its number" },
    Example { line: "::enum perm 3", shows: "the names of its bits" },
];

const DECIMAL: &[Column] = &[Column::right("shown", "VALUE", 11), Column::left("text", "NAME", 64)];
const HEXADECIMAL: &[Column] =
    &[Column::right("shown", "VALUE", 8), Column::left("text", "NAME", 64)];

/// Shows the names of an enumeration.
pub struct Enum;

impl Dcmd for Enum {
    fn spec(&self) -> Spec {
        Spec::new("enum", Group::Types, "print the names of an enumeration, or decode a number")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("type [name|value]", 1, usize::MAX)
            .help(
                "Prints all names, the given name, or the name of a number. The number is the \
                 address, or follows the type. If the names stand for bits, numbers are \
                 hexadecimal, and a number is decoded into its bits. You may leave out `enum` \
                 before the name of the type. A pipe gets the numbers.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let (text, rest) =
            split(args.operands()).ok_or_else(|| DcmdError::usage("expected an enumeration"))?;
        let (title, ty) = enumeration(cx, &text)?;
        let Some(names) = EnumNames::of(&ty) else {
            return Err(DcmdError::failed(format!("'{text}': not an enumeration")));
        };
        let wanted = wanted(cx, rest)?;
        let is_hexadecimal = args.has('x') || names.are_bits;
        show(cx, &EnumView { names, title, is_hexadecimal, shortens: args.has('e') }, &wanted)
    }
}

/// The type behind a name, first as that of an enumeration, and what it is called then.
fn enumeration(cx: &Cx<'_>, text: &str) -> Result<(String, Type)> {
    let stripped = |ty: Type| ty.stripped().unwrap_or(ty);
    let tagged = format!("enum {text}");
    if text.contains(' ') {
        let ty = cx.type_named(text)?;
        return Ok((text.to_owned(), stripped(ty)));
    }
    match cx.type_named(&tagged) {
        Ok(ty) => Ok((tagged, stripped(ty))),
        Err(_) => cx.type_named(text).map(|ty| (text.to_owned(), stripped(ty))),
    }
}

/// What the user wants.
enum EnumQuery {
    All,
    Name(String),
    Number(i128),
}

fn wanted(cx: &Cx<'_>, rest: &[Arg]) -> Result<EnumQuery> {
    match (rest, cx.addr()) {
        ([], None) => Ok(EnumQuery::All),
        ([], Some(dot)) => Ok(EnumQuery::Number(signed(dot.number()))),
        ([_], Some(_)) => Err(DcmdError::usage("may only specify one of: name, address")),
        ([Arg::Text(name)], None)
            if !name.starts_with(|c: char| c.is_ascii_digit() || c == '-') =>
        {
            Ok(EnumQuery::Name(name.clone()))
        }
        ([number], None) => Ok(EnumQuery::Number(signed(operand::number(cx, number)?))),
        _ => Err(DcmdError::usage("too many arguments")),
    }
}

fn signed(number: u64) -> i128 {
    i128::from(number.cast_signed())
}

/// The names, and how they are shown.
struct EnumView<'t> {
    names: EnumNames<'t>,
    title: String,
    is_hexadecimal: bool,
    shortens: bool,
}

fn show(cx: &mut Cx<'_>, shown: &EnumView<'_>, wanted: &EnumQuery) -> Result<()> {
    let row = |name: &str, text: &str, value| Row {
        name: name.to_owned(),
        text: text.to_owned(),
        value,
        is_hexadecimal: shown.is_hexadecimal,
    };
    if let EnumQuery::Number(number) = wanted
        && shown.names.are_bits
    {
        let text = shown.names.decoded(*number, shown.shortens).unwrap_or_default();
        return cx.emit(&row(&text, &text, *number));
    }
    let fits = |name: &str, value: i128| match wanted {
        EnumQuery::All => true,
        EnumQuery::Name(wanted) => wanted == name,
        EnumQuery::Number(wanted) => *wanted == value,
    };
    let mut found = false;
    for (name, value) in shown.names.iter().filter(|(name, value)| fits(name, *value)) {
        found = true;
        let text = if shown.shortens { shown.names.short(name) } else { name };
        cx.emit(&row(name, text, value))?;
    }
    match wanted {
        EnumQuery::Name(name) if !found => {
            Err(DcmdError::failed(format!("name \"{name}\" not in '{}'", shown.title)))
        }
        EnumQuery::Number(number) if !found => {
            Err(DcmdError::failed(format!("value {} not in '{}'", decimal(*number), shown.title)))
        }
        _ => Ok(()),
    }
}

/// As MDB's `%#d`.
fn decimal(number: i128) -> String {
    match i64::try_from(number) {
        Ok(number) if number < 0 => format!("-0t{}", number.unsigned_abs()),
        Ok(number) => prefixed(number.unsigned_abs(), 10),
        Err(_) => number.to_string(),
    }
}

struct Row {
    name: String,
    /// The name as it is shown.
    text: String,
    value: i128,
    is_hexadecimal: bool,
}

impl Row {
    /// The number without prefix; in hexadecimal of as many bits as enumerations usually have.
    fn number(&self) -> String {
        match (self.is_hexadecimal, i32::try_from(self.value)) {
            (false, _) => self.value.to_string(),
            (true, Ok(value)) => format!("{value:x}"),
            (true, Err(_)) => format!("{:x}", self.value),
        }
    }
}

impl Record for Row {
    fn kind(&self) -> &'static str {
        "enumerator"
    }

    fn view(&self) -> View {
        View::Table(if self.is_hexadecimal { HEXADECIMAL } else { DECIMAL })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let value = match i64::try_from(self.value) {
            Ok(value) => Cell::Int(value),
            Err(_) => Cell::text(self.value.to_string()),
        };
        out.text("name", self.name.as_str())
            .put("value", value)
            .display("text", Cell::text(self.text.as_str()))
            .display("shown", Cell::text(self.number()));
    }

    fn dot(&self) -> Option<Dot> {
        i64::try_from(self.value).ok().map(|value| Dot::Number(value.cast_unsigned()))
    }
}

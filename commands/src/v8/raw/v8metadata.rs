//! `::v8classes`, `::v8types`, `::v8frametypes`, `::v8field` — what V8 exports for debuggers.

use kcore::v8::{ClassField, Metadata};
use kcore_dcmd::{
    Arg, Args, Column, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

use crate::v8::subject;

/// Lists classes.
pub struct V8classes;

impl Dcmd for V8classes {
    fn spec(&self) -> Spec {
        Spec::new("v8classes", Group::Runtimes, "list the classes whose fields V8 exports")
            .help(
                "The list comes from the constants v8dbg_class_* of the process. ::v8field \
                 lists the fields of a class.",
            )
            .examples(&[Example { line: "::v8classes", shows: "the names of the classes" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let metadata = metadata(cx)?;
        let mut names: Vec<&str> = metadata.fields().iter().map(|field| field.class).collect();
        names.dedup();
        names.into_iter().try_for_each(|name| cx.emit(&Class(name)))
    }
}

/// Lists instance types.
pub struct V8types;

impl Dcmd for V8types {
    fn spec(&self) -> Spec {
        Spec::new("v8types", Group::Runtimes, "list the object types of V8 with their numbers")
            .help("The list comes from the constants v8dbg_type_* of the process.")
            .examples(&[Example { line: "::v8types", shows: "numbers and names" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let types = metadata(cx)?.types();
        types.into_iter().try_for_each(|(number, name)| {
            cx.emit(&Numbered { kind: "v8_instance_type", number, name })
        })
    }
}

/// Lists types of frames.
pub struct V8frametypes;

impl Dcmd for V8frametypes {
    fn spec(&self) -> Spec {
        Spec::new("v8frametypes", Group::Runtimes, "list the frame types of V8 with their numbers")
            .help("The list comes from the constants v8dbg_frametype_* of the process.")
            .examples(&[Example { line: "::v8frametypes", shows: "numbers and names" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let frames = metadata(cx)?.frames();
        frames.into_iter().try_for_each(|(number, name)| {
            cx.emit(&Numbered { kind: "v8_frame_type", number, name })
        })
    }
}

/// Lists the fields of a class.
pub struct V8field;

impl Dcmd for V8field {
    fn spec(&self) -> Spec {
        Spec::new("v8field", Group::Runtimes, "list the fields of a V8 class")
            .operands("class [field]", 1, 2)
            .help(
                "Offsets are in bytes from the beginning of the object, as V8 exports them. \
                 ::v8classes lists the classes.",
            )
            .examples(&[Example {
                line: "::v8field JSFunction",
                shows: "the offsets of its fields",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let mut words = args.operands().iter().map(Arg::to_text);
        let (class, name) = (words.next().unwrap_or_default(), words.next());
        let fields = metadata(cx)?.fields();
        let of_class: Vec<_> = fields.iter().filter(|field| field.class == class).collect();
        if of_class.is_empty() {
            return Err(DcmdError::failed(format!("no class {class}: ::v8classes lists them")));
        }
        let is_wanted =
            |field: &&&ClassField<'_>| name.as_deref().is_none_or(|it| it == field.name);
        let wanted: Vec<_> = of_class.iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            let name = name.unwrap_or_default();
            return Err(DcmdError::failed(format!("class {class} has no field {name}")));
        }
        wanted.into_iter().try_for_each(|field| cx.emit(&Field(field)))
    }
}

/// What the V8 of the process exports.
///
/// # Errors
/// Without V8, or where it exports nothing.
fn metadata<'c>(cx: &Cx<'c>) -> Result<&'c Metadata> {
    let core = cx.core();
    let v8s = subject::instances(core)?;
    let mut found = v8s.into_iter().map(|v8| v8.metadata(&**core));
    found
        .find(|metadata| !metadata.constants.is_empty())
        .ok_or_else(|| DcmdError::failed("V8 exports nothing for debuggers in this process"))
}

struct Class<'m>(&'m str);

impl Record for Class<'_> {
    fn kind(&self) -> &'static str {
        "v8_class"
    }

    fn view(&self) -> View {
        View::Line("{name}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.0);
    }
}

struct Numbered<'m> {
    kind: &'static str,
    number: u64,
    name: &'m str,
}

impl Record for Numbered<'_> {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn view(&self) -> View {
        View::Line("{number:>5} {name}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("number", self.number).text("name", self.name);
    }
}

struct Field<'m>(&'m ClassField<'m>);

const COLUMNS: &[Column] = &[
    Column::right("offset", "OFFSET", 6).spec("#"),
    Column::left("name", "FIELD", 40),
    Column::left("cpp_type", "TYPE", 0),
];

impl Record for Field<'_> {
    fn kind(&self) -> &'static str {
        "v8_field"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("class", self.0.class)
            .text("name", self.0.name)
            .hex("offset", u64::from(self.0.offset))
            .text("cpp_type", self.0.type_name);
    }
}

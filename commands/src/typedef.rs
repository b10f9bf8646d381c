//! `::typedef` — types that a session makes.

use std::io::{Read, Write};
use std::path::PathBuf;

use kcore::{DataModel, TypeLookupError};
use kcore_dcmd::{
    Arg, Args, Cx, Dcmd, DcmdError, Example, Fields, Group, Opt, Record, Result, Spec, View,
    io_reason, user_file,
};

/// Bytes of a file with declarations, at most.
const MAX_FILE: u64 = 1 << 16;

/// Makes, lists and removes types.
pub struct Typedef;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'c', value: Some("model"), help: "use the basic C types of LP64 or ILP32" },
    Opt { flag: 'd', value: None, help: "remove all types of the session, or the named one" },
    Opt { flag: 'l', value: None, help: "list the types of the session" },
    Opt { flag: 'r', value: Some("file"), help: "read C declarations from a file" },
    Opt {
        flag: 'w',
        value: Some("file"),
        help: "append the declarations of all types of the session to a file",
    },
];

const HELP: &str = "\
Adds types to the session, so that you can print structures of a program that has no debug \
information. The last word is the name, and the words before it are the type. Put a structure \
with its members in quotes, because of the semicolons. Its members are laid out as the C compiler \
of the machine does it. A structure with a name of its own, such as `struct node { int v; struct \
node *next; }`, needs no other name and may point to itself.

Types of the session take precedence over those of modules. Without debug information, the basic \
C types are those of the machine's usual model; -c chooses another model.";

const EXAMPLES: &[Example] = &[
    Example { line: "::typedef int myint; ::typedef -l", shows: "that the type has another name" },
    Example {
        line: "::typedef \"struct { int a; char *b[4]; }\" foo_t; ::typedef -l",
        shows: "a structure that you define",
    },
];

impl Dcmd for Typedef {
    fn spec(&self) -> Spec {
        Spec::new("typedef", Group::Types, "make a type, or give it another name")
            .for_users()
            .options(OPTIONS)
            .operands("[type...] [name]", 0, usize::MAX)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        check_options(args)?;
        if let Some(model) = args.value('c') {
            cx.shell_mut().types_mut().model = Some(model_of(model)?);
        }
        if args.has('d') {
            return remove(cx, args);
        }
        if let Some(path) = args.value('r') {
            return read(cx, path);
        }
        if let Some(path) = args.value('w') {
            return write(cx, path);
        }
        let is_bare = args.operands().is_empty() && args.value('c').is_none();
        if args.has('l') || is_bare { list(cx) } else { make(cx, args.operands()) }
    }
}

fn check_options(args: &Args) -> Result<()> {
    let alone = ['d', 'l', 'r', 'w'].into_iter().filter(|flag| args.has(*flag)).count();
    let takes_words = alone == 0 || args.has('d') && args.operands().len() < 2;
    if alone > 1 || !(takes_words || args.operands().is_empty()) {
        return Err(DcmdError::usage(
            "only one of -d, -l, -r and -w may be given, and no new type with it",
        ));
    }
    Ok(())
}

fn model_of(word: &Arg) -> Result<DataModel> {
    match word.to_text().to_ascii_uppercase().as_str() {
        "LP64" => Ok(DataModel::Lp64),
        "ILP32" => Ok(DataModel::Ilp32),
        other => Err(DcmdError::usage(format!("invalid data model -- {other} (LP64 or ILP32)"))),
    }
}

fn remove(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let Some(name) = args.first().map(Arg::to_text) else {
        cx.shell_mut().types_mut().clear();
        return Ok(());
    };
    match cx.shell_mut().types_mut().remove(&name) {
        true => Ok(()),
        false => Err(DcmdError::failed(format!("{name} does not exist"))),
    }
}

fn list(cx: &mut Cx<'_>) -> Result<()> {
    let types = cx.shell().types().clone();
    types.iter().try_for_each(|(name, ty)| {
        cx.emit(&Declared { name, declaration: &ty.declaration, size: ty.ty.size() })
    })
}

/// Makes a type with the last word as its name, or from one declaration that has a name of its own.
fn make(cx: &mut Cx<'_>, words: &[Arg]) -> Result<()> {
    let Some((name, ty)) = words.split_last() else { return Ok(()) };
    let ty = ty.iter().map(Arg::to_text).collect::<Vec<_>>().join(" ");
    let (core, name) = (cx.core(), name.to_text());
    let types = cx.shell_mut().types_mut();
    if ty.is_empty() {
        let declared = core.types().declare(types, &format!("{};", name.trim_end_matches(';')));
        return match declared {
            Ok(names) if names.is_empty() => Err(DcmdError::usage("too few arguments")),
            Ok(_) => Ok(()),
            Err(why) => Err(failed(&name, &why)),
        };
    }
    if !is_name(&name) {
        return Err(DcmdError::usage(format!("invalid type name -- {name}")));
    }
    core.types().name(types, &ty, &name).map_err(|why| failed(&ty, &why))
}

fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    first && characters.all(|other| other.is_alphanumeric() || other == '_')
}

fn failed(text: &str, why: &TypeLookupError) -> DcmdError {
    match why {
        TypeLookupError::Exists(_) => DcmdError::failed(why.to_string()),
        _ => DcmdError::failed(format!("failed to look up type {text}: {why}")),
    }
}

fn read(cx: &mut Cx<'_>, path: &Arg) -> Result<()> {
    let path = path.to_text();
    let unreadable = |error| {
        DcmdError::failed(format!("failed to read types from {path}: {}", io_reason(&error)))
    };
    let mut text = String::new();
    let file = user_file::open(cx.core(), &PathBuf::from(&path)).map_err(unreadable)?;
    file.take(MAX_FILE).read_to_string(&mut text).map_err(unreadable)?;
    let core = cx.core();
    let declared = core.types().declare(cx.shell_mut().types_mut(), &text);
    declared
        .map(|_| ())
        .map_err(|why| DcmdError::failed(format!("failed to read types from {path}: {why}")))
}

fn write(cx: &mut Cx<'_>, path: &Arg) -> Result<()> {
    let path = path.to_text();
    let text: String =
        cx.shell().types().declarations().map(|declaration| format!("{declaration}\n")).collect();
    let written = user_file::append(cx.core(), &PathBuf::from(&path))
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        DcmdError::failed(format!("failed to write types to {path}: {}", io_reason(&error)))
    })
}

/// A type that the session made.
struct Declared<'a> {
    name: &'a str,
    declaration: &'a str,
    size: Option<u64>,
}

impl Record for Declared<'_> {
    fn kind(&self) -> &'static str {
        "session_type"
    }

    fn view(&self) -> View {
        View::Line("{name}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name).num("size", self.size).text("declaration", self.declaration);
    }
}

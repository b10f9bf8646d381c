//! `::pyobjects` — the objects of Python's heap, by class.

use std::sync::Arc;

use kcore::python::{Census, ObjectGroup, Python};
use kcore::{Addr, Core};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use super::pyprint::Piece;
use super::referrers;
use super::subject::{self, Subject};
use crate::{script_values, watched::watched};

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'c',
        value: Some("class"),
        help: "show the addresses of the instances of this class",
    },
    Opt { flag: 'n', value: Some("count"), help: "show this many classes (default all)" },
    Opt { flag: 'r', value: None, help: "show what refers to the object at the address" },
];

const HELP: &str = "\
Counts the objects in the lists of Python's garbage collector, by class. Each line shows how many \
there are, their own size in bytes without what they keep elsewhere, and the address of one. The \
lists contain objects that may hold others: instances, lists, dicts, functions. They do not \
contain str, int, float, and dicts and tuples that hold only those.

-r shows each object that refers to the one at the address, and how: by an attribute, an item, a \
key or its value, or a variable of a frame. An instance, a module and a class refer to what their \
dicts hold. A dict or tuple that is in no list is found if an object of a list holds it. \
References that C code keeps to itself are not known.

-c shows the addresses of the instances of a class, and passes them on in a pipe. Name the class \
without its module. If a list leads to something that is no object, or that was not dumped, a \
note says so.";

const EXAMPLES: &[Example] = &[
    Example { line: "::pyobjects -n 10", shows: "the ten classes with the most bytes" },
    Example {
        line: "::pyobjects -c Thread | ::pyprint -d 1",
        shows: "all Thread objects of the module threading",
    },
    Example { line: "::pyobjects -c Thread | ::pyobjects -r", shows: "what refers to them" },
];

/// Counts the objects by class.
pub struct Pyobjects;

impl Dcmd for Pyobjects {
    fn spec(&self) -> Spec {
        Spec::new(
            "pyobjects",
            Group::Runtimes,
            "count Python objects by class, or list those of one",
        )
        .addr(AddrUse::Optional)
        .options(OPTIONS)
        .help(HELP)
        .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        match (args.has('r'), cx.addr()) {
            (true, Some(_)) => return of_dot(cx),
            (true, None) => return Err(DcmdError::usage("-r needs the address of an object")),
            (false, Some(_)) => return Err(DcmdError::usage("only -r takes an address")),
            (false, None) => {}
        }
        let core: &Core = cx.core();
        let most = script_values::number(args, 'n', u64::MAX)?;
        let wanted = args.value('c').map(|class| class.to_text());
        for python in subject::instances(core)? {
            let census = counted(cx, core, python)?;
            match &wanted {
                Some(class) => {
                    of_class(core, python, &census, class).try_for_each(|at| cx.emit(&Piece(at)))?
                }
                None => {
                    let groups = python.groups(core, &census);
                    let most = usize::try_from(most).unwrap_or(usize::MAX);
                    groups.iter().take(most).try_for_each(|group| {
                        cx.emit(&Row { group, class: python.class_name(core, group.class) })
                    })?;
                }
            }
            note_broken(cx, &census)?;
        }
        Ok(())
    }
}

fn note_broken(cx: &mut Cx<'_>, census: &Census) -> Result<()> {
    if census.broken == 0 {
        return Ok(());
    }
    let what = "lists of the collector are damaged or were not dumped in full";
    cx.note(&format!("{} {what}: there are more objects", census.broken))
}

/// What refers to the object at the address before the dcmd.
fn of_dot(cx: &mut Cx<'_>) -> Result<()> {
    let Subject { core, python, at } = Subject::of(cx)?;
    let census = counted(cx, core, python)?;
    let found = watched(cx, |watch| python.referrers(core, &census, &[at], watch))?;
    referrers::emit(cx, at, &found)?;
    note_broken(cx, &census)
}

fn counted(cx: &mut Cx<'_>, core: &Core, python: &Python) -> Result<Arc<Census>> {
    watched(cx, |watch| python.census(core, watch))
}

/// The objects of the classes with this name.
fn of_class<'a>(
    core: &'a Core,
    python: &'a Python,
    census: &'a Census,
    class: &'a str,
) -> impl Iterator<Item = Addr> + 'a {
    let groups = python.groups(core, census);
    let is_called = |group: &ObjectGroup| {
        python.class_name(core, group.class).is_some_and(|name| &*name == class)
    };
    let classes: Vec<Addr> =
        groups.iter().filter(|group| is_called(group)).map(|group| group.class).collect();
    let objects = census.objects.iter().copied();
    objects
        .filter(move |at| python.class_of(core, *at).is_some_and(|class| classes.contains(&class)))
}

/// A class, and the number of its objects.
struct Row<'g> {
    group: &'g ObjectGroup,
    class: Option<Arc<str>>,
}

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "py_group"
    }

    fn view(&self) -> View {
        View::Line("{count:>10} {size:>12} {shown} (one at {example})")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("count", self.group.count)
            .num("size", self.group.size)
            .opt_text("class", self.class.as_deref())
            .addr("class_address", self.group.class)
            .addr("example", self.group.example)
            .display("shown", Cell::text(self.class.as_deref().unwrap_or("<unknown>")));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.group.example))
    }
}

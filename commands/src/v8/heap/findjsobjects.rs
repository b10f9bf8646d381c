//! `::findjsobjects` — what objects of JavaScript there are.

use kcore::Addr;
use kcore::v8::census::{Group, Rest};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Fields, Group as HelpGroup, Opt, Record,
    Result, Spec, View,
};

use super::{
    counted::{Counted, tagged, watched},
    found::ObjectRecord,
    group::GroupRecord,
    referrer::{REFERRED, ReferrerRecord, Unreferred},
};

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'c',
        value: Some("cons"),
        help: "show one object of each group with this constructor",
    },
    Opt {
        flag: 'p',
        value: Some("prop"),
        help: "show one object of each group with this property",
    },
    Opt { flag: 'k', value: Some("kind"), help: "show one object of each group of this kind" },
    Opt { flag: 'l', value: None, help: "show all objects of the groups, not one of each" },
    Opt {
        flag: 'r',
        value: None,
        help: "show what refers to the object, or to the marked objects",
    },
    Opt { flag: 'm', value: None, help: "mark the object for a later -r" },
    Opt { flag: 'v', value: None, help: "also show statistics of the search" },
    Opt {
        flag: 'a',
        value: None,
        help: "accepted, and has no effect: damaged objects are never listed",
    },
    Opt { flag: 'b', value: None, help: "accepted, and has no effect: every heap is searched" },
];

const HELP: &str = "\
The first call finds all objects of the JavaScript heaps; later calls use that result. Objects \
with the same constructor and the same properties form a group. Each group has one line: an \
object, the number of objects, and the names. Groups with many objects of many properties come \
last. With an address, all objects of its group are shown.

Objects that are used as maps have keys of their own. If one constructor has many such objects, \
they are one group: the line has the names that all of them have, and `<other keys>`. -p finds \
their keys too.

The list includes objects that are unreachable but not collected yet; ::jsheap tells them apart. \
The prototype of a class is counted as CLASS.prototype.";

const EXAMPLES: &[Example] = &[
    Example { line: "::findjsobjects", shows: "every group" },
    Example { line: "::findjsobjects -c Module", shows: "an object of this class" },
    Example {
        line: "::findjsobjects -p filename | ::findjsobjects",
        shows: "all objects with this property",
    },
    Example {
        line: "::findjsobjects -c Module | ::findjsobjects -r",
        shows: "what refers to the object",
    },
];

/// Finds objects.
pub struct Findjsobjects;

impl Dcmd for Findjsobjects {
    fn spec(&self) -> Spec {
        Spec::new("findjsobjects", HelpGroup::Runtimes, "find JavaScript objects")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        if ['c', 'p', 'k'].into_iter().filter(|flag| args.has(*flag)).count() > 1 {
            return Err(DcmdError::usage("only one of -c, -p and -k may be specified"));
        }
        match cx.addr() {
            Some(_) if args.has('m') => mark(cx),
            Some(_) if args.has('r') => referrers_of_dot(cx),
            Some(_) => group_of_dot(cx),
            None if args.has('m') => Err(DcmdError::usage("-m needs the address of an object")),
            None if args.has('r') => referrers_of_marked(cx),
            None => list(cx, args),
        }
    }
}

fn list(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let wanted = GroupFilter::new(args);
    for counted in Counted::all(cx)? {
        if args.has('v') {
            counters(cx, &counted)?;
        }
        let groups = counted.groups(cx)?;
        for group in groups.iter() {
            let Some(example) = wanted.example(&counted, group) else { continue };
            match (&wanted, args.has('l')) {
                (_, true) => members(cx, &counted, group)?,
                (GroupFilter::All, false) => cx.emit(&GroupRecord(group))?,
                _ => cx.emit(&found(group, example))?,
            }
        }
        note_missing(cx, counted.census.rest())?;
    }
    Ok(())
}

/// Which groups are wanted.
enum GroupFilter {
    All,
    Constructor(String),
    Property(String),
    Kind(String),
}

impl GroupFilter {
    fn new(args: &Args) -> Self {
        let text = |flag| args.value(flag).map(Arg::to_text).map(|text| text.to_string());
        text('c')
            .map(Self::Constructor)
            .or_else(|| text('p').map(Self::Property))
            .or_else(|| text('k').map(Self::Kind))
            .unwrap_or(Self::All)
    }

    /// The object that stands for a group, if the group is wanted.
    fn example(&self, counted: &Counted<'_>, group: &Group) -> Option<Addr> {
        let is_wanted = match self {
            Self::All => true,
            Self::Constructor(name) => *group.constructor == **name,
            Self::Property(name) => return counted.v8.with_property(counted.core, group, name),
            Self::Kind(kind) => counted.kind_of(group.example).is_some_and(|own| own == *kind),
        };
        is_wanted.then_some(group.example)
    }
}

fn found(group: &Group, at: Addr) -> ObjectRecord {
    ObjectRecord { at, constructor: group.constructor.clone() }
}

fn members(cx: &mut Cx<'_>, counted: &Counted<'_>, group: &Group) -> Result<()> {
    let members = group.members(counted.core, &counted.census);
    members.into_iter().try_for_each(|at| cx.emit(&found(group, at)))
}

fn group_of_dot(cx: &mut Cx<'_>) -> Result<()> {
    let (counted, at) = Counted::of_dot(cx)?;
    let groups = counted.groups(cx)?;
    let group = groups.iter().find(|group| counted.v8.is_of_group(counted.core, group, at));
    let word = cx.dot().number();
    let group = group
        .ok_or_else(|| DcmdError::at(tagged(at), format!("{word:x} is not a valid object")))?;
    members(cx, &counted, group)
}

fn mark(cx: &mut Cx<'_>) -> Result<()> {
    let (counted, at) = Counted::of_dot(cx)?;
    counted.v8.mark_object(at);
    cx.emit(&Marked(at))
}

fn referrers_of_dot(cx: &mut Cx<'_>) -> Result<()> {
    let (counted, at) = Counted::of_dot(cx)?;
    referrers(cx, &counted, &[at])
}

fn referrers_of_marked(cx: &mut Cx<'_>) -> Result<()> {
    let all = Counted::all(cx)?;
    let mut with_marks = all.iter().filter(|it| !it.v8.marked_objects().is_empty()).peekable();
    if with_marks.peek().is_none() {
        return Err(DcmdError::failed("no objects were marked"));
    }
    with_marks.try_for_each(|counted| referrers(cx, counted, &counted.v8.marked_objects()))
}

fn referrers(cx: &mut Cx<'_>, counted: &Counted<'_>, to: &[Addr]) -> Result<()> {
    let (v8, core) = (counted.v8, counted.core);
    let found = watched(cx, |watch| v8.referrers(core, &counted.census, to, watch))?;
    for at in to {
        let mut own = found.iter().filter(|referrer| referrer.to == *at).peekable();
        if own.peek().is_none() {
            cx.emit(&Unreferred(*at))?;
        }
        for referrer in own {
            cx.emit(&ReferrerRecord { referrer, view: REFERRED })?;
        }
    }
    Ok(())
}

fn note_missing(cx: &mut Cx<'_>, rest: Rest) -> Result<()> {
    if rest.missing == 0 {
        return Ok(());
    }
    cx.note(&format!(
        "{:#x} bytes of the heap were not {}; their objects are missing",
        rest.missing,
        cx.core().snapshot().kept_word()
    ))
}

fn counters(cx: &mut Cx<'_>, counted: &Counted<'_>) -> Result<()> {
    let census = &counted.census;
    let rest = census.rest();
    let groups = counted.groups(cx)?.len() as u64;
    let counters = [
        ("chunks", census.areas().len() as u64),
        ("maps", census.maps().len() as u64),
        ("objects", census.object_count()),
        ("bytes of objects", census.bytes()),
        ("groups", groups),
        ("free bytes", rest.free.saturating_add(rest.blank)),
        ("bytes skipped", rest.skipped),
        ("bytes not dumped", rest.missing),
    ];
    counters.iter().try_for_each(|(name, value)| cx.emit(&Counter { name, value: *value }))
}

/// Something that was counted on the way.
struct Counter {
    name: &'static str,
    value: u64,
}

impl Record for Counter {
    fn kind(&self) -> &'static str {
        "js_counter"
    }

    fn view(&self) -> View {
        View::Line("findjsobjects: {name:>30} => {value}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name).num("value", self.value);
    }
}

/// An object was marked.
struct Marked(Addr);

impl Record for Marked {
    fn kind(&self) -> &'static str {
        "js_marked"
    }

    fn view(&self) -> View {
        View::Line("findjsobjects: marked {address:x}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", tagged(self.0));
    }
}

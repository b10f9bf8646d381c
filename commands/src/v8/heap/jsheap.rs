//! `::jsheap` — the classes that fill the JavaScript heap.

use std::cmp::Reverse;

use kcore::graph::ClassSize;
use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use super::{
    counted::{Counted, RetainedHeap},
    size::{ClassRecord, ObjectSize, TotalRecord},
};
use crate::operand;

/// Classes that are shown by default.
const SHOWN: usize = 20;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show every class" },
    Opt {
        flag: 'n',
        value: Some("count"),
        help: "show this many classes, in decimal (default 20)",
    },
    Opt {
        flag: 's',
        value: Some("key"),
        help: "sort by retained (the default), bytes, count, unreachable or class",
    },
];

const HELP: &str = "\
For each class, prints the number of reachable objects, their own size in bytes, and the retained \
size. The retained size is what would be freed with all objects of the class: the objects, and \
what only they keep. Names in parentheses stand for what V8 uses for itself. Objects that are \
unreachable, but not collected yet, have a count of their own; their size is in JSON.

Roots are the stacks and registers of threads, the data of isolates, and the contexts of global \
objects. kcore cannot tell handles of the embedder from their remains in freed memory. If nothing \
else keeps an object, any word of memory that refers to it counts as a handle.

With an address, prints the size of that object, and what it retains.";

const EXAMPLES: &[Example] = &[
    Example { line: "::jsheap", shows: "the classes that retain most" },
    Example { line: "::jsheap -s count -n 5", shows: "the classes with the most objects" },
    Example { line: "::findjsobjects -c Module | ::jsheap", shows: "what an object retains" },
];

/// Shows sizes.
pub struct Jsheap;

impl Dcmd for Jsheap {
    fn spec(&self) -> Spec {
        Spec::new("jsheap", Group::Runtimes, "list JavaScript classes by what they retain")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        if cx.addr().is_some() {
            return one(cx);
        }
        let key = Key::new(args)?;
        let shown = match args.value('n') {
            _ if args.has('a') => usize::MAX,
            Some(word) => operand::decimal(word)?,
            None => SHOWN,
        };
        for counted in Counted::all(cx)? {
            let kept = counted.kept(cx)?;
            let mut sizes = kept.class_sizes(cx)?;
            key.sort(&mut sizes);
            sizes.iter().take(shown).try_for_each(|size| cx.emit(&ClassRecord(size)))?;
            cx.emit(&TotalRecord::of(&sizes, shown))?;
        }
        Ok(())
    }
}

fn one(cx: &mut Cx<'_>) -> Result<()> {
    let (counted, at) = Counted::of_dot(cx)?;
    let kept: RetainedHeap<'_> = counted.kept(cx)?;
    let size = ObjectSize {
        at,
        class: counted.class_of(at),
        bytes: counted.v8.object_size(counted.core, &counted.census, at).unwrap_or(0),
        retained: kept.retained_by(cx, at)?,
    };
    cx.emit(&size)
}

/// What classes are sorted by.
#[derive(Clone, Copy)]
enum Key {
    Retained,
    Bytes,
    Count,
    Unreachable,
    Class,
}

impl Key {
    fn new(args: &Args) -> Result<Self> {
        let Some(text) = args.value('s').map(Arg::to_text) else { return Ok(Self::Retained) };
        Ok(match &*text {
            "retained" => Self::Retained,
            "bytes" => Self::Bytes,
            "count" => Self::Count,
            "unreachable" => Self::Unreachable,
            "class" => Self::Class,
            _ => return Err(DcmdError::usage(format!("invalid key to sort by -- '{text}'"))),
        })
    }

    fn sort(self, sizes: &mut [ClassSize]) {
        match self {
            Self::Retained => sizes.sort_by_key(|size| Reverse(size.retained)),
            Self::Bytes => sizes.sort_by_key(|size| Reverse(size.bytes)),
            Self::Count => sizes.sort_by_key(|size| Reverse(size.count)),
            Self::Unreachable => sizes.sort_by_key(|size| Reverse(size.dead_bytes)),
            Self::Class => sizes.sort_by(|a, b| a.class.cmp(&b.class)),
        }
    }
}

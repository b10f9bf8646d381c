//! `::retained` — who keeps how much of native heaps.

use kcore::{
    Core, DoubtKind, MappingKind,
    native_heap::{BlockTypes, Keeper, RetainedBlocks, RetainedError, RetainedSize},
    objects::Stopped,
};
use kcore_dcmd::{
    AddrUse, Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record,
    Result, Spec, View,
};

use super::{
    reachedby::in_use,
    subject,
    type_text::{type_words, types_of},
};
use crate::{operand, watched::watched};

/// Keepers that are shown unless more are asked for.
const SHOWN: usize = 20;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show all" },
    Opt { flag: 'n', value: Some("count"), help: "how many to show, in decimal (default 20)" },
];

const HELP: &str = "\
Shows what keeps how much memory, the most first. RETAINED is what would be freed with it: the bytes of all blocks that \
nothing else leads to. A block that several of them lead to is a line of its own.\n\n\
Variables, threads and other memory are roots. A thread stands for its stack, its registers and its thread-local data. \
With an address, shows the block that holds it, then what it alone keeps.\n\n\
Any word that holds an address within a block counts as a pointer, so a number, or a word left over on a stack, may \
make something retain less. Types are likely ones, as ::malloctypes tells.";

const EXAMPLES: &[Example] = &[
    Example { line: "::retained", shows: "the variables and blocks that keep the most" },
    Example {
        line: "::walk malloc | ::head -n 1 | ::retained",
        shows: "what would be freed with the first block",
    },
];

/// Shows who keeps how much.
pub struct Retained;

impl Dcmd for Retained {
    fn spec(&self) -> Spec {
        Spec::new("retained", Group::Memory, "show who keeps how much of native heaps")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let at = cx.addr().map(|dot| dot.addr());
        match at {
            Some(at) => in_use(cx, at)?,
            None if subject::wanted(cx, &Args::default())?.is_empty() => {
                return Err(DcmdError::failed("no heap can be read"));
            }
            None => {}
        }
        let core = cx.core().clone();
        let retained = found(cx, &core)?;
        let types = types_of(cx)?;
        let told = KeeperNames { core: &core, retained: &retained, types: &types };
        let kept = match at {
            Some(at) => {
                let own = retained.at(at).ok_or_else(|| {
                    let why = "nothing leads to the block: see ::findleaks".to_owned();
                    DcmdError::at(at, why)
                })?;
                cx.emit(&told.record(own))?;
                retained.kept_by(at)
            }
            None => retained.top(),
        };
        show(cx, args, &told, &kept)?;
        if at.is_none() { notes(cx, &retained) } else { Ok(()) }
    }
}

fn found(cx: &mut Cx<'_>, core: &Core) -> Result<std::sync::Arc<RetainedBlocks>> {
    let found = watched(cx, |watch| match core.heaps().retained(watch) {
        Err(RetainedError::Stopped) => Err(Stopped),
        found => Ok(found),
    })?;
    found.map_err(|_| DcmdError::failed("there are more pointers than can be numbered"))
}

fn show(cx: &mut Cx<'_>, args: &Args, told: &KeeperNames<'_>, kept: &[RetainedSize]) -> Result<()> {
    let most = match args.value('n') {
        _ if args.has('a') => usize::MAX,
        Some(word) => operand::decimal(word)?,
        None => SHOWN,
    };
    kept.iter().take(most).try_for_each(|size| cx.emit(&told.record(*size)))?;
    let rest = kept.len().saturating_sub(most);
    if rest > 0 { cx.note(&format!("{rest} more (-a shows them)")) } else { Ok(()) }
}

fn notes(cx: &mut Cx<'_>, retained: &RetainedBlocks) -> Result<()> {
    let (all, unreached) = retained.counts();
    if unreached > 0 {
        cx.note(&format!("nothing leads to {unreached} of {all} blocks in use (::findleaks)"))?;
    }
    if cx.core().doubts().iter().any(|doubt| doubt.kind == DoubtKind::Damage) {
        cx.note("the core is damaged, and pointers may be missing")?;
    }
    retained.notes().iter().try_for_each(|note| cx.note(note))
}

/// What records are made of.
struct KeeperNames<'c> {
    core: &'c Core,
    retained: &'c RetainedBlocks,
    types: &'c BlockTypes,
}

impl KeeperNames<'_> {
    fn record(&self, size: RetainedSize) -> RetainedRecord {
        let (kind, name) = self.name(size.keeper);
        let ty = match size.keeper {
            Keeper::Block(at) => self.types.at(at).map(|ty| type_words(&ty)),
            _ => None,
        };
        let keeper = match size.keeper {
            Keeper::Block(at) => self.retained.keeper_of(at).map(|keeper| self.name(keeper)),
            _ => None,
        };
        let kept_by = keeper.map(|(kind, name)| name.unwrap_or_else(|| kind.to_owned()));
        RetainedRecord { size, kind, name, ty, kept_by }
    }

    /// A word for what it is, and what it is called.
    fn name(&self, keeper: Keeper) -> (&'static str, Option<String>) {
        match keeper {
            Keeper::Block(at) => ("block", Some(format!("block {at:x}"))),
            Keeper::Variable(at) => ("variable", self.variable(at)),
            Keeper::Data(at) => {
                let module = self.core.modules().at(at).map(|it| it.name().to_owned());
                ("data", module.map(|module| format!("data of {module} without symbols")))
            }
            Keeper::Thread(tid) => ("thread", Some(format!("thread {tid}"))),
            Keeper::Memory(at) => {
                let mapping = self.core.mapping_at(at);
                let name = mapping.filter(|it| matches!(it.kind, MappingKind::File { .. }));
                let name = name.map_or_else(|| "memory".to_owned(), kcore::Mapping::name);
                ("memory", Some(format!("{name} at {at:x}")))
            }
            _ => ("other", None),
        }
    }

    fn variable(&self, at: kcore::Addr) -> Option<String> {
        let symbol = self.core.symbols().at(at)?;
        Some(match symbol.in_exe {
            true => symbol.name.to_string(),
            false => format!("{}`{}", symbol.module, symbol.name),
        })
    }
}

const COLUMNS: &[Column] = &[
    Column::right("bytes", "RETAINED", 13),
    Column::right("blocks", "BLOCKS", 10),
    Column::right("own", "OWN", 10),
    Column::right("address", "ADDRESS", 16).spec("x"),
    Column::left("what", "WHAT", 0),
];

/// What something retains.
struct RetainedRecord {
    size: RetainedSize,
    kind: &'static str,
    name: Option<String>,
    ty: Option<String>,
    kept_by: Option<String>,
}

impl RetainedRecord {
    const fn at(&self) -> Option<kcore::Addr> {
        match self.size.keeper {
            Keeper::Block(at) | Keeper::Variable(at) | Keeper::Data(at) | Keeper::Memory(at) => {
                Some(at)
            }
            _ => None,
        }
    }

    fn what(&self) -> String {
        let kept = self.kept_by.as_ref().map(|by| format!(", kept by {by}")).unwrap_or_default();
        match (&self.ty, self.kind, &self.name) {
            (Some(ty), "block", _) => format!("likely {ty}{kept}"),
            (None, "block", _) => format!("a block{kept}"),
            (_, _, Some(name)) => name.clone(),
            (_, kind, None) => kind.to_owned(),
        }
    }
}

impl Record for RetainedRecord {
    fn kind(&self) -> &'static str {
        "retained"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let tid = match self.size.keeper {
            Keeper::Thread(tid) => Some(u64::from(tid.get())),
            _ => None,
        };
        out.text("keeper", self.kind)
            .opt_text("name", self.name.as_deref())
            .addr("address", self.at())
            .num("thread", tid)
            .opt_text("type_name", self.ty.as_deref())
            .opt_text("kept_by", self.kept_by.as_deref())
            .num("own", self.size.own)
            .num("bytes", self.size.bytes)
            .num("blocks", self.size.blocks)
            .display("what", Cell::text(self.what()));
    }

    fn dot(&self) -> Option<Dot> {
        self.at().map(Dot::Addr)
    }
}

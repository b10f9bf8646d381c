//! `::objects` — the modules of the process, and whether their files were found.

use kcore::{FileState, Module, SearchResult, SearchedPlace, Tried};
use kcore_dcmd::{
    AddrUse, Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record,
    Result, Spec, View,
};

const COLUMNS: &[Column] = &[
    Column::right("base", "BASE", 16),
    Column::right("limit", "LIMIT", 16),
    Column::right("size_in_hex", "SIZE", 16),
    Column::left("path", "NAME", 24),
    Column::left("file_words", "FILE", 10),
];

const VERBOSE: &str = "{name} [{base},{limit})\
    {namespace_words?, namespace {namespace_words}}{deleted?, deleted}\n  \
    path      {path}\n  \
    build-id  {build_id}{build_id^not known}\n  \
    file      {file?{file}, }{file_state_words}{place?, {place}}\
    {tried_lines?\n{tried_lines:m}}\
    {debug_words?\n  debug     {debug_words}}\
    {debug_tried_lines?\n{debug_tried_lines:m}}";

const OPTIONS: &[Opt] = &[Opt {
    flag: 'v',
    value: None,
    help: "also show the build-id, the file and its debug file, and everything that was tried to find them",
}];

const EXAMPLES: &[Example] = &[
    Example { line: "::objects", shows: "every module, lowest address first" },
    Example { line: "::objects -v libc", shows: "everything that is known about one module" },
    Example { line: "<rip::objects", shows: "the module that holds the program counter" },
];

/// Lists every module, or those that an address or a name selects.
pub struct Objects;

impl Dcmd for Objects {
    fn spec(&self) -> Spec {
        Spec::new("objects", Group::Symbols, "list the modules and whether their files were found")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[object]", 0, 1)
            .help(
                "FILE says where symbols, lines and undumped code come from:\n\n\
                 - verified: a file whose build-id is that of the mapped module.\n\
                 - unverified: a file, but the core holds no build-id to compare.\n\
                 - missing: no file. What was tried, and why it was refused, follows.\n\
                 - in core: the kernel's own module, which the core holds whole.\n\n\
                 An object is named by its path, the last part of its path, that part up to its \
                 first dot, or a.out for the executable.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        for module in chosen(cx, args)? {
            cx.emit(&ObjectRecord { module, verbose: args.has('v'), state: module.file_state() })?;
        }
        Ok(())
    }
}

fn chosen<'a>(cx: &Cx<'a>, args: &Args) -> Result<Vec<&'a Module>> {
    let modules = cx.core().modules();
    if let Some(dot) = cx.addr() {
        let at = dot.addr();
        let module = modules.at(at).ok_or_else(|| {
            DcmdError::at(at, format!("failed to obtain object: no object holds address {at:x}"))
        })?;
        return Ok(vec![module]);
    }
    let Some(name) = args.first().map(kcore_dcmd::Arg::to_text) else {
        return Ok(modules.all().iter().collect());
    };
    let named: Vec<_> = modules.named(&name).collect();
    if named.is_empty() {
        let message = format!("failed to obtain object: unknown object file name '{name}'");
        return Err(DcmdError::failed(message));
    }
    Ok(named)
}

struct ObjectRecord<'m> {
    module: &'m Module,
    verbose: bool,
    state: FileState,
}

impl ObjectRecord<'_> {
    /// Why no file is there, if none is.
    fn missing(&self) -> &[String] {
        match &self.state {
            FileState::Missing(tried) => tried,
            _ => &[],
        }
    }

    /// Files that were refused, or were not there, each with the kind of its place.
    fn tried(&self) -> Vec<String> {
        match self.module.tried() {
            [] => self.missing().to_vec(),
            tried => tried.iter().map(tried_words).collect(),
        }
    }

    /// The search for the debug file, which is made if it is to be shown.
    fn debug(&self) -> Option<&SearchResult> {
        let is_wanted = self.verbose && self.state != FileState::InCore;
        is_wanted.then(|| self.module.debug_search())
    }

    fn debug_words(&self) -> Option<String> {
        let debug = self.debug()?;
        Some(match &debug.file {
            Some(file) => format!("{}, {}", file.path.display(), file.place.as_str()),
            None if debug.tried.is_empty() && self.module.has_own_debug_info() => {
                "in the file itself".to_owned()
            }
            None if debug.tried.is_empty() => "not looked for: no build-id is known".to_owned(),
            None => "missing".to_owned(),
        })
    }

    /// One line, with the reason if the file is missing.
    fn file_words(&self) -> String {
        match self.telling_reason() {
            Some(reason) => format!("missing ({reason})"),
            None => state_word(&self.state).replace('_', " "),
        }
    }

    /// The most useful of the attempts: a file that exists and was refused, or else the path itself.
    fn telling_reason(&self) -> Option<&String> {
        let (tried, path) = (self.missing(), self.module.path());
        let refused = tried.iter().find(|tried| !tried.ends_with("not found"));
        let own = || tried.iter().find(|tried| tried.starts_with(&path));
        refused.or_else(own).or(tried.first())
    }
}

impl Record for ObjectRecord<'_> {
    fn kind(&self) -> &'static str {
        "object"
    }

    fn view(&self) -> View {
        if self.verbose { View::Line(VERBOSE) } else { View::Table(COLUMNS) }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let span = self.module.span();
        let file = self.module.file_path().map(|path| path.to_string_lossy().into_owned());
        let namespace = u64::from(self.module.namespace());
        let state = state_word(&self.state);
        let file_is_found = matches!(self.state, FileState::Verified(_) | FileState::Unverified(_));
        let debug = self.debug();
        let debug_file = debug.and_then(|debug| debug.file.as_ref());
        let debug_file = debug_file.map(|file| file.path.to_string_lossy().into_owned());
        let debug_tried =
            debug.map(|debug| debug.tried.iter().map(tried_words).collect::<Vec<_>>());
        out.addr("base", span.start)
            .addr("limit", span.end)
            .num("size", span.len())
            .text("name", self.module.name())
            .text("path", self.module.path())
            .opt_text("build_id", self.module.build_id().map(ToString::to_string))
            .opt_text("file", file.filter(|_| self.state != FileState::InCore))
            .text("file_state", state)
            .opt_text(
                "place",
                self.module.place().filter(|_| file_is_found).map(SearchedPlace::as_str),
            )
            .put("tried", texts(self.tried()))
            .opt_text("debug_file", debug_file)
            .put("debug_tried", Cell::or_null(debug_tried.clone(), texts))
            .num("namespace", namespace)
            .flag("deleted", self.module.is_deleted())
            .flag("executable", self.module.is_exe())
            .display("size_in_hex", Cell::Hex(span.len()))
            .display("file_words", Cell::text(self.file_words()))
            .display("file_state_words", Cell::text(state.replace('_', " ")))
            .display("tried_lines", Cell::or_null(lines(&self.tried()), Cell::text))
            .display("debug_words", Cell::or_null(self.debug_words(), Cell::text))
            .display(
                "debug_tried_lines",
                Cell::or_null(debug_tried.and_then(|tried| lines(&tried)), Cell::text),
            )
            .display(
                "namespace_words",
                Cell::or_null((namespace > 0).then_some(namespace), Cell::Num),
            );
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.module.base()))
    }
}

const fn state_word(state: &FileState) -> &'static str {
    match state {
        FileState::Verified(_) => "verified",
        FileState::Unverified(_) => "unverified",
        FileState::Missing(_) => "missing",
        FileState::InCore => "in_core",
    }
}

fn tried_words(tried: &Tried) -> String {
    format!("{}: {} ({})", tried.path.display(), tried.why, tried.place.as_str())
}

fn texts(texts: Vec<String>) -> Cell<'static> {
    Cell::List(texts.into_iter().map(Cell::text).collect())
}

/// The attempts, a line each.
fn lines(tried: &[String]) -> Option<String> {
    let lines: Vec<_> =
        tried.iter().map(|tried| format!("  tried     {}", one_line(tried))).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A path from the core may contain line ends, which would look like lines of kcore.
fn one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}

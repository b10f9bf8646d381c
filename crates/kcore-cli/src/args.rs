//! The command line.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser, ValueEnum, ValueHint};
use clap_complete::aot;

use crate::ask::AskArgs;
use crate::budget::BudgetArgs;
use crate::bundle::BundleArgs;
use crate::catch::CatchArgs;
use crate::cores::CoresArgs;
use crate::finders::FinderArgs;
use crate::heapdump::HeapdumpArgs;
use crate::help_text::{AFTER_HELP, AFTER_LONG_HELP, LONG_ABOUT, LONG_VERSION, USAGE_LINES};
use crate::live::{self, LiveArgs};
use crate::man;
use crate::profile::ProfileArgs;
use crate::save::SaveArgs;
use crate::top::TopArgs;
use crate::tutorial::TutorialArgs;
use crate::watch::WatchArgs;

/// Exit status for a wrong command line, or a target that cannot be opened.
pub(crate) const USAGE: u8 = 2;

/// Open a Linux core, or a snapshot of a live process, and ask what it was doing.
#[derive(Parser, Debug)]
#[command(
    name = "kcore",
    version,
    long_version = LONG_VERSION,
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    after_long_help = AFTER_LONG_HELP,
    override_usage = USAGE_LINES
)]
struct Raw {
    /// The core, and the executable if it must be named
    #[arg(value_name = "FILE", hide = true)]
    files: Vec<PathBuf>,

    /// Run commands and exit; `;` and newlines separate them; may be repeated
    #[arg(short, long = "command", value_name = "CMDS", allow_hyphen_values = true)]
    command: Vec<OsString>,

    /// Run a script and exit; `-` is standard input; may be repeated, and mixed with -c
    #[arg(short, long = "file", value_name = "SCRIPT", value_hint = ValueHint::FilePath)]
    file: Vec<PathBuf>,

    /// The executable, if the core's own record of it is wrong or gone
    #[arg(short, long, value_name = "EXE", value_hint = ValueHint::FilePath)]
    exe: Option<PathBuf>,

    /// Take the target's files from under this directory, and none of this machine
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    sysroot: Option<PathBuf>,

    /// With --sysroot or --layer: also look at files of this machine, for what is not there
    #[arg(long)]
    host_files: bool,

    /// Do not trust the core: read no file outside of its folder and the named directories, run no other program,
    /// write and send nothing
    #[arg(long, conflicts_with_all = ["pid", "host_files"])]
    untrusted: bool,

    /// One more directory in the build-id layout; may be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    debug_dir: Vec<PathBuf>,

    /// Names of code that a JIT made, in a file that it wrote for perf (`perf-PID.map` or a jitdump); may be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    perf_map: Vec<PathBuf>,

    /// A source map of a script of JavaScript, or a directory of them: its frames show files, lines and names of the source;
    /// may be repeated
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    source_map: Vec<PathBuf>,

    #[command(flatten)]
    finders: FinderArgs,

    /// Write each result as JSON Lines; `compact` leaves out what is null
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    json: Option<Json>,

    /// When to use colour and underlining
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,

    /// Do not read the configuration file
    #[arg(long, overrides_with = "no_rc")]
    no_rc: bool,

    /// Start the interactive shell without a summary of what happened
    #[arg(short, long, overrides_with = "quiet")]
    quiet: bool,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    live: LiveArgs,

    /// Print the manual page, for man -l; `kcore save --man` prints that of save
    #[arg(long, exclusive = true)]
    man: bool,

    /// Print what a shell needs to complete these options
    #[arg(long, value_name = "SHELL", value_enum, exclusive = true)]
    completions: Option<Shell>,
}

/// Shells that complete options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Forms of JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Json {
    /// Every key is there, absent facts as null
    Full,
    /// Absent facts are left out
    Compact,
}

/// When to use attributes of terminals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The command line, read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Args {
    /// Core and executable, in whichever order.
    pub(crate) files: Vec<PathBuf>,
    /// The word before them.
    pub(crate) word: Option<Word>,
    /// `-c` and `-f`, in order, that of `stacks` first. One of them may be a core: see `target`.
    pub(crate) commands: Vec<Batch>,
    pub(crate) exe: Option<PathBuf>,
    pub(crate) sysroot: Option<PathBuf>,
    pub(crate) host_files: bool,
    /// Nobody trusts the core.
    pub(crate) untrusted: bool,
    pub(crate) debug_dirs: Vec<PathBuf>,
    pub(crate) code_maps: Vec<PathBuf>,
    pub(crate) source_maps: Vec<PathBuf>,
    pub(crate) finders: FinderArgs,
    pub(crate) json: Option<Json>,
    pub(crate) color: Color,
    pub(crate) read_rc: bool,
    /// The interactive shell says nothing before its first prompt.
    pub(crate) quiet: bool,
    pub(crate) budget: BudgetArgs,
    pub(crate) live: LiveArgs,
}

/// The word before the cores in `kcore stacks`, `kcore diff`, `kcore triage`, `kcore why` and their like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// The unique stacks of one, or which ones several have in common.
    Stacks,
    /// What moved between two.
    Diff,
    /// A line for each.
    Triage,
    /// Why one died.
    Why,
    /// Which files to fetch for it.
    Missing,
    /// Whether it is whole.
    Check,
}

impl Word {
    fn of(word: &OsStr) -> Option<Self> {
        match word.to_str()? {
            "stacks" => Some(Self::Stacks),
            "diff" => Some(Self::Diff),
            "triage" => Some(Self::Triage),
            "why" => Some(Self::Why),
            "missing" => Some(Self::Missing),
            "check" => Some(Self::Check),
            _ => None,
        }
    }
}

/// Commands that the command line has, or names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// `-c`.
    Text(OsString),
    /// `-f`.
    Script(PathBuf),
}

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Invocation {
    /// Commands about a core, or about a snapshot.
    Session(Box<Args>),
    /// A core of a live process.
    Save(Box<SaveArgs>),
    /// A profile of a live process.
    Profile(Box<ProfileArgs>),
    /// The functions of a live process, as they run.
    Top(Box<TopArgs>),
    /// What a live process tells of itself.
    Ask(Box<AskArgs>),
    /// A live process at the moment of an event.
    Catch(Box<CatchArgs>),
    /// A core with the files that its answers need.
    Bundle(Box<BundleArgs>),
    /// A managed heap of a core, for the tools of its language.
    Heapdump(Box<HeapdumpArgs>),
    /// The cores that the system keeps.
    Cores(Box<CoresArgs>),
    /// Questions about a core that comes with the program.
    Tutorial(TutorialArgs),
    /// What of a live process does not move.
    Watch(Box<WatchArgs>),
}

/// Reads a command line whose first word is the program's name. The second one may be that of another
/// program, which has options of its own.
///
/// # Errors
/// With what is to be shown instead: help, version, the manual page, or what is wrong.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Invocation, Exit> {
    let words = word_first(words.into_iter().collect())?;
    if matches!(words.as_slice(), [_, word] if word == "gdb") {
        return Err(Exit::Text(kcore_commands::gdb::text()));
    }
    if let Some(page) = manual_of_word(&words) {
        return Err(Exit::Text(page));
    }
    match words.get(1).and_then(|word| word.to_str()) {
        Some("save") => {
            let save = SaveArgs::try_parse_from(words.into_iter().skip(1)).map_err(Exit::Clap)?;
            Ok(Invocation::Save(Box::new(save)))
        }
        Some("profile") => {
            let profile = ProfileArgs::try_parse_from(words.into_iter().skip(1));
            Ok(Invocation::Profile(Box::new(profile.map_err(Exit::Clap)?)))
        }
        Some("ask") => {
            let ask = AskArgs::try_parse_from(words.into_iter().skip(1)).map_err(Exit::Clap)?;
            Ok(Invocation::Ask(Box::new(ask)))
        }
        Some("catch") => {
            let catch = CatchArgs::try_parse_from(words.into_iter().skip(1)).map_err(Exit::Clap)?;
            Ok(Invocation::Catch(Box::new(catch)))
        }
        Some("bundle") => {
            let bundle = BundleArgs::try_parse_from(words.into_iter().skip(1));
            Ok(Invocation::Bundle(Box::new(bundle.map_err(Exit::Clap)?)))
        }
        Some("cores") => {
            let cores = CoresArgs::try_parse_from(words.into_iter().skip(1)).map_err(Exit::Clap)?;
            Ok(Invocation::Cores(Box::new(cores)))
        }
        Some("heapdump") => {
            let heapdump = HeapdumpArgs::try_parse_from(words.into_iter().skip(1));
            Ok(Invocation::Heapdump(Box::new(heapdump.map_err(Exit::Clap)?)))
        }
        Some("tutorial") => {
            let tutorial = TutorialArgs::try_parse_from(words.into_iter().skip(1));
            Ok(Invocation::Tutorial(tutorial.map_err(Exit::Clap)?))
        }
        Some("top") => {
            let top = TopArgs::try_parse_from(words.into_iter().skip(1)).map_err(Exit::Clap)?;
            Ok(Invocation::Top(Box::new(top)))
        }
        Some("watch") => {
            let watch = WatchArgs::try_parse_from(words.into_iter().skip(1)).map_err(Exit::Clap)?;
            Ok(Invocation::Watch(Box::new(watch)))
        }
        _ => Ok(Invocation::Session(Box::new(parse_session(words)?))),
    }
}

/// Options that may stand before any word: words with options of their own do what they say as it is.
const BEFORE_WORDS: &[&str] = &["--no-rc", "-q", "--quiet"];

/// The same words without options before a word that has options of its own.
///
/// # Errors
/// When there are such as stand behind it.
fn word_first(mut words: Vec<OsString>) -> Result<Vec<OsString>, Exit> {
    let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    let options = words.iter().skip(1).take_while(is_option).count();
    let before = words.get(1..=options).unwrap_or_default();
    let Some(word) = words.get(options.saturating_add(1)).and_then(|word| word.to_str()) else {
        return Ok(words);
    };
    let has_options = OWN_OPTIONS.iter().any(|(name, ..)| *name == word);
    if options == 0 || !has_options {
        return Ok(words);
    }
    if let Some(other) = before.iter().find(|it| !BEFORE_WORDS.iter().any(|known| *it == known)) {
        // It may take the word as its value.
        if matches!(other.to_str(), Some(short) if !short.contains('=') && takes_value(short)) {
            return Ok(words);
        }
        let other = other.to_string_lossy();
        let what = format!("options of 'kcore {word}' stand behind the word, and so does {other}");
        return Err(Exit::Clap(Raw::command().error(ErrorKind::ArgumentConflict, what)));
    }
    words.drain(1..=options);
    Ok(words)
}

/// Whether the word behind an option is its value.
fn takes_value(option: &str) -> bool {
    let command = Raw::command();
    let mut options = command.get_arguments();
    options.any(|known| {
        let is_long = known.get_long().is_some_and(|long| option == format!("--{long}"));
        let is_short = known.get_short().is_some_and(|short| option == format!("-{short}"));
        let is_joined = known.is_require_equals_set();
        (is_long || is_short) && known.get_action().takes_values() && !is_joined
    })
}

type MakeCommand = fn() -> Command;

/// Words that have options of their own, and the names of their manual pages.
const OWN_OPTIONS: &[(&str, &str, MakeCommand)] = &[
    ("ask", "kcore-ask", AskArgs::command),
    ("bundle", "kcore-bundle", BundleArgs::command),
    ("catch", "kcore-catch", CatchArgs::command),
    ("cores", "kcore-cores", CoresArgs::command),
    ("heapdump", "kcore-heapdump", HeapdumpArgs::command),
    ("profile", "kcore-profile", ProfileArgs::command),
    ("save", "kcore-save", SaveArgs::command),
    ("top", "kcore-top", TopArgs::command),
    ("tutorial", "kcore-tutorial", TutorialArgs::command),
    ("watch", "kcore-watch", WatchArgs::command),
];

/// The manual page that `kcore save --man` and its like ask for.
fn manual_of_word(words: &[OsString]) -> Option<String> {
    let [_, word, option] = words else { return None };
    let (_, page, command) = OWN_OPTIONS.iter().find(|(name, ..)| word == name)?;
    (option == "--man").then(|| man::page_of_word(page, command()))
}

fn parse_session(words: Vec<OsString>) -> Result<Args, Exit> {
    let matches = Raw::command().try_get_matches_from(words).map_err(Exit::Clap)?;
    let raw = Raw::from_arg_matches(&matches).map_err(Exit::Clap)?;
    if raw.man {
        let others = OWN_OPTIONS.iter().map(|(_, page, _)| *page);
        return Err(Exit::Text(man::page(Raw::command(), AFTER_LONG_HELP, others)));
    }
    if let Some(shell) = raw.completions {
        return Err(Exit::Text(completions(shell)));
    }
    let mut files = raw.files;
    let mut commands = in_order(&matches, raw.command, raw.file);
    let mut live = raw.live;
    let word = files.first().and_then(|first| Word::of(first.as_os_str()));
    if word.is_some() {
        files.remove(0);
    }
    let command = match word {
        Some(Word::Stacks) => Some("::stacks"),
        Some(Word::Why) => Some("::analyze"),
        Some(Word::Missing) => Some("::missing"),
        Some(Word::Check) => Some("::check"),
        _ => None,
    };
    if let Some(command) = command {
        commands.insert(0, Batch::Text(command.into()));
        // Nothing but a number that is no file stands for a process, and only here.
        if let (None, [word]) = (&live.pid, files.as_slice())
            && live::is_process(word)
        {
            live.pid = word.to_str().map(str::to_owned);
            files.clear();
        }
    }
    if raw.untrusted && live.pid.is_some() {
        let what = "--untrusted is for cores, not for processes";
        return Err(Exit::Clap(Raw::command().error(ErrorKind::ArgumentConflict, what)));
    }
    if let Some(option) = raw.finders.refused_untrusted().filter(|_| raw.untrusted) {
        let what = format!("--untrusted looks at nothing that {option} names");
        return Err(Exit::Clap(Raw::command().error(ErrorKind::ArgumentConflict, what)));
    }
    Ok(Args {
        files,
        word,
        commands,
        exe: raw.exe,
        sysroot: raw.sysroot,
        host_files: raw.host_files,
        untrusted: raw.untrusted,
        debug_dirs: raw.debug_dir,
        code_maps: raw.perf_map,
        source_maps: raw.source_map,
        finders: raw.finders,
        json: raw.json,
        color: raw.color,
        read_rc: !raw.no_rc && !raw.untrusted,
        quiet: raw.quiet,
        budget: raw.budget,
        live,
    })
}

/// Texts and scripts as they stand on the command line.
fn in_order(matches: &ArgMatches, texts: Vec<OsString>, scripts: Vec<PathBuf>) -> Vec<Batch> {
    let places = |name| matches.indices_of(name).into_iter().flatten();
    let texts = places("command").zip(texts.into_iter().map(Batch::Text));
    let scripts = places("file").zip(scripts.into_iter().map(Batch::Script));
    let mut all: Vec<(usize, Batch)> = texts.chain(scripts).collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, batch)| batch).collect()
}

/// What `shell` reads to complete the options. Files that are named without an option are hidden in
/// help, which has a line of its own for them, but not here.
fn completions(shell: Shell) -> String {
    let mut command: Command =
        Raw::command().mut_arg("files", |files| files.hide(false).value_hint(ValueHint::FilePath));
    let mut script = Vec::new();
    let shell = match shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    aot::generate(shell, &mut command, "kcore", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// What is shown instead of a run.
#[derive(Debug)]
pub(crate) enum Exit {
    /// Help, version, or what is wrong.
    Clap(clap::Error),
    /// What was asked for.
    Text(String),
}

impl Exit {
    /// Shows it: what was asked for on standard output, what is wrong on standard error. What nobody
    /// reads is no failure.
    pub(crate) fn show(&self) -> ExitCode {
        match self {
            Self::Text(text) => drop(std::io::stdout().write_all(text.as_bytes())),
            Self::Clap(help) if !help.use_stderr() => drop(help.print()),
            Self::Clap(error) => {
                let text = error.render().to_string();
                let text = text.strip_prefix("error: ").unwrap_or(&text);
                let _ = write!(std::io::stderr(), "kcore: {text}");
                return ExitCode::from(USAGE);
            }
        }
        ExitCode::SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Args {
        let words = std::iter::once("kcore").chain(words.iter().copied());
        match parse(words.map(OsString::from)).unwrap() {
            Invocation::Session(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    fn texts(texts: &[&str]) -> Vec<Batch> {
        texts.iter().map(|text| Batch::Text(text.into())).collect()
    }

    #[test]
    fn scripts_and_commands_keep_the_order_in_which_they_were_given() {
        let args = parsed(&["-f", "a", "-c", "::b", "app.core", "--file=c", "-c::d", "-f", "-"]);
        let script = |name: &str| Batch::Script(name.into());
        let text = |text: &str| Batch::Text(text.into());
        assert_eq!(
            args.commands,
            [script("a"), text("::b"), script("c"), text("::d"), script("-")]
        );
    }

    #[test]
    fn a_command_may_begin_as_an_option_does() {
        let args = parsed(&["-c", "-1=J", "-c", "--5=J", "--command", "-c", "app.core"]);
        assert_eq!(args.commands, texts(&["-1=J", "--5=J", "-c"]));
        assert_eq!(args.files, [PathBuf::from("app.core")]);
    }

    #[test]
    fn nobody_looks_at_a_process_that_is_not_trusted() {
        assert!(parsed(&["--untrusted", "app.core"]).untrusted);
        assert!(!parsed(&["--untrusted", "app.core"]).read_rc);
        for more in [["-p", "1"], ["stacks", "1"], ["--host-files", "a"]] {
            let words = ["kcore", "--untrusted"].into_iter().chain(more).map(OsString::from);
            assert!(parse(words).is_err(), "{more:?}");
        }
    }

    #[test]
    fn options_before_a_word_are_taken_or_refused_plainly() {
        let parse = |line: &str| parse(line.split(' ').map(OsString::from));
        let bundle = parse("kcore --no-rc -q bundle core -o a.tar").unwrap();
        assert!(matches!(bundle, Invocation::Bundle(_)), "{bundle:?}");
        let refused = parse("kcore --json save 1 -o a").unwrap_err();
        let Exit::Clap(refused) = refused else { panic!("{refused:?}") };
        assert!(refused.to_string().contains("stand behind the word"), "{refused}");
        // A folder may be called so.
        assert_eq!(parsed(&["--sysroot", "save", "core"]).sysroot, Some("save".into()));
        assert_eq!(parsed(&["-c", "save", "core"]).commands, texts(&["save"]));
    }

    #[test]
    fn an_option_that_is_on_may_be_repeated() {
        let args = parsed(&["--no-rc", "-q", "--no-rc", "--quiet", "app.core"]);
        assert!(!args.read_rc && args.quiet);
        assert!(!parsed(&["app.core"]).quiet);
    }

    #[test]
    fn the_declaration_is_sound() {
        Raw::command().debug_assert();
    }

    #[test]
    fn commands_repeat_and_keep_their_order() {
        let args = parsed(&["-c", "::a", "app.core", "--command=::b; ::c"]);
        assert_eq!(args.commands, texts(&["::a", "::b; ::c"]));
        assert_eq!(args.files, [PathBuf::from("app.core")]);
        assert!(args.read_rc && args.json.is_none());
    }

    #[test]
    fn json_takes_a_form_behind_an_equals_sign_alone() {
        assert_eq!(parsed(&["--json", "compact"]).json, Some(Json::Full));
        assert_eq!(parsed(&["--json", "compact"]).files, [PathBuf::from("compact")]);
        assert_eq!(parsed(&["--json=compact", "a"]).json, Some(Json::Compact));
        assert_eq!(parsed(&["--json=full", "a"]).json, Some(Json::Full));
        assert!(parse(["kcore", "--json=small", "a"].map(OsString::from)).is_err());
    }

    #[test]
    fn stacks_is_a_word_and_a_path_is_a_file() {
        let args = parsed(&["--json", "stacks", "app.core", "-c", "::status"]);
        assert_eq!(args.commands, texts(&["::stacks", "::status"]));
        assert_eq!(args.files, [PathBuf::from("app.core")]);
        assert_eq!(parsed(&["./stacks"]).files, [PathBuf::from("./stacks")]);
        assert_eq!(parsed(&["stacks", "stacks"]).files, [PathBuf::from("stacks")]);
    }

    #[test]
    fn a_number_behind_stacks_is_a_process_unless_a_file_has_that_name() {
        let args = parsed(&["stacks", "1"]);
        assert_eq!((args.live.pid.as_deref(), args.files.len()), (Some("1"), 0));
        assert_eq!(parsed(&["stacks", "1/RS"]).live.pid.as_deref(), Some("1/RS"));
        assert_eq!(parsed(&["stacks", "./1"]).live.pid, None);
        assert_eq!(parsed(&["1"]).files, [PathBuf::from("1")]);
    }

    #[test]
    fn standard_input_is_a_file_named_dash() {
        let args = parsed(&["-f", "-", "-"]);
        assert_eq!(args.commands, [Batch::Script("-".into())]);
        assert_eq!(args.files, [PathBuf::from("-")]);
    }

    #[test]
    fn help_has_the_options_and_the_environment_and_nothing_that_is_not_there() {
        let help = Raw::command().render_long_help().to_string();
        for word in [
            "--sysroot",
            "--debug-dir",
            "--map",
            "--layer",
            "--finders",
            "--debuginfod",
            "--max-memory",
            "--max-time",
            "NO_COLOR",
            "XDG_STATE_HOME",
            "kcore save",
            "kcore profile",
            "kcore ask",
            "kcore catch",
            "kcore watch",
            "kcore tutorial",
        ] {
            assert!(help.contains(word), "{word}");
        }
    }

    #[test]
    fn wrong_options_are_usage() {
        let error = parse(["kcore", "--nosuch"].map(OsString::from)).unwrap_err();
        assert!(matches!(error, Exit::Clap(error) if error.use_stderr()));
    }

    fn text(words: &[&str]) -> String {
        match parse(words.iter().map(OsString::from)) {
            Err(Exit::Text(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_manual_page_has_what_help_has() {
        let page = text(&["kcore", "--man"]).replace("\\-", "-");
        for word in [".SH OPTIONS", "--sysroot", ".SH ENVIRONMENT", "XDG_STATE_HOME", "::stack"] {
            assert!(page.contains(word), "{word}");
        }
    }

    #[test]
    fn words_with_options_of_their_own_have_manual_pages() {
        for (word, option) in [
            ("save", "--stacks-only"),
            ("profile", "--cpu"),
            ("ask", "--signal"),
            ("bundle", "--no-env"),
            ("catch", "--within"),
            ("top", "--sort"),
            ("watch", "--until"),
            ("tutorial", "--color"),
        ] {
            let page = text(&["kcore", word, "--man"]).replace("\\-", "-");
            assert!(page.contains(&format!(".TH kcore-{word} 1")), "{page}");
            assert!(page.contains(option) && page.contains("kcore(1)"), "{word}: {page}");
        }
        let page = text(&["kcore", "--man"]).replace("\\-", "-");
        assert!(page.contains("kcore-save(1)"), "{page}");
    }

    #[test]
    fn completions_know_the_options() {
        for shell in ["bash", "zsh", "fish"] {
            assert!(text(&["kcore", "--completions", shell]).contains("sysroot"), "{shell}");
        }
    }
}

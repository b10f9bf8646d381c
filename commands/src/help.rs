//! `::help` — the shape of the language, or all that is known of one dcmd.

use std::sync::Arc;

use kcore::DeclaredPrinters;
use kcore_dcmd::{
    Arg, Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Sink, Spec, View,
    spec_of,
};

use crate::DCMDS;
use crate::declared::{self, help::WalkerPage};
use crate::help_topics::{self, TOPICS};

const OVERVIEW: &str = "\
Each command in kcore has the following basic format:

  [ address [, count]] verb [ arguments ... ]
      ^          ^       ^          ^
      |          |       |          words, quoted by '' or \"\", or $[expression]
      |          |       ::dcmd, $x, or one of / \\ ? = with formats
      |          how many times, or how many bytes
      where to begin: any expression; dot, when it is left out

The values that one command finds can feed the next one, as in
::walk thread | ::stack. Its output can feed a shell command, as in
::stacks ! less. Expressions and addresses are hexadecimal ($d shows and
changes that); 0t marks decimal ones. Counts and limits of options, ids of
threads and subscripts are decimal; 0x marks hexadecimal ones. Put a name that
contains signs other than :: in double quotes: \"operator==(X, X)\"::dis.

To begin with:

  ::status            what happened, and why
  $C                  the stack of the current thread
  ::stacks            the stacks of all threads, most common first

To learn more:

  ::help NAME         all about one dcmd
  ::help TOPIC        language, expressions, formats, pipelines, stacks, live, json, gdb
  ::dcmds             every dcmd
  ::walkers           every walker
  ::formats           the formats of / and =

";

const VIEW: &str = "\n{name_title:!}\n  {names} - {summary}\n\
    \n{synopsis_title:!}\n{synopsis:m}\n\
    {description_title?\n{description_title:!}\n{description:m}\n}\
    {options_title?\n{options_title:!}\n{options_text:m}\n}\
    {examples_title?\n{examples_title:!}\n{examples_text:m}\n}";

/// Columns of a line of help.
const WIDTH: usize = 80;

const HELP: &str = "\
The name is any spelling of a dcmd; you may leave out a leading ::. Subjects are language, \
expressions, formats, pipelines, stacks, live, json and gdb. For a command of gdb or lldb, ::help \
shows what to type here. `kcore -c '::help NAME'` needs no core.";

const EXAMPLES: &[Example] = &[
    Example { line: "::help", shows: "the shape of a command, and the dcmds by subject" },
    Example { line: "::help mappings", shows: "all about ::mappings" },
    Example { line: "::help expressions", shows: "numbers, operators and operands" },
    Example { line: "::help bt", shows: "what to type here instead of a gdb command" },
];

/// Explains the language, or one dcmd.
pub struct Help;

impl Dcmd for Help {
    fn spec(&self) -> Spec {
        Spec::new("help", Group::Language, "explain the language, a subject, or one dcmd")
            .operands("[name]", 0, 1)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let name = args.first().map(Arg::to_text);
        let printers = Arc::clone(cx.shell().printers());
        let answers = answers(name.as_deref(), Some(&printers))?;
        answers.iter().try_for_each(|record| cx.emit(record.as_ref()))
    }
}

/// Shows what `::help` shows, without a core: everything, or what has this name.
///
/// # Errors
/// If nothing has the name, and the errors of the sink.
pub fn show(name: Option<&str>, sink: &mut dyn Sink) -> Result<()> {
    answers(name, None)?.iter().try_for_each(|record| sink.put(record.as_ref()))
}

/// The page of a dcmd and that of a subject. A name may belong to both.
fn answers(
    name: Option<&str>,
    printers: Option<&DeclaredPrinters>,
) -> Result<Vec<Box<dyn Record>>> {
    let mut specs = DCMDS.iter().map(|dcmd| dcmd.spec());
    let Some(name) = name else {
        let own = printers.into_iter().flat_map(|printers| printers.dcmds());
        let specs = specs.chain(own.map(|(_, dcmd)| spec_of(dcmd)));
        return Ok(vec![Box::new(Overview { specs: specs.collect() })]);
    };
    let mut answers: Vec<Box<dyn Record>> = Vec::new();
    if let Some(spec) = specs.find(|spec| spec.is_called(name)) {
        answers.push(Box::new(Page::new(spec)));
    }
    let bare = name.trim_start_matches(':');
    if let Some((file, dcmd)) = printers.and_then(|printers| printers.dcmd(bare)) {
        let origin = Some(declared::help::origin(file, dcmd));
        answers.push(Box::new(Page { spec: spec_of(dcmd), origin }));
    }
    if let Some(page) = printers.and_then(|printers| WalkerPage::find(printers, bare)) {
        answers.push(Box::new(page));
    }
    if let Some(topic) = help_topics::find(name) {
        answers.push(Box::new(topic));
    }
    if answers.is_empty() {
        let topics: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
        let topics = topics.join(", ");
        return Err(DcmdError::failed(format!("unknown command: {name} (subjects are {topics})")));
    }
    Ok(answers)
}

/// The shape of the language, and the dcmds by subject.
struct Overview {
    specs: Vec<Spec>,
}

impl Overview {
    fn groups(&self) -> Vec<(Group, Vec<&Spec>)> {
        let mut specs: Vec<_> = self.specs.iter().collect();
        specs.sort_by_key(|spec| (spec.group, spec.name));
        let groups = specs.chunk_by(|a, b| a.group == b.group);
        groups.filter_map(|group| Some((group.first()?.group, group.to_vec()))).collect()
    }

    fn listing(&self) -> String {
        let mut text = String::new();
        for (group, specs) in self.groups() {
            text.push_str(&format!("{}\n", group.title()));
            match group {
                Group::Unsupported => text.push_str(&names_in_lines(&specs)),
                _ => specs.iter().for_each(|spec| text.push_str(&summary_line(spec))),
            }
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}

impl Record for Overview {
    fn kind(&self) -> &'static str {
        "help_overview"
    }

    fn view(&self) -> View {
        View::Line("{language:m}{listing:m}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let group = |(group, specs): (Group, Vec<&Spec>)| {
            let names = specs.iter().map(|spec| Cell::text(spec.name)).collect();
            Cell::Object(vec![("title", Cell::text(group.title())), ("dcmds", Cell::List(names))])
        };
        out.put("groups", Cell::List(self.groups().into_iter().map(group).collect()))
            .display("language", Cell::text(OVERVIEW))
            .display("listing", Cell::text(self.listing()));
    }
}

fn summary_line(spec: &Spec) -> String {
    format!("  {:<18}  {}\n", names_of(spec, 18), spec.summary)
}

/// Only the names, for dcmds that kcore refuses.
fn names_in_lines(specs: &[&Spec]) -> String {
    let names: Vec<_> = specs.iter().map(|spec| names_of(spec, usize::MAX)).collect();
    format!("{}\n", wrap(&names.join(", "), 2))
}

/// All about one dcmd.
struct Page {
    spec: Spec,
    /// What one of a file does, and where it is declared.
    origin: Option<String>,
}

impl Page {
    const fn new(spec: Spec) -> Self {
        Self { spec, origin: None }
    }

    /// What is said of it, in paragraphs.
    fn description(&self) -> String {
        let parts = [Some(self.spec.help), self.origin.as_deref()];
        let parts: Vec<_> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join("\n\n")
    }

    fn synopsis(&self) -> String {
        let lines: Vec<_> = self
            .spec
            .spellings()
            .map(|spelling| format!("  {}", self.spec.usage_as(&spelling)))
            .collect();
        lines.join("\n")
    }

    fn options(&self) -> String {
        let heads: Vec<_> = self
            .spec
            .options
            .iter()
            .map(|opt| match opt.value {
                Some(value) => format!("-{} {value}", opt.flag),
                None => format!("-{}", opt.flag),
            })
            .collect();
        let texts = self.spec.options.iter().map(|opt| opt.help);
        two_columns(heads.iter().map(String::as_str).zip(texts))
    }

    fn examples(&self) -> String {
        two_columns(self.spec.examples.iter().map(|example| (example.line, example.shows)))
    }
}

impl Record for Page {
    fn kind(&self) -> &'static str {
        "help"
    }

    fn view(&self) -> View {
        View::Line(VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let spec = &self.spec;
        let description = self.description();
        let title = |title, shown: bool| Cell::or_null(shown.then_some(title), Cell::text);
        out.text("name", spec.name)
            .put("aliases", Cell::List(spec.aliases.iter().map(|name| Cell::text(*name)).collect()))
            .text("group", spec.group.title())
            .text("summary", spec.summary)
            .text("usage", spec.usage())
            .put(
                "help",
                Cell::or_null(Some(description.clone()).filter(|it| !it.is_empty()), Cell::text),
            )
            .put("options", Cell::List(spec.options.iter().map(option_cell).collect()))
            .put("examples", Cell::List(spec.examples.iter().map(example_cell).collect()))
            .display("names", Cell::text(names_of(spec, usize::MAX)))
            .display("name_title", Cell::text("NAME"))
            .display("synopsis_title", Cell::text("SYNOPSIS"))
            .display("synopsis", Cell::text(self.synopsis()))
            .display("description_title", title("DESCRIPTION", !description.is_empty()))
            .display("description", Cell::text(wrap(&description, 2)))
            .display("options_title", title("OPTIONS", !spec.options.is_empty()))
            .display("options_text", Cell::text(self.options()))
            .display("examples_title", title("EXAMPLES", !spec.examples.is_empty()))
            .display("examples_text", Cell::text(self.examples()));
    }
}

fn option_cell(opt: &kcore_dcmd::Opt) -> Cell<'static> {
    Cell::Object(vec![
        ("flag", Cell::text(opt.flag.to_string())),
        ("value", Cell::or_null(opt.value, Cell::text)),
        ("help", Cell::text(opt.help)),
    ])
}

fn example_cell(example: &Example) -> Cell<'static> {
    Cell::Object(vec![("line", Cell::text(example.line)), ("shows", Cell::text(example.shows))])
}

/// The name and as many aliases as fit.
fn names_of(spec: &Spec, width: usize) -> String {
    let mut names = spec.name.to_owned();
    for alias in spec.aliases {
        if names.len().saturating_add(alias.len()).saturating_add(2) <= width {
            names.push_str(&format!(", {alias}"));
        }
    }
    names
}

/// Pairs in two columns. A text that is too long for its line continues below itself.
fn two_columns<'t>(pairs: impl Iterator<Item = (&'t str, &'t str)> + Clone) -> String {
    const WIDEST: usize = 36;
    let heads = pairs.clone().map(|(head, _)| head.len()).filter(|len| *len <= WIDEST);
    let column = heads.max().unwrap_or(0).saturating_add(4);
    let lines = pairs.map(|(head, text)| {
        let wrapped = wrap(text, column);
        let text = wrapped.trim_start();
        let head = format!("  {head}");
        if head.len().saturating_add(2) > column {
            format!("{head}\n{:column$}{text}", "")
        } else {
            format!("{head:column$}{text}")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Text wrapped at words, each line indented; paragraphs stay apart.
pub fn wrap(text: &str, indent: usize) -> String {
    let mut wrapped = String::new();
    for (index, paragraph) in text.split('\n').enumerate() {
        if index > 0 {
            wrapped.push('\n');
        }
        let mut column: usize = 0;
        for word in paragraph.split_whitespace() {
            let len = word.chars().count();
            if column == 0 || column.saturating_add(len) >= WIDTH {
                wrapped.push_str(if column == 0 { "" } else { "\n" });
                wrapped.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            } else {
                wrapped.push(' ');
                column = column.saturating_add(1);
            }
            wrapped.push_str(word);
            column = column.saturating_add(len);
        }
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_at_words_and_keeps_paragraphs() {
        let text = format!("{}\n\nlast", "word ".repeat(20));
        let wrapped = wrap(&text, 2);
        assert!(wrapped.lines().all(|line| line.len() < WIDTH));
        assert!(wrapped.ends_with("\n\n  last"));
        assert_eq!(wrap("", 2), "");
    }

    #[test]
    fn long_heads_do_not_push_the_column() {
        let long = "x".repeat(50);
        let text = two_columns([("-n", "count"), (long.as_str(), "text")].into_iter());
        assert_eq!(text, format!("  -n  count\n  {long}\n      text"));
    }
}

//! Frames of a stack with JavaScript as records.

use std::borrow::Cow;

use kcore::v8::SourceLine;
use kcore::{Addr, CodeAddr, FrameKind, Location, NamedFrame, Tid};
use kcore_dcmd::stack::original_cell;
use kcore_dcmd::{
    Cell, Dialect, Dot, Fields, Record, ScriptCell, ScriptNode, ScriptStyle, SymbolCell, View,
};

use super::frames::{JsFrame, Operand, StackEntry};

/// How frames are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// What runs, and nothing else.
    Brief,
    /// Every frame with its address.
    All,
}

/// A line for a frame.
pub struct FrameRow<'f> {
    /// The frame.
    pub shown: &'f StackEntry,
    /// Its thread.
    pub tid: Option<Tid>,
    /// How it is laid out.
    pub layout: Layout,
    /// The lines below it, if any.
    pub verbose: Option<Verbose>,
}

/// The lines below a frame.
pub struct Verbose {
    /// Source text round its line.
    pub source: Vec<SourceLine>,
    /// The values of its operands, for those with a short value.
    pub values: Vec<Option<ScriptNode>>,
}

const STYLE: ScriptStyle =
    ScriptStyle { dialect: Dialect::JavaScript, addresses: false, indent: 0 };

impl FrameRow<'_> {
    fn named(&self) -> Option<&NamedFrame> {
        match self.shown {
            StackEntry::Js(frame) => Some(&frame.named),
            StackEntry::Native(named) | StackEntry::Internal(named, _) => Some(named),
            StackEntry::Elided(_) => None,
        }
    }

    fn js(&self) -> Option<&JsFrame> {
        match self.shown {
            StackEntry::Js(frame) => Some(frame),
            _ => None,
        }
    }

    fn kind_word(&self) -> &'static str {
        match self.shown {
            StackEntry::Elided(_) | StackEntry::Internal(..) => "internal",
            StackEntry::Js(_) => "js",
            StackEntry::Native(named) => named.location.kind.as_str(),
        }
    }

    /// The native symbol of a frame that V8 does not name.
    fn symbol(&self) -> Option<SymbolCell<'_>> {
        let named = match self.shown {
            StackEntry::Js(frame) => frame.native.as_ref()?,
            _ => self.named()?,
        };
        let location = &named.location;
        let module = location.module.as_deref().filter(|_| !location.in_exe);
        Some(SymbolCell {
            addr: named.pc()?.addr(),
            module: module.map(Into::into),
            name: location.function.as_deref().map(Into::into),
            offset: location.offset.unwrap_or_default(),
            nearest: location.nearest,
        })
    }

    /// The name of a native function, cut as mdb_v8 cuts it.
    fn brief_symbol(&self) -> Option<Cell<'_>> {
        const MOST: usize = 64;
        let symbol = self.symbol()?;
        let spelled = symbol.spelled(16, |text| text.into());
        if spelled.chars().count() <= MOST {
            return Some(Cell::Symbol(symbol));
        }
        let cut: String = spelled.chars().take(MOST).collect();
        Some(Cell::text(format!("{cut}...")))
    }

    fn function(&self) -> Option<&str> {
        self.named()?.location.function.as_deref()
    }

    fn file(&self) -> Option<&str> {
        self.named()?.location.file.as_deref()
    }

    fn function_at(&self) -> Option<Addr> {
        let details = self.js()?.details.as_ref()?;
        Some(Addr::new(details.function.get() | 1))
    }

    fn is_inline(&self) -> bool {
        self.named().is_some_and(|named| named.location.inline)
    }

    /// What V8 does not know.
    fn doubt(&self) -> Option<&str> {
        self.named()?.location.doubt.as_deref()
    }

    /// What V8 does not know, or why a source map is not used.
    fn told(&self) -> Option<&str> {
        self.doubt().or_else(|| self.named()?.location.map_refused.as_deref())
    }

    fn operands(&self) -> &[Operand] {
        self.js().map_or(&[], |frame| &frame.operands)
    }

    fn operand_cells(&self, is_wanted: impl Fn(&Operand) -> bool) -> Vec<Cell<'_>> {
        let wanted = self.operands().iter().filter(|operand| is_wanted(operand));
        wanted.map(|operand| operand_cell(operand)).collect()
    }

    fn operand_lines(&self) -> Vec<Cell<'_>> {
        let Some(verbose) = &self.verbose else { return Vec::new() };
        if self.is_inline() {
            let why = "this, arguments: <not available: the call is inlined into the next frame>";
            return vec![Cell::text(why)];
        }
        let lines = self.operands().iter().zip(&verbose.values);
        lines.map(|(operand, value)| Cell::List(operand_line(operand, value.as_ref()))).collect()
    }

    fn position(&self) -> Option<String> {
        let location = &self.named()?.location;
        let line = location.line?;
        let column = location.column.map(|column| format!(", column {column}"));
        let defined = self.js().and_then(|frame| frame.defined);
        // That is a line of the script, and not of the source that a map tells of.
        let defined = defined.filter(|defined| *defined != line && location.generated.is_none());
        let defined = defined.map(|defined| format!(" (defined at line {defined})"));
        Some(format!("line {line}{}{}", column.unwrap_or_default(), defined.unwrap_or_default()))
    }

    fn source_cells(&self) -> Vec<Cell<'_>> {
        let source = self.verbose.iter().flat_map(|verbose| &verbose.source);
        let cells = source.map(|line| {
            Cell::Object(vec![
                ("line", Cell::Num(line.number.into())),
                ("text", Cell::text(&*line.text)),
                ("current", Cell::Bool(line.is_current)),
            ])
        });
        cells.collect()
    }

    fn source_lines(&self) -> Vec<Cell<'_>> {
        let source = self.verbose.iter().flat_map(|verbose| &verbose.source);
        source.map(|line| Cell::text(source_line(line))).collect()
    }
}

/// A line of source text with its number; `>` marks the current one.
pub fn source_line(line: &SourceLine) -> String {
    let mark = if line.is_current { '>' } else { ' ' };
    format!("{mark}{:>5} {}", line.number, without_tabs(&line.text))
}

/// The text with each tab as blanks up to the next eighth column.
pub fn without_tabs(text: &str) -> String {
    const TAB: usize = 8;
    let mut expanded = String::new();
    for (index, part) in text.split('\t').enumerate() {
        if index > 0 {
            let column = expanded.chars().count().checked_rem(TAB).unwrap_or(0);
            expanded.extend(std::iter::repeat_n(' ', TAB.saturating_sub(column)));
        }
        expanded.push_str(part);
    }
    expanded
}

fn operand_cell(operand: &Operand) -> Cell<'_> {
    Cell::Object(vec![
        ("name", Cell::text(operand.name.as_str())),
        ("address", Cell::Addr(Addr::new(operand.word))),
        ("js_type", Cell::text(operand.type_line.as_str())),
    ])
}

/// The cells of a line, which the view joins.
fn operand_line<'a>(operand: &'a Operand, value: Option<&'a ScriptNode>) -> Vec<Cell<'a>> {
    let head = format!("{}: {:x} ({})", operand.name, operand.word, operand.type_line);
    let mut cells = vec![Cell::text(head)];
    cells.extend(value.map(|node| {
        Cell::Script(Box::new(ScriptCell { node: Cow::Borrowed(node), style: STYLE }))
    }));
    cells
}

impl Record for FrameRow<'_> {
    fn kind(&self) -> &'static str {
        "js_frame"
    }

    fn view(&self) -> View {
        View::Line(match (self.layout, self.shown) {
            (Layout::Brief, StackEntry::Elided(1)) => "        (1 internal frame elided)",
            (_, StackEntry::Elided(_)) => "        ({elided} internal frames elided)",
            (Layout::Brief, StackEntry::Js(_)) => {
                "js:     {name}{inline? [inlined]}{told? [{told}]}{posn?{place_file?\n          file: {place_file}}\
                 \n          posn: {posn}}{operands*\n          {.}}{excerpt*\n          {.}}"
            }
            (Layout::Brief, _) => "{foreign}{foreign^native: }{brief}",
            (Layout::All, StackEntry::Js(_)) => {
                "{fp:0}{fp^????????????????} {symbol} {name}{inline? [inlined]}{told? [{told}]}\
                 {function_address? (JSFunction: {function_address})}{posn?{place_file?\n          file: {place_file}}\
                 \n          posn: {posn}}{operands*\n          {.}}{excerpt*\n          {.}}"
            }
            (Layout::All, StackEntry::Internal(..)) => {
                "{fp:0}{fp^????????????????} {symbol} <{frame_kind}{frame_kind^internal}>"
            }
            (Layout::All, _) => "{fp:0}{fp^????????????????} {symbol}",
        })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let named = self.named();
        let location = named.map(|named| &*named.location);
        let in_script = location.map(Location::place_in_script).unwrap_or_default();
        let elided = match self.shown {
            StackEntry::Elided(count) => Some(*count),
            _ => None,
        };
        let frame_kind = match self.shown {
            StackEntry::Internal(_, kind) => kind.as_deref(),
            _ => None,
        };
        let details = self.js().and_then(|frame| frame.details.as_ref());
        let is_verbose = self.verbose.is_some();
        out.num("index", named.map(|named| named.index as u64))
            .text("kind", self.kind_word())
            .opt_text("function", in_script.function)
            .opt_text("file", in_script.file)
            .num("line", in_script.line.map(u64::from))
            .num("column", in_script.column.map(u64::from))
            .put("original", original_cell(location.and_then(Location::original_place)))
            .num("defined_at", self.js().and_then(|frame| frame.defined).map(u64::from))
            .opt_text("tier", details.map(|details| details.tier.as_str()))
            .flag("inline", self.is_inline())
            .opt_text("doubt", self.doubt())
            .addr("fp", named.and_then(NamedFrame::frame_pointer))
            .addr("pc", named.and_then(NamedFrame::pc).map(CodeAddr::addr))
            .addr("function_address", self.function_at())
            .put("native", Cell::or_null(self.symbol(), Cell::Symbol))
            .opt_text("frame_kind", frame_kind)
            .num("elided", elided)
            .put("this", self.operand_cells(|it| it.name == "this").pop().unwrap_or(Cell::Null))
            .put("arguments", Cell::List(self.operand_cells(|it| it.name != "this")))
            .put("source", Cell::List(self.source_cells()))
            .display("place_file", Cell::or_null(self.file(), Cell::text))
            .display("name", Cell::text(self.function().unwrap_or("<unknown>")))
            .display("told", Cell::or_null(self.told(), Cell::text))
            .display("brief", self.brief_symbol().unwrap_or(Cell::Null))
            .display("symbol", Cell::or_null(self.symbol(), Cell::Symbol))
            .display("foreign", Cell::or_null(self.foreign(), Cell::text))
            .display("posn", Cell::or_null(self.position().filter(|_| is_verbose), Cell::text))
            .display("operands", Cell::List(self.operand_lines()))
            .display("excerpt", Cell::List(self.source_lines()));
    }

    fn dot(&self) -> Option<Dot> {
        let named = self.named()?;
        let (fp, index) = (named.frame_pointer()?, named.physical);
        Some(self.tid.map_or(Dot::Addr(fp), |tid| Dot::Frame { fp, tid, index }))
    }
}

impl FrameRow<'_> {
    /// The prefix of frames, by language.
    fn foreign(&self) -> Option<String> {
        let kind = self.named()?.location.kind;
        (kind != FrameKind::Native).then(|| format!("{:<8}", format!("{}:", kind.as_str())))
    }
}

/// One property of a frame, as `-p` asks for.
pub struct PropertyRow<'f> {
    /// Its name.
    pub name: &'f str,
    /// Its text.
    pub text: String,
    /// The tagged word, of values.
    pub word: Option<u64>,
}

impl Record for PropertyRow<'_> {
    fn kind(&self) -> &'static str {
        "js_frame_property"
    }

    fn view(&self) -> View {
        View::Line("{text}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("name", self.name)
            .text("text", self.text.as_str())
            .addr("address", self.word.map(Addr::new));
    }

    fn dot(&self) -> Option<Dot> {
        self.word.map(|word| Dot::Addr(Addr::new(word)))
    }
}

/// Whether a name, as a stack trace has it, is that of this function.
pub fn is_called(shown: &str, wanted: &str) -> bool {
    let (before, alias) = shown
        .split_once(" [as ")
        .map_or((shown, None), |(before, alias)| (before, alias.strip_suffix(']')));
    let plain = before.strip_prefix("new ").unwrap_or(before);
    let last = plain.rsplit('.').next();
    [Some(shown), Some(plain), last, alias].contains(&Some(wanted))
}

/// Whether frames may have a property of this name.
pub fn is_property(name: &str) -> bool {
    let number = name.strip_prefix("arg").map(str::parse::<u32>);
    ["file", "posn", "this"].contains(&name) || matches!(number, Some(Ok(1..)))
}

/// The property of a frame that `-p` asks for; `None` where it has none of this name.
pub fn property<'f>(frame: &JsFrame, name: &'f str) -> Option<PropertyRow<'f>> {
    let location = &frame.named.location;
    let text = match name {
        "file" => location.file.as_deref()?.to_owned(),
        "posn" => match location.column {
            Some(column) => format!("line {}, column {column}", location.line?),
            None => format!("line {}", location.line?),
        },
        _ => {
            let operand = frame.operands.iter().find(|operand| operand.name == name)?;
            let text = format!("{:x} ({})", operand.word, operand.type_line);
            return Some(PropertyRow { name, text, word: Some(operand.word) });
        }
    };
    Some(PropertyRow { name, text, word: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_called_by_any_of_their_names() {
        for (shown, wanted) in [
            ("Lock.waitFor", "waitFor"),
            ("Lock.waitFor", "Lock.waitFor"),
            ("new Account", "Account"),
            ("Function.executeUserEntryPoint [as runMain]", "runMain"),
            ("Function.executeUserEntryPoint [as runMain]", "executeUserEntryPoint"),
            ("main", "main"),
        ] {
            assert!(is_called(shown, wanted), "{shown} {wanted}");
        }
        assert!(!is_called("Lock.waitFor", "Lock") && !is_called("main", "mai"));
    }

    #[test]
    fn tabs_reach_the_next_eighth_column() {
        assert_eq!(without_tabs("\ta\tb"), "        a       b");
        assert_eq!(without_tabs("12345678\tb"), "12345678        b");
    }
}

//! What `::help` says of what files declare.

use kcore::{DcmdAction, DeclaredDcmd, DeclaredPrinters, DeclaredWalker, PrinterFile};
use kcore_dcmd::{Cell, Fields, Record, View};

/// The walker of a file.
pub struct WalkerPage {
    name: String,
    summary: String,
    file: String,
    line: usize,
    start: Option<String>,
    ty: Option<String>,
}

impl WalkerPage {
    /// The walker of this name; `None` if no file declares one.
    pub fn find(printers: &DeclaredPrinters, name: &str) -> Option<Self> {
        printers.walker(name).map(|(file, walker)| Self::new(file, walker))
    }

    fn new(file: &PrinterFile, walker: &DeclaredWalker) -> Self {
        Self {
            name: walker.name.to_string(),
            summary: walker.summary.to_string(),
            file: file.name.to_string(),
            line: walker.line,
            start: walker.start.as_ref().map(|start| start.text.to_string()),
            ty: walker.ty.as_ref().map(|ty| ty.text.to_string()),
        }
    }
}

impl Record for WalkerPage {
    fn kind(&self) -> &'static str {
        "help_walker"
    }

    fn view(&self) -> View {
        View::Line(
            "\n{name_title:!}\n  {name} - {summary}\n\n{synopsis_title:!}\n  {synopsis}\n\n\
             {description_title:!}\n{ty?  It starts at the address of an object of type {ty}.\n}\
             {start?  Without an address it starts at {start}.\n}  It is declared in {file}, line {line}.",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let synopsis = match self.start {
            Some(_) => format!("[address]::walk {} [variable]", self.name),
            None => format!("address::walk {} [variable]", self.name),
        };
        out.text("name", self.name.as_str())
            .text("summary", self.summary.as_str())
            .text("file", self.file.as_str())
            .num("line", self.line as u64)
            .opt_text("start", self.start.as_deref())
            .opt_text("declared", self.ty.as_deref())
            .display("ty", Cell::or_null(self.ty.as_deref(), Cell::text))
            .display("name_title", Cell::text("NAME"))
            .display("synopsis_title", Cell::text("SYNOPSIS"))
            .display("description_title", Cell::text("DESCRIPTION"))
            .display("synopsis", Cell::text(synopsis));
    }
}

/// What a dcmd of a file runs, and where it is declared: the last paragraph of its page.
pub fn origin(file: &PrinterFile, dcmd: &DeclaredDcmd) -> String {
    let does = match &dcmd.action {
        DcmdAction::Pipeline(pipeline) => format!("It runs: {}", pipeline.text),
        DcmdAction::Table { walk, columns, .. } => {
            let names: Vec<_> = columns.iter().map(|column| &*column.name).collect();
            format!("For each element of ::walk {} it shows: {}", walk.text, names.join(", "))
        }
        _ => String::new(),
    };
    format!("{does}\n\nIt is declared in {}, line {}.", file.name, dcmd.line)
}

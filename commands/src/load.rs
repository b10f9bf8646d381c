//! `::load`, `::unload`: files of printers, walkers and dcmds of one's own.

use std::path::Path;
use std::sync::Arc;

use kcore::PrinterFile;
use kcore_dcmd::{
    Arg, Args, Cell, Column, Cx, Dcmd, DcmdError, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use crate::dmods::BUILT_IN;

/// Loads a file of printers, or lists those that are loaded.
pub struct Load;

impl Dcmd for Load {
    fn spec(&self) -> Spec {
        Spec::new("load", Group::Language, "load printers, walkers and dcmds of one's own, or list them")
            .for_users()
            .options(&[Opt { flag: 's', value: None, help: "print no message on failure" }])
            .operands("[file]", 0, 1)
            .help(
                "A file says how values of some types are shown, and declares walkers and dcmds: see \
                 ::help printers. It is \
                 kcore's own form or natvis. Loading it again reads it anew. Files named *.kcore and \
                 *.natvis in the folder kcore/printers of the configuration folder are loaded \
                 when a value is shown first.\n\n\
                 Without a file the loaded ones are listed. A file cannot run programs or open files. \
                 There are no modules of MDB to load. kcore never loads anything that a core names.",
            )
            .examples(&[
                Example { line: "::load", shows: "the files of printers that are loaded" },
                Example {
                    line: "::load kcore",
                    shows: "nothing: the module of dcmds is already loaded",
                },
            ])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let Some(name) = args.first().map(Arg::to_text) else { return list(cx) };
        if name == BUILT_IN {
            return Ok(());
        }
        match load(cx, &name) {
            Err(_) if args.has('s') => Ok(()),
            loaded => loaded,
        }
    }
}

fn load(cx: &mut Cx<'_>, name: &str) -> Result<()> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|end| end == "kcore" || end == "natvis");
    if !is_file && !name.contains('/') {
        let reason = "every dcmd is built in, and files of printers end with .kcore or .natvis";
        return Err(DcmdError::failed(format!("failed to load module {name}: {reason}")));
    }
    let file = cx.shell_mut().load_printers(path)?;
    match file.left_out.as_slice() {
        [] => Ok(()),
        parts => {
            let what = match parts.len() {
                1 => "1 part is".to_owned(),
                count => format!("{count} parts are"),
            };
            cx.note(&format!("{name}: {what} left out: {}", parts.join(", ")))
        }
    }
}

fn list(cx: &mut Cx<'_>) -> Result<()> {
    let files = cx.shell().printers().files().to_vec();
    files.into_iter().try_for_each(|file| cx.emit(&PrinterFileRecord(file)))
}

const COLUMNS: &[Column] = &[
    Column::right("printers", "PRINTERS", 8),
    Column::right("walkers_count", "WALKERS", 7),
    Column::right("dcmds_count", "DCMDS", 5),
    Column::right("left_out_count", "LEFT-OUT", 8),
    Column::left("name", "FILE", 0),
];

/// A file of printers.
struct PrinterFileRecord(Arc<PrinterFile>);

impl Record for PrinterFileRecord {
    fn kind(&self) -> &'static str {
        "printer_file"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let left_out = self.0.left_out.iter().map(|part| Cell::text(part.as_str())).collect();
        let walkers = self.0.walkers.iter().map(|walker| Cell::text(&*walker.name));
        let dcmds = self.0.dcmds.iter().map(|dcmd| Cell::text(&*dcmd.name));
        out.text("name", &*self.0.name)
            .num("printers", self.0.printers.len() as u64)
            .put("walkers", Cell::List(walkers.collect()))
            .put("dcmds", Cell::List(dcmds.collect()))
            .put("left_out", Cell::List(left_out))
            .display("walkers_count", Cell::Num(self.0.walkers.len() as u64))
            .display("dcmds_count", Cell::Num(self.0.dcmds.len() as u64))
            .display("left_out_count", Cell::Num(self.0.left_out.len() as u64));
    }
}

/// Drops the printers of a file.
pub struct Unload;

impl Dcmd for Unload {
    fn spec(&self) -> Spec {
        Spec::new("unload", Group::Language, "drop printers that were loaded")
            .for_users()
            .operands("file", 1, 1)
            .help(
                "The file is named as ::load lists it. Every dcmd is built in, and you cannot unload \
                 a built-in module.",
            )
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let name = args.first().map_or_else(String::new, Arg::to_text);
        let reason = match name == BUILT_IN {
            true => "cannot unload built-in module",
            false if cx.shell_mut().unload_printers(&name) => return Ok(()),
            false => "specified module is not loaded",
        };
        Err(DcmdError::failed(format!("failed to unload {name}: {reason}")))
    }
}

//! `::pytasks` — the tasks of asyncio.

use kcore::Core;
use kcore::python::{Awaiting, PyFrame, PyTask};
use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec, View,
};

use super::subject;

const HELP: &str = "\
Lists every task of asyncio that is not done, of all loops. Each line has its address, its name, \
the state of its coroutine (created, suspended, running, closed), and what it awaits in the end. \
Below it stand the frames of its coroutine and of those that it awaits, innermost first. The \
inner frames of a running task are on the stack of its thread, which ::pystack prints.

Since Python 3.14, kcore needs the file of the module _asyncio, or of the program that contains \
it, to find the tasks.";

/// Lists the tasks.
pub struct Pytasks;

impl Dcmd for Pytasks {
    fn spec(&self) -> Spec {
        Spec::new("pytasks", Group::Runtimes, "list the tasks of asyncio with what they await")
            .help(HELP)
            .examples(&[Example { line: "::pytasks", shows: "all tasks with their await chains" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core: &Core = cx.core();
        for python in subject::instances(core)? {
            let found = python.py_tasks(core).map_err(|why| DcmdError::failed(why.to_string()))?;
            found.tasks.iter().try_for_each(|task| cx.emit(&Row { task }))?;
            if found.unread > 0 {
                let what = "tasks, or lists of them, were not dumped in full, or are damaged";
                cx.note(&format!("{} {what}: there may be more", found.unread))?;
            }
        }
        Ok(())
    }
}

/// A task.
struct Row<'t> {
    task: &'t PyTask,
}

impl Row<'_> {
    fn frames(&self) -> impl Iterator<Item = &PyFrame> {
        self.task.awaiting.iter().flat_map(|awaiting: &Awaiting| &awaiting.frames)
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let cells = self.frames().map(|frame| {
            Cell::Object(vec![
                ("function", Cell::text(&*frame.code.name)),
                ("file", Cell::text(&*frame.code.file)),
                ("line", Cell::or_null(frame.line.map(u64::from), Cell::Num)),
                ("frame", Cell::Addr(frame.at)),
            ])
        });
        cells.collect()
    }

    fn lines(&self) -> Vec<Cell<'_>> {
        let lines = self.frames().map(|frame| {
            let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
            Cell::text(format!("{}() at {}{line}", frame.code.name, frame.code.file))
        });
        lines.collect()
    }
}

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "py_task"
    }

    fn view(&self) -> View {
        View::Line(
            "{address} {shown}{state?, {state}}{waits_on?, awaits {waits_on} at {waits_at}}{lines*\n        {.}}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let waits_on = self.task.waits_on.as_ref();
        let state = self.task.awaiting.as_ref().map(|awaiting| awaiting.state.as_str());
        out.addr("address", self.task.at)
            .opt_text("name", self.task.name.as_deref())
            .opt_text("state", state)
            .opt_text("waits_on", waits_on.map(|(class, _)| &**class))
            .addr("waits_at", waits_on.map(|(_, at)| *at))
            .put("frames", Cell::List(self.cells()))
            .display("shown", Cell::text(self.task.name.as_deref().unwrap_or("<unnamed>")))
            .display("lines", Cell::List(self.lines()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.task.at))
    }
}

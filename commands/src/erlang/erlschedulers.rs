//! `::erlschedulers`: what each scheduler of Erlang runs.

use std::sync::Arc;

use kcore::erlang::{Pid, Scheduler};
use kcore_dcmd::{Args, Column, Cx, Dcmd, Dot, Example, Fields, Group, Record, Result, Spec, View};

use super::subject;

/// Lists the schedulers of Erlang.
pub struct Erlschedulers;

const HELP: &str = "\
Lists the threads that run processes of Erlang. KIND is `scheduler`, or `dirty_cpu` and `dirty_io` \
for those that run long calls of C. PID and CURRENT are the process that each runs now, and the \
function that it executes. In a pipe, ::erlschedulers passes the threads.";

impl Dcmd for Erlschedulers {
    fn spec(&self) -> Spec {
        Spec::new("erlschedulers", Group::Runtimes, "list the schedulers of Erlang")
            .help(HELP)
            .examples(&[Example {
                line: "::erlschedulers",
                shows: "every scheduler, with the process that it runs",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core().clone();
        for erlang in subject::instances(&core)? {
            let all = erlang.processes(core.as_ref());
            for scheduler in erlang.schedulers(core.as_ref()) {
                cx.check_interrupt()?;
                let process = scheduler.thread.and_then(|thread| all.on_thread(thread));
                let current = process.and_then(|it| subject::current(&core, erlang, it)?.ok());
                let pid = process.map(|process| process.pid);
                cx.emit(&SchedulerRecord { scheduler: *scheduler, pid, current })?;
            }
        }
        Ok(())
    }
}

struct SchedulerRecord {
    scheduler: Scheduler,
    pid: Option<Pid>,
    current: Option<Arc<str>>,
}

const COLUMNS: &[Column] = &[
    Column::left("scheduler_kind", "KIND", 10),
    Column::right("number", "NUMBER", 6),
    Column::right("thread", "THREAD", 7),
    Column::right("pid", "PID", 12),
    Column::left("current", "CURRENT", 0),
];

impl Record for SchedulerRecord {
    fn kind(&self) -> &'static str {
        "erlang_scheduler"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let scheduler = &self.scheduler;
        out.text("scheduler_kind", scheduler.kind)
            .num("number", scheduler.number)
            .addr("address", scheduler.at)
            .num("thread", scheduler.thread.map(|tid| u64::from(tid.get())))
            .opt_text("pid", self.pid.map(|pid| pid.to_string()))
            .opt_text("current", self.current.as_deref());
    }

    fn dot(&self) -> Option<Dot> {
        Some(match self.scheduler.thread {
            Some(thread) => Dot::Thread(thread),
            None => Dot::Addr(self.scheduler.at),
        })
    }
}

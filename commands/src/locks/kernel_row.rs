//! A thread that waits in the kernel for no lock.

use kcore::{NamedFrame, waits::KernelWait};
use kcore_dcmd::{Cell, Dot, Fields, Record, View};

use crate::names::Names;

/// A thread that waits in a system call.
pub struct KernelRow<'a> {
    names: Names<'a>,
    wait: &'a KernelWait,
    site: Option<NamedFrame>,
}

impl<'a> KernelRow<'a> {
    /// The record of `wait`.
    pub fn new(names: Names<'a>, wait: &'a KernelWait) -> Self {
        let site = names.core().wait_site(wait.tid);
        Self { names, wait, site }
    }

    fn place(&self) -> Option<String> {
        let pc = self.site.as_ref().and_then(NamedFrame::pc)?;
        Some(self.names.spelled_or_address(pc.addr()))
    }
}

impl Record for KernelRow<'_> {
    fn kind(&self) -> &'static str {
        "kernel_wait"
    }

    fn view(&self) -> View {
        View::Line("thread {tid} waits in {spelled}{place? in {place}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let location = self.site.as_ref().map(|site| &site.location);
        let limit = Cell::or_null(self.wait.has_limit, Cell::Bool);
        out.num("tid", u64::from(self.wait.tid.get()))
            .text("call", &*self.wait.call)
            .num("fd", self.wait.fd.and_then(|fd| u64::try_from(fd).ok()))
            .num("child_pid", self.wait.child.map(u64::from))
            .put("has_time_limit", limit)
            .opt_text("function", location.and_then(|it| it.function.as_deref()))
            .opt_text("file", location.and_then(|it| it.file.as_deref()))
            .num("line", location.and_then(|it| it.line).map(u64::from))
            .display("spelled", Cell::text(self.wait.spelled()))
            .display("place", Cell::or_null(self.place(), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Thread(self.wait.tid))
    }
}

//! `::jmp_buf`, `::sigjmp_buf`: where `longjmp` would go.

use kcore::{Addr, UserRegister};
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Fields, Group, Record, Result, Spec, View,
};

use crate::{
    names::Names,
    operand,
    ucontext::{register_cell, register_lines},
};

/// Shows a `jmp_buf`.
pub struct JmpBuf;

impl Dcmd for JmpBuf {
    fn spec(&self) -> Spec {
        Spec::new("jmp_buf", Group::Stacks, "print the registers in a jump buffer")
            .aliases(&["sigjmp_buf"])
            .addr(AddrUse::Required)
            .help(
                "Prints the registers that setjmp saved in a jmp_buf or sigjmp_buf of glibc or \
                 musl, one `name = value` on a line. glibc hides these pointers with a secret \
                 of the process; kcore decodes them.",
            )
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let at = operand::address_of(cx.dot(), "jmp_buf")?;
        let core = cx.core();
        let tid = core.stacks().thread_at(at).map_or_else(|| cx.current_thread(), Ok)?;
        let (registers, pc) = core.registers().of_jump_buffer(tid, at).map_err(|error| {
            DcmdError::at(at, format!("failed to read jump buffer at {at:x}: {error}"))
        })?;
        let target = Names::new(cx).spelled(pc);
        cx.emit(&JumpRecord { at, registers, target })
    }
}

struct JumpRecord {
    at: Addr,
    registers: Vec<UserRegister>,
    target: Option<String>,
}

impl Record for JumpRecord {
    fn kind(&self) -> &'static str {
        "jmp_buf"
    }

    fn view(&self) -> View {
        View::Line("target  = {target}{target^unknown}{register_lines*\n{.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.at)
            .opt_text("target", self.target.as_deref())
            .put("registers", register_cell(&self.registers))
            .display("register_lines", register_lines(&self.registers));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.at))
    }
}

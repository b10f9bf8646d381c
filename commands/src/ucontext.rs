//! `::ucontext` — the registers, signal mask and stack that a context holds.

use kcore::{Addr, SavedContext, UserRegister, signal};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use crate::operand;

/// Shows a `ucontext_t`.
pub struct Ucontext;

impl Dcmd for Ucontext {
    fn spec(&self) -> Spec {
        Spec::new("ucontext", Group::Stacks, "print a saved context")
            .addr(AddrUse::Required)
            .help(
                "Prints a ucontext_t, one `name = value` on a line. It holds where a thread was \
                 when a signal came, or when it switched to another context. ::walk ucontext \
                 finds the contexts that signals left. addr::stack -u and addr::regs -u \
                 continue from one.",
            )
            .examples(&[Example {
                line: "::walk ucontext | ::ucontext",
                shows: "what each signal on the current thread's stack interrupted",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let at = operand::address_of(cx.dot(), "ucontext_t")?;
        let context = saved_context(cx, at)?;
        cx.emit(&ContextRecord { at, context })
    }
}

/// The context at an address.
///
/// # Errors
/// When it was not dumped, or its layout is not known.
pub fn saved_context(cx: &Cx<'_>, at: Addr) -> Result<SavedContext> {
    let context = cx.core().contexts().saved(at);
    let context = context.ok_or_else(|| {
        DcmdError::failed("the layout of a ucontext_t is not known on this machine")
    })?;
    Ok(context?)
}

/// Registers by name, for JSON.
pub fn register_cell(registers: &[UserRegister]) -> Cell<'static> {
    let cells = registers.iter().map(|register| (register.name, Cell::Hex(register.value)));
    Cell::Object(cells.collect())
}

/// Registers, one `name = value` a line.
pub fn register_lines(registers: &[UserRegister]) -> Cell<'static> {
    let lines = registers
        .iter()
        .map(|UserRegister { name, value }| Cell::text(format!("{name:7} = {value:#018x}")));
    Cell::List(lines.collect())
}

struct ContextRecord {
    at: Addr,
    context: SavedContext,
}

impl ContextRecord {
    /// The names of the signals in the mask.
    fn blocked(&self) -> Vec<String> {
        let is_set = |number: &u16| {
            let bit = u32::from(number.saturating_sub(1));
            self.context.mask.checked_shr(bit).unwrap_or(0) & 1 != 0
        };
        (1..=64).filter(is_set).map(signal::name).collect()
    }
}

const VIEW: &str = "\
flags   = {flags:#x}
link    = {link:#x}{link^0}
stack   = sp={stack:#x}{stack^0} size={stack_size} flags={stack_flags:#x}
mask    = {mask:#x} ({blocked})
{exception?trapno  = {trap_number}\nerr     = {trap_error:#x}\n}fault   = {fault_address:#x}{fault_address^0}\
{register_lines*\n{.}}";

impl Record for ContextRecord {
    fn kind(&self) -> &'static str {
        "ucontext"
    }

    fn view(&self) -> View {
        View::Line(VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let context = &self.context;
        let present = |at: Addr| (at.get() != 0).then_some(at);
        let blocked = self.blocked().into_iter().map(Cell::text);
        out.addr("address", self.at)
            .hex("flags", context.flags)
            .addr("link", present(context.link))
            .addr("stack", present(context.stack))
            .num("stack_size", context.stack_size)
            .hex("stack_flags", u64::from(context.stack_flags))
            .hex("mask", context.mask)
            .put("blocked", Cell::List(blocked.collect()))
            .addr("fault_address", present(context.fault_address))
            .num("trap_number", context.exception.map(|(number, _)| number))
            .hex("trap_error", context.exception.map(|(_, error)| error))
            .put("registers", register_cell(&context.registers))
            .display("exception", Cell::Bool(context.exception.is_some()))
            .display("register_lines", register_lines(&context.registers));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.at))
    }
}

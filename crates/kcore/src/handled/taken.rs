//! The signal for which the kernel pushed a frame, as far as what lies there tells it for certain.

use kcore_elf::core_file::{SignalDetail, SignalInfo};
use kcore_mem::Addr;
use kcore_unwind::{Frame, SavedContext};

use super::{INFO_SIZE, SIGSEGV};
use crate::{AccessKind, Core, CrashView, arch::facts, signal};

/// Bytes of `siginfo_t` that have a meaning: `kernel_siginfo_t`. The rest is room for later.
const FIELDS: usize = 48;

/// A signal that a handler was called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TakenSignal {
    /// Its number.
    pub number: u16,
    /// Its code, such as `SEGV_MAPERR`; `None` where the handler was not told of it.
    pub code: Option<&'static str>,
    /// The address of a fault.
    pub address: Option<Addr>,
}

impl CrashView<'_> {
    /// The signal whose handler returns to `trampoline`. The kernel tells handlers with `SA_SIGINFO` of it, in
    /// the frame that it pushes for them. Of others only a fault is known: one that would happen again.
    pub fn taken_signal(self, trampoline: &Frame) -> Option<TakenSignal> {
        let sp = trampoline.sp.filter(|_| trampoline.signal_trampoline)?;
        let context =
            self.core.machine()?.signal_context(trampoline.pc.addr(), sp, self.core.space())?;
        let saved = self.core.contexts().saved(context)?.ok()?;
        let told = self.core.info_beside(context, &saved).and_then(|info| TakenSignal::of(&info));
        told.or_else(|| self.core.lasting_fault(context, &saved))
    }
}

impl Core {
    /// The `siginfo_t` in the signal frame of a context, if what lies there is one.
    pub(super) fn info_beside(&self, context: Addr, saved: &SavedContext) -> Option<SignalInfo> {
        let at = self.machine()?.signal_info(context)?;
        let mut bytes = [0; INFO_SIZE];
        self.space().read(at, &mut bytes).ok()?;
        let info = SignalInfo::parse(&bytes, self.target())?;
        let is_one = (1..=64).contains(&info.number) && (0..4096).contains(&info.errno);
        let is_known = is_one && signal::code_name(&info).is_some();
        let is_known = is_known && is_of_context(&info, saved);
        (is_known && self.is_borne_out(&info, &bytes)).then_some(info)
    }

    /// Whether more speaks for a `siginfo_t` than a few small numbers, which chance may leave on a stack: the address of a
    /// memory fault, which is that of the context; a signal that the process sent to itself; or that all behind the fields
    /// is clear, as Linux writes it (`copy_siginfo_to_user` in kernel/signal.c, since 4.20).
    fn is_borne_out(&self, info: &SignalInfo, bytes: &[u8]) -> bool {
        let is_clear = bytes.get(FIELDS..).is_some_and(|rest| rest.iter().all(|byte| *byte == 0));
        let is_own = signal::sender(info).is_some_and(|(pid, _)| Some(pid) == self.process().pid());
        is_clear || is_own || is_memory_fault(info)
    }

    /// The fault that the context has as the last one, if the instruction makes that access and it still is
    /// refused: another signal that came later may have found the traces of a fault that was mended.
    fn lasting_fault(&self, context: Addr, saved: &SavedContext) -> Option<TakenSignal> {
        let (exception, _) = saved.exception?;
        let is_page_fault = Some(exception) == facts(self.target()).exceptions.page_fault;
        let address = Some(saved.fault_address).filter(|_| is_page_fault)?;
        let pc = self.machine()?.context_regs(context, self.space())?.pc();
        let access = self.access_of_instruction(pc, &saved.registers, address)?;
        let fault = TakenSignal { number: SIGSEGV, code: None, address: Some(address) };
        self.refuses(access, address).then_some(fault)
    }

    /// Whether the process may not access an address so.
    fn refuses(&self, access: AccessKind, address: Addr) -> bool {
        match self.mapping_at(address) {
            Some(mapping) => mapping.permits(access) == Some(false),
            None => !self.has_lost_mappings(),
        }
    }
}

impl TakenSignal {
    fn of(info: &SignalInfo) -> Option<Self> {
        let address = match info.detail {
            SignalDetail::Fault { address } => Some(address),
            _ => None,
        };
        let number = u16::try_from(info.number).ok()?;
        Some(Self { number, code: signal::code_name(info), address })
    }
}

fn is_memory_fault(info: &SignalInfo) -> bool {
    matches!(info.detail, SignalDetail::Fault { .. }) && matches!(info.number, 7 | 11)
}

/// Whether a `siginfo_t` belongs to the context beside it: both have the address of a memory fault.
fn is_of_context(info: &SignalInfo, saved: &SavedContext) -> bool {
    match info.detail {
        SignalDetail::Fault { address } if is_memory_fault(info) => {
            // An address of memory that is protected by tags has bits in one that the other lacks.
            address == saved.fault_address || address.get() << 8 == saved.fault_address.get() << 8
        }
        _ => true,
    }
}

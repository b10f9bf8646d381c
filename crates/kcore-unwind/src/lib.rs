//! The stack walker: from the registers of a thread to its frames, innermost first.
//!
//! It is handed an [`AddressSpace`](kcore_mem::AddressSpace) and [`Modules`]; it opens no file and
//! knows no symbol names. Each step is found, in this order, by call frame information ([`Cfi`]),
//! by a rule of the runtime that made the code ([`StepRule`], which may also come first), or by reading
//! the code to the return; every frame says which ([`Trust`]). Where that does not tell, the candidates of the
//! frame pointer and of a scan of the stack are ranked by what they lead to, and the best is marked as a guess, as is
//! all beyond it ([`Frame::guess`]). A walk always ends, and says why ([`End`]).
//!
//! What depends on the machine stands in one folder per architecture, below [`Machine`].

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::arithmetic_side_effects
    )
)]

mod arch;
mod cfi;
mod cfi_index;
mod check;
#[cfg(test)]
mod code_memory;
mod code_paths;
mod end;
mod expression;
mod fallback;
mod follow;
mod frame;
pub mod in_place;
mod learnt;
mod long_rows;
mod modules;
mod proof;
mod reach;
mod reading;
mod regs;
mod row;
mod rule;
mod rule_doubt;
mod saved_context;
mod step;
mod switch;
mod tid;
mod walk;
mod without_row;
mod zeros;

pub use arch::{Machine, RegisterPart, UserRegister, machine, register_of_dwarf};
pub use cfi::{Bytes, Cfi, CfiBuilder};
pub use end::End;
pub use frame::{Frame, Trust};
pub use learnt::Knowledge;
pub use modules::Modules;
pub use reading::Reading;
pub use regs::{KnownRegs, RegisterId, Regs};
pub use rule::{Phase, RuleFrame, RuleStep, StepRule};
pub use saved_context::SavedContext;
pub use switch::{SaveSlot, Switch};
pub use tid::Tid;
pub use walk::{Flow, Walker};

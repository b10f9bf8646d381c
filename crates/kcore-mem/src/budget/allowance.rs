//! The limits of a budget, derived from the memory that kcore may use.

use std::time::Duration;

use super::Resource;

/// The memory limit when the caller sets none.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// How many times larger than its compressed form a section may be. Debug information is usually 2 to 10
/// times larger.
const INFLATED_TIMES: u64 = 32;

/// The limits of a command, and of what all commands keep in memory together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes of memory from which the other limits are derived.
    pub memory: u64,
    /// Bytes that sections may be inflated to, however small they are compressed.
    pub inflated: u64,
    /// Values in one command.
    pub values: u64,
    /// Values in one answer, which are in memory together.
    pub values_at_once: u64,
    /// Bytes of text in the values of one command.
    pub text: u64,
    /// Links followed and bytes of tables looked at in one command.
    pub steps: u64,
    /// Frames of all stacks in one command.
    pub frames: u64,
    /// Entries of debug information read for variables and calls in one command.
    pub entries: u64,
    /// How long a command may take; `None`: as long as it likes.
    pub time: Option<Duration>,
}

impl Allowance {
    /// The limits for so many bytes of memory.
    pub const fn of_memory(memory: u64) -> Self {
        Self {
            memory,
            inflated: memory / 64,
            values: memory / 256,
            values_at_once: memory / 8192,
            text: memory / 8,
            steps: memory / 16,
            frames: memory / 256,
            entries: memory / 512,
            time: None,
        }
    }

    /// The limit of a resource, after compressed sections of so many bytes were opened.
    pub(super) fn of(&self, resource: Resource, packed: u64) -> u64 {
        match resource {
            Resource::Inflated => {
                let earned = packed.saturating_mul(INFLATED_TIMES);
                self.inflated.saturating_add(earned).min(self.memory / 2)
            }
            Resource::Values => self.values,
            Resource::Text => self.text,
            Resource::Steps => self.steps,
            Resource::Frames => self.frames,
            Resource::Entries => self.entries,
        }
    }
}

impl Default for Allowance {
    fn default() -> Self {
        Self::of_memory(DEFAULT_MEMORY)
    }
}

//! What a program calls the pointer through which it went wrong.

use std::sync::Arc;

use kcore_mem::{Addr, MemoryOperand};

use super::{Crash, EvidenceSource, Finding, finders::verb};

/// A pointer of a memory operand by the words of the program. Nothing of it is known without debug information.
#[derive(Debug, Default)]
pub(super) struct PointerWords {
    /// Its name in the function of the fault: `conn->peer`.
    pub(super) name: Option<String>,
    /// The function whose words these are, if it is inlined into that of the fault.
    pub(super) inlined: Option<Arc<str>>,
    /// The memory that holds it.
    pub(super) at: Option<Addr>,
    /// What the instruction touched: `conn->peer->len`.
    pub(super) member: Option<String>,
    /// What callers call it that passed it, the nearest first: `main` and `worker.next`.
    pub(super) passed: Vec<(String, String)>,
}

impl PointerWords {
    /// Them as the end of a sentence, with what the pointer is: `null`.
    pub(super) fn end_of_sentence(&self, operand: &MemoryOperand, what: &str) -> String {
        let inlined = self.inlined.as_ref();
        let function =
            inlined.map_or_else(String::new, |name| format!(" in {name}, inlined there,"));
        let origin = self.origin();
        match (&self.name, &self.member) {
            (None, _) => self.passed.last().map_or_else(String::new, |(caller, name)| {
                format!(": {caller} passed {name}, which is {what}")
            }),
            (Some(name), None) => format!(":{function} {name} is {what}{origin}"),
            (Some(name), Some(member)) => {
                let verb = verb(operand.access.kind);
                let verb = verb.strip_suffix(" memory").unwrap_or(verb);
                format!(":{function} it {verb} {member}, and {name} is {what}{origin}")
            }
        }
    }

    /// What the outermost caller calls it that is known to have passed it, as the end of a sentence.
    fn origin(&self) -> String {
        let passed = self.passed.last().filter(|(_, name)| self.name.as_ref() != Some(name));
        passed.map_or_else(String::new, |(caller, name)| {
            let caller = caller.strip_suffix(',').unwrap_or(caller);
            format!(", which {caller} passed as {name}")
        })
    }

    /// A finding with what shows them.
    pub(super) fn shown_in(&self, mut finding: Finding, crash: &Crash<'_>) -> Finding {
        if let (Some(name), Some(at)) = (&self.name, self.at) {
            finding = finding.with(format!("{name} lies at {at}"), EvidenceSource::Memory(at));
        }
        for (caller, name) in &self.passed {
            let stack = EvidenceSource::Stack(crash.tid());
            finding = finding.with(format!("{caller} passed {name}"), stack);
        }
        finding
    }
}

#[cfg(feature = "disassembly")]
mod named {
    use super::{Addr, Crash, MemoryOperand, PointerWords};
    use crate::named_pointer::{NamedPointer, pointee_member};

    impl Crash<'_> {
        /// What the program calls the pointer of an operand.
        pub(in crate::analysis) fn pointer_words(&self, operand: &MemoryOperand) -> PointerWords {
            let (Some(pc), Some(base)) = (self.pc(), operand.base.as_ref()) else {
                return PointerWords::default();
            };
            let mut words = PointerWords::default();
            for named in self.core().names_of_pointer(self.tid(), pc, &base.name) {
                match (named.calls, named.function) {
                    (0, _) => {
                        words.inlined = named.inlined;
                        self.take_name(&mut words, operand, named.pointer);
                    }
                    (_, Some(caller)) => {
                        let caller = match named.inlined {
                            Some(inlined) => format!("{inlined}, inlined into {caller},"),
                            None => caller.to_string(),
                        };
                        words.passed.push((caller, named.pointer.name));
                    }
                    (_, None) => {}
                }
            }
            words
        }

        /// The word from which a register was loaded that the instruction uses, by the code.
        pub(in crate::analysis) fn source_of(&self, register: &str) -> Option<Addr> {
            self.core().source_of_pointer(self.tid(), self.pc()?, register)
        }

        /// The words for a pointer to which bytes were added to get what a register held, with its value and the bytes.
        pub(in crate::analysis) fn moved_pointer(
            &self,
            register: &str,
        ) -> Option<(PointerWords, Addr, u64)> {
            let moved = self.core().moved_pointer(self.tid(), self.pc()?, register)?;
            let (pointer, bytes) = moved;
            let words = PointerWords {
                name: Some(pointer.name),
                at: pointer.at,
                ..PointerWords::default()
            };
            (pointer.depth == 0).then_some((words, pointer.value, bytes))
        }

        fn take_name(
            &self,
            words: &mut PointerWords,
            operand: &MemoryOperand,
            pointer: NamedPointer,
        ) {
            let is_member = operand.index.is_none() && !operand.has_segment;
            let size = operand.access.size;
            let member = || pointee_member(self.core(), &pointer, operand.displacement, size);
            words.member = is_member.then(member).flatten();
            (words.name, words.at) = (Some(pointer.name), pointer.at);
        }
    }
}

#[cfg(not(feature = "disassembly"))]
impl Crash<'_> {
    /// Nothing: code is not read without a disassembler.
    pub(super) const fn source_of(&self, _: &str) -> Option<Addr> {
        None
    }

    /// Nothing, for the same reason.
    pub(super) const fn moved_pointer(&self, _: &str) -> Option<(PointerWords, Addr, u64)> {
        None
    }

    /// Nothing, for the same reason.
    pub(super) fn pointer_words(&self, _: &MemoryOperand) -> PointerWords {
        PointerWords::default()
    }
}

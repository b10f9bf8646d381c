//! Why there is no value.

use kcore_mem::Fault;

/// Why a value, or a part of one, is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absent {
    /// The compiler kept it nowhere, or not at this place of the code.
    #[error("optimized out")]
    OptimizedOut,
    /// The code that runs stands before its declaration, or at the same line: it may have no value yet.
    #[error("not declared above this line")]
    NotDeclared,
    /// An argument that the caller left out: Fortran passes no address for it.
    #[error("not present")]
    NotPresent,
    /// The process had memory there, which is not in the core, or was not copied into the snapshot.
    #[error("{}", left_out(.0))]
    NotDumped(Fault),
    /// It cannot be read: the process had no memory there, or what says where it lies is damaged.
    #[error("unreadable: {0}")]
    Unreadable(String),
}

impl Absent {
    /// The word for it in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::OptimizedOut => "optimized_out",
            Self::NotDeclared => "not_declared",
            Self::NotPresent => "not_present",
            Self::NotDumped(Fault::NotCopied(_)) => "not_copied",
            Self::NotDumped(_) => "not_dumped",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

const fn left_out(fault: &Fault) -> &'static str {
    if matches!(fault, Fault::NotCopied(_)) { "not copied" } else { "not dumped" }
}

impl From<Fault> for Absent {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::NotDumped(_) | Fault::NotCopied(_) | Fault::Truncated(_) => {
                Self::NotDumped(fault)
            }
            other => Self::Unreadable(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Addr;

    use super::*;

    #[test]
    fn memory_that_is_not_there_is_told_from_memory_that_was_left_out() {
        let at = Addr::new(16);
        assert_eq!(Absent::from(Fault::NotDumped(at)).as_str(), "not_dumped");
        assert_eq!(Absent::from(Fault::Truncated(at)).as_str(), "not_dumped");
        let live = Absent::from(Fault::NotCopied(at));
        assert_eq!((live.as_str(), &live.to_string()[..]), ("not_copied", "not copied"));
        let unmapped = Absent::from(Fault::Unmapped(at));
        assert_eq!(unmapped.to_string(), "unreadable: no mapping for address 10");
    }
}

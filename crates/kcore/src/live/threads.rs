//! Which threads of a live process are stopped.

use kcore_live::{LiveError, Process};

use crate::Tid;

/// Which threads of a live process are stopped and copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ThreadChoice {
    /// All of them.
    #[default]
    All,
    /// These.
    Tids(Vec<Tid>),
    /// Those whose state is one of these letters, as the system says it right before.
    States(String),
}

/// The letters by which the system tells the state of a thread (proc(5), `stat`).
const STATES: &str = "RSDTtZXI";

impl ThreadChoice {
    /// Reads what stands behind `PID/`: ids with commas between them, or letters of states. `None`
    /// when it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let tids: Option<Vec<Tid>> =
            text.split(',').map(|tid| tid.parse().ok().map(Tid::new)).collect();
        match tids {
            Some(tids) => Some(Self::Tids(tids)),
            None if !text.is_empty() && text.chars().all(|letter| STATES.contains(letter)) => {
                Some(Self::States(text.to_owned()))
            }
            None => None,
        }
    }

    /// The ids of the chosen threads; `None` is all of them. An id may be that of the process' own
    /// pid namespace.
    pub(super) fn ids(&self, process: &Process) -> Result<Option<Vec<i32>>, LiveError> {
        let all = process.task_ids()?;
        let (found, wanted): (Vec<i32>, String) = match self {
            Self::All => return Ok(None),
            Self::Tids(tids) => {
                let named = |tid: &i32| {
                    let inner = || process.inner_id(*tid).map(Tid::new);
                    let own = u32::try_from(*tid).map(Tid::new);
                    own.is_ok_and(|own| tids.contains(&own))
                        || inner().is_some_and(|inner| tids.contains(&inner))
                };
                let names: Vec<String> = tids.iter().map(Tid::to_string).collect();
                (all.into_iter().filter(named).collect(), names.join(", "))
            }
            Self::States(states) => {
                let in_state = |tid: &i32| {
                    process.task_stat(*tid).is_some_and(|stat| states.contains(stat.state))
                };
                (all.into_iter().filter(in_state).collect(), format!("in state {states}"))
            }
        };
        if found.is_empty() {
            return Err(LiveError::NoThread { pid: process.pid(), wanted });
        }
        Ok(Some(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_states_are_told_apart() {
        let tids = [7, 12].map(Tid::new).to_vec();
        assert_eq!(ThreadChoice::parse("7,12"), Some(ThreadChoice::Tids(tids)));
        assert_eq!(ThreadChoice::parse("RD"), Some(ThreadChoice::States("RD".to_owned())));
        for wrong in ["", "7,", "R7", "Q", "7 8", "-1"] {
            assert_eq!(ThreadChoice::parse(wrong), None, "{wrong}");
        }
    }
}

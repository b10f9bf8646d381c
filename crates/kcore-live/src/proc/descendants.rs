//! The processes that a process has started, and that these have: by the parents that `/proc` tells of.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::Path,
};

use super::{TaskStat, read, tasks};
use crate::Pid;

/// What tells a process from another one that has its id later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessKey {
    /// Its id.
    pub pid: Pid,
    /// When it was started, as [`TaskStat::started`].
    pub started: u64,
}

/// A process, and who has started it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descendant {
    /// Which process it is.
    pub key: ProcessKey,
    /// Its parent.
    pub parent: Pid,
    /// Its name, as it was then.
    pub name: Vec<u8>,
}

impl Descendant {
    /// The process that has this id now; `None` when there is none, or it has ended.
    pub fn of(pid: Pid) -> Option<Self> {
        look(pid.get())
    }
}

/// The living processes whose parents, or the parents of these, are among those of `roots` that still live, which are
/// not among them. Parents stand before their children. One whose parent has ended is the child of another process
/// from then on, and is found below that one alone.
///
/// # Errors
/// When there is no `/proc`.
pub fn descendants(roots: &[ProcessKey]) -> io::Result<Vec<Descendant>> {
    let ids = fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    Ok(below(roots, ids.filter_map(look)))
}

/// A process that has not ended. The first thread may have, while others go on.
fn look(pid: i32) -> Option<Descendant> {
    let folder = Path::new("/proc").join(pid.to_string());
    let stat = TaskStat::parse(&read(&folder.join("stat")).ok()?)?;
    if matches!(stat.state, 'Z' | 'X') && tasks(&folder).ok()?.len() < 2 {
        return None;
    }
    let key = ProcessKey { pid: Pid::new(pid), started: stat.started };
    let parent = Pid::new(i32::try_from(stat.parent).ok()?);
    Some(Descendant { key, parent, name: stat.name })
}

/// Those of the processes that are below the roots. Each is taken once, also where a process has become another one's
/// child while they were looked at.
fn below(roots: &[ProcessKey], all: impl Iterator<Item = Descendant>) -> Vec<Descendant> {
    let roots: HashSet<ProcessKey> = roots.iter().copied().collect();
    let (mut parents, mut seen) = (Vec::new(), HashSet::new());
    let mut children: HashMap<Pid, Vec<Descendant>> = HashMap::new();
    for process in all {
        if roots.contains(&process.key) {
            parents.push(process.key.pid);
            seen.insert(process.key.pid);
        }
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    while let Some(parent) = parents.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if seen.insert(child.key.pid) {
                parents.push(child.key.pid);
                found.push(child);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Descendant {
        let key = ProcessKey { pid: Pid::new(pid), started: 1 };
        Descendant { key, parent: Pid::new(parent), name: b"a".to_vec() }
    }

    fn found(roots: &[i32], all: &[(i32, i32)]) -> Vec<i32> {
        let key = |pid: &i32| ProcessKey { pid: Pid::new(*pid), started: 1 };
        let roots: Vec<ProcessKey> = roots.iter().map(key).collect();
        let all = all.iter().map(|(pid, parent)| process(*pid, *parent));
        let mut found: Vec<i32> = below(&roots, all).iter().map(|it| it.key.pid.get()).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn children_of_children_are_found_and_others_are_not() {
        let all = [(1, 0), (7, 1), (8, 7), (9, 8), (10, 1), (11, 10)];
        assert_eq!(found(&[7], &all), [8, 9]);
        assert_eq!(found(&[7, 9], &all), [8]);
        assert_eq!(found(&[99], &all), [0; 0]);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        assert_eq!(found(&[7], &[(8, 7), (7, 8), (8, 8)]), [8]);
    }

    #[test]
    fn who_has_the_id_of_one_that_ended_is_no_parent() {
        let root = ProcessKey { pid: Pid::new(7), started: 0 };
        let all = [(7, 1), (8, 7)].map(|(pid, parent)| process(pid, parent));
        assert_eq!(below(&[root], all.into_iter()), []);
    }

    #[test]
    fn a_child_of_this_process_is_found_by_the_system() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let own = Pid::new(i32::try_from(std::process::id()).unwrap());
        let own = Descendant::of(own).unwrap().key;
        let id = i32::try_from(child.id()).unwrap();
        let is_found = descendants(&[own]).unwrap().iter().any(|it| it.key.pid.get() == id);
        child.kill().unwrap();
        child.wait().unwrap();
        let is_left = descendants(&[own]).unwrap().iter().any(|it| it.key.pid.get() == id);
        assert_eq!((is_found, is_left), (true, false));
    }
}

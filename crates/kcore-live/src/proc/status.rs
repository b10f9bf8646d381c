//! `/proc/PID/status`.

/// What it says of a process or a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// `Tgid`: the process that it belongs to.
    pub process: i32,
    /// `TracerPid`; 0 is nobody.
    pub tracer: i32,
    /// `Uid`: real, effective, saved, file system.
    pub users: [u32; 4],
    /// `Gid`: real, effective, saved, file system.
    pub groups: [u32; 4],
    /// `NSpid`: its id in each pid namespace, the innermost last.
    pub ids: Vec<u32>,
    /// `CapEff`: the capabilities that it has.
    pub capabilities: u64,
}

impl Status {
    /// Reads the lines; what is missing stays 0.
    pub fn parse(text: &[u8]) -> Self {
        let mut status = Self::default();
        let lines =
            text.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        for (key, value) in lines.filter_map(|line| line.split_once(':')) {
            status.take(key, value);
        }
        status
    }

    fn take(&mut self, key: &str, value: &str) {
        let first = || value.trim().parse().unwrap_or_default();
        match key {
            "Tgid" => self.process = first(),
            "TracerPid" => self.tracer = first(),
            "Uid" => self.users = four(value),
            "Gid" => self.groups = four(value),
            "NSpid" => self.ids = numbers(value).collect(),
            "CapEff" => {
                self.capabilities = u64::from_str_radix(value.trim(), 16).unwrap_or_default();
            }
            _ => {}
        }
    }

    /// Its id in the innermost pid namespace that it lives in.
    pub fn inner_id(&self) -> Option<u32> {
        self.ids.last().copied()
    }
}

fn numbers(value: &str) -> impl Iterator<Item = u32> {
    value.split_ascii_whitespace().filter_map(|word| word.parse().ok())
}

fn four(value: &str) -> [u32; 4] {
    let mut found = numbers(value);
    std::array::from_fn(|_| found.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_keys() {
        let text = b"Name:\tapp\nTgid:\t70\nTracerPid:\t9\nUid:\t1\t2\t3\t4\nNSpid:\t70\t1\n\
                     CapEff:\t00000000a80425fb\n";
        let status = Status::parse(text);
        assert_eq!((status.process, status.tracer, status.inner_id()), (70, 9, Some(1)));
        assert_eq!((status.users, status.capabilities), ([1, 2, 3, 4], 0xa804_25fb));
    }

    #[test]
    fn what_is_missing_is_not_invented() {
        assert_eq!(Status::parse(b"Name:\tapp\n").inner_id(), None);
    }
}

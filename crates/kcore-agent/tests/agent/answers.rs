//! What the agent wrote, read.

/// A group of threads: how many, and the functions of their stack, innermost first.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    pub count: usize,
    pub waits_in: String,
    pub functions: Vec<String>,
}

/// The groups of a text.
pub fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("kcore-agent:")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (line.starts_with(' '), &words[..]) {
            (false, ["THREAD", ..]) => {}
            (false, [_, _, waits_in, count, ..]) => groups.push(Group {
                count: count.parse().unwrap(),
                waits_in: (*waits_in).to_owned(),
                functions: Vec::new(),
            }),
            (true, [frame, ..]) => {
                let name = frame.rsplit('`').next().unwrap().split('+').next().unwrap();
                groups.last_mut().unwrap().functions.push(name.to_owned());
            }
            _ => panic!("{line:?}"),
        }
    }
    groups
}

/// The group whose stack has this function.
pub fn with<'a>(groups: &'a [Group], function: &str) -> &'a Group {
    let found = groups.iter().find(|group| group.functions.iter().any(|name| name == function));
    found.unwrap_or_else(|| panic!("no {function} in {groups:#?}"))
}

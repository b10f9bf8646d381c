//! What programs in Java tell of their threads.

/// A thread as Java has it.
#[derive(Debug, Default)]
pub struct Told {
    pub id: u64,
    pub name: String,
    pub state: String,
    pub daemon: bool,
    pub priority: u64,
    /// The class of what it waits for, if it waits for something.
    pub waits_for: String,
    /// The thread that holds that.
    pub owner: Option<u64>,
    /// Methods, and files with lines.
    pub frames: Vec<(String, String)>,
}

/// All threads of a text.
pub fn parse(text: &str) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("T ") {
            Some(head) => told.push(thread(head)),
            None => {
                let told = told.last_mut().expect("a thread");
                told.frames.extend(Some(frame(line)).filter(|(name, _)| !crate::is_hidden(name)));
            }
        }
    }
    told
}

/// `17|name|WAITING|true|5|java.lang.Object|-1`.
fn thread(head: &str) -> Told {
    let mut parts = head.split('|');
    let mut next = || parts.next().expect("a part");
    Told {
        id: next().parse().expect("a number"),
        name: next().to_owned(),
        state: next().to_owned(),
        daemon: next() == "true",
        priority: next().parse().expect("a number"),
        waits_for: next().to_owned(),
        owner: next().parse().ok(),
        frames: Vec::new(),
    }
}

/// `  java.lang.Thread.sleep Thread.java:405`; without a file `null`, without a line -1, of a native method -2.
fn frame(line: &str) -> (String, String) {
    let (function, place) = line.trim_start().split_once(' ').expect("a place");
    let (file, line) = place.rsplit_once(':').expect("a line");
    let file = if file == "null" { "?" } else { file };
    let line = if line.starts_with('-') { "null" } else { line };
    (function.to_owned(), format!("{file}:{line}"))
}

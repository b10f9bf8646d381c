//! What Go's own printer says of goroutines (`runtime/traceback.go`).

/// A goroutine as it is printed.
#[derive(Debug)]
pub struct Told {
    pub id: u64,
    /// Its state, or what it waits for.
    pub state: String,
    /// Functions, and files with lines.
    pub frames: Vec<(String, String)>,
}

/// All goroutines of a text.
pub fn parse(text: &str) -> Vec<Told> {
    text.split("\n\n").filter_map(|part| goroutine(part.trim_start_matches('\n'))).collect()
}

/// `goroutine 17 gp=0xc000 m=nil [chan receive, 2 minutes]:`, and two lines for each frame.
fn goroutine(part: &str) -> Option<Told> {
    let (head, rest) = part.split_once('\n')?;
    let head = head.strip_prefix("goroutine ")?;
    let id = head.split(' ').next()?.parse().ok()?;
    let state = head.split_once('[')?.1.split_once(']')?.0;
    let state = state.split(',').next()?.to_owned();
    let mut lines = rest.lines();
    let mut frames = Vec::new();
    while let Some((function, place)) = lines.next().zip(lines.next()) {
        if function.starts_with("created by ") {
            break;
        }
        let Some(arguments) = function.rfind('(') else { break };
        let place = place.trim().split(' ').next()?;
        frames.push((function[..arguments].to_owned(), place.to_owned()));
    }
    Some(Told { id, state, frames })
}

/// Whether the printer shows a function that is not the innermost one, unless it is told to show all.
pub fn is_shown(function: &str) -> bool {
    let of_runtime = function.strip_prefix("runtime.");
    match of_runtime {
        Some(name) => name.starts_with(|first: char| first.is_ascii_uppercase()),
        None => function == "panic" || function.contains('.'),
    }
}

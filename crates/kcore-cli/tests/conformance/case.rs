//! The form of the case files.

/// Lines that share a session.
#[derive(Default)]
pub struct Case {
    /// File and line where it begins.
    pub place: String,
    /// What it runs on, and how.
    pub target: Target,
    /// Why the program does not pass it yet.
    pub known: Option<String>,
    /// The input lines.
    pub steps: Vec<Step>,
}

/// What a case runs on, and how.
pub struct Target {
    /// The scenario whose core is opened.
    pub core: String,
    /// The variant of the scenario whose core gen-cores makes; without one it is a committed core.
    pub variant: Option<String>,
    /// Only the executable is opened.
    pub executable_alone: bool,
    /// Lines are typed at a terminal.
    pub typed: bool,
    /// The program is run instead of the library.
    pub program: bool,
    /// The shell that its environment names.
    pub shell: String,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            core: "workers".to_owned(),
            variant: None,
            executable_alone: false,
            typed: false,
            program: false,
            shell: "/bin/sh".to_owned(),
        }
    }
}

/// One input line and its answer.
#[derive(Clone, Default)]
pub struct Step {
    /// What is typed.
    pub input: String,
    /// Standard output.
    pub out: String,
    /// Lines of standard error.
    pub errors: Vec<String>,
}

/// The cases of a file called `name`. A line that fits nowhere is a failure.
pub fn parse(name: &str, text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = Case::default();
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() {
            finish(&mut case, &mut cases);
        } else {
            if case.place.is_empty() {
                case.place = format!("{name}:{number}");
            }
            add(&mut case, line).unwrap_or_else(|| panic!("{name}:{number}: {line}"));
        }
    }
    finish(&mut case, &mut cases);
    cases
}

/// Ends a case; a block of comments alone is none.
fn finish(case: &mut Case, cases: &mut Vec<Case>) {
    let case = std::mem::take(case);
    if !case.steps.is_empty() {
        cases.push(case);
    }
}

fn add(case: &mut Case, line: &str) -> Option<()> {
    if line.starts_with("//") {
        return Some(());
    }
    let typed = if line == ">" { Some("") } else { line.strip_prefix("> ") };
    if let Some(input) = typed {
        case.steps.push(Step { input: input.to_owned(), ..Step::default() });
    } else if let Some(why) = line.strip_prefix("? known: ") {
        case.known = Some(why.to_owned());
    } else if let Some(step) = case.steps.last_mut() {
        answer(step, line);
    } else {
        direct(&mut case.target, line.strip_prefix("@ ")?)?;
    }
    Some(())
}

fn answer(step: &mut Step, line: &str) {
    if let Some(error) = line.strip_prefix("! ") {
        step.errors.push(error.to_owned());
    } else {
        step.out.push_str(line.strip_suffix('¶').unwrap_or(line));
        step.out.push('\n');
    }
}

fn direct(target: &mut Target, directive: &str) -> Option<()> {
    let words: Vec<&str> = directive.split(' ').collect();
    match words[..] {
        ["core", "none", name] => {
            target.core = name.to_owned();
            target.executable_alone = true;
        }
        ["core", name] => target.core = name.to_owned(),
        ["core", name, variant] => {
            target.core = name.to_owned();
            target.variant = Some(variant.to_owned());
        }
        ["typed"] => target.typed = true,
        ["program"] => target.program = true,
        ["shell", path] => {
            target.program = true;
            target.shell = path.to_owned();
        }
        _ => return None,
    }
    Some(())
}

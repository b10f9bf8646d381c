//! What programs told of their values before they died: `values.jsonl` beside the core.

use std::fs;

use gen_cores::Case;
use serde_json::{Map, Value as Json};

/// One line that a program told.
pub struct Told {
    /// What is asked.
    pub question: Question,
    /// What the answer is, as gen-cores/README.md has it.
    pub truth: Map<String, Json>,
}

/// What is asked of the core.
pub enum Question {
    /// The value of a global, or of something in one, by its path.
    Global(String),
    /// The value of a local or an argument of a function.
    Local {
        /// The function.
        function: String,
        /// The variable, and the path from it.
        path: String,
        /// Which frame of the function.
        which: Which,
    },
    /// The size of a type, or the offset of a member: a command that gives one number.
    Number(String),
    /// The addresses that a command gives to a pipe.
    Addresses(String),
}

/// Which frame of a function is meant.
#[derive(Clone, Copy, Default)]
pub struct Which {
    /// Its thread; any if it is not told.
    pub tid: Option<u64>,
    /// How many frames of the function are further in.
    pub inner: u64,
}

impl Told {
    /// How the question is named in messages.
    pub fn name(&self) -> String {
        match &self.question {
            Question::Global(path) => path.clone(),
            Question::Local { function, path, .. } => format!("{function}: {path}"),
            Question::Number(command) | Question::Addresses(command) => command.clone(),
        }
    }

    fn parse(line: &str) -> Self {
        let Json::Object(mut truth) = serde_json::from_str(line).unwrap() else {
            panic!("no object: {line}")
        };
        let mut number = |key: &str| truth.remove(key).and_then(|number| number.as_u64());
        let which = Which { tid: number("tid"), inner: number("inner").unwrap_or(0) };
        let mut take = |key: &str| match truth.remove(key) {
            Some(Json::String(text)) => Some(text),
            _ => None,
        };
        let question = if let Some(path) = take("print") {
            match take("frame") {
                Some(function) => Question::Local { function, path, which },
                None => Question::Global(path),
            }
        } else if let Some(ty) = take("sizeof") {
            Question::Number(format!("::sizeof {ty}"))
        } else if let Some(ty) = take("offsetof") {
            Question::Number(format!("::offsetof {ty} {}", take("member").unwrap()))
        } else {
            Question::Addresses(take("command").unwrap())
        };
        Self { question, truth }
    }
}

/// All that a case's program told.
pub fn of(case: &Case) -> Vec<Told> {
    let path = case.dir.join("values.jsonl");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    text.lines().map(Told::parse).collect()
}

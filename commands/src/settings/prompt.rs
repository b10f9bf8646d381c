//! `$P` — the prompt.

use kcore_dcmd::{Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Result, Spec};

const MAX_LENGTH: usize = 35;

/// Sets the prompt.
pub struct Prompt;

impl Dcmd for Prompt {
    fn spec(&self) -> Spec {
        Spec::new("$P", Group::Language, "set the prompt")
            .operands("[prompt]", 0, 1)
            .help("Without an argument, there is no prompt. Quote it if it contains blanks.")
            .examples(&[Example { line: "$P 'kcore> '", shows: "nothing; the prompt is changed" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let prompt = args.first().map_or_else(String::new, Arg::to_text);
        cx.shell_mut().settings_mut().prompt = checked(&prompt)?;
        Ok(())
    }
}

/// A prompt that fits its line.
pub fn checked(prompt: &str) -> Result<String> {
    if prompt.chars().count() > MAX_LENGTH {
        let message = format!("prompt may not exceed {MAX_LENGTH} characters: '{prompt}'");
        return Err(DcmdError::failed(message));
    }
    Ok(prompt.to_owned())
}

//! What the caller asks for.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::target::{TARGETS, Target};

/// The options of the task.
#[derive(Debug)]
pub struct Options {
    /// The machines to make packages for; all, when none was named.
    pub targets: Vec<&'static Target>,
    /// The folder that the packages are put into: an absolute path.
    pub out: PathBuf,
    /// Whether to install each package and run it.
    pub is_test: bool,
}

impl Options {
    /// Reads the command line.
    pub fn of(args: &[String]) -> Result<Self> {
        let (mut targets, mut out, mut is_test) = (Vec::new(), "target/dist".to_owned(), false);
        let mut args = args.iter();
        while let Some(name) = args.next() {
            let mut value = || args.next().with_context(|| format!("{name} what?"));
            match name.as_str() {
                "--target" => targets.push(Target::named(value()?)?),
                "--out" => out = value()?.clone(),
                "--test" => is_test = true,
                _ => bail!("usage: cargo xtask dist [--target T]... [--out DIR] [--test]"),
            }
        }
        if targets.is_empty() {
            targets = TARGETS.iter().collect();
        }
        Ok(Self { targets, out: gen_cores::workspace_dir().join(Path::new(&out)), is_test })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &[&str]) -> Result<Options> {
        Options::of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn all_targets_are_made_when_none_is_named() {
        let all = options(&[]).unwrap();
        assert_eq!((all.targets.len(), all.is_test), (TARGETS.len(), false));
        let one = options(&["--target", TARGETS[1].triple, "--out", "/o", "--test"]).unwrap();
        assert_eq!(one.targets, [&TARGETS[1]]);
        assert_eq!((one.out.as_path(), one.is_test), (Path::new("/o"), true));
    }

    #[test]
    fn a_wrong_option_is_an_error() {
        for words in [&["--target"][..], &["--target", "vax"], &["here"]] {
            assert!(options(words).is_err(), "{words:?}");
        }
    }
}

//! The words after a dcmd's name, read by its [`Spec`].

use crate::{DcmdError, Result, Spec};

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A word as typed, quotes removed.
    Text(String),
    /// An immediate `$[expression]`, evaluated.
    Number(u64),
}

impl Arg {
    /// The word as text; a number in hexadecimal with its prefix.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value) => format!("{value:#x}"),
        }
    }
}

/// Options and operands, checked against a [`Spec`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    options: Vec<(char, Option<Arg>)>,
    operands: Vec<Arg>,
}

impl Args {
    /// Reads `words` by `spec`: flags may be grouped (`-ab`), a value may be attached (`-n5`) or
    /// the next word, `--` ends the options.
    ///
    /// # Errors
    /// [`DcmdError::Usage`] for an unknown option, a missing value, too few or too many operands.
    pub fn parse(spec: &Spec, words: &[Arg]) -> Result<Self> {
        let mut args = Self::default();
        if spec.takes_anything {
            return Ok(Self { operands: words.to_vec(), ..args });
        }
        let mut words = words.iter();
        let mut options = true;
        while let Some(word) = words.next() {
            match word {
                Arg::Text(text) if options && text == "--" => options = false,
                Arg::Text(text) if options && is_option(spec, text) => {
                    args.take_options(spec, text, &mut words)?;
                }
                operand => args.operands.push(operand.clone()),
            }
        }
        args.check_operands(spec)
    }

    fn take_options<'a>(
        &mut self,
        spec: &Spec,
        word: &str,
        words: &mut impl Iterator<Item = &'a Arg>,
    ) -> Result<()> {
        let mut letters = word.chars().skip(1);
        while let Some(letter) = letters.next() {
            let opt = spec
                .options
                .iter()
                .find(|opt| opt.flag == letter)
                .ok_or_else(|| illegal_option(letter, word))?;
            if opt.value.is_none() {
                self.options.push((letter, None));
                continue;
            }
            let attached: String = letters.by_ref().collect();
            let value = if attached.is_empty() {
                words.next().cloned().ok_or_else(|| {
                    DcmdError::usage(format!("option requires an argument -- {letter}"))
                })?
            } else {
                Arg::Text(attached)
            };
            self.options.push((letter, Some(value)));
        }
        Ok(())
    }

    fn check_operands(self, spec: &Spec) -> Result<Self> {
        let count = self.operands.len();
        if count < spec.operands.min {
            return Err(DcmdError::usage("too few arguments"));
        }
        if count > spec.operands.max {
            return Err(DcmdError::usage("too many arguments"));
        }
        Ok(self)
    }

    /// Whether the option was given.
    pub fn has(&self, flag: char) -> bool {
        self.options.iter().any(|(letter, _)| *letter == flag)
    }

    /// The value of the option, the last one given counting.
    pub fn value(&self, flag: char) -> Option<&Arg> {
        self.options.iter().rev().find(|(letter, _)| *letter == flag)?.1.as_ref()
    }

    /// The values of an option that may be given several times, in order.
    pub fn values(&self, flag: char) -> impl Iterator<Item = &Arg> {
        self.options
            .iter()
            .filter(move |(letter, _)| *letter == flag)
            .filter_map(|(_, value)| value.as_ref())
    }

    /// The words after the options.
    pub fn operands(&self) -> &[Arg] {
        &self.operands
    }

    /// The first word after the options.
    pub fn first(&self) -> Option<&Arg> {
        self.operands.first()
    }
}

/// The error of an unknown option. A word with other signs than letters, such as `-7`, may be an expression: the error
/// tells how to write that.
fn illegal_option(letter: char, word: &str) -> DcmdError {
    let is_of_letters = word.chars().skip(1).all(|letter| letter.is_ascii_alphanumeric());
    let advice = if is_of_letters { "" } else { "; -- ends the options, before an expression" };
    DcmdError::usage(format!("illegal option -- {letter}{advice}"))
}

/// A dash followed by a letter. A dash followed by anything else is an option only where the dcmd has one of
/// that name: elsewhere it is a word, as in `::head -5` or `::print ->next`.
fn is_option(spec: &Spec, word: &str) -> bool {
    let mut chars = word.chars();
    let (dash, letter) = (chars.next(), chars.next());
    dash == Some('-')
        && letter.is_some_and(|letter| {
            letter.is_ascii_alphabetic() || spec.options.iter().any(|opt| opt.flag == letter)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Group, Opt};

    const OPTIONS: &[Opt] = &[
        Opt { flag: 'v', value: None, help: "" },
        Opt { flag: 'w', value: None, help: "" },
        Opt { flag: 'n', value: Some("count"), help: "" },
    ];

    fn parse(words: &[&str]) -> Result<Args> {
        let spec = Spec::new("x", Group::Stacks, "x").options(OPTIONS).operands("[a]", 0, 1);
        let words: Vec<Arg> = words.iter().map(|word| Arg::Text((*word).to_owned())).collect();
        Args::parse(&spec, &words)
    }

    #[test]
    fn flags_group_and_values_attach_or_follow() {
        let args = parse(&["-vwn5", "name"]).unwrap();
        assert!(args.has('v') && args.has('w'));
        assert_eq!(args.value('n'), Some(&Arg::Text("5".into())));
        assert_eq!(args.first(), Some(&Arg::Text("name".into())));
        assert_eq!(parse(&["-n", "5"]).unwrap().value('n'), Some(&Arg::Text("5".into())));
    }

    #[test]
    fn a_double_dash_ends_the_options() {
        assert_eq!(parse(&["--", "-v"]).unwrap().first(), Some(&Arg::Text("-v".into())));
    }

    #[test]
    fn one_that_takes_anything_reads_no_options() {
        let spec = Spec::new("x", Group::Unsupported, "x").takes_anything();
        let words: Vec<Arg> = ["-z", "a", "--", "b"].map(|word| Arg::Text(word.into())).into();
        assert_eq!(Args::parse(&spec, &words).unwrap().operands(), words);
    }

    #[test]
    fn wrong_calls_are_usage_errors() {
        for words in [&["-z"][..], &["-n"], &["a", "b"]] {
            assert!(matches!(parse(words), Err(DcmdError::Usage(_))), "{words:?}");
        }
    }
}

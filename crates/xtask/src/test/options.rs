//! The options of `cargo xtask test`.

use anyhow::{Result, bail};

/// How it is called.
pub const USAGE: &str = "\
usage: cargo xtask test [--all] [--no-install]
  --all         every version of each runtime that kcore decodes, not only the oldest, the newest and some between
  --no-install  install and download nothing; what then cannot be tested is skipped and counted";

/// What a run may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Use every version of each runtime.
    pub all: bool,
    /// Install and download nothing.
    pub no_install: bool,
}

impl Options {
    /// Reads them.
    ///
    /// # Errors
    /// With the usage for an option that does not exist.
    pub fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        for arg in args {
            match arg.as_str() {
                "--all" => options.all = true,
                "--no-install" => options.no_install = true,
                other => bail!("unknown option {other}\n{USAGE}"),
            }
        }
        Ok(options)
    }

    /// The environment by which gen-cores and the tests know of them.
    pub fn environment(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let few = (!self.all).then_some((gen_cores::CASES, gen_cores::FEW));
        let no_downloads = self.no_install.then_some((gen_cores::NO_DOWNLOADS, "1"));
        few.into_iter().chain(no_downloads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_in_any_order() {
        assert_eq!(parse(&[]).unwrap(), Options::default());
        let both = Options { all: true, no_install: true };
        assert_eq!(parse(&["--no-install", "--all"]).unwrap(), both);
    }

    #[test]
    fn what_is_unknown_is_refused_with_the_usage() {
        for wrong in ["--full", "-a", "kcore"] {
            let error = parse(&["--all", wrong]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("unknown option {wrong}\nusage: ")), "{error}");
        }
    }

    #[test]
    fn tests_know_the_versions_and_that_nothing_is_fetched() {
        let of = |args: &[&str]| parse(args).unwrap().environment().collect::<Vec<_>>();
        assert_eq!(of(&[]), [("KCORE_CASES", "few")]);
        assert_eq!(of(&["--all"]), []);
        assert_eq!(of(&["--all", "--no-install"]), [("KCORE_NO_DOWNLOADS", "1")]);
    }
}

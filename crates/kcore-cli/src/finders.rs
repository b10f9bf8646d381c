//! Options about where files are looked for, which all words that open something have in common.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Args, ValueHint};
use kcore::{OpenOptions, SearchedPlace, check_layer};
use kcore_render::io_reason;

use crate::debuginfod;
use crate::target::shown;

/// Where files are looked for.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FinderArgs {
    /// What the target had below FROM, files and sources, lies below TO here; may be repeated
    #[arg(long, value_name = "FROM=TO", value_parser = map_parser())]
    map: Vec<(PathBuf, PathBuf)>,

    /// A layer of the target's container: a directory of an overlay, or a tar archive of a layer or an image; may be
    /// repeated, the lowest layer first
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    layer: Vec<PathBuf>,

    /// Look for files in these places alone, in this order
    #[arg(long, value_name = "PLACES", value_delimiter = ',', value_parser = place_parser())]
    finders: Vec<SearchedPlace>,

    /// Fetch missing files from debuginfod servers; without URLS from those in DEBUGINFOD_URLS or /etc/debuginfod
    #[arg(
        long,
        value_name = "URLS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    debuginfod: Option<String>,
}

impl FinderArgs {
    /// The option that is of no use where nobody trusts the core, if one is given.
    pub(crate) fn refused_untrusted(&self) -> Option<&'static str> {
        match self {
            Self { debuginfod: Some(_), .. } => Some("--debuginfod"),
            Self { layer, .. } if !layer.is_empty() => Some("--layer"),
            _ => None,
        }
    }

    /// Folders of this machine that the user named.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.map.iter().map(|(_, to)| to)
    }

    /// The same options with these places for files.
    ///
    /// # Errors
    /// When a named file or folder is not there, or nobody can be asked for files.
    pub(crate) fn apply(&self, options: OpenOptions) -> Result<OpenOptions> {
        self.check()?;
        let mut options = OpenOptions {
            path_map: self.map.clone(),
            layers: self.layer.clone(),
            searched: (!self.finders.is_empty()).then(|| self.finders.clone()),
            ..options
        };
        if !options.untrusted {
            debuginfod::add(self.debuginfod.as_deref(), &mut options)?;
        }
        Ok(options)
    }

    fn check(&self) -> Result<()> {
        for (_, to) in &self.map {
            if !to.exists() {
                bail!("{}: no such directory", shown(to));
            }
        }
        for layer in &self.layer {
            if let Err(error) = check_layer(layer) {
                bail!("{}: {}", shown(layer), io_reason(&error));
            }
        }
        Ok(())
    }
}

fn map_parser() -> ValueParser {
    ValueParser::new(OsStringValueParser::new().try_map(|word| parse_map(&word)))
}

/// Both sides of the first `=`.
fn parse_map(word: &OsStr) -> Result<(PathBuf, PathBuf), String> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=').ok_or("FROM=TO is wanted")?;
    let path = |bytes| PathBuf::from(OsStr::from_bytes(bytes));
    let (from, to) = (path(&bytes[..at]), path(&bytes[at + 1..]));
    if !from.is_absolute() || to.as_os_str().is_empty() {
        return Err("FROM=TO is wanted, FROM as the target named it, from / on".to_owned());
    }
    Ok((from, to))
}

fn place_parser() -> impl TypedValueParser<Value = SearchedPlace> {
    let words = SearchedPlace::IN_ORDER.map(SearchedPlace::word);
    PossibleValuesParser::new(words).try_map(|word| {
        let place = SearchedPlace::IN_ORDER.into_iter().find(|place| place.word() == word);
        place.ok_or("no such place")
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        finders: FinderArgs,
    }

    fn parsed(words: &[&str]) -> Result<FinderArgs, String> {
        let words = std::iter::once("kcore").chain(words.iter().copied());
        Line::try_parse_from(words).map(|line| line.finders).map_err(|error| error.to_string())
    }

    #[test]
    fn a_map_has_two_sides() {
        let map = parsed(&["--map", "/build=/src/a=b"]).unwrap().map;
        assert_eq!(map, [(PathBuf::from("/build"), PathBuf::from("/src/a=b"))]);
        for wrong in ["/build", "build=/src", "/build="] {
            assert!(parsed(&["--map", wrong]).unwrap_err().contains("FROM=TO"), "{wrong}");
        }
    }

    #[test]
    fn places_are_words_in_the_order_of_the_user() {
        let finders = parsed(&["--finders", "build-id,core-dir"]).unwrap().finders;
        assert_eq!(finders, [SearchedPlace::BuildIdDir, SearchedPlace::CoreDir]);
        let error = parsed(&["--finders", "nowhere"]).unwrap_err();
        assert!(error.contains("core-dir"), "{error}");
    }

    #[test]
    fn servers_stand_behind_an_equals_sign_alone() {
        assert_eq!(parsed(&["--debuginfod"]).unwrap().debuginfod.as_deref(), Some(""));
        let named = parsed(&["--debuginfod=http://one http://two"]).unwrap().debuginfod;
        assert_eq!(named.as_deref(), Some("http://one http://two"));
        assert_eq!(parsed(&[]).unwrap().debuginfod, None);
    }
}

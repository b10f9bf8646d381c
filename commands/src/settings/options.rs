//! The options that `::set -o` sets and `+o` clears.

use kcore_dcmd::{Args, DcmdError, Result, Settings};

/// Where an option that is on or off is kept.
type Switch = fn(&mut Settings) -> &mut bool;

/// Options that are on or off.
const SWITCHES: &[(&str, Switch)] = &[
    ("autowrap", |settings| &mut settings.autowrap),
    ("decimal", |settings| &mut settings.decimal),
    ("ignoreeof", |settings| &mut settings.ignore_eof),
    ("lines", |settings| &mut settings.source_lines),
    ("nearest", |settings| &mut settings.nearest_layouts),
    ("pager", |settings| &mut settings.pager),
    ("repeatlast", |settings| &mut settings.repeat_last),
];

/// Sets the option after each `-o` and clears the one after each `+o`, up to the first that is wrong.
pub fn apply(settings: &mut Settings, args: &Args) -> Result<()> {
    for word in args.values('o') {
        words(&word.to_text(), |option| set(settings, option, true))?;
    }
    let mut operands = args.operands().iter().map(kcore_dcmd::Arg::to_text);
    while let Some(word) = operands.next() {
        let option = match word.strip_prefix("+o") {
            Some("") => operands
                .next()
                .ok_or_else(|| DcmdError::usage("option requires an argument -- +o"))?,
            Some(attached) => attached.to_owned(),
            None => return Err(DcmdError::usage(format!("invalid debugger option -- {word}"))),
        };
        words(&option, |option| set(settings, option, false))?;
    }
    Ok(())
}

/// The names of options that are on.
pub fn names_on(settings: &Settings) -> Vec<&'static str> {
    let mut settings = settings.clone();
    SWITCHES.iter().filter(|(_, of)| *of(&mut settings)).map(|(name, _)| *name).collect()
}

fn words(list: &str, act: impl FnMut(&str) -> Result<()>) -> Result<()> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty()).try_for_each(act)
}

fn set(settings: &mut Settings, option: &str, on: bool) -> Result<()> {
    let unknown = || DcmdError::failed(format!("invalid debugger option -- {option}"));
    if let Some((_, of)) = SWITCHES.iter().find(|(name, _)| *name == option) {
        *of(settings) = on;
        return Ok(());
    }
    let (name, value) = option.split_once('=').ok_or_else(unknown)?;
    let limit = match value {
        "none" => None,
        value => Some(value.parse().map_err(|_| unknown())?),
    };
    match name {
        "array_mem_limit" => settings.array_members = limit,
        "array_str_limit" => settings.array_characters = limit,
        _ => return Err(unknown()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_and_limits_are_set() {
        let mut settings = Settings::default();
        set(&mut settings, "repeatlast", true).unwrap();
        set(&mut settings, "pager", false).unwrap();
        set(&mut settings, "array_mem_limit=none", true).unwrap();
        set(&mut settings, "array_str_limit=5", true).unwrap();
        assert_eq!(names_on(&settings), ["repeatlast"]);
        assert_eq!((settings.array_members, settings.array_characters), (None, Some(5)));
    }

    #[test]
    fn what_is_no_option_is_named() {
        for wrong in ["x", "pager=1", "array_mem_limit=x", "array_mem_limit"] {
            let error = set(&mut Settings::default(), wrong, true).unwrap_err().to_string();
            assert_eq!(error, format!("invalid debugger option -- {wrong}"));
        }
    }
}

//! Makes many cases, some at a time, and tells what became of each.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    Case, Error, Language, Outcome, Result, Scenario, Skipped, Variant, few, make, scenario,
    scenarios,
};

/// How many cases are made at the same time by [`ensure_all`].
const JOBS: usize = 2;

/// What became of all cases that were asked for.
#[derive(Debug, Default)]
pub struct Report {
    /// Those that are there now.
    pub cases: Vec<Case>,
    /// How many of them were made now.
    pub made: usize,
    /// Those that this machine cannot make.
    pub skipped: Vec<Skipped>,
    /// Those that should have been made but were not: `scenario/variant` and why.
    pub failed: Vec<(String, Error)>,
}

/// A case that is meant, and whether a run with few cases leaves it out.
struct MeantCase {
    scenario: Scenario,
    variant: Variant,
    is_left_out: bool,
}

/// What happened to one case, while others are still under way.
#[derive(Debug)]
pub struct Event<'a> {
    /// `scenario/variant`.
    pub name: &'a str,
    /// The outcome.
    pub outcome: &'a Result<Outcome>,
}

/// All cases that exist, up to date or not; makes none.
///
/// # Errors
/// A recipe cannot be read.
pub fn cases() -> Result<Vec<Case>> {
    let scenarios = scenarios()?;
    let pairs = scenarios
        .iter()
        .flat_map(|scenario| scenario.all_variants().map(move |variant| (scenario, variant)));
    Ok(pairs.filter_map(|(scenario, variant)| make::existing(scenario, variant)).collect())
}

/// One case, made if it is not up to date.
///
/// # Errors
/// There is no such case, or making it failed.
pub fn ensure(scenario_name: &str, variant_name: &str) -> Result<Outcome> {
    let scenario = scenario(scenario_name)?;
    make::ensure(&scenario, scenario.variant(variant_name)?, false)
}

/// How many of a scenario's cases are meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// Those that tests always need.
    #[default]
    Usual,
    /// Also those that are made only on demand.
    Full,
}

/// Which cases are meant.
#[derive(Debug, Clone, Copy)]
pub enum Selection<'a> {
    /// Those of all scenarios.
    All(Extent),
    /// Those of `scenario` or `scenario/variant`.
    Names(&'a [String], Extent),
}

/// The cases of all compiled programs. Failures are in the report, so that one does not hide the others.
///
/// # Errors
/// A recipe cannot be read.
pub fn ensure_all() -> Result<Report> {
    let compiled = |scenario: &Scenario| scenario.recipe.language.is_compiled();
    ensure_each(&of_scenarios(Extent::Usual, compiled, few::is_short_run())?, JOBS, false, &|_| ())
}

/// The cases of all programs in a language.
///
/// # Errors
/// A recipe cannot be read.
pub fn ensure_language(language: Language, extent: Extent) -> Result<Report> {
    let same = |scenario: &Scenario| scenario.recipe.language == language;
    ensure_each(&of_scenarios(extent, same, few::is_short_run())?, JOBS, false, &|_| ())
}

/// The cases of scenarios that this run has.
///
/// # Errors
/// A recipe cannot be read, or there is no such scenario.
pub fn ensure_scenarios(names: &[&str]) -> Result<Report> {
    if let Some(unknown) = names.iter().find(|name| scenario(name).is_err()) {
        return Err(Error::NoScenario((*unknown).to_owned()));
    }
    let is_named = |scenario: &Scenario| names.contains(&scenario.name.as_str());
    ensure_each(&of_scenarios(Extent::Usual, is_named, few::is_short_run())?, JOBS, false, &|_| ())
}

/// The selected cases, `jobs` at a time; `force` makes them again; `watch` hears of each as it is done,
/// from several threads.
///
/// # Errors
/// A recipe cannot be read, or a name fits nothing.
pub fn ensure_selected(
    selection: Selection<'_>,
    jobs: usize,
    force: bool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Report> {
    let selected = match selection {
        Selection::All(extent) => of_scenarios(extent, |_| true, few::is_short_run())?,
        Selection::Names(names, extent) => named(names, extent)?,
    };
    ensure_each(&selected, jobs, force, watch)
}

fn ensure_each(
    selected: &[MeantCase],
    jobs: usize,
    force: bool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Report> {
    let next = AtomicUsize::new(0);
    let report = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(wanted) = selected.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = format!("{}/{}", wanted.scenario.name, wanted.variant.name);
                    let outcome = wanted.ensure(force);
                    watch(Event { name: &name, outcome: &outcome });
                    if let Ok(mut report) = report.lock() {
                        report.add(name, outcome);
                    }
                }
            });
        }
    });
    let mut report = report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    report.cases.sort_by_key(Case::name);
    Ok(report)
}

impl MeantCase {
    /// One that somebody names.
    fn named(scenario: Scenario, variant: Variant) -> Self {
        Self { scenario, variant, is_left_out: false }
    }

    fn ensure(&self, force: bool) -> Result<Outcome> {
        let Self { scenario, variant, is_left_out } = self;
        if !is_left_out {
            return make::ensure(scenario, variant, force);
        }
        Ok(Outcome::Skipped(Skipped {
            scenario: scenario.name.clone(),
            variant: variant.name.clone(),
            reason: "a short run makes this variant of other programs".to_owned(),
        }))
    }
}

impl Report {
    fn add(&mut self, name: String, outcome: Result<Outcome>) {
        match outcome {
            Ok(Outcome::Made(case)) => {
                self.made += 1;
                self.cases.push(case);
            }
            Ok(Outcome::Fresh(case)) => self.cases.push(case),
            Ok(Outcome::Skipped(skipped)) => self.skipped.push(skipped),
            Err(error) => self.failed.push((name, error)),
        }
    }
}

fn of_scenarios(
    extent: Extent,
    is_meant: impl Fn(&Scenario) -> bool,
    is_few: bool,
) -> Result<Vec<MeantCase>> {
    let mut turns = BTreeMap::new();
    let mut selected = Vec::new();
    for scenario in scenarios()?.into_iter().filter(is_meant) {
        let turn: &mut usize = turns.entry(scenario.recipe.language).or_default();
        for mut wanted in all_of(&scenario, extent) {
            wanted.is_left_out = is_few && !few::is_in_turn(&scenario, &wanted.variant, *turn);
            selected.push(wanted);
        }
        *turn += usize::from(scenario.recipe.variants.is_none());
    }
    Ok(selected)
}

fn named(names: &[String], extent: Extent) -> Result<Vec<MeantCase>> {
    let mut selected = Vec::new();
    for name in names {
        match name.split_once('/') {
            None => selected.extend(all_of(&scenario(name)?, extent)),
            Some((name, variant)) => {
                let scenario = scenario(name)?;
                let variant = scenario.variant(variant)?.clone();
                selected.push(MeantCase::named(scenario, variant));
            }
        }
    }
    Ok(selected)
}

fn all_of(scenario: &Scenario, extent: Extent) -> Vec<MeantCase> {
    let more = match extent {
        Extent::Usual => &[][..],
        Extent::Full => &scenario.on_demand,
    };
    let variants = scenario.variants.iter().chain(more);
    variants.map(|variant| MeantCase::named(scenario.clone(), variant.clone())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Names of the cases of compiled programs, and of those that are made.
    fn names(is_few: bool) -> (Vec<String>, Vec<String>) {
        let compiled = |scenario: &Scenario| scenario.recipe.language.is_compiled();
        let wanted = of_scenarios(Extent::Usual, compiled, is_few).unwrap();
        let name = |wanted: &MeantCase| format!("{}/{}", wanted.scenario.name, wanted.variant.name);
        let made = wanted.iter().filter(|wanted| !wanted.is_left_out);
        (wanted.iter().map(name).collect(), made.map(name).collect())
    }

    #[test]
    fn a_run_without_a_limit_has_all_cases() {
        let (all, made) = names(false);
        assert_eq!(all, made);
    }

    #[test]
    fn a_short_run_has_every_program_and_every_default_variant_of_some() {
        let (all, made) = names(true);
        assert!(made.len() * 3 < all.len() * 2, "{} of {}", made.len(), all.len());
        for scenario in scenarios().unwrap().iter().filter(|it| it.recipe.language.is_compiled()) {
            let plain = ["O0-pie", "debug-pie"].map(|word| format!("{}/{word}", scenario.name));
            let is_long =
                |name: &&str| scenario.recipe.long_runs.iter().any(|long| name.ends_with(long));
            let has_plain = plain.iter().any(|name| all.contains(name) && !is_long(&name.as_str()));
            assert_eq!(has_plain, plain.iter().any(|name| made.contains(name)), "{plain:?}");
        }
    }

    /// The variants of cases.
    fn variants(names: &[String]) -> Vec<String> {
        let variant = |name: &String| name.split_once('/').map(|(_, variant)| variant.to_owned());
        names.iter().filter_map(variant).collect()
    }

    #[test]
    fn a_short_run_has_every_word_of_variants_and_default_ones_often() {
        let (all, made) = names(true);
        let (all, made) = (variants(&all), variants(&made));
        let words = |of: &[String]| -> BTreeSet<String> {
            let joined = of.iter().map(|variant| variant.replace("static-pie", "staticpie"));
            joined.flat_map(|it| it.split('-').map(str::to_owned).collect::<Vec<_>>()).collect()
        };
        assert_eq!(words(&made), words(&all));
        let count =
            |of: &[String], name: &str| of.iter().filter(|variant| *variant == name).count();
        for name in all.iter().filter(|name| count(&all, name) > 16) {
            assert!(count(&made, name) * 8 > count(&all, name), "{name}");
        }
    }

    #[test]
    fn a_case_that_is_named_is_made_in_a_short_run_too() {
        let wanted = named(&["leaf".to_owned(), "abort/O2-static".to_owned()], Extent::Usual);
        assert!(wanted.unwrap().iter().all(|wanted| !wanted.is_left_out));
    }
}

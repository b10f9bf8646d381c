//! Makes many cases, some at a time, and tells what became of each.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    Case, Error, Language, Outcome, Result, Scenario, Skipped, Variant, make, scenario, scenarios,
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
    ensure_pairs(&of_scenarios(Extent::Usual, compiled)?, JOBS, false, &|_| ())
}

/// The cases of all programs in a language.
///
/// # Errors
/// A recipe cannot be read.
pub fn ensure_language(language: Language, extent: Extent) -> Result<Report> {
    let same = |scenario: &Scenario| scenario.recipe.language == language;
    ensure_pairs(&of_scenarios(extent, same)?, JOBS, false, &|_| ())
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
        Selection::All(extent) => of_scenarios(extent, |_| true)?,
        Selection::Names(names, extent) => named(names, extent)?,
    };
    ensure_pairs(&selected, jobs, force, watch)
}

fn ensure_pairs(
    selected: &[(Scenario, Variant)],
    jobs: usize,
    force: bool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Report> {
    let next = AtomicUsize::new(0);
    let report = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some((scenario, variant)) =
                    selected.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let name = format!("{}/{}", scenario.name, variant.name);
                    let outcome = make::ensure(scenario, variant, force);
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
) -> Result<Vec<(Scenario, Variant)>> {
    let meant = scenarios()?.into_iter().filter(is_meant);
    Ok(meant.flat_map(|scenario| pairs(&scenario, extent)).collect())
}

fn named(names: &[String], extent: Extent) -> Result<Vec<(Scenario, Variant)>> {
    let mut selected = Vec::new();
    for name in names {
        match name.split_once('/') {
            None => selected.extend(pairs(&scenario(name)?, extent)),
            Some((name, variant)) => {
                let scenario = scenario(name)?;
                let variant = scenario.variant(variant)?.clone();
                selected.push((scenario, variant));
            }
        }
    }
    Ok(selected)
}

fn pairs(scenario: &Scenario, extent: Extent) -> Vec<(Scenario, Variant)> {
    let more = match extent {
        Extent::Usual => &[][..],
        Extent::Full => &scenario.on_demand,
    };
    let variants = scenario.variants.iter().chain(more);
    variants.map(|variant| (scenario.clone(), variant.clone())).collect()
}

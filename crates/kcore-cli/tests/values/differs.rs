//! Values that kcore is known not to tell as the programs do, each with its reason.

use std::sync::atomic::{AtomicBool, Ordering};

use gen_cores::Variant;

use crate::check::Difference;

/// Values that differ, and why.
struct Known {
    /// The scenario.
    scenario: &'static str,
    /// Words that the variant has; one behind `!` must not be there.
    words: &'static [&'static str],
    /// What is asked; `x*` is all that begins so.
    name: &'static str,
    /// What the difference says, in part.
    what: &'static str,
    /// Why it differs.
    why: &'static str,
    used: AtomicBool,
}

impl Known {
    const fn new(
        scenario: &'static str,
        words: &'static [&'static str],
        name: &'static str,
        what: &'static str,
        why: &'static str,
    ) -> Self {
        Self { scenario, words, name, what, why, used: AtomicBool::new(false) }
    }

    fn fits(&self, difference: &Difference) -> bool {
        let variant = Variant::parse(&difference.case.variant).unwrap();
        let has = |word: &&str| match word.strip_prefix('!') {
            Some(word) => !variant.has(word),
            None => variant.has(word),
        };
        let is_named = match self.name.strip_suffix('*') {
            Some(begin) => difference.name.starts_with(begin),
            None => difference.name == self.name,
        };
        difference.case.scenario == self.scenario
            && self.words.iter().all(has)
            && is_named
            && difference.what.contains(self.what)
    }
}

const GONE: &str = "the compiler kept it nowhere, and its debug information says so";
const HALF_GONE: &str = "of the pointer the compiler kept one half alone, and not the table";
const NO_TLS: &str =
    "qemu's cores do not hold the thread pointer, and a static program has no list of threads";

const NO_ENTRY: &str =
    "gcc 12 loses in a `.dwo` which variable a pointer led to that was optimized away";
const GO_INLINED: &str = "the compiler inlined `adder` into `init`, and names its closure so";

static KNOWN: [Known; 13] = [
    Known::new("values-go", &["O2"], "main.gClosure", "main.init.func1", GO_INLINED),
    Known::new("values-c", &["O2"], "deepest: *", "optimized_out", GONE),
    Known::new("values-c", &["O2"], "middle: *", "optimized_out", GONE),
    Known::new("values-c", &["O2"], "s_*", "", GONE),
    Known::new("values-cpp", &["O2"], "deepest: *", "optimized_out", GONE),
    Known::new("values-rust", &["release"], "values_rust::deepest: *", "optimized_out", GONE),
    Known::new("values-rust", &["release"], "values_rust::deepest: animal", "true type", HALF_GONE),
    Known::new("values-c", &["aarch64", "static"], "t_*", "", NO_TLS),
    Known::new(
        "locals-rust",
        &["release"],
        "locals_rust::split: first",
        "is unreadable",
        "rustc states that it lies where it points to, which it does not do: it is a number",
    ),
    Known::new(
        "locals-rust",
        &["releasefp"],
        "locals_rust::split: first",
        "is unreadable",
        "as without frame pointers",
    ),
    Known::new("locals", &["split"], "area: box->*", "unreadable", NO_ENTRY),
    Known::new("locals", &["dwp"], "area: box->*", "unreadable", NO_ENTRY),
    Known::new(
        "values-c",
        &["clang"],
        "g_bits*",
        "should be -",
        "clang 14 says of a `_BitInt` how many bytes it takes, not how many bits it has",
    ),
];

/// Whether a value is known to differ.
pub fn is_known(difference: &Difference) -> bool {
    let fitting = KNOWN.iter().filter(|known| known.fits(difference));
    fitting.map(|known| known.used.store(true, Ordering::Relaxed)).count() > 0
}

/// Rows of scenarios that no value needs any more.
pub fn stale<'a>(scenarios: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    let own = KNOWN.iter().filter(|known| scenarios.contains(&known.scenario));
    let stale = own.filter(|known| !known.used.load(Ordering::Relaxed));
    stale.map(|known| {
        format!("{} {}: not needed any more: {}", known.scenario, known.name, known.why)
    })
}

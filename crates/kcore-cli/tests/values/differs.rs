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
const NO_TLS: &str = "qemu's cores do not say where the thread-locals of a thread are";

const GO_INLINED: &str = "the compiler inlined `adder` into `init`, and names its closure so";
const SPLIT_TLS: &str = "thread-locals whose place stands in a `.dwo` are not found yet";
const SHARED: &str =
    "dwz keeps the declaration in a unit of its own, and the definition refers to it";

static KNOWN: [Known; 17] = [
    Known::new("values-go", &["O2"], "main.gClosure", "main.init.func1", GO_INLINED),
    Known::new("values-c", &["split"], "t_*", "failed to look up type", SPLIT_TLS),
    Known::new("values-c", &["dwp"], "t_*", "failed to look up type", SPLIT_TLS),
    Known::new(
        "values-cpp",
        &["O2", "split"],
        "demo::t_counter",
        "failed to look up type",
        SPLIT_TLS,
    ),
    Known::new("values-cpp", &["dwp"], "demo::t_counter", "failed to look up type", SPLIT_TLS),
    Known::new("values-c", &["dwz"], "g_shared", "failed to look up type", SHARED),
    Known::new("values-c", &["dwzm"], "g_shared", "failed to look up type", SHARED),
    Known::new("values-c", &["O2"], "deepest: *", "optimized_out", GONE),
    Known::new("values-c", &["O2"], "middle: *", "optimized_out", GONE),
    Known::new("values-c", &["O2"], "s_*", "", GONE),
    Known::new("values-cpp", &["O2"], "deepest: *", "optimized_out", GONE),
    Known::new("values-rust", &["release"], "values_rust::deepest: *", "optimized_out", GONE),
    Known::new("values-rust", &["release"], "values_rust::deepest: animal", "true type", HALF_GONE),
    Known::new("values-c", &["aarch64"], "t_*", "", NO_TLS),
    Known::new("values-cpp", &["aarch64"], "demo::t_counter", "", NO_TLS),
    Known::new(
        "values-c",
        &["clang"],
        "g_bits*",
        "should be -",
        "clang 14 says of a `_BitInt` how many bytes it takes, not how many bits it has",
    ),
    Known::new(
        "values-cpp",
        &["simple"],
        "y_text",
        "",
        "the type that a `std::any` holds is known by the name of a template that is not written",
    ),
];

/// Whether a value is known to differ.
pub fn is_known(difference: &Difference) -> bool {
    let fitting = KNOWN.iter().filter(|known| known.fits(difference));
    fitting.map(|known| known.used.store(true, Ordering::Relaxed)).count() > 0
}

/// Rows that no value needs any more.
pub fn stale() -> impl Iterator<Item = String> {
    let stale = KNOWN.iter().filter(|known| !known.used.load(Ordering::Relaxed));
    stale.map(|known| {
        format!("{} {}: not needed any more: {}", known.scenario, known.name, known.why)
    })
}

//! Cases that a test needs.

use gen_cores::{Case, Outcome};

/// A case, made if it is not there; `None`, with the reason printed, where that cannot be.
pub fn made(scenario: &str, variant: &str) -> Option<Case> {
    match gen_cores::ensure(scenario, variant).expect("a case") {
        Outcome::Made(case) | Outcome::Fresh(case) => Some(case),
        Outcome::Skipped(skipped) => {
            gen_cores::not_tested(skipped);
            None
        }
    }
}

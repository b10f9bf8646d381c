//! Functions by which Perl calls: what they do says nothing of the program.

/// Each of them, or what its name begins with where a star ends it: `perl.c`, `pp_hot.c`, `pp_ctl.c` and `run.c` of 5.30 to
/// 5.42.
const NAMES: &[&str] = &[
    "Perl_call_argv",
    "Perl_call_method",
    "Perl_call_pv",
    "Perl_call_sv",
    "Perl_pp_entersub",
    "Perl_runops_*",
    "S_docatch",
    "S_run_body",
];
/// The function that executes operations, one after another; that of a debugger is another.
const MACHINE: &str = "Perl_runops_";
/// What executes operations where an eval needs a place to return to (`S_docatch` of `pp_ctl.c`), and what calls that.
const CATCHES: &str = "S_docatch";
const CATCHING: &[&str] =
    &["Perl_pp_entereval", "Perl_pp_entertry", "Perl_pp_entertrycatch", "Perl_pp_require"];

/// Whether a function of Perl's module is one of them.
pub fn is_plumbing(function: &str) -> bool {
    let function = plain(function);
    NAMES.iter().any(|name| match name.strip_suffix('*') {
        None => function == *name,
        Some(start) => function.starts_with(start),
    })
}

/// Whether a function executes operations.
pub fn is_machine(function: &str) -> bool {
    function.starts_with(MACHINE)
}

/// Whether a function, and the one that called it, have operations executed for an eval. The first has a name only where
/// symbols were kept.
pub fn catches(function: Option<&str>, caller: Option<&str>) -> bool {
    let is_catching = |name: &str| CATCHING.contains(&plain(name)) || plain(name) == CATCHES;
    match function {
        Some(name) => is_catching(name),
        None => caller.is_some_and(|name| is_catching(name) || is_machine(name)),
    }
}

/// What a compiler made of a function has its name with a dot and more behind.
fn plain(function: &str) -> &str {
    function.split('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_is_told_from_what_does() {
        assert!(
            ["Perl_call_sv", "Perl_runops_debug", "S_docatch.isra.0"].into_iter().all(is_plumbing)
        );
        assert!(!["Perl_pp_sort", "perl_run", "XS_Foo_bar"].into_iter().any(is_plumbing));
    }

    #[test]
    fn evals_are_told_from_sorts() {
        assert!(catches(Some("S_docatch.part.0"), None));
        assert!(catches(None, Some("Perl_runops_standard")));
        assert!(catches(None, Some("Perl_pp_entereval")));
        assert!(!catches(Some("Perl_call_sv"), Some("Perl_runops_standard")));
        assert!(!catches(None, Some("Perl_pp_sort")) && !catches(None, None));
    }
}

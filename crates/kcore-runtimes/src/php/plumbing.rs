//! Functions by which PHP calls: what they do says nothing of the program.

/// Each of them, or what its name begins with where a star ends it: `zend_execute_API.c`, `zend_execute.c`,
/// `zend_generators.c`, `zend_fibers.c`, `zend_interfaces.c` and `zend_closures.c` of 7.4 to 8.4.
const NAMES: &[&str] = &[
    "_call_user_function_impl",
    "execute_ex",
    "zend_call_function",
    "zend_call_known_*",
    "zend_call_method*",
    "zend_execute",
    "zend_execute_scripts",
    "zend_fiber_execute",
    "zend_fiber_trampoline",
    "zend_generator_resume",
    "zend_user_it_*",
];

/// Whether a function of PHP's module is one of them.
pub fn is_plumbing(function: &str) -> bool {
    // What a compiler made of a function has its name with a dot and more behind.
    let function = function.split('.').next().unwrap_or_default();
    NAMES.iter().any(|name| match name.strip_suffix('*') {
        None => function == *name,
        Some(start) => function.starts_with(start),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_is_told_from_what_does() {
        assert!(
            ["zend_call_function", "zend_call_known_instance_method", "execute_ex.cold"]
                .into_iter()
                .all(is_plumbing)
        );
        assert!(
            !["zif_usleep", "php_execute_script", "zend_hash_find"].into_iter().any(is_plumbing)
        );
    }
}

//! Why programs died, in words, where the kernel's signal does not tell.

use crate::harness::open;

fn why(scenario: &str, variant: &str) -> String {
    let status = open(scenario, variant).one("::status");
    status["explanation"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_full_stack_without_room_for_a_handler_has_overflowed() {
    for variant in ["O0-pie", "O2-static"] {
        let why = why("stack-overflow-handled", variant);
        assert!(why.contains("not mapped, writing, stack overflow;"), "{why}");
        assert!(
            why.contains("no room for the frame of its handler (SI_KERNEL), in recurse"),
            "{why}"
        );
        assert!(!why.contains("general protection"), "{why}");
    }
}

#[test]
fn an_exception_that_was_thrown_again_is_told() {
    let status = open("terminate-rethrown", "O2-pie").one("::status");
    assert_eq!(status["exception_type"], "app::ConfigError", "{status}");
    assert_eq!(status["exception_what"], "no value for listen.port");
}

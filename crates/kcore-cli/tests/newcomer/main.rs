//! What a newcomer does with a core: looks at `::status`, finds the row of the cookbook that fits, and types what
//! stands there into a real terminal. The lines come from the page, and the answers must be true of the program.

mod cookbook;
mod crashes;
#[allow(dead_code, reason = "the tests of the shell need the rest")]
#[path = "../interactive/terminal.rs"]
mod terminal;

use crashes::Crash;
use terminal::{Setup, Terminal};

/// A terminal on which all answers fit.
const LARGE: Setup = Setup { columns: 200, rows: 400, options: "", rc: "" };

/// What a user sees who types lines about a crash. `None` without a terminal.
fn typed(crash: &Crash, lines: &[String]) -> Option<String> {
    let terminal = Terminal::open_on(LARGE, &crash.target)?;
    terminal.wait_for_prompt();
    Some(lines.iter().fold(String::new(), |_, line| terminal.run(line)))
}

/// Goes by a row of the cookbook, and holds what is shown against the facts of the program and some more.
fn goes_by(what: &str, crash: &Crash, facts: &[&str]) {
    let row = cookbook::named(what);
    let lines = row.lines.iter().map(|line| line.replace("addr::", &address(crash)));
    let lines: Vec<String> = std::iter::once("::status".to_owned()).chain(lines).collect();
    let Some(screen) = typed(crash, &lines) else { return };
    let told = crash.verdict().into_iter().chain(crash.functions());
    let wanted = row.shows.iter().cloned().chain(told).chain(facts.iter().map(|it| (*it).into()));
    for fact in wanted {
        assert!(screen.contains(&fact), "{what}: {lines:?} do not show {fact:?}:\n{screen}");
    }
}

fn address(crash: &Crash) -> String {
    format!("{}::", crash.printed("address"))
}

#[test]
fn a_null_pointer_is_the_argument_that_is_zero() {
    goes_by("a read behind a null pointer", &Crash::committed("workers"), &["header=0"]);
}

#[test]
fn a_call_of_nothing_has_a_caller() {
    let Some(crash) = Crash::scenario("null-call", "O0-pie") else { return };
    goes_by("a call through a null function pointer", &crash, &["serve", "main"]);
}

#[test]
fn a_full_stack_is_full_of_one_function_that_somebody_called() {
    let Some(crash) = Crash::scenario("stack-overflow", "O0-pie") else { return };
    goes_by("endless recursion", &crash, &["recurse", "descend", "main"]);
}

#[test]
fn a_double_free_has_a_place() {
    let Some(crash) = Crash::scenario("malloc-abort", "O0-pie") else { return };
    goes_by("a block that was freed twice", &crash, &["release", "finish"]);
}

#[test]
fn an_assertion_has_its_words() {
    let Some(crash) = Crash::scenario("assert", "O0-pie") else { return };
    goes_by("a failed assertion", &crash, &["check_order", "width"]);
}

#[test]
fn an_exception_of_cpp_has_its_type_and_its_words() {
    let Some(crash) = Crash::scenario("terminate", "O0-pie") else { return };
    goes_by("an exception of C++ that nobody caught", &crash, &["app::load"]);
}

#[test]
fn a_panic_of_rust_has_its_message_and_its_place() {
    let Some(crash) = Crash::scenario("rust-panic-abort", "debug-pie") else { return };
    goes_by("a panic of Rust", &crash, &["rust-panic-abort/main.rs:10", "retry"]);
}

#[test]
fn a_division_has_its_divisor() {
    let Some(crash) = Crash::own("divide") else { return };
    goes_by("a division by zero", &crash, &["FPE_INTDIV", "average", "count=0", "total=0x1267"]);
}

#[test]
fn an_illegal_instruction_is_shown() {
    let Some(crash) = Crash::own("illegal") else { return };
    goes_by("an instruction that the processor refuses", &crash, &["give_up", "ud2"]);
}

#[test]
fn a_file_that_was_cut_off_is_named() {
    let Some(crash) = Crash::own("cut_off") else { return };
    let address = crash.printed("address");
    goes_by("a mapped file that was cut off", &crash, &[address, "read_config", "config.dat"]);
}

#[test]
fn an_overwritten_stack_shows_what_overwrote_it() {
    let Some(crash) = Crash::scenario("smashed", "O0-pie") else { return };
    goes_by("an overwritten stack", &crash, &["0x4141414141414141"]);
}

#[test]
fn a_hang_shows_what_each_thread_waits_for() {
    let Some(crash) = Crash::scenario("killed", "O0-pie") else { return };
    let functions = crash.functions_of_all();
    assert!(functions.len() > 6, "{functions:?}");
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    goes_by("a process that hung, and was ended from outside", &crash, &functions);
}

#[test]
fn an_exception_of_python_has_its_stack() {
    let Some(crash) = Crash::scenario("python-ends", "python3.11") else { return };
    goes_by("an exception of Python that nobody caught", &crash, &["refuse", "late", "main.py"]);
}

#[test]
fn an_error_of_javascript_has_its_stack() {
    let Some(crash) = Crash::scenario("node-uncaught", "node24") else { return };
    goes_by("an error of JavaScript that nobody caught", &crash, &["parse", "late", "main.js"]);
}

#[test]
fn a_deadlock_shows_who_holds_what() {
    let Some(crash) = Crash::own("deadlock") else { return };
    let lines = cookbook::typed_in("A deadlock");
    let Some(screen) = typed(&crash, &lines) else { return };
    for function in ["transfer", "audit"] {
        assert!(screen.contains(function), "{function} in\n{screen}");
    }
    for lock in ["accounts", "journal"] {
        let holder = format!("mutex, held by thread {}", crash.printed(lock));
        let line = screen.lines().find(|line| line.starts_with(&format!("{lock} (0x")));
        assert!(line.is_some_and(|line| line.ends_with(&holder)), "{screen}");
        let owned = format!("the mutex {lock}, which thread {} holds", crash.printed(lock));
        // A terminal breaks long lines.
        assert!(screen.replace(['\r', '\n'], "").contains(&owned), "{owned} in\n{screen}");
    }
}

#[test]
fn each_row_of_the_cookbook_is_gone_by() {
    let rows = cookbook::rows();
    assert!(rows.len() >= 12, "{}", rows.len());
    for row in rows {
        let name = format!("goes_by(\"{}\"", row.what);
        assert!(include_str!("main.rs").contains(&name), "no test goes by \"{}\"", row.what);
        assert!(!row.shows.is_empty() && !row.lines.is_empty(), "{}", row.what);
    }
}

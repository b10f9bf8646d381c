//! Statements run on a session with the dcmds of `testing`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

mod foreign;
mod qualified;

use crate::testing::{Memory, session};
use crate::{Session, Source, Status, Stop, script};

fn eval_in(session: &mut Session, text: &str) -> (Vec<String>, Status) {
    let mut sink = Memory::default();
    let status = session.eval(text, &mut sink);
    (sink.lines, status)
}

fn lines(text: &str) -> Vec<String> {
    eval_in(&mut session(), text).0
}

fn typed(session: &mut Session, text: &str) -> Vec<String> {
    let mut sink = Memory::default();
    session.eval_from(Source::Terminal, text, &mut sink);
    sink.lines
}

#[test]
fn a_dcmd_sees_how_it_was_called() {
    assert_eq!(lines("::seen"), ["::seen dot=Number(0) first"]);
    assert_eq!(lines("10$s -v a 'b c'"), ["$s dot=Number(16) addr first -v [a] [b c]"]);
    assert_eq!(lines("10::seen $[.+1]"), ["::seen dot=Number(16) addr first [0x11]"]);
}

#[test]
fn dot_stays_between_statements() {
    assert_eq!(lines("10; ::seen"), ["::seen dot=Number(16) first"]);
    assert_eq!(
        lines("10::seen; .+1::seen; &::seen").last().unwrap(),
        "::seen dot=Number(17) addr first"
    );
}

#[test]
fn a_count_repeats_and_dot_moves_by_the_increment() {
    assert_eq!(
        lines("10,3/X"),
        [
            "/ dot=Number(16) addr looped first count=3 [X]",
            "/ dot=Number(20) addr looped count=3 [X]",
            "/ dot=Number(24) addr looped count=3 [X]",
        ]
    );
    assert_eq!(lines("10/X; +::seen").last().unwrap(), "::seen dot=Number(20) addr first");
    assert_eq!(lines("10/X; ,2::seen").len(), 3);
}

#[test]
fn a_count_of_zero_sets_dot_and_runs_nothing() {
    assert_eq!(lines("10,0::seen; ::seen"), ["::seen dot=Number(16) first"]);
}

#[test]
fn a_count_can_be_a_length_and_has_a_bound() {
    assert_eq!(lines("10,5::length"), ["::length dot=Number(16) addr first count=5"]);
    assert_eq!(
        lines("0,ffffffff::seen"),
        ["error(::seen): count ffffffff is too high: at most 1000000"]
    );
}

#[test]
fn a_failure_ends_a_count_but_not_a_pipe() {
    assert_eq!(lines("2,5::odd"), ["abandoned", "error(::odd): 2 is even"]);
    assert_eq!(
        lines("::emit 1 2 3 | ::odd"),
        ["1 is odd", "abandoned", "error(::odd): 2 is even", "3 is odd"]
    );
}

#[test]
fn values_stay_typed_in_a_pipe() {
    assert_eq!(lines("::emit_thread | ::seen"), ["::seen dot=Thread(Tid(4711)) addr looped first"]);
}

#[test]
fn only_the_last_stage_is_shown() {
    assert_eq!(
        lines("::emit 1 2 | ::seen | ::odd"),
        ["1 is odd", "abandoned", "error(::odd): 2 is even"]
    );
    assert_eq!(lines("::emit 1 2 | ::seen").last().unwrap(), "::seen dot=Number(2) addr looped");
    assert_eq!(lines("::emit 1 | ::seen; ::seen").last().unwrap(), "::seen dot=Number(1) first");
}

#[test]
fn an_empty_pipe_ends_silently() {
    assert_eq!(lines("::emit | ::seen"), Vec::<String>::new());
}

#[test]
fn a_list_taker_runs_once() {
    assert_eq!(
        lines("::emit 1 2 | ::list; ::seen"),
        [
            "::list dot=Number(1) addr looped first list=[Number(1), Number(2)]",
            "::seen dot=Number(2) first",
        ]
    );
    assert_eq!(lines("1::list"), ["::list dot=Number(1) addr first"]);
}

#[test]
fn output_without_values_cannot_feed_a_pipe() {
    let expected = "error(::unfit): output of type 'said' cannot feed a pipe: no address";
    assert_eq!(lines("::unfit | ::seen"), [expected]);
    assert_eq!(lines("::emit 1 2 | ::unfit | ::seen"), [expected]);
}

#[test]
fn wrong_calls_show_usage_and_end_the_pipeline() {
    assert_eq!(
        lines("1::plain"),
        [
            "abandoned",
            "error(::plain): ::plain takes no address",
            "hint: Usage: ::plain [-v]",
            "hint: kcore: try '::help plain' for more information",
        ]
    );
    assert_eq!(
        lines("::needy"),
        [
            "abandoned",
            "error(::needy): ::needy needs an address",
            "hint: Usage: address::needy [word...]",
        ]
    );
    assert_eq!(
        lines("::plain -z")[..2],
        ["error(::plain): illegal option -- z", "hint: Usage: ::plain [-v]"]
    );
    assert_eq!(lines("::emit 1 2 | ::plain").len(), 4);
}

#[test]
fn unknown_dcmds_are_named_and_near_ones_offered() {
    assert_eq!(lines("::zzz"), ["error(::zzz): invalid command '::zzz': unknown dcmd name"]);
    assert_eq!(lines("$k"), ["error($k): invalid command '$k': unknown dcmd name"]);
    assert_eq!(lines(":y"), ["error(:y): invalid command ':y': unknown dcmd name"]);
    assert_eq!(
        lines("::sene"),
        ["error(::sene): invalid command '::sene': unknown dcmd name (did you mean '::seen'?)"]
    );
}

#[test]
fn format_words_are_no_options() {
    assert_eq!(lines("1=-4X \"a b\""), ["= dot=Number(1) addr first [-4X] [\"a b\"]"]);
}

#[test]
fn expressions_that_fail_stop_only_their_statement() {
    assert_eq!(
        lines("nosuch_symbol_at_all::seen; ::seen"),
        [
            "error(nosuch_symbol_at_all::seen): failed to dereference symbol 'nosuch_symbol_at_all': \
         unknown symbol name",
            "::seen dot=Number(0) first",
        ]
    );
    assert_eq!(
        lines("5,nosuch_symbol_at_all::seen; ::seen").last().unwrap(),
        "::seen dot=Number(0) first"
    );
}

#[test]
fn a_syntax_error_drops_its_line_alone() {
    assert_eq!(
        lines("5 5; ::seen\n::seen"),
        [
            "error(): syntax error near \"5\"",
            "hint:   5 5; ::seen\n    ^",
            "::seen dot=Number(0) first",
        ]
    );
}

#[test]
fn scripts_name_lines_and_go_on() {
    let mut sink = Memory::default();
    let mut input: &[u8] = b"::seen\n// nothing\n5 )\n::seen \xff\n";
    let status = script::run(&mut session(), &mut input, "a.mdb", &mut sink);
    assert_eq!(status, Status::FAILED);
    assert_eq!(
        sink.lines,
        [
            "::seen dot=Number(0) first",
            "error(): syntax error on line 3 of a.mdb near \")\"",
            "hint:   5 )\n    ^",
            "::seen dot=Number(0) first [\u{fffd}]",
        ]
    );
}

#[test]
fn long_lines_are_refused_and_skipped() {
    let mut sink = Memory::default();
    let long = format!("::seen {}\n::seen\n", "x".repeat(200_000));
    let status = script::run(&mut session(), &mut long.as_bytes(), "a.mdb", &mut sink);
    assert_eq!(status, Status::FAILED);
    assert_eq!(
        sink.lines,
        [
            "error(): line of 65538 bytes exceeds the limit of 65536 on line 1 of a.mdb",
            "::seen dot=Number(0) first",
        ]
    );
}

#[test]
fn a_bare_expression_repeats_the_last_pipeline_for_a_user() {
    let mut session = session();
    assert_eq!(typed(&mut session, "10"), Vec::<String>::new());
    typed(&mut session, "::seen a");
    assert_eq!(typed(&mut session, "20"), ["::seen dot=Number(32) addr first [a]"]);
    assert_eq!(typed(&mut session, "30,2").len(), 2);
    assert_eq!(eval_in(&mut session, "40").0, Vec::<String>::new());
}

#[test]
fn the_radix_counts_from_the_next_statement_on() {
    assert_eq!(lines("0t10$d; 10::seen"), ["::seen dot=Number(10) addr first"]);
    assert_eq!(lines("20$d"), ["abandoned", "error($d): expected radix from 2 to 16, not 32"]);
}

#[test]
fn variables_are_written_and_read() {
    assert_eq!(lines("1234>x; <x+1::seen"), ["::seen dot=Number(4661) addr first"]);
    assert_eq!(lines("1234>/c/x; <x::seen"), ["::seen dot=Number(52) addr first"]);
    assert_eq!(lines("::emit 1 2 | >x; <x::seen"), ["::seen dot=Number(2) addr first"]);
    assert_eq!(lines("1>thread"), ["error(>): cannot modify read-only variable 'thread'"]);
    assert_eq!(lines("<nosuch=X"), ["error(<nosuch=X): variable 'nosuch' is not defined"]);
    assert_eq!(lines("<thread=X"), ["error(<thread=X): no process active"]);
}

#[test]
fn memory_that_is_not_there_is_a_failure() {
    assert_eq!(
        lines("*ffffffff00000000=X"),
        ["error(*ffffffff00000000=X): failed to read from address ffffffff00000000: \
         no mapping for address"]
    );
}

#[test]
fn symbols_are_those_of_the_target() {
    let main = session().core().symbols().lookup(None, "main").unwrap().get();
    assert_eq!(lines("main::seen"), [format!("::seen dot=Number({main}) addr first")]);
}

#[test]
fn quit_and_a_closed_output_drop_the_rest() {
    assert_eq!(eval_in(&mut session(), "::seen; ::quit; ::seen").1, Status::stopped(Stop::Quit));
    let mut sink = Memory { closed: true, ..Memory::default() };
    assert_eq!(session().eval("::seen; ::zzz", &mut sink), Status::stopped(Stop::Closed));
    assert_eq!(sink.lines, ["abandoned"]);
}

#[test]
fn a_failure_is_remembered_and_what_was_begun_is_abandoned() {
    let (lines, status) = eval_in(&mut session(), "::torn; ::seen");
    assert_eq!(status, Status::FAILED);
    assert_eq!(lines[..3], ["begin: begun", "abandoned", "error(::torn): torn"]);
}

#[test]
fn ctrl_c_stops_the_command_and_drops_the_rest() {
    let mut session = session();
    let interrupt = Arc::clone(session.core.budget().interrupt());
    let presser = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        interrupt.store(true, Ordering::SeqCst);
    });
    let (lines, status) = eval_in(&mut session, "::spin; ::seen");
    presser.join().unwrap();
    assert_eq!((lines.len(), status), (2, Status::stopped(Stop::Interrupted)));
    assert_eq!(lines[1], "error(::spin): interrupted");
    assert_eq!(eval_in(&mut session, "::seen").1, Status::DONE);
}

#[test]
fn shell_commands_take_output_and_may_stop_reading() {
    let file = std::env::temp_dir().join(format!("kcore-shell-test-{}", std::process::id()));
    let path = file.display();
    assert_eq!(eval_in(&mut session(), &format!("::emit a b c ! grep b > {path}")).1, Status::DONE);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "b\n");
    assert_eq!(eval_in(&mut session(), &format!("! echo x > {path}")).1, Status::DONE);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\n");
    std::fs::remove_file(&file).unwrap();
    let many = "1 ".repeat(20_000);
    assert_eq!(eval_in(&mut session(), &format!("::emit {many} ! true; ::seen")).1, Status::DONE);
}

#[test]
fn a_shell_command_may_feed_a_pipe() {
    assert_eq!(lines("! printf '1\\n3\\n' | ::odd"), ["1 is odd", "3 is odd"]);
    assert_eq!(lines("::emit 5 7 9 ! sort -r | head -1 | ::odd"), ["9 is odd"]);
    assert_eq!(
        lines("! echo 1 2 | ::odd; ::seen").first().unwrap(),
        "error(!): syntax error near \"2\""
    );
    assert_eq!(lines("! true | ::odd"), Vec::<String>::new());
    let many = "1 ".repeat(20_000);
    assert_eq!(lines(&format!("::emit {many} ! cat | ::list | ::odd")), ["1 is odd"]);
}

#[test]
fn text_within_text_runs_where_it_stands() {
    assert_eq!(
        lines("10::run '::seen; 20'; ::seen").last().unwrap(),
        "::seen dot=Number(32) first"
    );
    assert_eq!(lines("::emit 1 3 | ::run '::odd'"), ["1 is odd", "3 is odd"]);
    assert_eq!(lines("::run '::emit 1 3' | ::odd"), ["1 is odd", "3 is odd"]);
    assert_eq!(lines("::run '::emit 1 3 ! cat' | ::odd"), ["1 is odd", "3 is odd"]);
    assert_eq!(
        lines("::emit 2 3 | ::run '::odd'"),
        ["abandoned", "error(::odd): 2 is even", "abandoned"]
    );
    assert_eq!(eval_in(&mut session(), "::run '::quit'; ::seen").1, Status::stopped(Stop::Quit));
}

#[test]
fn bound_variables_follow_each_value() {
    assert_eq!(
        lines("::bind x 1 2 | ::run '::emit 5 6' | ::run '<x::seen'"),
        [1, 1, 2, 2].map(|x| format!("::seen dot=Number({x}) addr first"))
    );
    assert_eq!(
        lines("::bind x 1 2 | ::bind y 3 | ::run '<x*10+<y::seen'"),
        [0x13, 0x23].map(|x| format!("::seen dot=Number({x}) addr first"))
    );
}

#[test]
fn macros_run_return_and_replace() {
    let folder = std::env::temp_dir().join(format!("kcore-macros-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("two", "::seen in two\n,0::seen never\n");
    write("outer", "$<<two\n::seen back\n$<two\n::seen never\n");
    write("early", ",0$<\n::seen once\n,1$<\n::seen never\n");
    write("endless", "$<<endless\n");
    write("wrong", "::seen\n5 ); ::seen\n");
    let mut session = session();
    session.settings.macro_path = vec![folder.clone()];
    let mut run = |text: &str| eval_in(&mut session, text).0;
    let seen = |words: &str| format!("::seen dot=Number(16) first {words}");
    let two = seen("[in] [two]");
    assert_eq!(run("10$<two"), [two.as_str()]);
    assert_eq!(
        run("10$<outer; ::seen after"),
        [two.clone(), seen("[back]"), two.clone(), seen("[after]")]
    );
    assert_eq!(run("10$<early"), [seen("[once]")]);
    assert_eq!(run("10,7$<two; <9::seen").last().unwrap(), "::seen dot=Number(7) addr first");
    let deep = "error($<<): commands are nested more than 32 deep".to_owned();
    assert!(run("$<endless").contains(&deep));
    let path = folder.join("wrong");
    assert_eq!(
        run("1$<wrong")[1..],
        [
            format!("error(): syntax error on line 2 of {} near \")\"", path.display()),
            "hint:   5 ); ::seen\n    ^".into(),
            "::seen dot=Number(1) first".into(),
            "abandoned".into(),
        ]
    );
    assert_eq!(run("$<none").last().unwrap(), "error($<): failed to open none (see ::help '$<')");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn printers_are_loaded_from_folders_that_nobody_else_can_write_to() {
    use std::os::unix::fs::PermissionsExt;

    use kcore_dcmd::Shell;

    let folder = std::env::temp_dir().join(format!("kcore-printers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("own.kcore");
    std::fs::write(&path, "[[type]]\nname = 'a'\nsame = 'b'\n").unwrap();
    std::fs::write(folder.join("broken.natvis"), "<no").unwrap();
    let loaded = |mode: u32| {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut session = session();
        session.settings.printer_path = vec![folder.clone()];
        let printers = Arc::clone(Shell::printers(&session));
        let is_own = |name: &str| name == path.to_string_lossy();
        let is_loaded = printers.files().iter().any(|file| is_own(&file.name));
        (is_loaded, printers.take_troubles().join(" "))
    };
    let (is_loaded, troubles) = loaded(0o700);
    assert!(is_loaded && troubles.contains("broken.natvis"), "{troubles}");
    let (is_loaded, troubles) = loaded(0o777);
    let told = format!("no printers of {} are loaded", folder.display());
    assert!(!is_loaded && troubles.contains(&told), "{troubles}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_empty_line_repeats_where_the_settings_say_so() {
    let mut session = session();
    assert_eq!(typed(&mut session, ""), Vec::<String>::new());
    typed(&mut session, "10/X");
    assert_eq!(typed(&mut session, " "), Vec::<String>::new());
    session.settings.repeat_last = true;
    assert_eq!(typed(&mut session, ""), ["/ dot=Number(20) first [X]"]);
    assert_eq!(typed(&mut session, ""), ["/ dot=Number(24) first [X]"]);
}

#[test]
fn what_aborts_ends_the_pipeline_and_not_only_its_stage() {
    // The first value has come through when the second one fails.
    let aborted = lines("::emit 1 2 | ::run '::odd' | ::seen; ::seen after");
    assert_eq!(aborted.last().unwrap(), "::seen dot=Number(2) first [after]");
    assert_eq!(aborted.iter().filter(|line| line.starts_with("::seen")).count(), 1, "{aborted:?}");
    let failed = lines("::emit 1 2 3 | ::odd | ::seen");
    assert_eq!(failed.iter().filter(|line| line.starts_with("::seen")).count(), 2, "{failed:?}");
}

#[test]
fn bindings_end_with_their_statement() {
    let mut session = session();
    session.settings.repeat_last = true;
    typed(&mut session, "::bind x 1 | ::run '7'");
    typed(&mut session, "");
    typed(&mut session, "5>x");
    assert_eq!(
        typed(&mut session, "::emit 2 | ::run '<x::seen'"),
        ["::seen dot=Number(5) addr first"]
    );
}

#[test]
fn a_count_or_an_empty_line_gives_no_address() {
    let mut session = session();
    session.settings.repeat_last = true;
    typed(&mut session, "::plain");
    assert_eq!(typed(&mut session, ""), ["::plain dot=Number(0) first"]);
    assert_eq!(typed(&mut session, ",2").len(), 2);
}

#[test]
fn a_shell_command_alone_is_not_repeated() {
    let mut session = session();
    typed(&mut session, "::seen a");
    typed(&mut session, "! true");
    assert_eq!(typed(&mut session, "7"), ["::seen dot=Number(7) addr first [a]"]);
}

#[test]
fn a_failure_is_not_forgotten_when_nobody_reads_on() {
    assert_eq!(eval_in(&mut session(), "::emit 2 3 | ::odd ! head -1").1, Status::FAILED);
    let many = "1 ".repeat(20_000);
    let line = format!("::emit 2 {many} | ::odd ! true");
    assert_eq!(eval_in(&mut session(), &line).1, Status::FAILED);
}

#[test]
fn values_from_a_shell_keep_what_is_bound_around_them() {
    assert_eq!(
        lines("::bind x 1 2 | ::run '! echo 5 | ::run .' | ::run '<x::seen'"),
        Vec::<String>::new()
    );
    assert_eq!(
        lines("::bind x 1 2 | ::run '! echo 5 | ::seen' | ::run '<x::seen'"),
        [1, 2].map(|x| format!("::seen dot=Number({x}) addr first"))
    );
}

#[test]
fn what_a_shell_command_leaves_behind_does_not_hold_the_session() {
    let mut session = session();
    let interrupt = Arc::clone(session.core.budget().interrupt());
    let presser = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        interrupt.store(true, Ordering::SeqCst);
    });
    let (_, status) = eval_in(&mut session, "! sleep 5 & echo 1 | ::seen");
    presser.join().unwrap();
    assert_eq!(status.stop(), Some(Stop::Interrupted));
}

#[test]
fn failures_pass_by_a_shell_command() {
    assert_eq!(lines("2::odd ! cat"), ["abandoned", "error(::odd): 2 is even"][1..]);
}

//! Lines of gdb and lldb typed into kcore: they show what kcore's own lines show, and the facts in that are
//! gdb's on the same core.

mod facts;
mod run;

use run::{Core, kcore};

/// Lines of other debuggers on the core of `nodes`, and kcore's own.
const ALIASES: &[(&str, &str)] = &[
    ("bt", "$C"),
    ("backtrace", "$C"),
    ("where", "$C"),
    ("bt 2", "$C -l 2"),
    ("bt full", "::stack -v"),
    ("bt ! head -2", "$C ! head -2"),
    ("thread apply all bt", "::walk thread | ::stack"),
    ("thread backtrace all", "::walk thread | ::stack"),
    ("thread apply all bt full", "::walk thread | ::stack -v"),
    ("thread apply 1 bt", "0t14397::stack"),
    ("info threads", "::threads"),
    ("i th", "::threads"),
    ("thread", "::thread"),
    ("thread 1", "0t14397::thread"),
    ("thread 14397", "0t14397::thread"),
    ("frame", "::frame"),
    ("frame 1", "::frame 1"),
    ("f 1", "::frame 1"),
    ("up", "::frame 1"),
    ("up 2; down", "::frame 2; ::frame 1"),
    ("info locals", "::locals"),
    ("info args", "::locals"),
    ("info locals total", "::locals total"),
    ("info registers", "::regs"),
    ("i r", "::regs"),
    ("register read", "::regs"),
    ("info registers rip", "<rip=J"),
    ("register read $sp", "<rsp=J"),
    ("info all-registers", "::regs; ::fpregs"),
    ("p first", "::print first"),
    ("print first.n_pts[1].x", "::print first.n_pts[1].x"),
    ("p *request", "::print *request"),
    ("p request->serial + 2", "::print 'request->serial + 2'"),
    ("p/x total", "::print -x total"),
    ("p/d total", "::print -d total"),
    ("p 10+2", "0t10+2=e"),
    ("p/x 255", "ff=J"),
    ("p $pc", "<rip=J"),
    ("p *(struct node *)0x4060e0", "4060e0::print struct node"),
    ("p sizeof(struct node)", "::sizeof struct node"),
    ("p $_siginfo", "::siginfo"),
    ("ptype struct node", "::print -at struct node"),
    ("whatis request", "::print -t request"),
    ("x/8gx $rsp", "<rsp,8/J"),
    ("x/4dw $rsp + 16", "<rsp+10,4/D"),
    ("x/3i $pc", "<rip,3/i"),
    ("x/4i main", "main,4/i"),
    ("x/s 0x40400c", "40400c/s"),
    ("memory read $sp", "<rsp,20::dump"),
    ("info symbol $pc", "<rip::whatis"),
    ("image lookup -a 0x401184", "401184::whatis"),
    ("info address main", "main=K"),
    ("info line", "::frame"),
    ("info sharedlibrary", "::objects"),
    ("image list", "::objects"),
    ("info proc mappings", "::mappings"),
    ("info proc cmdline", "::args"),
    ("info auxv", "::auxv"),
    ("info program", "::status"),
    ("disassemble", "handle_get::dis"),
    ("disassemble main", "main::dis"),
    ("disassemble $pc", "handle_get::dis"),
    ("list", "::frame -s"),
    ("set print elements 2", "::set -o array_mem_limit=2"),
    ("set pagination off", "::set +o pager"),
    ("show version", "::version"),
    ("help stack", "::help stack"),
    ("shell echo a", "! echo a"),
    ("quit", "::quit"),
];

#[test]
fn a_line_of_gdb_shows_what_ours_shows() {
    for (theirs, ours) in ALIASES {
        let (theirs_shown, ours_shown) = (kcore(theirs), kcore(ours));
        assert_eq!(theirs_shown.out, ours_shown.out, "{theirs}");
        assert!(
            ours_shown.succeeded && theirs_shown.succeeded,
            "{theirs}: {}",
            theirs_shown.errors
        );
        let words = theirs.split([';', '!']).next().unwrap().trim();
        let told = theirs_shown.errors.lines().next().unwrap_or_default();
        assert!(told.starts_with(&format!("kcore: {words}")), "{theirs}: {told}");
    }
}

#[test]
fn ours_is_named_once_and_never_in_json() {
    let shown = kcore("info threads; i th; info threads");
    assert_eq!(shown.errors, "kcore: info threads is ::threads here\n");
    let core = Core::nodes();
    let (theirs, ours) = (core.json("info threads"), core.json("::threads"));
    assert_eq!((theirs.out, theirs.errors.as_str()), (ours.out, ""));
}

#[test]
fn what_has_no_equal_is_refused_with_what_to_type() {
    for (line, answer) in [
        ("break main", "break main: a core does not run: there are no breakpoints"),
        ("next", "next: a core does not run, and kcore runs nothing"),
        ("info functions ma.*", "type ::nm -t func ! grep REGEX"),
        ("x/8gx request", "type ADDR,COUNT/LETTER (the address comes first"),
        ("p frob(2)", "type ::print EXPR, N+N=E"),
        ("thread 99", "type 0tLWP::thread"),
        ("down", "type ::frame (there is no inner frame)"),
        ("set sysroot /x", "type kcore --sysroot DIR CORE"),
        ("attach 5", "type kcore -p PID"),
        ("info nosuch", "type ::dcmds"),
    ] {
        let shown = kcore(line);
        assert!(shown.errors.contains(answer), "{line}: {}", shown.errors);
        assert!(!shown.succeeded && shown.out.is_empty(), "{line}");
    }
    assert!(kcore("set print pretty on").succeeded);
}

#[test]
fn what_mdb_knows_is_mdbs() {
    // A symbol of the program, numbers, operators, formats: none of these is a line of gdb.
    for (line, shown) in [
        ("exit=p", "                exit               \n"),
        ("f=D", "                15              \n"),
        ("c>p; <p=X", "                c               \n"),
        ("exit; .=p", "                exit               \n"),
        ("b&f=X", "                b               \n"),
    ] {
        let answer = kcore(line);
        assert_eq!((answer.out.as_str(), answer.errors.as_str()), (shown, ""), "{line}");
    }
    // A name that the user gives becomes one that MDB knows.
    let given = kcore("main::nmadd bt; bt; .=K");
    assert_eq!(given.errors, "");
    assert!(given.out.ends_with("                40126d          \n"), "{}", given.out);
}

#[test]
fn the_table_needs_no_core() {
    let table = run::program(&["gdb"]);
    assert!(table.succeeded && table.out.contains("* info threads"), "{}", table.out);
    assert!(table.out.contains("kcore -p PID"));
}

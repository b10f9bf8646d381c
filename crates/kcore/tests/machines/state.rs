//! Signals, registers and thread-local variables of each machine.

use kcore::{Addr, Tid, signal};

use crate::{Opened, open, variants};

/// The lines that a program printed as `tid name address`.
fn printed(opened: &Opened) -> Vec<(Tid, String, Addr)> {
    let text = std::fs::read_to_string(opened.case.dir.join("output.txt")).expect("its output");
    let read = |line: &str| {
        let mut words = line.split(' ');
        let tid = Tid::new(words.next()?.parse().ok()?);
        let name = words.next()?.to_owned();
        Some((tid, name, Addr::new(u64::from_str_radix(words.next()?, 16).ok()?)))
    };
    text.lines().filter_map(read).collect()
}

#[test]
fn thread_local_variables_lie_where_each_thread_saw_them() {
    // Static programs of others keep the thread pointer where no core has it; dynamic ones have glibc's list of threads.
    // Compilers of PowerPC have no word for the pointer, which the program prints.
    let cases = [
        ("tls-static", "O0-i386-static"),
        ("tls-static", "O0-s390x-static"),
        ("tls", "O2-s390x-pie"),
        ("tls", "O2-arm-pie"),
        ("tls", "O2-mips-pie"),
    ];
    for (scenario, machine) in cases {
        let Some(opened) = open(scenario, machine) else { continue };
        let printed = printed(&opened);
        assert!(printed.len() >= 12, "{machine}");
        let tls = opened.core.tls();
        for (tid, name, address) in printed {
            let found = match name.as_str() {
                "errno" => tls.errno(tid).ok(),
                "pointer" => tls.pointer(tid),
                name => tls.variable(tid, None, name).ok(),
            };
            assert_eq!(found, Some(address), "{machine} {tid} {name}");
        }
    }
}

#[test]
fn the_signal_of_each_machine_has_its_own_name() {
    for variant in variants("O0") {
        let Some(opened) = open("abort", &variant) else { continue };
        let crashed = opened.core.crashed_thread().expect("a thread that died");
        assert_eq!(signal::name(crashed.signal), "SIGABRT", "{variant}");
    }
    for variant in variants("O0") {
        let Some(opened) = open("signal-handler", &variant) else { continue };
        let tid = opened.core.crashed_thread().expect("a thread that died").tid;
        let stack = opened.core.stacks().of_thread(tid, 64);
        let taken = stack.frames.iter().filter_map(|frame| opened.core.crash().taken_signal(frame));
        for taken in taken {
            let name = signal::name(taken.number);
            assert!(
                ["SIGUSR1", "SIGSEGV", "SIGFPE", "SIGBUS"].contains(&&*name),
                "{variant}: {name}"
            );
        }
    }
}

#[test]
fn the_stack_pointer_and_the_program_counter_are_those_of_the_innermost_frame() {
    for variant in variants("O2") {
        let Some(opened) = open("leaf", &variant) else { continue };
        let core = &opened.core;
        let tid = core.crashed_thread().expect("a thread that died").tid;
        let machine = core.machine().expect("a machine");
        let pc = core.registers().named(tid, 0, machine.pc_name()).expect("it has registers");
        let frame = core.stacks().of_thread(tid, 1).frames[0];
        assert_eq!(pc.map(Addr::new), Some(frame.pc.addr()), "{variant}");
        assert!(core.modules().at(frame.pc.addr()).is_some_and(|it| it.is_exe()), "{variant}");
        assert_eq!(core.registers().stack_pointer(tid), frame.sp, "{variant}");
        let names: Vec<_> = core.registers().user(tid).iter().map(|it| it.name).collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{variant}: {names:?}");
    }
}

//! The one finding that each program of the gallery has.

/// A program, and what is to be found.
pub struct Claim {
    /// The scenario.
    pub scenario: &'static str,
    /// The name of the finder.
    pub finder: &'static str,
    /// The word for how sure it is: with `-O0`, and with `-O2`.
    pub sure: [&'static str; 2],
    /// What the sentence holds. `{name}` is a fact of the program's own account.
    pub says: &'static [&'static str],
    /// The variants.
    pub variants: [&'static str; 2],
}

const C: [&str; 2] = ["O0-pie", "O2-pie"];
const RUST: [&str; 2] = ["debug-pie", "release-pie"];
const CERTAIN: [&str; 2] = ["certain", "certain"];
const LIKELY: [&str; 2] = ["likely", "likely"];

const fn claim(
    scenario: &'static str,
    finder: &'static str,
    sure: [&'static str; 2],
    says: &'static [&'static str],
) -> Claim {
    Claim { scenario, finder, sure, says, variants: C }
}

const fn rust(scenario: &'static str, says: &'static [&'static str]) -> Claim {
    Claim { scenario, finder: "last-words", sure: CERTAIN, says, variants: RUST }
}

/// All of them.
pub const CLAIMS: &[Claim] = &[
    claim("abort", "abort", CERTAIN, &["aborted itself", "give_up"]),
    claim("noreturn-end", "abort", CERTAIN, &["aborted itself", "die"]),
    claim("assert", "last-words", CERTAIN, &["{abort_message}", "check_order"]),
    claim("malloc-abort", "last-words", CERTAIN, &["{abort_message}", "release"]),
    Claim {
        variants: ["O2-nopie", "O2-pie"],
        ..claim("fortify", "last-words", CERTAIN, &["{abort_message}", "set_name"])
    },
    claim("stack-chk", "last-words", CERTAIN, &["{abort_message}", "copy_name"]),
    claim(
        "terminate",
        "last-words",
        CERTAIN,
        &["{exception_type}", "{exception_what}", "read_value"],
    ),
    claim("terminate-derived", "last-words", CERTAIN, &["{exception_type}", "{exception_what}"]),
    claim("terminate-rethrown", "last-words", CERTAIN, &["{exception_type}", "{exception_what}"]),
    Claim {
        variants: ["go1.19", "go1.27-stripped"],
        ..claim(
            "goroutines",
            "last-words",
            CERTAIN,
            &[
                "nobody recovered from the panic: runtime error: invalid memory address",
                "in main.fault",
            ],
        )
    },
    rust("rust-panic-abort", &["panicked at", "main.rs:", "{panic_message}"]),
    rust("rust-double-panic", &["panicked at"]),
    rust("rust-panic-extern", &["panicked"]),
    claim("smashed", "bad-return", CERTAIN, &["victim returned to 0x4", "the text"]),
    claim(
        "smashed-wild",
        "execution",
        CERTAIN,
        &["jumped to {fault_address}, where nothing is mapped"],
    ),
    claim(
        "smashed-below",
        "null-access",
        LIKELY,
        &["read through 0x10, a pointer close to null, in use"],
    ),
    claim("null-call", "execution", CERTAIN, &["jumped to a null pointer, called from dispatch"]),
    claim(
        "null-call-signal",
        "execution",
        LIKELY,
        &["jumped to a null pointer, called from fetch"],
    ),
    claim(
        "wild-call",
        "execution",
        CERTAIN,
        &["{fault_address}, where nothing is mapped, called from dispatch"],
    ),
    claim(
        "data-jump",
        "execution",
        CERTAIN,
        &["{fault_address}", "does not hold code, called from dispatch"],
    ),
    claim(
        "stack-jump",
        "execution",
        CERTAIN,
        &["{fault_address}", "[ stack ]", "does not hold code", "dispatch"],
    ),
    claim("leaf", "null-access", CERTAIN, &["read through a null pointer at offset 8, in leaf"]),
    claim(
        "workers",
        "null-access",
        CERTAIN,
        &["read through a null pointer at offset 8, in parse_header"],
    ),
    claim(
        "nodes",
        "null-access",
        ["likely", "certain"],
        &["wrote through", "null", "in handle_get"],
    ),
    claim("cpp", "null-access", ["likely", "certain"], &["read through", "null", "hidden"]),
    claim("main-exited", "null-access", ["likely", "certain"], &["read through", "null", "in use"]),
    claim("strlen-fault", "null-access", LIKELY, &["read through 0x10, a pointer close to null"]),
    claim("memcpy-fault", "null-access", LIKELY, &["read through 0x10, a pointer close to null"]),
    claim("signal-told", "null-access", LIKELY, &["read through 0x8, a pointer close to null"]),
    claim(
        "altstack",
        "null-access",
        LIKELY,
        &["read through 0x8, a pointer close to null, in first"],
    ),
    claim("signal-again", "null-access", LIKELY, &["read through {first_address}", "in fetch"]),
    claim(
        "signal-again-altstack",
        "null-access",
        LIKELY,
        &["read through {first_address}", "in fetch"],
    ),
    claim(
        "signal-again-other",
        "null-access",
        LIKELY,
        &["read through {first_address}", "in work"],
    ),
    claim("signal-nested", "null-access", LIKELY, &["read through 0x8", "in fetch"]),
    claim(
        "signal-again-division",
        "division",
        CERTAIN,
        &["an integer division failed", "in fetch"],
    ),
    claim(
        "signal-again-non-canonical",
        "bad-pointer",
        CERTAIN,
        &["whose bytes are the text", "in fetch"],
    ),
    claim(
        "write-fault",
        "read-only-write",
        CERTAIN,
        &["wrote to {fault_address} in read-only memory", "capitalize"],
    ),
    claim(
        "signal-again-plain",
        "no-access",
        CERTAIN,
        &["read at {first_address}", "allows no access, in fetch"],
    ),
    claim("plt-slot", "jump-target", CERTAIN, &["whose bytes are the text 'AAAAAAAA', in ask"]),
    Claim {
        variants: ["O2-pie", "O2fp-nopie"],
        ..claim(
            "crypto-md5",
            "no-access",
            CERTAIN,
            &["read at ", "allows no access, in MD5_Update"],
        )
    },
    claim("stack-overflow", "stack-overflow", CERTAIN, &["calls that repeat: recurse"]),
    claim("stack-overflow-thread", "stack-overflow", CERTAIN, &["calls that repeat: recurse"]),
    claim("stack-overflow-handled", "stack-overflow", CERTAIN, &["calls that repeat: recurse"]),
    claim(
        "why-noexcept",
        "last-words",
        CERTAIN,
        &[
            "{exception_type}: ",
            ": {exception_what} reached app::read_row, which must let none out",
            ", thrown in app::read_value",
        ],
    ),
    claim(
        "why-several-bases",
        "last-words",
        CERTAIN,
        &[
            "nobody caught an exception of type {exception_type}: ",
            ": {exception_what}, in app::read_value",
        ],
    ),
    claim(
        "why-nested-exception",
        "last-words",
        CERTAIN,
        &[
            "{exception_type}: ",
            ": {exception_what}, which came of one of type std::runtime_error: no column price",
        ],
    ),
    Claim {
        finder: "last-words",
        ..rust("why-rust-allocation", &["memory allocation of 140737488355328 bytes failed"])
    },
    claim(
        "why-null-element",
        "null-access",
        CERTAIN,
        &["in look: it read table[3]->len, and table[3] is null"],
    ),
    claim(
        "why-null-passed",
        "null-access",
        CERTAIN,
        &["in length_of: it read peer->len, and peer is null, which look passed as conns[3].peer"],
    ),
    claim(
        "why-map-failed",
        "negative-pointer",
        CERTAIN,
        &["read through -1 (the value of MAP_FAILED", "at offset 16, in first_of: bytes is -1"],
    ),
    claim(
        "why-rseq",
        "rseq",
        CERTAIN,
        &["restartable sequences was overwritten", "0x4141414142424242"],
    ),
    claim(
        "why-small-stack",
        "stack-overflow",
        CERTAIN,
        &["the frame of format, of 40", "does not fit in what its stack has left"],
    ),
    claim("killed", "ended", CERTAIN, &["process ", "sent SIGQUIT"]),
    claim("signal-again-alarm", "ended", CERTAIN, &["the process sent SIGSEGV to itself"]),
];

/// Cores of runtimes, and of the other C library: the finder, and what its sentence holds. All are certain.
pub const RUNTIMES: &[(&str, &str, &str, &str)] = &[
    ("node-stack", "node24", "last-words", "the program called process.abort(), in Object.die"),
    ("node-stack", "node16", "last-words", "the program called process.abort(), in Object.die"),
    (
        "node-ends",
        "node24",
        "last-words",
        "an exception of type QuotaError: over the limit, in Timeout.later",
    ),
    ("node-oom", "node24", "last-words", "JavaScript heap out of memory, in fill"),
    ("node-fatal", "node24", "last-words", "the runtime gave up: Check failed: "),
    ("python-ends", "python3.13", "last-words", "an exception of type Refused: größe: no"),
    ("python-natives", "python3.13", "abort", "the process aborted itself, in end"),
    ("go-ends", "go1.19", "last-words", "nobody recovered from the panic: named by itself"),
    ("stack-chk", "O2fp-musl-nopie", "trap", "the stack was smashed: "),
];

/// Programs whose cores do not say why the signal was sent, with the finder and what its sentence holds. All are likely.
pub const UNTOLD: &[(&str, &str, &str, &str)] = &[
    ("abort", "O0-aarch64-static", "abort", "aborted itself, in give_up"),
    ("fortify", "O2-aarch64-static", "last-words", "buffer overflow detected"),
    (
        "leaf",
        "O2fp-aarch64-nopie",
        "null-access",
        "read through a null pointer at offset 8, in leaf",
    ),
    (
        "null-call",
        "O2fp-aarch64-nopie",
        "execution",
        "jumped to a null pointer, called from dispatch",
    ),
    ("cpp", "O0-aarch64-static", "null-access", "read through 0x8, a pointer close to null"),
];

/// Cores of processes that had not crashed.
pub const HEALTHY: &[(&str, &str)] = &[("killed", "O2-pie-gcore")];

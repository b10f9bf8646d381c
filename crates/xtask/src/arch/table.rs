//! The plan: which crate may use which, in the order in which data flows.
//!
//! An edge that is not in here is a decision about the house: add it with the reason.

/// A crate, and what it may use other than for its tests.
pub struct Room {
    /// Its name.
    pub name: &'static str,
    /// Crates of the workspace.
    pub uses: &'static [&'static str],
    /// Crates of others.
    pub third_party: &'static [&'static str],
}

/// Every crate of the workspace.
pub const ROOMS: &[Room] = &[
    Room { name: "kcore-mem", uses: &[], third_party: &["thiserror"] },
    // rayon stays behind this door, which sees that there is somebody to do the work.
    Room { name: "kcore-parallel", uses: &[], third_party: &["rayon"] },
    // goblin stays behind this door; the decompressors are for compressed sections, libc for the
    // signal by which a map tells that its file is gone.
    Room {
        name: "kcore-elf",
        uses: &["kcore-mem"],
        third_party: &[
            "goblin",
            "memmap2",
            "stable_deref_trait",
            "thiserror",
            "flate2",
            "ruzstd",
            "libc",
        ],
    },
    // The decompressors are for whole cores, and so is zstd, which packs them; minidump reads dumps that are no cores; ureq asks
    // debuginfod servers.
    Room {
        name: "kcore-files",
        uses: &["kcore-mem", "kcore-elf"],
        third_party: &[
            "ruzstd",
            "flate2",
            "liblzma",
            "lz4_flex",
            "bzip2",
            "minidump",
            "zstd",
            "rustix",
            "tempfile",
            "thiserror",
            "ureq",
        ],
    },
    // It writes a live process as a core, which the reader of cores then reads.
    Room {
        name: "kcore-live",
        uses: &["kcore-mem", "kcore-elf"],
        third_party: &["libc", "perf-event-open-sys", "thiserror"],
    },
    // It is handed section bytes and module ranges, and never opens an ELF file.
    Room {
        name: "kcore-unwind",
        uses: &["kcore-mem"],
        third_party: &["gimli", "rustc-hash", "thiserror"],
    },
    // Source maps are JSON.
    Room {
        name: "kcore-symbols",
        uses: &["kcore-mem", "kcore-parallel", "kcore-elf"],
        third_party: &["gimli", "rustc-demangle", "rustc-hash", "serde", "serde_json"],
    },
    // What a type means in memory. It asks the process around it through a trait. It reads files of printers, which are
    // TOML or XML.
    Room {
        name: "kcore-values",
        uses: &["kcore-mem", "kcore-symbols"],
        third_party: &["gimli", "memchr", "roxmltree", "rustc-hash", "serde", "thiserror", "toml"],
    },
    // Runtimes see a process through a trait as well, and open no file.
    Room {
        name: "kcore-runtimes",
        uses: &["kcore-mem", "kcore-parallel", "kcore-elf", "kcore-unwind", "kcore-symbols"],
        third_party: &["memchr", "rustc-hash", "thiserror"],
    },
    // Allocators see a process through a trait of their own; of the walker they know the name of a thread.
    Room {
        name: "kcore-heap",
        uses: &["kcore-mem", "kcore-parallel", "kcore-unwind"],
        third_party: &["memchr", "rustc-hash", "thiserror"],
    },
    Room { name: "kcore-disasm", uses: &["kcore-mem"], third_party: &["capstone", "thiserror"] },
    // Names and numbers, and the formats of others; it knows no process.
    Room {
        name: "kcore-profile",
        uses: &[],
        third_party: &[
            "flate2",
            "fxprof-processed-profile",
            "inferno",
            "prost",
            "rustc-hash",
            "serde_json",
            "thiserror",
        ],
    },
    // The facade wires all rooms below, and knows no command and no format of output.
    Room {
        name: "kcore",
        uses: &[
            "kcore-mem",
            "kcore-parallel",
            "kcore-elf",
            "kcore-files",
            "kcore-live",
            "kcore-unwind",
            "kcore-symbols",
            "kcore-values",
            "kcore-runtimes",
            "kcore-heap",
            "kcore-disasm",
            "kcore-profile",
        ],
        third_party: &["memchr", "rustc-hash", "thiserror"],
    },
    Room { name: "kcore-dcmd", uses: &["kcore"], third_party: &["num-bigint", "thiserror"] },
    // Values of types are trees, which it lays out; it reads no core.
    Room {
        name: "kcore-render",
        uses: &["kcore-mem", "kcore-symbols", "kcore-values", "kcore-dcmd"],
        third_party: &["serde_json"],
    },
    // The session holds the core that its expressions read: hence the facade.
    Room {
        name: "kcore-shell",
        uses: &["kcore", "kcore-dcmd", "kcore-render"],
        third_party: &["rustyline", "thiserror"],
    },
    // Commands never see the shell, the sinks or a terminal.
    Room { name: "kcore-commands", uses: &["kcore", "kcore-dcmd"], third_party: &["regex"] },
    // The edge of another program's process: it shows stacks by the records that commands emit, without the commands.
    // The agent keeps rayon from making threads in its host process.
    Room {
        name: "kcore-agent",
        uses: &["kcore", "kcore-dcmd", "kcore-render"],
        third_party: &["libc", "rayon", "thiserror"],
    },
    // The process edge: it joins the shell with the commands, asks the terminal, and confines itself: libc has the
    // numbers of system calls.
    Room {
        name: "kcore-cli",
        uses: &["kcore", "kcore-dcmd", "kcore-render", "kcore-shell", "kcore-commands"],
        third_party: &[
            "clap",
            "clap_complete",
            "clap_mangen",
            "anyhow",
            "indicatif",
            "landlock",
            "libc",
            "rustix",
            "seccompiler",
            "signal-hook",
        ],
    },
    // The truth must not depend on what is held against it.
    Room {
        name: "gen-cores",
        uses: &[],
        third_party: &["serde", "serde_json", "thiserror", "toml", "anyhow"],
    },
    // The command reference is written from the dcmds themselves.
    Room {
        name: "xtask",
        uses: &["gen-cores", "kcore-dcmd", "kcore-commands"],
        third_party: &["anyhow", "serde_json", "spdx"],
    },
    // framehop is a peer to be measured against; the floor reads a core and does nothing with it.
    Room {
        name: "kcore-benches",
        uses: &["gen-cores", "kcore", "kcore-elf"],
        third_party: &["anyhow", "framehop"],
    },
];

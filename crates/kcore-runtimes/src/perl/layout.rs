//! How Perl lays out its structures: `intrpvar.h`, `cop.h`, `pad.h`, `hv.h` and `sv.h` of each version, by compiling them.
//!
//! What all versions from 5.30 on have in common is a constant where it is used. All of it holds for machines of 64 bits.

/// Offsets of one version, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The minor version.
    pub minor: u8,
    /// `interpreter`, where a process may have several.
    pub interpreter: InterpreterLayout,
    /// `PERL_CONTEXT`.
    pub context: ContextLayout,
    /// `xpvhv_aux`: right behind the body of a hash, or behind the array of its entries.
    pub has_aux_in_body: bool,
    /// `xpadn_low` of `PADNAME`; its other parts follow it.
    pub pad_name_low: u64,
}

/// Offsets of `interpreter`.
#[derive(Debug, PartialEq, Eq)]
pub struct InterpreterLayout {
    /// `Idefstash`.
    pub symbols: u64,
    /// `Icurcop`.
    pub position: u64,
    /// `Icurstack`.
    pub stack: u64,
    /// `Icurstackinfo`.
    pub stack_info: u64,
    /// `Isv_arenaroot`.
    pub arenas: u64,
    /// `Imain_cv`, where its headers were seen.
    pub main: Option<u64>,
}

/// Offsets of `PERL_CONTEXT`, and where `PERL_SI` has what the stack is for.
#[derive(Debug, PartialEq, Eq)]
pub struct ContextLayout {
    /// Bytes of one.
    pub size: u64,
    /// `blk_sub.cv` and `blk_format.cv`.
    pub code: u64,
    /// `blk_sub.olddepth`.
    pub depth: u64,
    /// `blk_eval.old_namesv` and `blk_eval.cv`.
    pub name: u64,
    pub eval_code: u64,
    /// `si_type` of `PERL_SI`.
    pub purpose: u64,
}

/// To 5.32.
const OLD_INTERPRETER: InterpreterLayout = InterpreterLayout {
    symbols: 208,
    position: 224,
    stack: 232,
    stack_info: 240,
    arenas: 272,
    main: Some(1816),
};
/// Since 5.34.
const INTERPRETER: InterpreterLayout = InterpreterLayout {
    symbols: 192,
    position: 208,
    stack: 216,
    stack_info: 224,
    arenas: 256,
    main: Some(1800),
};
/// Since 5.32.
const CONTEXT: ContextLayout =
    ContextLayout { size: 104, code: 72, depth: 80, name: 64, eval_code: 88, purpose: 44 };
/// To 5.36.
const PAD_NAME_LOW: u64 = 24;
/// Since 5.38, where names of fields are among them.
const PAD_NAME_LOW_38: u64 = 32;

/// All layouts, by version. The headers of 5.32, 5.36, 5.40 and 5.42 were compiled. Those of the others were not seen: 5.30
/// and 5.34 are as `interpreter/perl/data.go` of open-telemetry/opentelemetry-ebpf-profiler has them, and 5.38 as 5.40 is.
const LAYOUTS: [Layout; 7] = [
    Layout {
        minor: 30,
        interpreter: InterpreterLayout { main: None, ..OLD_INTERPRETER },
        context: ContextLayout {
            size: 96,
            code: 64,
            depth: 72,
            name: 56,
            eval_code: 80,
            purpose: 40,
        },
        has_aux_in_body: false,
        pad_name_low: PAD_NAME_LOW,
    },
    Layout {
        minor: 32,
        interpreter: OLD_INTERPRETER,
        context: CONTEXT,
        has_aux_in_body: false,
        pad_name_low: PAD_NAME_LOW,
    },
    Layout {
        minor: 34,
        interpreter: InterpreterLayout { main: None, ..INTERPRETER },
        context: CONTEXT,
        has_aux_in_body: false,
        pad_name_low: PAD_NAME_LOW,
    },
    Layout {
        minor: 36,
        interpreter: INTERPRETER,
        context: CONTEXT,
        has_aux_in_body: true,
        pad_name_low: PAD_NAME_LOW,
    },
    Layout {
        minor: 38,
        interpreter: InterpreterLayout { main: None, ..INTERPRETER },
        context: CONTEXT,
        has_aux_in_body: true,
        pad_name_low: PAD_NAME_LOW_38,
    },
    Layout {
        minor: 40,
        interpreter: InterpreterLayout { main: Some(1584), ..INTERPRETER },
        context: CONTEXT,
        has_aux_in_body: true,
        pad_name_low: PAD_NAME_LOW_38,
    },
    Layout {
        minor: 42,
        interpreter: InterpreterLayout { main: Some(1584), ..INTERPRETER },
        context: CONTEXT,
        has_aux_in_body: true,
        pad_name_low: PAD_NAME_LOW_38,
    },
];

impl Layout {
    /// That of a version, such as 5 and 36.
    pub fn of((major, minor): (u8, u8)) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| major == 5 && layout.minor == minor)
    }
}

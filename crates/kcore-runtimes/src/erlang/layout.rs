//! Where Erlang's virtual machine has its fields, on machines with little-endian words of 64 bits.
//!
//! Facts come from erlang/otp, `erts/emulator/beam/{erl_process.h,erl_ptab.h,erl_message.h,beam_code.h,erl_term.h}` of
//! 25.2.3 and 27.3.4, and were held against what programs of these releases say of themselves.

/// Offsets of one release.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The release, as `etp_otp_release` has it.
    pub release: &'static str,
    /// Bytes of a `Process`: the table of processes has the number too, and it must be this one.
    pub process_size: u64,
    /// How numbers of processes and ports become terms.
    pub ids: IdForm,
    /// `ErtsPTab`: the word that stands in a free slot, and bytes of an element.
    pub invalid_element: u64,
    /// See [`Layout::invalid_element`].
    pub element_size: u64,
    /// `Process`.
    pub process: ProcessFields,
    /// `functions` of `BeamCodeHeader`.
    pub functions: u64,
    /// The function of an `Export`.
    pub export: u64,
    /// From one `ErtsSchedulerData` to the next.
    pub scheduler_stride: u64,
    /// Which kinds of objects there are.
    pub terms: TermForm,
}

/// How numbers of processes and ports become terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdForm {
    /// The number behind the tag, and the slot of the table in the upper half.
    BesideSlot,
    /// The slot behind the tag: bits of the number in another order, which the table tells.
    Shuffled,
}

/// Which kinds of objects there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermForm {
    /// Binaries of three kinds, and parts of them (to 26).
    Binaries,
    /// Bit strings of two kinds (27).
    BitStrings,
}

/// Offsets in `Process`.
#[derive(Debug, PartialEq, Eq)]
pub struct ProcessFields {
    /// `common.u.alive.reg`.
    pub registered: u64,
    /// `common.timer`.
    pub timer: u64,
    /// `stop`.
    pub stop: u64,
    /// `heap`; `hend` follows.
    pub heap: u64,
    /// `heap_sz`, in words.
    pub heap_size: u64,
    /// `i`.
    pub code: u64,
    /// `reds`.
    pub reductions: u64,
    /// `sig_qs.first`.
    pub messages: u64,
    /// `sig_qs.cont`: messages that did not arrive yet.
    pub middle: u64,
    /// `dictionary`.
    pub dictionary: u64,
    /// `u.initial`: module, function, arity.
    pub initial: u64,
    /// `current`.
    pub current: u64,
    /// `parent`.
    pub parent: u64,
    /// `old_hend`.
    pub old_end: u64,
    /// `old_heap`.
    pub old_heap: u64,
    /// `mbuf_sz`, in words.
    pub fragments: u64,
    /// `psd`.
    pub specific: u64,
    /// `state`.
    pub state: u64,
}

const LAYOUTS: &[Layout] = &[
    Layout {
        release: "25",
        process_size: 776,
        ids: IdForm::BesideSlot,
        invalid_element: 248,
        element_size: 272,
        process: ProcessFields {
            registered: 48,
            timer: 32,
            stop: 88,
            heap: 128,
            heap_size: 152,
            code: 256,
            reductions: 280,
            messages: 328,
            middle: 352,
            dictionary: 416,
            initial: 448,
            current: 472,
            parent: 480,
            old_end: 504,
            old_heap: 520,
            fragments: 584,
            specific: 592,
            state: 640,
        },
        functions: 96,
        export: 56,
        scheduler_stride: 41728,
        terms: TermForm::Binaries,
    },
    Layout {
        release: "27",
        process_size: 760,
        ids: IdForm::Shuffled,
        invalid_element: 272,
        element_size: 296,
        process: ProcessFields {
            registered: 32,
            timer: 16,
            stop: 88,
            heap: 192,
            heap_size: 216,
            code: 248,
            reductions: 272,
            messages: 312,
            middle: 344,
            dictionary: 408,
            initial: 440,
            current: 464,
            parent: 472,
            old_end: 496,
            old_heap: 512,
            fragments: 568,
            specific: 576,
            state: 624,
        },
        functions: 136,
        export: 64,
        scheduler_stride: 41792,
        terms: TermForm::BitStrings,
    },
];

impl Layout {
    /// That of a release.
    pub fn of(release: &str) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| layout.release == release)
    }

    /// The releases whose layouts are known, for people: `25, 27`.
    pub fn releases() -> String {
        LAYOUTS.iter().map(|layout| layout.release).collect::<Vec<_>>().join(", ")
    }
}

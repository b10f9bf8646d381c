//! How Lua lays out its structures: `lstate.h`, `lobject.h` and `lfunc.h` of each version, by compiling them.
//!
//! Where they lie tells the layout: no two versions agree in where a state has its global state, where that has the
//! main thread, and how many bytes lie between the two. So no version has to be asked for. All of it holds for
//! machines of 64 bits.

/// The minor version, on which code and values depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Series {
    /// Lua 5.1.
    V51,
    /// Lua 5.2.
    V52,
    /// Lua 5.3.
    V53,
    /// Lua 5.4.
    V54,
}

/// Offsets of one version, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The minor version.
    pub series: Series,
    /// Which releases have it.
    pub releases: &'static str,
    /// `lua_State`.
    pub state: StateLayout,
    /// `global_State`.
    pub global: GlobalLayout,
    /// `CallInfo`.
    pub call: CallLayout,
    /// `Proto`.
    pub proto: ProtoLayout,
    /// `p` of a closure of Lua, `f` of one of C.
    pub closure_code: u64,
    /// `upvals` of a closure of Lua, and how many as a byte.
    pub upvalues: (u64, u64),
    /// `v` of an upvalue.
    pub upvalue_place: u64,
    /// `Table`.
    pub table: TableLayout,
    /// Of a userdata: its metatable, and its length.
    pub userdata: (u64, u64),
}

/// Offsets of `lua_State`.
#[derive(Debug, PartialEq, Eq)]
pub struct StateLayout {
    /// Its size: in the main thread's allocation the global state follows.
    pub size: u64,
    pub status: u64,
    pub top: u64,
    pub global: u64,
    pub call: u64,
    pub stack: u64,
    pub error_jump: u64,
    /// The outermost call: in the state, or, in 5.1, a pointer to an array of them.
    pub base_call: u64,
}

/// Offsets of `global_State`.
#[derive(Debug, PartialEq, Eq)]
pub struct GlobalLayout {
    pub objects: u64,
    pub registry: u64,
    pub main: u64,
    /// Where lists of objects begin: `allgc`, `finobj`, `tobefnz` and `fixedgc`, as far as there are such.
    pub lists: &'static [u64],
    /// `strt`, where short strings are on no list.
    pub strings: Option<u64>,
    /// `mt`: the metatables of types.
    pub metatables: u64,
}

/// Offsets of `CallInfo`.
#[derive(Debug, PartialEq, Eq)]
pub struct CallLayout {
    pub size: u64,
    pub function: u64,
    /// Where the variables of a function of Lua begin, if a call holds that.
    pub base: Option<u64>,
    /// `previous`; in 5.1 calls lie in an array.
    pub previous: Option<u64>,
    /// `callstatus`, and its bytes.
    pub status: (u64, usize),
    pub saved_pc: u64,
    /// `extra`, which has the function of a coroutine that yielded.
    pub extra: Option<u64>,
    /// `nextraargs`, of a function with any number of arguments.
    pub extra_arguments: Option<u64>,
}

/// Offsets of `Proto`.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtoLayout {
    pub size: u64,
    pub constants: (u64, u64),
    pub code: (u64, u64),
    /// Functions inside, and how many.
    pub inner: u64,
    pub inner_count: u64,
    pub lines: (u64, u64),
    /// Lines that others are counted from.
    pub absolute_lines: Option<(u64, u64)>,
    pub locals: (u64, u64),
    pub upvalues: (u64, u64),
    /// Bytes of a description of an upvalue; its name comes first.
    pub upvalue_size: u64,
    pub source: u64,
    pub first_line: u64,
    pub parameters: u64,
    pub is_vararg: u64,
    pub max_stack: u64,
}

/// Offsets of `Table`.
#[derive(Debug, PartialEq, Eq)]
pub struct TableLayout {
    pub size: u64,
    pub node_log: u64,
    pub array_size: u64,
    pub array: u64,
    pub nodes: u64,
    pub metatable: u64,
    pub node_size: u64,
}

const STATE_54: StateLayout = StateLayout {
    size: 200,
    status: 10,
    top: 16,
    global: 24,
    call: 32,
    stack: 48,
    error_jump: 88,
    base_call: 96,
};
const GLOBAL_54: GlobalLayout = GlobalLayout {
    objects: 112,
    registry: 64,
    main: 264,
    lists: &[112, 128, 176, 184],
    strings: None,
    metatables: 480,
};

const V54: Layout = Layout {
    series: Series::V54,
    releases: "5.4.3 to 5.4.8",
    state: STATE_54,
    global: GLOBAL_54,
    call: CallLayout {
        size: 64,
        function: 0,
        base: None,
        previous: Some(16),
        status: (62, 2),
        saved_pc: 32,
        extra: None,
        extra_arguments: Some(44),
    },
    proto: ProtoLayout {
        size: 128,
        constants: (56, 20),
        code: (64, 24),
        inner: 72,
        inner_count: 32,
        lines: (88, 28),
        absolute_lines: Some((96, 40)),
        locals: (104, 36),
        upvalues: (80, 16),
        upvalue_size: 16,
        source: 112,
        first_line: 44,
        parameters: 10,
        is_vararg: 11,
        max_stack: 12,
    },
    closure_code: 24,
    upvalues: (32, 10),
    upvalue_place: 16,
    table: TableLayout {
        size: 56,
        node_log: 11,
        array_size: 12,
        array: 16,
        nodes: 24,
        metatable: 40,
        node_size: 24,
    },
    userdata: (24, 16),
};

const V53: Layout = Layout {
    series: Series::V53,
    releases: "5.3",
    state: StateLayout {
        size: 208,
        status: 12,
        top: 16,
        global: 24,
        call: 32,
        stack: 56,
        error_jump: 88,
        base_call: 96,
    },
    global: GlobalLayout {
        objects: 88,
        registry: 64,
        main: 200,
        lists: &[88, 104, 144, 160],
        strings: None,
        metatables: 416,
    },
    call: CallLayout {
        size: 72,
        function: 0,
        base: Some(32),
        previous: Some(16),
        status: (66, 2),
        saved_pc: 40,
        extra: Some(56),
        extra_arguments: None,
    },
    proto: ProtoLayout {
        size: 120,
        constants: (48, 20),
        code: (56, 24),
        inner: 64,
        inner_count: 32,
        lines: (72, 28),
        absolute_lines: None,
        locals: (80, 36),
        upvalues: (88, 16),
        upvalue_size: 16,
        source: 104,
        first_line: 40,
        parameters: 10,
        is_vararg: 11,
        max_stack: 12,
    },
    closure_code: 24,
    upvalues: (32, 10),
    upvalue_place: 0,
    table: TableLayout {
        size: 56,
        node_log: 11,
        array_size: 12,
        array: 16,
        nodes: 24,
        metatable: 40,
        node_size: 32,
    },
    userdata: (16, 24),
};

const V52: Layout = Layout {
    series: Series::V52,
    releases: "5.2",
    state: StateLayout {
        size: 208,
        status: 10,
        top: 16,
        global: 24,
        call: 32,
        stack: 56,
        error_jump: 112,
        base_call: 128,
    },
    global: GlobalLayout {
        objects: 96,
        registry: 64,
        main: 264,
        lists: &[96, 104, 168],
        strings: Some(48),
        metatables: 424,
    },
    call: CallLayout {
        size: 80,
        function: 0,
        base: Some(48),
        previous: Some(16),
        status: (34, 1),
        saved_pc: 56,
        extra: Some(40),
        extra_arguments: None,
    },
    proto: ProtoLayout {
        size: 128,
        constants: (16, 84),
        code: (24, 88),
        inner: 32,
        inner_count: 96,
        lines: (40, 92),
        absolute_lines: None,
        locals: (48, 100),
        upvalues: (56, 80),
        upvalue_size: 16,
        source: 72,
        first_line: 104,
        parameters: 120,
        is_vararg: 121,
        max_stack: 122,
    },
    closure_code: 24,
    upvalues: (32, 10),
    upvalue_place: 16,
    table: TableLayout {
        size: 56,
        node_log: 11,
        array_size: 12,
        array: 16,
        nodes: 24,
        metatable: 40,
        node_size: 40,
    },
    userdata: (16, 32),
};

const V51: Layout = Layout {
    series: Series::V51,
    releases: "5.1",
    state: StateLayout {
        size: 184,
        status: 10,
        top: 16,
        global: 32,
        call: 40,
        stack: 64,
        error_jump: 168,
        base_call: 80,
    },
    global: GlobalLayout {
        objects: 40,
        registry: 160,
        main: 176,
        // `rootgc`, behind which userdata come, and `tmudata`.
        lists: &[40, 80],
        strings: Some(0),
        metatables: 224,
    },
    call: CallLayout {
        size: 40,
        function: 8,
        base: Some(0),
        previous: None,
        // `tailcalls`: there are no other bits.
        status: (36, 4),
        saved_pc: 24,
        extra: None,
        extra_arguments: None,
    },
    proto: ProtoLayout {
        size: 120,
        constants: (16, 76),
        code: (24, 80),
        inner: 32,
        inner_count: 88,
        lines: (40, 84),
        absolute_lines: None,
        locals: (48, 92),
        upvalues: (56, 72),
        upvalue_size: 8,
        source: 64,
        first_line: 96,
        parameters: 113,
        is_vararg: 114,
        max_stack: 115,
    },
    closure_code: 32,
    upvalues: (40, 11),
    upvalue_place: 16,
    table: TableLayout {
        size: 64,
        node_log: 11,
        array_size: 56,
        array: 24,
        nodes: 32,
        metatable: 16,
        node_size: 40,
    },
    userdata: (16, 32),
};

/// `Table` of the Lua 5.1 in redis from 7.0 on, with `int readonly` behind its flags (redis `deps/lua/src/lobject.h`).
pub const REDIS_TABLE: TableLayout = TableLayout {
    size: 72,
    node_log: 16,
    array_size: 64,
    array: 32,
    nodes: 40,
    metatable: 24,
    node_size: 40,
};

/// All layouts that are known, the newest first.
pub const LAYOUTS: &[Layout] = &[
    V54,
    Layout {
        releases: "5.4.2",
        state: StateLayout { size: 192, error_jump: 80, base_call: 88, ..STATE_54 },
        ..V54
    },
    Layout {
        releases: "5.4.0 and 5.4.1",
        state: StateLayout { stack: 56, ..STATE_54 },
        global: GlobalLayout { main: 256, metatables: 472, ..GLOBAL_54 },
        ..V54
    },
    V53,
    V52,
    V51,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_versions_agree_in_what_tells_them_apart() {
        let shape = |layout: &Layout| (layout.state.global, layout.global.main, layout.state.size);
        let mut shapes: Vec<_> = LAYOUTS.iter().map(shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        assert_eq!(shapes.len(), LAYOUTS.len());
    }
}

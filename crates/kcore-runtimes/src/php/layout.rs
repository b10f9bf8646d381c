//! How the structures of PHP are laid out, by version: `zend_globals.h`, `zend_compile.h`, `zend_types.h`,
//! `zend_generators.h` and `zend_fibers.h`, on machines with words of 64 bits.
//!
//! Those of 7.4.33, 8.2.32, 8.4.27 and 8.5.7 were compiled from the headers that Debian ships, with and without threads, which
//! makes no difference here; those of 8.0, 8.1 and 8.3 follow from the declarations. What is the same in all stands where
//! it is used.

/// Where a version has what differs between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The major and minor number.
    pub version: (u8, u8),
    /// By how much `function_table` of `zend_executor_globals` and what follows up to `vm_stack` and
    /// `current_execute_data` lie further back than in 8.4.
    pub shift: u64,
    /// `exception` of `zend_executor_globals`.
    pub exception: u64,
    /// `objects_store` of it.
    pub objects: u64,
    /// `zend_op_array`.
    pub code: CodeOffsets,
    /// `handler` of `zend_internal_function`.
    pub handler: u64,
    /// Bytes of `zend_internal_arg_info`.
    pub argument_size: u64,
    /// Whether elements of a list have no keys.
    pub lists_are_values: bool,
    /// `IS_INDIRECT`.
    pub indirect: u8,
    /// Of `zend_generator`.
    pub generator: GeneratorOffsets,
    /// Of `zend_fiber`; there are none before 8.1.
    pub fiber: Option<FiberOffsets>,
}

/// Offsets in `zend_op_array`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeOffsets {
    /// `last_var`.
    pub variable_count: u64,
    /// `last`.
    pub count: u64,
    /// `opcodes`.
    pub opcodes: u64,
    /// `vars`.
    pub variables: u64,
    /// `filename`.
    pub file: u64,
    /// `line_start`.
    pub first_line: u64,
    /// `line_end`.
    pub last_line: u64,
}

/// Offsets in `zend_generator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratorOffsets {
    /// `execute_data`.
    pub frame: u64,
    /// `node.parent`.
    pub parent: u64,
}

/// Offsets in `zend_fiber`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiberOffsets {
    /// `execute_data`.
    pub frame: u64,
    /// `stack_bottom`.
    pub bottom: u64,
}

const fn code(
    variable_count: u64,
    count: u64,
    opcodes: u64,
    variables: u64,
    file: u64,
) -> CodeOffsets {
    let (first_line, last_line) = (file.wrapping_add(8), file.wrapping_add(12));
    CodeOffsets { variable_count, count, opcodes, variables, file, first_line, last_line }
}

const V74: Layout = Layout {
    version: (7, 4),
    shift: 0,
    exception: 864,
    objects: 840,
    code: code(52, 60, 64, 96, 136),
    handler: 48,
    argument_size: 24,
    lists_are_values: false,
    indirect: 13,
    generator: GeneratorOffsets { frame: 64, parent: 160 },
    fiber: None,
};

const V80: Layout = Layout {
    version: (8, 0),
    code: code(60, 68, 72, 104, 144),
    handler: 56,
    argument_size: 32,
    indirect: 12,
    generator: GeneratorOffsets { frame: 56, parent: 152 },
    ..V74
};

const V81: Layout =
    Layout { version: (8, 1), fiber: Some(FiberOffsets { frame: 280, bottom: 288 }), ..V80 };

const V82: Layout = Layout {
    version: (8, 2),
    code: code(76, 80, 88, 112, 152),
    handler: 72,
    lists_are_values: true,
    ..V81
};

const V83: Layout = Layout {
    version: (8, 3),
    exception: 880,
    objects: 856,
    code: code(72, 76, 80, 104, 144),
    fiber: Some(FiberOffsets { frame: 288, bottom: 296 }),
    ..V82
};

const V84: Layout = Layout {
    version: (8, 4),
    exception: 936,
    code: code(92, 96, 104, 128, 168),
    handler: 88,
    ..V83
};

const V85: Layout = Layout { version: (8, 5), shift: 24, exception: 960, objects: 880, ..V84 };

/// The versions whose layouts are known.
pub const LAYOUTS: &[Layout] = &[V74, V80, V81, V82, V83, V84, V85];

/// The layout of the newest of them.
pub const NEWEST: &Layout = &V85;

/// All `shift`s that there are.
pub const SHIFTS: [u64; 2] = [0, V85.shift];

impl Layout {
    /// That of a version.
    pub fn of(version: (u8, u8)) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| layout.version == version)
    }

    /// That of a release.
    pub fn of_release(release: &str) -> Option<&'static Self> {
        numbers(release).and_then(Self::of)
    }
}

/// The major and minor number of a release: `8.2.32`.
pub fn numbers(version: &str) -> Option<(u8, u8)> {
    let mut parts = version.split(['.', '-']);
    let mut next = || parts.next()?.parse().ok();
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_go_by_their_version() {
        let file = |version| Layout::of(version).map(|layout| layout.code.file);
        assert_eq!((file((7, 4)), file((8, 2)), file((8, 4))), (Some(136), Some(152), Some(168)));
        assert_eq!((file((7, 3)), file((8, 6)), file((9, 0))), (None, None, None));
        assert!(LAYOUTS.iter().all(|layout| SHIFTS.contains(&layout.shift)));
        assert_eq!(LAYOUTS.last().map(|layout| layout.version), Some(NEWEST.version));
    }

    #[test]
    fn the_first_two_numbers_of_a_release_count() {
        assert_eq!(numbers("8.2.32"), Some((8, 2)));
        assert_eq!(numbers("7.4.33-1+deb11u5"), Some((7, 4)));
        assert_eq!((numbers("8"), numbers(""), numbers("x.y")), (None, None, None));
    }
}

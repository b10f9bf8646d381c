//! Offsets by minor version, in bytes, on 64-bit machines.
//!
//! One column a version, 3.8 to 3.15. From the debug information of 3.8.18, 3.9.18, 3.10.13, 3.11.7, 3.12.1
//! and 3.13.0, and the headers of 3.14.10 and 3.15.2.

use super::{
    CodeOffsets, FrameOffsets, Frames, InterpreterOffsets, Layout, ObjectOffsets, RuntimeOffsets,
    ThreadOffsets, TypeOffsets,
};

/// There is no such field.
const NO: u64 = u64::MAX;

/// One column of the tables.
#[derive(Clone, Copy)]
struct Column(usize);

impl Column {
    fn at(self, row: [u64; 8]) -> u64 {
        row.get(self.0).copied().unwrap_or(NO)
    }

    fn may(self, row: [u64; 8]) -> Option<u64> {
        Some(self.at(row)).filter(|offset| *offset != NO)
    }
}

/// The layouts of a minor version.
pub fn of(minor: u8) -> Option<Layout> {
    Layout::MINORS.contains(&minor).then_some(())?;
    let column = Column(usize::from(minor.checked_sub(8)?));
    let frames = match minor {
        ..=10 => Frames::Objects,
        11 => Frames::Entries,
        _ => Frames::Shims,
    };
    Some(Layout {
        minor,
        frames,
        runtime: runtime(column),
        interpreter: interpreter(column),
        thread: thread(column),
        frame: frame(column),
        code: code(column),
        types: types(column),
        objects: objects(column),
    })
}

fn runtime(c: Column) -> RuntimeOffsets {
    RuntimeOffsets {
        head: c.at([32, 32, 32, 40, 40, 632, 808, 936]),
        gil: c.may([1152, 352, 352, 360, NO, NO, NO, NO]),
        collecting: c.may([544, NO, NO, NO, NO, NO, NO, NO]),
        gc: c.may([344, NO, NO, NO, NO, NO, NO, NO]),
    }
}

fn interpreter(c: Column) -> InterpreterOffsets {
    InterpreterOffsets {
        size: None,
        next: c.at([0, 0, 0, 0, 0, 7264, 7272, 7264]),
        id: c.at([16, 24, 24, 48, 8, 7272, 7280, 7272]),
        threads: c.at([8, 8, 8, 16, 72, 7344, 7344, 7336]),
        modules: c.at([56, 856, 856, 888, 944, 7656, 7688, 7592]),
        sysdict: c.at([72, 872, 872, 904, 352, 7640, 7672, 7576]),
        builtins: c.at([80, 880, 880, 912, 360, 7648, 7680, 7584]),
        gil: c.may([NO, NO, NO, NO, 384, 16, 16, 16]),
        collecting: c.may([NO, 816, 816, 848, 312, 7600, 7600, 7512]),
        gc: c.may([NO, 616, 616, 648, 112, 7400, 7408, 7400]),
    }
}

fn thread(c: Column) -> ThreadOffsets {
    ThreadOffsets {
        prev: 0,
        next: 8,
        interpreter: 16,
        frame: c.may([24, 24, 24, NO, NO, 72, 72, 72]),
        cframe: c.may([NO, NO, 48, 56, 56, NO, NO, NO]),
        root_cframe: c.may([NO, NO, 264, 336, 272, NO, NO, NO]),
        base_frame: c.may([NO, NO, NO, NO, NO, NO, NO, 80]),
        raised: c.at([96, 96, 96, 104, 96, 112, 112, 136]),
        handled: c.at([144, 144, 144, 120, 104, 120, 120, 144]),
        thread_id: c.at([176, 176, 176, 152, 136, 152, 152, 176]),
        native_id: c.may([NO, NO, NO, 160, 144, 160, 160, 184]),
    }
}

fn frame(c: Column) -> FrameOffsets {
    FrameOffsets {
        previous: c.at([24, 24, 24, 48, 8, 8, 8, 8]),
        code: c.at([32, 32, 32, 32, 0, 0, 0, 0]),
        globals: c.at([48, 48, 48, 8, 24, 24, 24, 24]),
        locals: c.at([56, 56, 56, 24, 40, 40, 40, 40]),
        instruction: c.at([104, 104, 96, 56, 56, 56, 56, 56]),
        slots: c.at([360, 360, 352, 72, 72, 72, 80, 80]),
        owner: c.may([NO, NO, NO, 69, 70, 70, 74, 74]),
        stack: c.at([72, 72, 80, 64, 64, 64, 64, 64]),
    }
}

fn code(c: Column) -> CodeOffsets {
    let old = [64_u64, 72, 80, 88];
    let is_old = c.0 < 3;
    CodeOffsets {
        arguments: c.at([16, 16, 16, 56, 52, 52, 52, 52]),
        keyword_only: c.at([24, 24, 24, 64, 60, 60, 60, 60]),
        flags: c.at([36, 36, 36, 48, 48, 48, 48, 48]),
        first_line: c.at([40, 40, 40, 72, 68, 68, 68, 68]),
        filename: c.at([104, 104, 104, 112, 112, 112, 112, 112]),
        name: c.at([112, 112, 112, 120, 120, 120, 120, 120]),
        qualname: c.may([NO, NO, NO, 128, 128, 128, 128, 128]),
        lines: c.at([120, 120, 120, 136, 136, 136, 136, 136]),
        instructions: c.at([48, 48, 48, 184, 192, 200, 208, 208]),
        names: is_old.then_some([old[1], old[3], old[2]]),
        slots: (!is_old).then_some([96, 104]),
    }
}

fn types(c: Column) -> TypeOffsets {
    TypeOffsets {
        name: 24,
        basic_size: 32,
        item_size: 40,
        flags: 168,
        dict: 264,
        dict_offset: 288,
        mro: 344,
        slots: c.at([856, 848, 856, 856, 864, 864, 864, 872]),
        qualname: c.at([864, 856, 864, 864, 872, 872, 872, 880]),
        cached_keys: c.at([872, 864, 872, 872, 880, 880, 880, 888]),
    }
}

fn objects(c: Column) -> ObjectOffsets {
    ObjectOffsets {
        ascii: c.at([48, 48, 48, 48, 40, 40, 40, 40]),
        compact: c.at([72, 72, 72, 72, 56, 56, 56, 56]),
        tuple: c.at([24, 24, 24, 24, 24, 24, 32, 32]),
        function: [
            c.at([16, 16, 48, 48, 48, 48, 48, 48]),
            c.at([104, 104, 40, 40, 40, 40, 40, 40]),
        ],
        module_name: c.at([48, 48, 48, 48, 48, 48, 48, 40]),
        generator_frame: c.at([16, 16, 16, 80, 72, 72, 72, 72]),
        generator_state: c.may([NO, NO, NO, 75, 67, 67, 67, 67]),
        generator_name: c.at([56, 56, 48, 40, 32, 32, 32, 32]),
        traceback: c.at([32, 32, 32, 40, 40, 40, 40, 40]),
        context: c.at([40, 40, 40, 48, 48, 48, 48, 48]),
        cause: c.at([48, 48, 48, 56, 56, 56, 56, 56]),
        handled: [c.at([8, 8, 8, 0, 0, 0, 0, 0]), c.at([24, 24, 24, 8, 8, 8, 8, 8])],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_all_fields_that_have_no_other_place() {
        for minor in Layout::MINORS {
            let layout = of(minor).unwrap();
            assert_ne!(layout.frame.code, NO);
            assert!(layout.thread.frame.is_some() || layout.thread.cframe.is_some());
            assert!(layout.runtime.gil.is_some() != layout.interpreter.gil.is_some());
            assert!(layout.code.names.is_some() != layout.code.slots.is_some());
        }
        assert_eq!((of(7), of(16)), (None, None));
    }
}

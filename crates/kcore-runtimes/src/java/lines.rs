//! Lines of bytecodes (`src/hotspot/share/oops/method.cpp`, `CompressedLineNumberReadStream`, JDK 11 to 25): pairs of an
//! index and a line, each as the difference to the one before, behind the bytecodes. They may go back.

use kcore_mem::AddressSpace;

use super::{method::Method, stream::Stream};

/// Pairs, at most: as many as a class file may have.
const MAX_PAIRS: usize = 1 << 17;
const END: u8 = 0;
/// What follows has a number each for index and line.
const LONG: u8 = 0xff;

/// The line of a place in the bytecodes of a method, by its index.
pub fn line_at(method: &Method, space: &dyn AddressSpace, index: u32) -> Option<u32> {
    let mut stream = Stream::new(space, method.bytecodes.end, method.lines?);
    let wanted = i64::from(index);
    let (mut at, mut line) = (0_i64, 0_i64);
    let mut best: Option<(i64, i64)> = None;
    for _ in 0..MAX_PAIRS {
        let (by, lines) = match stream.byte()? {
            END => break,
            LONG => (stream.signed()?, stream.signed()?),
            byte => (i32::from(byte >> 3), i32::from(byte & 7)),
        };
        at = at.wrapping_add(by.into());
        line = line.wrapping_add(lines.into());
        if at == wanted {
            return u32::try_from(line).ok();
        }
        if at < wanted && best.is_none_or(|(best, _)| at >= best) {
            best = Some((at, line));
        }
    }
    best.and_then(|(_, line)| u32::try_from(line).ok())
}

#[cfg(test)]
mod tests {
    use kcore_mem::{Addr, AddrRange};

    use super::*;
    use crate::{Host, anchor::made_host::MadeHost, java::stream::Coding};

    fn line(table: &[u8], index: u32) -> Option<u32> {
        let mut host = MadeHost::new(&[0x1000]);
        let end = 0x3000 - table.len() as u64;
        host.put(end, table);
        let method = Method {
            class: "T".into(),
            name: "f".into(),
            signature: "()V".into(),
            file: None,
            bytecodes: AddrRange::new(Addr::new(end - 0x100), Addr::new(end)),
            lines: Some(Coding::FromOne),
        };
        line_at(&method, host.space(), index)
    }

    #[test]
    fn the_nearest_line_before_a_place_is_its_own() {
        // 0: 289, 4: 291, 8: 290.
        let back = [LONG, 1, 1 + 194, 1 + 6, 4 << 3 | 2, LONG, 1 + 8, 1 + 1, END];
        assert_eq!(
            [0, 3, 4, 7, 8, 200].map(|at| line(&back, at).unwrap_or(0)),
            [289, 289, 291, 291, 290, 290]
        );
    }

    #[test]
    fn a_table_that_does_not_end_has_no_line() {
        assert_eq!(line(&[9; 4], 200), None);
        assert_eq!(line(&[9; 4], 1), Some(1), "but what comes first");
    }
}

//! The record of a sample (perf_event_open(2), `PERF_RECORD_SAMPLE`), as it is asked for here: thread,
//! time, registers, stack.

use crate::freeze::REGISTERS;

/// A sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerfSample<'a> {
    /// The thread.
    pub tid: i32,
    /// Nanoseconds of the monotonic clock.
    pub time: u64,
    /// The registers with which it was in its own code, as bytes of a register set.
    pub general: Vec<u8>,
    /// Its stack, from its stack pointer on.
    pub stack: &'a [u8],
}

impl<'a> PerfSample<'a> {
    /// Reads what stands behind the header; `None` of one without registers.
    pub fn parse(record: &'a [u8]) -> Option<Self> {
        let mut words = Words(record);
        let ids = words.next()?;
        let time = words.next()?;
        // The ABI of the registers: none, of 32 bits, of 64 bits.
        (words.next()? == 2).then_some(())?;
        let values: Option<Vec<u64>> = REGISTERS.order.iter().map(|_| words.next()).collect();
        let size = usize::try_from(words.next()?).ok()?;
        let stack = words.0.get(..size)?;
        words.0 = words.0.get(size..)?;
        let written = if size == 0 { 0 } else { usize::try_from(words.next()?).ok()? };
        Some(Self {
            tid: i32::try_from(ids >> 32).ok()?,
            time,
            general: general(&values?),
            stack: stack.get(..written)?,
        })
    }
}

/// A set of general registers of these values.
fn general(values: &[u64]) -> Vec<u8> {
    let mut set = REGISTERS.empty.to_vec();
    for (value, place) in values.iter().zip(REGISTERS.order) {
        if let Some(slot) = set.get_mut(*place) {
            *slot = *value;
        }
    }
    set.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Standing;

    fn record(stack: &[u8], written: u64) -> Vec<u8> {
        let mut words = vec![71 << 32 | 70, 5, 2];
        words.extend(
            (0..REGISTERS.order.len()).map(|index| 0x1000_u64.saturating_add(index as u64)),
        );
        words.push(stack.len() as u64);
        let mut bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
        bytes.extend(stack);
        bytes.extend(written.to_ne_bytes());
        bytes
    }

    #[test]
    fn a_record_has_thread_time_registers_and_stack() {
        let bytes = record(&[7; 16], 8);
        let sample = PerfSample::parse(&bytes).unwrap();
        assert_eq!((sample.tid, sample.time, sample.stack), (71, 5, &[7; 8][..]));
        let at = Standing::of_registers(&sample.general).unwrap();
        // Of x86-64 the stack pointer is number 7 and the program counter number 8.
        let wanted = if cfg!(target_arch = "x86_64") { (7, 8) } else { (31, 32) };
        assert_eq!((at.sp.get() - 0x1000, at.pc.get() - 0x1000), wanted);
    }

    #[test]
    fn what_is_cut_is_none() {
        let bytes = record(&[7; 16], 8);
        for len in 0..bytes.len() {
            assert_eq!(PerfSample::parse(&bytes[..len]), None, "{len}");
        }
        assert_eq!(PerfSample::parse(&record(&[7; 16], 17)), None);
    }
}

//! The commands of translations, as bytes hold them.
//!
//! `DeoptimizationFrameTranslation::Iterator` in `src/objects/deoptimization-data.cc`: a command is a
//! byte and operands of variable length. Since V8 11 a translation may say that its next commands are
//! those of one before it, at the same place.

use crate::v8::layout::{Column, Command, commands};

/// Commands of one translation that are read, at most.
const MAX_COMMANDS: usize = 1 << 16;
/// No command has more operands.
const MAX_OPERANDS: usize = 6;

/// The operands of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Operands([u64; MAX_OPERANDS]);

impl Operands {
    /// An operand; 0 where there is none.
    pub fn unsigned(self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// An operand with a sign, which is its lowest bit.
    pub fn signed(self, index: usize) -> i64 {
        sign(self.unsigned(index))
    }
}

fn sign(value: u64) -> i64 {
    let size = i64::try_from(value >> 1).unwrap_or_default();
    if value & 1 == 0 { size } else { size.saturating_neg() }
}

/// The commands of one translation, in order.
pub struct Commands<'b> {
    bytes: &'b [u8],
    table: &'static [Command],
    /// Whether translations refer to those before them.
    refers: bool,
    at: usize,
    /// Where in the translation before this one the next command lies that may be the same.
    earlier: usize,
    /// Commands that were read since that was known.
    since: usize,
    /// Commands that are still taken from there.
    taken: u64,
    rest: usize,
}

impl<'b> Commands<'b> {
    /// Those of the translation that begins at an offset.
    pub fn new(column: Column, bytes: &'b [u8], start: usize) -> Self {
        Self {
            bytes,
            table: commands(column),
            refers: column.is_since(11, 3),
            at: start,
            earlier: start,
            since: 0,
            taken: 0,
            rest: MAX_COMMANDS,
        }
    }

    /// Begins the translation: how many frames it makes.
    pub fn begin(&mut self) -> Option<i64> {
        let start = self.at;
        let (command, operands) = self.read_here()?;
        (command == Command::Begin).then_some(())?;
        if !self.refers {
            return Some(operands.signed(0));
        }
        // How far before the other one begins.
        self.earlier = start.checked_sub(usize::try_from(operands.unsigned(0)).ok()?)?;
        self.since = 1;
        Some(operands.signed(1))
    }

    /// The next command.
    pub fn next(&mut self) -> Option<(Command, Operands)> {
        self.rest = self.rest.checked_sub(1)?;
        if self.taken > 0 {
            self.taken = self.taken.checked_sub(1)?;
            return self.read_earlier();
        }
        let (command, operands) = self.read_here()?;
        match command {
            Command::Begin => None,
            Command::MatchPrevious => {
                for _ in 0..std::mem::take(&mut self.since) {
                    self.read_earlier()?;
                }
                self.taken = operands.unsigned(0).checked_sub(1)?;
                self.read_earlier()
            }
            _ => {
                self.since = self.since.checked_add(1)?;
                Some((command, operands))
            }
        }
    }

    fn read_here(&mut self) -> Option<(Command, Operands)> {
        let mut at = self.at;
        let found = self.read(&mut at)?;
        self.at = at;
        Some(found)
    }

    fn read_earlier(&mut self) -> Option<(Command, Operands)> {
        let mut at = self.earlier;
        let found = self.read(&mut at)?;
        self.earlier = at;
        (at <= self.at && found.0 != Command::MatchPrevious).then_some(found)
    }

    /// The command at an offset, which becomes the next one's.
    fn read(&self, at: &mut usize) -> Option<(Command, Operands)> {
        let number = match self.refers {
            true => u64::from(self.byte(at)?),
            // All integers have a sign.
            false => u64::try_from(sign(self.integer(at)?)).ok()?,
        };
        let Some(command) = self.table.get(usize::try_from(number).ok()?).copied() else {
            // The number of commands to take is added to that of commands that there are.
            let taken = number.checked_sub(self.table.len() as u64)?;
            let mut operands = Operands::default();
            *operands.0.first_mut()? = taken;
            return self.refers.then_some((Command::MatchPrevious, operands));
        };
        let mut operands = Operands::default();
        for operand in operands.0.iter_mut().take(usize::from(command.operands())) {
            *operand = self.integer(at)?;
        }
        Some((command, operands))
    }

    fn byte(&self, at: &mut usize) -> Option<u8> {
        let byte = self.bytes.get(*at).copied()?;
        *at = at.checked_add(1)?;
        Some(byte)
    }

    /// An integer of variable length: seven bits a byte, the lowest first, `src/base/vlq.h`.
    fn integer(&self, at: &mut usize) -> Option<u64> {
        let mut value: u64 = 0;
        for shift in (0..35_u32).step_by(7) {
            let byte = self.byte(at)?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(major: u64) -> Column {
        Column::all().find(|column| column.is_since(major, 0)).unwrap()
    }

    fn all(mut commands: Commands<'_>) -> Vec<(Command, i64)> {
        commands.begin().unwrap();
        let next = || commands.next().map(|(command, operands)| (command, operands.signed(0)));
        std::iter::from_fn(next).take(100).collect()
    }

    #[test]
    fn before_v8_11_all_integers_have_a_sign() {
        // BEGIN of one frame, LITERAL 3, STACK_SLOT -1.
        let bytes = [6, 2, 2, 0, 44, 6, 48, 3];
        let found = all(Commands::new(column(10), &bytes, 0));
        assert_eq!(found, [(Command::Literal, 3), (Command::Slot, -1)]);
    }

    #[test]
    fn a_translation_takes_commands_of_one_before_it() {
        // LITERAL 3, STACK_SLOT -1, LITERAL 5; then one that differs in the second.
        let bytes = [
            2,
            0,
            2,
            2,
            29,
            6,
            31,
            3,
            29,
            10, // the first, at 0
            2,
            10,
            2,
            2,
            36 + 1,
            31,
            8,
            36 + 1, // the second, at 10
        ];
        let second = all(Commands::new(column(11), &bytes, 10));
        assert_eq!(second, [(Command::Literal, 3), (Command::Slot, 4), (Command::Literal, 5)]);
    }

    #[test]
    fn bytes_that_are_no_translation_end() {
        for column in Column::all() {
            for byte in 0..=255_u8 {
                let bytes = [byte; 64];
                let mut commands = Commands::new(column, &bytes, 1);
                commands.begin();
                assert!(std::iter::from_fn(|| commands.next()).count() <= MAX_COMMANDS);
            }
        }
    }
}

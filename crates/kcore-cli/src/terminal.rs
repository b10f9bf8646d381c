//! The terminal of the user: its size, and single keys.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use kcore_render::{Screen, Size};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

/// A terminal from which keys come and on which results are shown.
pub(crate) struct Terminal {
    /// The terminal itself where standard input is something else.
    own: Option<OwnedFd>,
}

impl Terminal {
    /// The terminal that results are shown on; `None` when that is none.
    pub(crate) fn open() -> Option<Self> {
        if !io::stdout().is_terminal() {
            return None;
        }
        if io::stdin().is_terminal() {
            return Some(Self { own: None });
        }
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        Some(Self { own: Some(terminal.into()) })
    }

    /// Where keys come from.
    fn keys(&self) -> BorrowedFd<'_> {
        match &self.own {
            Some(own) => own.as_fd(),
            None => rustix::stdio::stdin(),
        }
    }

    /// Waits for one byte.
    fn read(&self) -> Option<u8> {
        let mut byte = [0];
        loop {
            match rustix::io::read(self.keys(), &mut byte) {
                Ok(0) => return None,
                Ok(_) => return byte.first().copied(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }
}

impl Screen for Terminal {
    fn size(&self) -> Option<Size> {
        size()
    }

    /// The key comes at once, is not shown, and interrupts nothing.
    fn key(&self) -> Option<u8> {
        let before = tcgetattr(self.keys()).ok()?;
        tcsetattr(self.keys(), OptionalActions::Drain, &one_by_one(before.clone())).ok()?;
        let key = self.read();
        // A terminal that is gone cannot be put back.
        let _ = tcsetattr(self.keys(), OptionalActions::Drain, &before);
        key
    }

    fn has_key(&self) -> bool {
        let keys = self.keys();
        let mut waiting = [PollFd::new(&keys, PollFlags::IN)];
        poll(&mut waiting, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

/// Columns of the terminal that results are shown on, as it is now; `None` where they go elsewhere.
pub(crate) fn columns() -> Option<usize> {
    size().map(|size| size.columns)
}

/// A terminal that does not know its size says 0.
fn size() -> Option<Size> {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0 && rows > 0).then_some(Size { columns, rows })
}

/// How a terminal gives each key when it is pressed.
fn one_by_one(mut modes: Termios) -> Termios {
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

//! The frames of a build without the feature `compression`: none can be read.

use std::io::{self, Read};

/// Has no values: see `frames.rs`.
pub enum Frames {}

/// Has no values, since no frame is read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {}

impl Frames {
    /// `None`, whatever the stream holds.
    pub fn new(_: impl Read) -> Option<Self> {
        None
    }
}

impl Read for Frames {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl FrameError {
    pub const fn is_behind_frames(&self) -> bool {
        match *self {}
    }

    pub const fn is_too_wide(&self) -> bool {
        match *self {}
    }
}

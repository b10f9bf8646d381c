//! The packed files of a build without the feature `compression`: none can be written.

use std::{
    fs::File,
    io::{self, Read, Write},
};

/// Has no values: see `packed_file.rs`.
pub enum PackedFile {}

impl PackedFile {
    pub fn new(_: File) -> io::Result<Self> {
        Err(not_built())
    }

    pub const fn begin(&mut self, _: u64) -> io::Result<()> {
        match *self {}
    }

    pub const fn head(&mut self, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub const fn finish(self) -> io::Result<File> {
        match self {}
    }
}

impl Write for PackedFile {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

pub fn pack(_: &mut dyn Read, _: &mut dyn Write) -> io::Result<()> {
    Err(not_built())
}

pub fn check_support() -> io::Result<()> {
    Err(not_built())
}

fn not_built() -> io::Error {
    let why = "it is to be packed, and this build has no compression";
    io::Error::new(io::ErrorKind::Unsupported, why)
}

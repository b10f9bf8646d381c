//! What addr2line answers, as [`LineFrame`]s.

use std::{convert::Infallible, sync::Arc};

use addr2line::Context;
use gimli::{Dwarf, EndianReader, RunTimeEndian};
use kcore_elf::{Image, Section};
use kcore_mem::Svma;
use kcore_symbols::LineFrame;

type Reader = EndianReader<RunTimeEndian, Section>;

/// addr2line on one file.
pub struct Oracle(Context<Reader>);

impl Oracle {
    /// Opens all units of a file.
    pub fn open(image: &Image, supplementary: Option<&Image>) -> Self {
        let mut dwarf = load(image);
        if let Some(supplementary) = supplementary {
            dwarf.set_sup(load(supplementary));
        }
        Self(Context::from_dwarf(dwarf).unwrap())
    }

    /// The frames at an address; languages are left out.
    pub fn find(&self, svma: Svma) -> Vec<LineFrame> {
        let mut found = self.0.find_frames(svma.get()).skip_all_loads().unwrap();
        let mut frames = Vec::new();
        while let Some(frame) = found.next().unwrap() {
            let name = frame.function.map(|name| name.raw_name().unwrap().into_owned());
            let location = frame.location.as_ref();
            frames.push(LineFrame {
                function: name.filter(|name| !name.is_empty()).map(Into::into),
                file: location.and_then(|location| location.file).map(Into::into),
                line: location.and_then(|location| location.line),
                column: location.and_then(|location| location.column).filter(|column| *column > 0),
                language: None,
                inline: true,
            });
        }
        if let Some(last) = frames.last_mut() {
            last.inline = false;
        }
        frames
    }
}

fn load(image: &Image) -> Dwarf<Reader> {
    let section = |id: gimli::SectionId| {
        let data = image.section_data(id.name()).unwrap_or_default();
        Ok::<_, Infallible>(EndianReader::new(data, RunTimeEndian::Little))
    };
    Dwarf::load(section).unwrap_or_else(|never| match never {})
}

/// A file, and where its DWARF is.
pub struct Subject {
    /// What to say when it fails.
    pub name: String,
    /// The file with DWARF.
    pub image: Arc<Image>,
    /// The file that `dwz` made.
    pub supplementary: Option<Arc<Image>>,
}

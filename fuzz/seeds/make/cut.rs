//! Debug information cut down to some types and what they are made of.

use std::{borrow::Cow, collections::BTreeSet, fs, path::Path, process::Command};

use gimli::{
    DwAt, DwTag, EndianSlice, LittleEndian, Reader, SectionId, constants,
    write::{
        Address, ConvertResult, ConvertUnit, ConvertUnitEntry, Dwarf, EndianVec, FilterUnitSection,
        Sections, UnitEntryId,
    },
};
use kcore_elf::Image;
use kcore_fuzz::sections::elf;

/// An ELF file that has the types at these offsets of the executable's `.debug_info`, with the
/// sections compressed.
pub fn types(exe: &Path, roots: &BTreeSet<usize>) -> Vec<u8> {
    let image = Image::parse(fs::read(exe).expect("a program").into()).expect("ELF");
    let data = |id: SectionId| image.section_data(id.name()).map(|data| data.to_vec());
    let load = |id| Ok::<_, gimli::Error>(Cow::from(data(id).unwrap_or_default()));
    let owned = gimli::DwarfSections::load(load).expect("sections");
    let dwarf = owned.borrow(|bytes| EndianSlice::new(bytes, LittleEndian));
    let mut kept = cut(&dwarf, roots).expect("debug information");
    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    kept.write(&mut sections).expect("debug information");
    let mut parts = Vec::new();
    let gather = |id: SectionId, data: &EndianVec<LittleEndian>| {
        parts.push((id.name(), data.slice().to_vec()));
        Ok::<_, gimli::Error>(())
    };
    sections.for_each(gather).expect("sections");
    let parts: Vec<_> = parts.iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
    let parts: Vec<_> = parts.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
    compressed(&elf(&parts))
}

fn cut<R: Reader<Offset = usize>>(
    dwarf: &gimli::Dwarf<R>,
    roots: &BTreeSet<usize>,
) -> ConvertResult<Dwarf> {
    let mut filter = FilterUnitSection::new(dwarf)?;
    while let Some(mut unit) = filter.read_unit()? {
        let mut entry = unit.null_entry();
        while unit.read_entry(&mut entry)? {
            let offset = entry.offset.to_unit_section_offset(&entry.read_unit);
            if roots.contains(&offset.0) {
                unit.require_entry(entry.offset);
            }
        }
    }
    let mut kept = Dwarf::new();
    let mut convert = kept.convert_with_filter(filter)?;
    while let Some((mut unit, root)) = convert.read_unit()? {
        let id = unit.unit.root();
        keep(&mut unit, id, &root)?;
        let mut entry = root;
        while let Some(id) = unit.read_entry(&mut entry)? {
            if id.is_some() {
                let id = unit.add_entry(id, &entry);
                keep(&mut unit, id, &entry)?;
            }
        }
        if unit.unit.get(unit.unit.root()).children().next().is_none() {
            unit.skip();
        }
    }
    Ok(kept)
}

/// Keeps what says what a type is; not where it was declared, and not the code of methods.
fn keep<R: Reader<Offset = usize>>(
    unit: &mut ConvertUnit<'_, R>,
    id: UnitEntryId,
    entry: &ConvertUnitEntry<'_, R>,
) -> ConvertResult<()> {
    let address = |address| Some(Address::Constant(address));
    for attribute in entry.attrs.iter().filter(|attribute| is_wanted(entry.tag, attribute.name())) {
        let value = unit.convert_attribute_value(entry.read_unit, attribute, &address)?;
        unit.unit.get_mut(id).set(attribute.name(), value);
    }
    Ok(())
}

fn is_wanted(tag: DwTag, name: DwAt) -> bool {
    let is_code = tag == constants::DW_TAG_subprogram;
    let is_unit = tag == constants::DW_TAG_compile_unit;
    match name {
        constants::DW_AT_decl_file
        | constants::DW_AT_decl_line
        | constants::DW_AT_decl_column
        | constants::DW_AT_call_file
        | constants::DW_AT_location
        | constants::DW_AT_accessibility
        | constants::DW_AT_object_pointer
        | constants::DW_AT_linkage_name
        | constants::DW_AT_frame_base
        | constants::DW_AT_low_pc
        | constants::DW_AT_high_pc
        | constants::DW_AT_ranges
        | constants::DW_AT_stmt_list
        | constants::DW_AT_macros => false,
        constants::DW_AT_name | constants::DW_AT_language => true,
        _ => !is_code && !is_unit,
    }
}

/// The same, with its sections compressed.
fn compressed(file: &[u8]) -> Vec<u8> {
    let path = Path::new("/tmp/kcore-seeds/cut");
    fs::write(path, file).expect("a file");
    let status = Command::new("objcopy").arg("--compress-debug-sections=zlib").arg(path).status();
    assert!(status.is_ok_and(|status| status.success()), "objcopy");
    fs::read(path).expect("a file")
}

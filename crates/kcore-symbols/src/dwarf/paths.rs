//! The paths of a unit's source files.

use gimli::{AttributeValue, LineProgramHeader, Reader as _};

use super::{Reader, Result, file::DwarfFile, unit::Unit};

/// The path of a file of a line program: joined with its directory, and that with the directory of
/// compilation. `None` when there is no such file.
pub fn path(
    file: &DwarfFile,
    unit: &Unit,
    header: &LineProgramHeader<Reader>,
    number: u64,
) -> Result<Option<String>> {
    // File 0 may be missing before DWARF 5, and has no name then.
    let Some(entry) = header.file(number) else {
        return Ok(Some(String::new()).filter(|_| number == 0));
    };
    let mut path = match &unit.unit.comp_dir {
        Some(dir) => dir.to_string_lossy()?.into_owned(),
        None => String::new(),
    };
    // Directory 0 is the directory of compilation.
    if entry.directory_index() != 0
        && let Some(directory) = entry.directory(header)
    {
        push(&mut path, &string(file, unit, directory)?);
    }
    push(&mut path, &string(file, unit, entry.path_name())?);
    Ok(Some(path))
}

fn string(file: &DwarfFile, unit: &Unit, value: AttributeValue<Reader>) -> Result<String> {
    let text = file.dwarf.attr_string(&unit.unit, value)?;
    Ok(text.to_string_lossy()?.into_owned())
}

fn push(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_part_replaces_what_is_before_it() {
        let mut path = String::from("/build");
        push(&mut path, "src");
        push(&mut path, "main.c");
        assert_eq!(path, "/build/src/main.c");
        push(&mut path, "/usr/include/stdio.h");
        assert_eq!(path, "/usr/include/stdio.h");
    }
}

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
    let own = |text: &Option<Reader>| match text {
        Some(text) => text.to_string_lossy().map(std::borrow::Cow::into_owned),
        None => Ok(String::new()),
    };
    let mut path = own(&unit.unit.comp_dir)?;
    // Before DWARF 5, file 0 is the unit's own, which may have no name.
    if number == 0 && header.version() < 5 {
        let name = own(&unit.unit.name)?;
        push(&mut path, &name);
        return Ok(Some(if name.is_empty() { name } else { path }));
    }
    let Some(entry) = header.file(number) else {
        return Ok(Some(String::new()).filter(|_| number == 0));
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

//! Makes holes of a file's zeros: gdb writes the untouched megabytes of every arena, the kernel does not.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::Result;
use crate::error::AtPath;

/// Size of a hole, at least that of a file system's block.
const BLOCK: usize = 4096;

/// Rewrites a file with holes for its blocks of zeros; its contents stay the same.
pub(crate) fn punch(path: &Path) -> Result<()> {
    let copy = path.with_extension("sparse");
    copy_sparse(path, &copy).at(&copy)?;
    std::fs::rename(&copy, path).at(&copy)
}

fn copy_sparse(from: &Path, to: &Path) -> std::io::Result<()> {
    let (mut input, mut output) = (File::open(from)?, File::create(to)?);
    let length = input.metadata()?.len();
    let mut block = Vec::with_capacity(BLOCK);
    loop {
        block.clear();
        if Read::by_ref(&mut input).take(BLOCK as u64).read_to_end(&mut block)? == 0 {
            return output.set_len(length);
        }
        if block.iter().all(|byte| *byte == 0) {
            output.seek(SeekFrom::Current(block.len() as i64))?;
        } else {
            output.write_all(&block)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_stay() {
        let path = std::env::temp_dir().join(format!("gen-cores-sparse-{}", std::process::id()));
        let mut bytes = vec![0; 3 * BLOCK + 17];
        bytes[BLOCK + 1] = 7;
        std::fs::write(&path, &bytes).unwrap();
        punch(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        std::fs::remove_file(&path).unwrap();
    }
}

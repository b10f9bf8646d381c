//! Programs that tests compile for themselves.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use kcore_elf::{FileBytes, Image};

/// A folder with what was built in it.
pub struct Build {
    dir: tempfile::TempDir,
}

impl Build {
    /// Compiles `source` to the file `out` in a new folder.
    pub fn compile(compiler: &str, source: &str, out: &str, flags: &[&str]) -> Self {
        let build = Self { dir: tempfile::tempdir().unwrap() };
        let extension = match compiler {
            "g++" | "clang++" => "cpp",
            "rustc" => "rs",
            _ => "c",
        };
        let source_file = format!("source.{extension}");
        std::fs::write(build.path(&source_file), source).unwrap();
        let mut args = flags.to_vec();
        args.extend(["-o", out, &source_file]);
        build.run(compiler, &args);
        build
    }

    /// Runs a tool in the folder.
    pub fn run(&self, tool: &str, args: &[&str]) {
        let output = Command::new(tool).args(args).current_dir(self.dir.path()).output();
        let output = output.unwrap_or_else(|error| panic!("{tool} is needed: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{tool} {args:?}: {errors}");
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file of the folder.
    pub fn image(&self, name: &str) -> Arc<Image> {
        image(&self.path(name))
    }
}

/// An ELF file.
pub fn image(path: &Path) -> Arc<Image> {
    let bytes = FileBytes::map(&File::open(path).unwrap()).unwrap();
    Arc::new(Image::parse(bytes).unwrap())
}

//! The form of a program's debug information: which DWARF, in which sections and files.

/// Where debug information lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Store {
    /// All of it in the program.
    #[default]
    Program,
    /// `split`: most of it in `.dwo` files beside.
    Dwo,
    /// `dwp`: as `split`, and the `.dwo` files packed into one `.dwp`.
    Dwp,
    /// `dwz`: in the program, what units share stated once.
    Dwz,
    /// `dwzm`: what units share in a file of its own, `common.debug`.
    DwzFile,
}

/// The form of a program's debug information.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DebugForm {
    /// Version of DWARF, if not the compiler's default.
    pub version: Option<u8>,
    /// Where it lies.
    pub store: Store,
    /// `types`: types in units of their own.
    pub type_units: bool,
    /// `simple`: names of templates without their arguments.
    pub simple_names: bool,
    /// `gz`: sections are compressed.
    pub compressed: bool,
    /// `views`: location lists hold the numbers of views, which is an extension of GNU.
    pub views: bool,
}

impl DebugForm {
    /// Takes a word of a variant's name; `None` if it says nothing of debug information.
    pub(crate) fn apply(&mut self, word: &str) -> Option<()> {
        match word {
            "dwarf2" => self.version = Some(2),
            "dwarf3" => self.version = Some(3),
            "dwarf4" => self.version = Some(4),
            "dwarf5" => self.version = Some(5),
            "split" => self.store = Store::Dwo,
            "dwp" => self.store = Store::Dwp,
            "dwz" => self.store = Store::Dwz,
            "dwzm" => self.store = Store::DwzFile,
            "types" => self.type_units = true,
            "simple" => self.simple_names = true,
            "gz" => self.compressed = true,
            "views" => self.views = true,
            _ => return None,
        }
        Some(())
    }

    /// Flags of gcc and clang.
    pub(crate) fn native_flags(&self) -> Vec<String> {
        let mut flags: Vec<String> =
            self.version.map(|version| format!("-gdwarf-{version}")).into_iter().collect();
        let switches = [
            (matches!(self.store, Store::Dwo | Store::Dwp), "-gsplit-dwarf"),
            (self.type_units, "-fdebug-types-section"),
            (self.simple_names, "-gsimple-template-names"),
            (self.compressed, "-gz"),
            (self.views, "-gvariable-location-views=incompat5"),
        ];
        flags.extend(
            switches.iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| (*flag).to_owned()),
        );
        flags
    }

    /// Flags of rustc.
    pub(crate) fn rust_flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        if let Some(version) = self.version {
            flags.extend(["-C".to_owned(), format!("dwarf-version={version}")]);
        }
        let split = match self.store {
            Store::Dwo => "split-debuginfo=unpacked",
            Store::Dwp => "split-debuginfo=packed",
            Store::Program | Store::Dwz | Store::DwzFile => return flags,
        };
        flags.extend(["-C", split].map(str::to_owned));
        flags
    }

    /// What is to be run when the program is linked, as words of a shell; rustc packs by itself.
    pub(crate) fn finish(&self, program: &str) -> Option<String> {
        match self.store {
            Store::Program | Store::Dwo => None,
            Store::Dwp => Some(format!("dwp -e {program} -o {program}.dwp && rm -f *.dwo")),
            Store::Dwz => Some(format!("dwz {program}")),
            // What is shared takes two files that share it.
            Store::DwzFile => Some(format!(
                "cp {program} twin && dwz -m common.debug -r {program} twin && rm -f twin"
            )),
        }
    }

    /// The tool that [`DebugForm::finish`] needs.
    pub(crate) fn tool(&self) -> Option<&'static str> {
        match self.store {
            Store::Program | Store::Dwo => None,
            Store::Dwp => Some("dwp"),
            Store::Dwz | Store::DwzFile => Some("dwz"),
        }
    }
}

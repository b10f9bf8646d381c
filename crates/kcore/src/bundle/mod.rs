//! A core and the files that its answers need, in one archive.

mod blotted;
mod maps;
mod noted;

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io::{self, Write},
    ops::Range,
    os::unix::ffi::OsStrExt,
    path::Path,
    sync::Arc,
};

use kcore_elf::{CoreFile, Image};
use kcore_files::{
    SYSTEM_DEBUG_DIR, SearchedPlace, TarWriter,
    bundle::{CORE, README, ROOT, member_path},
};
use kcore_mem::{Addr, AddrRange};

use crate::{Core, Module};
use blotted::Blotted;

/// What of a core goes into its bundle. The default is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleOptions {
    /// The strings of the environment, with which the program was started, are zeros in it. Copies that the program
    /// itself made stay.
    pub without_env: bool,
    /// Only this of the memory: [`Core::doubts`] of the bundle says so.
    pub memory: Option<Vec<AddrRange>>,
}

/// What is in a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleContents {
    /// Paths of the files in it, without that of the core.
    pub files: Vec<String>,
    /// Modules whose own file is not in it, since it was not found.
    pub lacking: Vec<String>,
    /// Strings of the environment that were blotted out.
    pub blotted: usize,
    /// Whether the environment was to be blotted out and is not where the kernel put it.
    pub has_unknown_env: bool,
    /// Bytes of the core in it.
    pub core_size: u64,
}

/// What packs a core with its files: see [`Core::bundle`].
#[derive(Clone, Copy)]
pub struct BundleView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// What packs it with the files that answers need.
    pub const fn bundle(&self) -> BundleView<'_> {
        BundleView { core: self }
    }
}

impl BundleView<'_> {
    /// Writes a bundle: the core, the files of its modules, and their debug files.
    ///
    /// # Errors
    /// When it cannot be written; when there is no core file.
    pub fn write(self, to: &mut dyn Write, options: &BundleOptions) -> io::Result<BundleContents> {
        let file =
            self.core.file().ok_or_else(|| io::Error::other("there is no core to bundle"))?;
        let files = self.core.files_of_bundle();
        let env = if options.without_env { self.core.environment_in_file() } else { Vec::new() };
        let (head, parts) = self.core.parts_of_core(file, options.memory.as_deref());
        let mut core = Blotted::new(&head, file.bytes(), &parts, &env);
        let contents = BundleContents {
            files: files.keys().cloned().collect(),
            lacking: self.core.modules_without_file(),
            blotted: env.len(),
            has_unknown_env: options.without_env && env.is_empty(),
            core_size: core.len(),
        };
        let mut archive = TarWriter::new(to);
        let readme = self.core.readme(&contents);
        archive.file(README.as_bytes(), readme.len() as u64, &mut readme.as_bytes())?;
        archive.file(CORE.as_bytes(), contents.core_size, &mut core)?;
        for (name, image) in &files {
            let bytes: &[u8] = image.bytes();
            archive.file(name.as_bytes(), bytes.len() as u64, &mut &*bytes)?;
        }
        for (name, to) in self.core.other_names(&files) {
            archive.hard_link(name.as_bytes(), to.as_bytes())?;
        }
        archive.finish().map(|_| contents)
    }
}

impl Core {
    /// What the core in the bundle begins with that the file does not have, and which parts of the file follow.
    fn parts_of_core(
        &self,
        file: &CoreFile,
        memory: Option<&[AddrRange]>,
    ) -> (Vec<u8>, Vec<Range<usize>>) {
        let Some(wanted) = memory else {
            let whole = 0..file.bytes().len();
            return (Vec::new(), std::iter::once(whole).collect());
        };
        // One that has the text in a note keeps it.
        let maps = file.maps().is_none().then(|| maps::text_of(self.mappings())).flatten();
        let excerpt = file.excerpt(&AddrRange::merged(wanted.iter().copied()), maps.as_deref());
        (excerpt.head, excerpt.memory)
    }

    /// The files by their names in the archive. A name that two modules have stands for the file of the first.
    fn files_of_bundle(&self) -> BTreeMap<String, Arc<Image>> {
        let mut files = BTreeMap::new();
        for module in self.modules().all().iter().filter(|module| !module.is_vdso()) {
            for (path, image) in module.files_to_take() {
                let member = member_path(Path::new(&path));
                files.entry(format!("{ROOT}{}", member.display())).or_insert(image);
            }
        }
        files
    }

    /// Names by which the dynamic linker knows files that the system knows by others: `/lib` may be a link to `/usr/lib`.
    /// gdb looks for them.
    fn other_names(&self, files: &BTreeMap<String, Arc<Image>>) -> BTreeMap<String, String> {
        let member = |path: &Path| format!("{ROOT}{}", member_path(path).display());
        let names = self.process().link_map().iter().filter_map(|entry| {
            let known = member(Path::new(OsStr::from_bytes(&entry.path)));
            let mapped = member(Path::new(&self.modules().at(entry.dynamic)?.path()));
            let is_other = !entry.path.is_empty() && !files.contains_key(&known);
            (is_other && files.contains_key(&mapped)).then_some((known, mapped))
        });
        names.collect()
    }

    fn modules_without_file(&self) -> Vec<String> {
        let modules = self.modules().all().iter().filter(|module| !module.is_vdso());
        modules.filter(|module| module.image().is_none()).map(Module::path).collect()
    }

    /// Where the strings of the environment lie in the core file.
    fn environment_in_file(&self) -> Vec<Range<usize>> {
        let strings = self.process().initial_stack().map(|stack| stack.env).unwrap_or_default();
        let ranges = strings.iter().filter_map(|string| {
            let start = self.offset_in_file(string.at)?;
            let len = self.file()?.bytes().get(start..)?.iter().position(|byte| *byte == 0)?;
            Some(start..start.checked_add(len)?)
        });
        ranges.collect()
    }

    fn offset_in_file(&self, at: Addr) -> Option<usize> {
        let segments = self.file()?.segments().iter();
        let mut loads = segments.filter(|segment| segment.is_load());
        loads.find_map(|segment| {
            let into = at.get().checked_sub(segment.range.start.get())?;
            let offset = segment.offset.get().checked_add(into)?;
            (into < segment.file_size).then(|| usize::try_from(offset).ok())?
        })
    }

    fn readme(&self, contents: &BundleContents) -> String {
        let exe = self.modules().exe().map(Module::path).unwrap_or_default();
        let exe = member_path(Path::new(exe.strip_suffix(" (deleted)").unwrap_or(&exe)));
        let exe = exe.to_string_lossy();
        let one_line = |text: &str| text.replace('\n', "\\n");
        let mut text = format!(
            "A core and its files, by kcore {}.\n\n\
             kcore opens this archive as it is. For gdb, unpack it:\n\n  \
             gdb -iex \"set sysroot $PWD/root\" -iex 'set debug-file-directory root{SYSTEM_DEBUG_DIR}' {ROOT}{} core\n\nFiles:\n",
            env!("CARGO_PKG_VERSION"),
            one_line(&exe),
        );
        contents.files.iter().for_each(|file| text.push_str(&format!("  {}\n", one_line(file))));
        if !contents.lacking.is_empty() {
            text.push_str("\nNot found, and so not in it:\n");
            contents.lacking.iter().for_each(|it| text.push_str(&format!("  {}\n", one_line(it))));
        }
        text
    }
}

impl Module {
    /// Its file and its debug files, each with the path at which others look for it.
    fn files_to_take(&self) -> Vec<(String, Arc<Image>)> {
        let path = self.path();
        let path = path.strip_suffix(" (deleted)").unwrap_or(&path).to_owned();
        let own = self.image().map(|image| (path, image.clone()));
        let by_id = |image: &Arc<Image>| {
            let file = image.build_id()?.debug_path()?;
            let path = Path::new(SYSTEM_DEBUG_DIR).join(".build-id").join(file);
            Some((path.to_string_lossy().into_owned(), image.clone()))
        };
        let debug = self.debug_search().file.as_ref();
        let debug = debug.filter(|file| file.place != SearchedPlace::Within);
        let debug = debug.and_then(|file| by_id(&file.image));
        let supplementary = self.supplementary_image().and_then(by_id);
        own.into_iter().chain(debug).chain(supplementary).collect()
    }
}

//! Finding files that gcc and objcopy made, in folders that the tests lay out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kcore_elf::{BuildId, FileBytes, Image};
use kcore_files::{Finder, SearchPaths, SearchedPlace, WantedModule, Why, has_debug_info};
use kcore_mem::Arch;

struct Ground {
    dir: tempfile::TempDir,
}

impl Ground {
    /// A folder with `app`, built with debug information and this build-id.
    fn new(build_id: &str) -> Self {
        let ground = Self { dir: tempfile::tempdir().unwrap() };
        ground.compile("app", build_id);
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn compile(&self, name: &str, build_id: &str) {
        let source = self.path("app.c");
        fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let id = format!("-Wl,--build-id={build_id}");
        self.run("gcc", &["-g", &id, "-o", name, "app.c"]);
    }

    fn run(&self, tool: &str, args: &[&str]) {
        let output = Command::new(tool).args(args).current_dir(self.dir.path()).output();
        let output = output.unwrap_or_else(|error| panic!("{tool} is needed: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{tool} {args:?}: {errors}");
    }

    fn copy(&self, from: &str, to: &str) -> PathBuf {
        let to = self.path(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(self.path(from), &to).unwrap();
        to
    }

    /// Makes `stripped` with a link to `app.debug`, and `app.debug`.
    fn strip(&self) {
        self.run("objcopy", &["--only-keep-debug", "app", "app.debug"]);
        self.run("objcopy", &["--strip-all", "--add-gnu-debuglink=app.debug", "app", "stripped"]);
    }

    fn image(&self, name: &str) -> Image {
        Image::parse(FileBytes::from(fs::read(self.path(name)).unwrap())).unwrap()
    }
}

const ID: &str = "0xabcdef0123456789";

fn id() -> BuildId {
    BuildId::new(&[0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89]).unwrap()
}

fn wanted<'a>(path: &'a Path, build_id: Option<&'a BuildId>) -> WantedModule<'a> {
    WantedModule { path, build_id, is_exe: true, arch: Arch::X86_64 }
}

#[test]
fn the_recorded_path_is_taken_when_the_build_id_agrees() {
    let ground = Ground::new(ID);
    let finder = Finder::new(SearchPaths::default());
    let (path, id) = (ground.path("app"), id());
    let file = finder.find(&wanted(&path, Some(&id))).file.unwrap();
    assert_eq!(
        (file.place, file.verified, file.path),
        (SearchedPlace::Recorded, true, path.clone())
    );
    let unproven = finder.find(&wanted(&path, None)).file.unwrap();
    assert!(!unproven.verified);
}

#[test]
fn another_build_is_refused_and_said_even_when_the_user_named_it() {
    let ground = Ground::new("0x1111");
    let paths = SearchPaths { exe: Some(ground.path("app")), ..SearchPaths::default() };
    let gone = ground.path("gone");
    let found = Finder::new(paths).find(&wanted(&gone, Some(&id())));
    assert!(found.file.is_none());
    assert_eq!(found.tried[0].place, SearchedPlace::Given);
    let other = BuildId::new(&[0x11, 0x11]);
    assert_eq!(found.tried[0].why, Why::BuildIdMismatch { found: other });
    assert_eq!(found.tried[0].why.to_string(), "its build-id is 1111, not that of the process");
    assert_eq!((&found.tried[1].path, &found.tried[1].why), (&gone, &Why::NotFound));
}

#[test]
fn a_file_without_build_id_is_not_the_one_that_had_one() {
    let ground = Ground::new("none");
    let path = ground.path("app");
    let found = Finder::new(SearchPaths::default()).find(&wanted(&path, Some(&id())));
    assert_eq!(found.tried[0].why, Why::BuildIdMismatch { found: None });
}

#[test]
fn places_are_searched_in_order_until_one_fits() {
    let ground = Ground::new(ID);
    ground.compile("other", "0x2222");
    let recorded = Path::new("/opt/app/bin/app");
    let in_root = ground.copy("other", "root/opt/app/bin/app");
    let beside_core = ground.copy("app", "cores/app");
    let by_id = ground.copy("app", "debug/.build-id/ab/cdef0123456789");
    let paths = SearchPaths {
        exe: None,
        sysroot: Some(ground.path("root")),
        core_dir: Some(ground.path("cores")),
        debug_dirs: vec![ground.path("debug")],
        ..SearchPaths::default()
    };
    let id = id();
    let found = Finder::new(paths.clone()).find(&wanted(recorded, Some(&id)));
    let file = found.file.unwrap();
    assert_eq!((file.place, file.path), (SearchedPlace::CoreDir, beside_core));
    assert_eq!((found.tried.len(), &found.tried[0].path), (1, &in_root));
    let only_ids = Finder::with_places(paths, vec![SearchedPlace::BuildIdDir]);
    let file = only_ids.find(&wanted(recorded, Some(&id))).file.unwrap();
    assert_eq!((file.place, file.path), (SearchedPlace::BuildIdDir, by_id));
}

#[test]
fn a_deleted_file_is_looked_for_under_the_name_that_it_had() {
    let ground = Ground::new(ID);
    let beside_core = ground.copy("app", "cores/app");
    let paths = SearchPaths { core_dir: Some(ground.path("cores")), ..SearchPaths::default() };
    let id = id();
    let found = Finder::new(paths).find(&wanted(Path::new("/gone/app (deleted)"), Some(&id)));
    assert_eq!(found.file.unwrap().path, beside_core);
}

#[test]
fn what_is_no_regular_file_is_never_opened() {
    let ground = Ground::new(ID);
    ground.run("mkfifo", &["pipe"]);
    let finder = Finder::new(SearchPaths::default());
    for path in [ground.path("pipe"), PathBuf::from("/dev/zero"), ground.path("")] {
        let found = finder.find(&wanted(&path, None));
        assert_eq!(found.tried[0].why, Why::NotRegular, "{}", path.display());
    }
    fs::write(ground.path("text"), "hello").unwrap();
    let found = finder.find(&wanted(&ground.path("text"), None));
    assert!(matches!(found.tried[0].why, Why::NotElf(_)));
    for name in ["[vdso]", "relative/app", ""] {
        let found = finder.find(&wanted(Path::new(name), None));
        assert!(found.file.is_none() && found.tried.is_empty(), "{name:?}");
    }
}

#[test]
fn another_machine_is_said() {
    let ground = Ground::new(ID);
    let path = ground.path("app");
    let wanted = WantedModule { arch: Arch::Aarch64, ..wanted(&path, None) };
    let found = Finder::new(SearchPaths::default()).find(&wanted);
    assert_eq!(found.tried[0].why, Why::WrongArch(Arch::X86_64));
}

#[test]
fn a_debug_file_is_found_by_build_id_before_the_link() {
    let ground = Ground::new(ID);
    ground.strip();
    let by_id = ground.copy("app.debug", "debug/.build-id/ab/cdef0123456789.debug");
    let debug_dirs = vec![ground.path("debug")];
    let finder = Finder::new(SearchPaths { debug_dirs, ..SearchPaths::default() });
    let stripped = ground.image("stripped");
    assert!(!has_debug_info(&stripped));
    let file = finder.find_debug(&stripped, &ground.path("stripped"), None).file.unwrap();
    assert_eq!((file.path, file.verified), (by_id, true));
    assert!(has_debug_info(&file.image));
    let by_id_alone = finder.find_debug_by_id(&id()).file.unwrap();
    assert_eq!(by_id_alone.place, SearchedPlace::BuildIdDir);
}

#[test]
fn a_debug_link_is_looked_for_beside_the_file_and_below_the_debug_directories() {
    let ground = Ground::new("none");
    ground.strip();
    let stripped = ground.image("stripped");
    let below = ground.path("stripped");
    let below = below.parent().unwrap().strip_prefix("/").unwrap();
    let in_debug_dir = format!("debug/{}/app.debug", below.display());
    let places = [in_debug_dir.as_str(), ".debug/app.debug", "app.debug"];
    let debug_dirs = vec![ground.path("debug")];
    let finder = Finder::new(SearchPaths { debug_dirs, ..SearchPaths::default() });
    fs::rename(ground.path("app.debug"), ground.path("kept")).unwrap();
    for place in places {
        let expected = ground.copy("kept", place);
        let file = finder.find_debug(&stripped, &ground.path("stripped"), None).file.unwrap();
        assert_eq!((file.path, file.verified), (expected.clone(), true));
        // Whether a later place hides an earlier one does not matter here: each is tried alone.
        fs::remove_file(expected).unwrap();
    }
}

#[test]
fn a_linked_file_with_another_checksum_is_refused() {
    let ground = Ground::new("none");
    ground.strip();
    let mut bytes = fs::read(ground.path("app.debug")).unwrap();
    bytes.push(0);
    fs::write(ground.path("app.debug"), bytes).unwrap();
    let finder = Finder::new(SearchPaths::default());
    let found = finder.find_debug(&ground.image("stripped"), &ground.path("stripped"), None);
    assert!(found.file.is_none());
    assert!(matches!(found.tried[0].why, Why::ChecksumMismatch { .. }));
}

#[test]
fn a_file_that_has_debug_information_needs_no_other() {
    let ground = Ground::new(ID);
    let finder = Finder::new(SearchPaths::default());
    let found = finder.find_debug(&ground.image("app"), &ground.path("app"), Some(&id()));
    assert!(found.file.is_none() && found.tried.is_empty());
}

#[test]
fn a_shared_supplementary_file_is_found_by_the_link_and_its_build_id() {
    let ground = Ground::new(ID);
    ground.compile("shared", "0x99887766");
    let mut link = b"../dwz/shared\0".to_vec();
    link.extend_from_slice(&[0x99, 0x88, 0x77, 0x66]);
    fs::write(ground.path("link"), link).unwrap();
    ground.run("objcopy", &["--add-section", ".gnu_debugaltlink=link", "app", "app.debug"]);
    ground.copy("app.debug", "debug/app.debug");
    ground.copy("shared", "dwz/shared");
    let finder = Finder::new(SearchPaths::default());
    let debug = ground.image("debug/app.debug");
    let found = finder.find_supplementary(&debug, &ground.path("debug/app.debug"));
    assert!(found.file.unwrap().verified);
    ground.copy("app", "dwz/shared");
    let found = finder.find_supplementary(&debug, &ground.path("debug/app.debug"));
    assert!(found.file.is_none());
    assert!(found.tried.iter().any(|tried| matches!(tried.why, Why::BuildIdMismatch { .. })));
}

#[test]
fn a_deleted_file_of_a_live_process_is_found_where_the_system_has_it() {
    let ground = Ground::new(ID);
    let recorded = Path::new("/gone/app (deleted)");
    let nameless = [(recorded.to_owned(), ground.path("app"))].into();
    let paths = SearchPaths { nameless, distrust_deleted: true, ..SearchPaths::default() };
    let file = Finder::new(paths).find(&wanted(recorded, Some(&id()))).file.unwrap();
    assert_eq!((file.place, file.verified), (SearchedPlace::Process, true));
}

#[test]
fn what_lies_at_the_path_of_a_deleted_file_counts_only_with_a_proof() {
    let ground = Ground::new(ID);
    let recorded = PathBuf::from(format!("{} (deleted)", ground.path("app").display()));
    let find = |distrust_deleted, build_id: Option<&BuildId>| {
        let paths = SearchPaths { distrust_deleted, ..SearchPaths::default() };
        Finder::new(paths).find(&wanted(&recorded, build_id)).file
    };
    assert!(find(true, None).is_none());
    assert!(find(true, Some(&id())).is_some_and(|file| file.verified));
    assert!(find(false, None).is_some_and(|file| !file.verified));
}

//! The layers of the file system of a container: folders, as overlay file systems keep them, and tar archives, of a layer
//! or of an image with all its layers in it.
//!
//! Files of archives are unpacked one by one, when they are wanted, into a folder that goes with the finder. Which of the
//! layers in an archive lies above which is not asked: a build-id tells which file is meant, and without one a path that
//! two of them have is passed over.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    os::unix::{ffi::OsStrExt, fs::FileExt, fs::FileTypeExt},
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use tempfile::TempDir;

use crate::{
    Format, bundle, open_regular, sysroot,
    tar::{self, TarEntry},
};

/// What `docker` calls the file that takes one of a lower layer away.
const WHITEOUT: &[u8] = b".wh.";
/// Smaller files of an image describe it, whatever they begin with.
const SMALLEST_LAYER: u64 = 64 << 10;

/// The layers, the lowest first.
#[derive(Debug, Default)]
pub struct Layers {
    layers: Vec<Layer>,
    /// Where files of archives are unpacked.
    folder: OnceLock<Option<TempDir>>,
    unpacked: Mutex<HashMap<(usize, u64), Option<PathBuf>>>,
    /// Where unpacked files lie in their archives.
    originals: Mutex<HashMap<PathBuf, PathBuf>>,
}

#[derive(Debug)]
enum Layer {
    Folder(PathBuf),
    Archive(PathBuf, OnceLock<Option<Archive>>),
}

impl Layers {
    /// Those that lie at these paths, the lowest first.
    pub fn new(paths: &[PathBuf]) -> Self {
        let layer = |path: &PathBuf| match path.is_dir() {
            true => Layer::Folder(path.clone()),
            false => Layer::Archive(path.clone(), OnceLock::new()),
        };
        Self { layers: paths.iter().map(layer).collect(), ..Self::default() }
    }

    /// Where the layers have a file of the target, the uppermost first. `is_proven`: a build-id tells which is meant.
    pub fn find(&self, path: &Path, is_proven: bool) -> Vec<PathBuf> {
        let below = path.strip_prefix("/").ok();
        let mut found = Vec::new();
        for (number, layer) in self.layers.iter().enumerate().rev() {
            match layer {
                Layer::Folder(folder) => {
                    let Some(below) = below else { continue };
                    if !is_proven && is_whiteout(folder, below) {
                        break;
                    }
                    found.push(sysroot::resolve(folder, below));
                }
                Layer::Archive(packed, archive) => {
                    let archive = archive.get_or_init(|| Archive::open(packed).ok());
                    let Some(archive) = archive else { continue };
                    if below.is_none() && !archive.is_bundle {
                        continue;
                    }
                    let entries = archive.named(&bundle::member_path(path), is_proven);
                    found.extend(entries.iter().filter_map(|it| self.unpack(number, archive, it)));
                }
            }
        }
        found
    }

    /// Whether a file was unpacked from an archive.
    pub fn has_unpacked(&self, path: &Path) -> bool {
        let folder = self.folder.get().and_then(Option::as_ref);
        folder.is_some_and(|folder| path.starts_with(folder.path()))
    }

    /// The path that the target has for a file that was unpacked from an archive.
    pub fn original(&self, path: &Path) -> Option<PathBuf> {
        self.originals.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn unpack(&self, number: usize, archive: &Archive, entry: &TarEntry) -> Option<PathBuf> {
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        let known = unpacked.len();
        let place = unpacked.entry((number, entry.bytes.start));
        place
            .or_insert_with(|| {
                let folder = self.folder.get_or_init(|| tempfile::tempdir().ok()).as_ref()?;
                let folder = folder.path().join(known.to_string());
                fs::create_dir(&folder).ok()?;
                let name = entry.name.rsplit(|byte| *byte == b'/').next()?;
                let path = folder.join(OsStr::from_bytes(name));
                archive.copy(entry, &path).ok()?;
                let original = Path::new("/").join(OsStr::from_bytes(&entry.name));
                let mut originals = self.originals.lock().unwrap_or_else(PoisonError::into_inner);
                originals.insert(path.clone(), original);
                Some(path)
            })
            .clone()
    }
}

/// Whether a layer takes a file of lower ones away: by a character device with the number 0 (Linux, «overlayfs.rst»,
/// «whiteouts and opaque directories»), or by a file with a name of its own (OCI image specification, «layer.md»).
fn is_whiteout(folder: &Path, below: &Path) -> bool {
    let Some(name) = below.file_name() else { return false };
    let marker = [WHITEOUT, name.as_bytes()].concat();
    let is_device = fs::symlink_metadata(folder.join(below))
        .is_ok_and(|metadata| metadata.file_type().is_char_device());
    is_device || folder.join(below).with_file_name(OsStr::from_bytes(&marker)).exists()
}

/// An archive and the files in it.
#[derive(Debug)]
struct Archive {
    file: File,
    /// By path. A path that several layers have stands here as often.
    entries: HashMap<Vec<u8>, Vec<TarEntry>>,
    /// Whether it is a bundle, in which relative paths have their place as well.
    is_bundle: bool,
    /// The first layer in it that is compressed, so that its files are not seen.
    packed: Option<(String, Format)>,
}

impl Archive {
    fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        let len = file.metadata()?.len();
        let entries = tar::entries(&file, 0..len)?;
        let is_bundle = entries.first().is_some_and(|it| it.name == bundle::README.as_bytes());
        let mut archive = Self { file, entries: HashMap::new(), is_bundle, packed: None };
        for mut entry in entries {
            if is_bundle && let Some(below) = entry.name.strip_prefix(bundle::ROOT.as_bytes()) {
                entry.name = below.to_vec();
            }
            archive.take(entry)?;
        }
        Ok(archive)
    }

    /// Takes a file, or the files of a layer that lies in the archive.
    fn take(&mut self, entry: TarEntry) -> io::Result<()> {
        let mut head = [0; tar::MAGIC_END];
        let len = entry.bytes.end.saturating_sub(entry.bytes.start);
        let looks_at = len >= SMALLEST_LAYER || entry.name.ends_with(b".tar");
        if !looks_at || len < head.len() as u64 {
            self.add(entry);
            return Ok(());
        }
        self.file.read_exact_at(&mut head, entry.bytes.start)?;
        if tar::is_tar(&head) {
            for inner in tar::entries(&self.file, entry.bytes.clone()).unwrap_or_default() {
                self.add(inner);
            }
        } else if let Some(format) = Format::detect(&head).filter(|_| is_layer(&entry.name)) {
            let name = String::from_utf8_lossy(&entry.name).into_owned();
            self.packed.get_or_insert((name, format));
        }
        self.add(entry);
        Ok(())
    }

    fn add(&mut self, entry: TarEntry) {
        self.entries.entry(entry.name.clone()).or_default().push(entry);
    }

    /// The files at a path. Without a proof none, if there are several.
    fn named(&self, path: &Path, is_proven: bool) -> Vec<TarEntry> {
        let found = self.entries.get(path.as_os_str().as_bytes()).map_or(&[][..], Vec::as_slice);
        if !is_proven && found.len() > 1 {
            return Vec::new();
        }
        let linked = |entry: &TarEntry| match &entry.link {
            Some(link) => {
                self.entries.get(link)?.iter().rev().find(|it| it.link.is_none()).cloned()
            }
            None => Some(entry.clone()),
        };
        found.iter().rev().filter_map(linked).collect()
    }

    fn copy(&self, entry: &TarEntry, to: &Path) -> io::Result<()> {
        let mut from = self.file.try_clone()?;
        from.seek(SeekFrom::Start(entry.bytes.start))?;
        let len = entry.bytes.end.saturating_sub(entry.bytes.start);
        io::copy(&mut from.take(len), &mut File::create_new(to)?).map(drop)
    }
}

/// Whether a file of an archive is a layer by its name: those of images are.
fn is_layer(name: &[u8]) -> bool {
    name.starts_with(b"blobs/") || name.ends_with(b"layer.tar") || name.ends_with(b".tar.gz")
}

/// Whether files are found in what a user named as a layer.
///
/// # Errors
/// Why not.
pub fn check_layer(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let archive = Archive::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            io::Error::other(why_no_archive(path))
        }
        _ => error,
    })?;
    match archive.packed {
        Some((name, format)) => Err(io::Error::other(format!(
            "its layer {name} is packed with {format}: unpack it, and name it itself"
        ))),
        None if archive.entries.is_empty() => {
            Err(io::Error::other("neither a directory nor a tar archive with files"))
        }
        None => Ok(()),
    }
}

/// What a file is whose first header or file could not be read.
fn why_no_archive(path: &Path) -> String {
    let mut head = Vec::new();
    let read =
        open_regular(path).and_then(|file| file.take(tar::MAGIC_END as u64).read_to_end(&mut head));
    match Format::detect(&head).filter(|_| read.is_ok()) {
        Some(format) => format!("is packed with {format}: unpack it, and name what comes out"),
        None if tar::is_tar(&head) => {
            "a tar archive that is cut off or damaged within its first file".to_owned()
        }
        None => "neither a directory nor a tar archive".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    struct Ground(TempDir);

    impl Ground {
        fn new() -> Self {
            let ground = Self(tempfile::tempdir().unwrap());
            for (file, text) in [
                ("low/usr/a", "low a"),
                ("low/usr/b", "low b"),
                ("up/usr/a", "up a"),
                ("up/usr/c", "up c"),
            ] {
                let file = ground.path(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            ground
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn tar(&self, name: &str, folder: &str, what: &[&str]) -> PathBuf {
            let mut tar = Command::new("tar");
            tar.arg("-cf").arg(self.path(name)).arg("-C").arg(self.path(folder)).args(what);
            assert!(tar.status().unwrap().success());
            self.path(name)
        }

        fn texts(layers: &Layers, path: &str, is_proven: bool) -> Vec<String> {
            let found = layers.find(Path::new(path), is_proven);
            found.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
        }
    }

    #[test]
    fn the_uppermost_layer_comes_first_and_takes_files_away() {
        let ground = Ground::new();
        let layers = Layers::new(&[ground.path("low"), ground.path("up")]);
        assert_eq!(Ground::texts(&layers, "/usr/a", false), ["up a", "low a"]);
        assert_eq!(Ground::texts(&layers, "/usr/b", false), ["low b"]);
        fs::write(ground.path("up/usr/.wh.b"), "").unwrap();
        assert!(Ground::texts(&layers, "/usr/b", false).is_empty());
        // One that is proven by its build-id may have been mapped before it was taken away.
        assert_eq!(Ground::texts(&layers, "/usr/b", true), ["low b"]);
        assert!(Ground::texts(&layers, "usr/b", true).is_empty());
    }

    #[test]
    fn files_of_archives_are_unpacked_when_they_are_wanted() {
        let ground = Ground::new();
        let low = ground.tar("low.tar", "low", &["."]);
        let layers = Layers::new(&[low.clone(), ground.path("up")]);
        assert_eq!(Ground::texts(&layers, "/usr/a", false), ["up a", "low a"]);
        let [_, in_archive] = &layers.find(Path::new("/usr/a"), false)[..] else { panic!() };
        assert!(layers.has_unpacked(in_archive) && !layers.has_unpacked(&low));
        let folder = in_archive.parent().unwrap().parent().unwrap().to_owned();
        drop(layers);
        assert!(!folder.exists(), "what was unpacked goes with the finder");
    }

    #[test]
    fn an_image_has_the_files_of_all_its_layers() {
        let ground = Ground::new();
        fs::create_dir(ground.path("image")).unwrap();
        ground.tar("image/one.tar", "low", &["usr"]);
        ground.tar("image/two.tar", "up", &["usr"]);
        let image = ground.tar("image.tar", "image", &["one.tar", "two.tar"]);
        check_layer(&image).unwrap();
        let layers = Layers::new(&[image]);
        assert_eq!(Ground::texts(&layers, "/usr/b", false), ["low b"]);
        assert_eq!(Ground::texts(&layers, "/usr/a", true), ["up a", "low a"]);
        assert!(Ground::texts(&layers, "/usr/a", false).is_empty(), "nobody knows which is above");
    }

    #[test]
    fn what_has_no_files_is_refused_in_words() {
        let ground = Ground::new();
        let refused = |path: PathBuf| check_layer(&path).unwrap_err().to_string();
        assert!(refused(ground.path("low/usr/a")).contains("neither a directory nor a tar"));
        fs::create_dir_all(ground.path("oci/blobs/sha256")).unwrap();
        let mut packed = vec![0x1f, 0x8b, 8];
        packed.resize(70 << 10, 1);
        fs::write(ground.path("oci/blobs/sha256/0123"), packed).unwrap();
        let image = ground.tar("oci.tar", "oci", &["blobs"]);
        assert!(refused(image).contains("blobs/sha256/0123 is packed with gzip"));
        fs::write(ground.path("img.tgz"), [&[0x1f, 0x8b, 8][..], &[1; 600]].concat()).unwrap();
        assert!(refused(ground.path("img.tgz")).contains("packed with gzip"));
        fs::write(ground.path("low/usr/big"), [7; 4096]).unwrap();
        let whole = ground.tar("whole.tar", "low/usr", &["big"]);
        fs::write(ground.path("cut.tar"), &fs::read(whole).unwrap()[..2048]).unwrap();
        assert!(refused(ground.path("cut.tar")).contains("cut off"));
        assert!(check_layer(&ground.path("missing")).is_err());
        check_layer(&ground.path("up")).unwrap();
    }
}

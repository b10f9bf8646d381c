//! Places where the files of the program may lie, one for each finder.

use std::fs;
use std::os::unix::fs::symlink;

use crate::ground::Ground;

/// A place.
pub struct Place {
    pub name: &'static str,
    /// The word by which it alone is chosen.
    pub word: &'static str,
    lay_out: fn(&Ground) -> Vec<String>,
}

impl Place {
    /// Lays the files out, and gives the options by which they are found.
    pub fn lay_out(&self, ground: &Ground) -> Vec<String> {
        ground.clear();
        (self.lay_out)(ground)
    }
}

fn option(name: &str, value: &std::path::Path) -> Vec<String> {
    vec![name.to_owned(), value.display().to_string()]
}

/// The folder of the program below the root of another file system.
fn below(ground: &Ground, root: &str) -> std::path::PathBuf {
    let recorded = ground.recorded();
    ground.path(root).join(recorded.parent().unwrap().strip_prefix("/").unwrap())
}

pub const PLACES: &[Place] = &[
    Place {
        name: "option",
        word: "exe",
        lay_out: |ground| {
            ground.move_to(&ground.path("given"));
            option("--exe", &ground.path("given/app"))
        },
    },
    Place {
        name: "path as recorded",
        word: "recorded",
        lay_out: |ground| {
            ground.move_to(&ground.path("build"));
            Vec::new()
        },
    },
    Place {
        name: "folder of the core",
        word: "core-dir",
        lay_out: |ground| {
            ground.move_to(&ground.path("cores"));
            Vec::new()
        },
    },
    Place {
        name: "sysroot",
        word: "sysroot",
        lay_out: |ground| {
            ground.move_to(&below(ground, "root"));
            let mut options = option("--sysroot", &ground.path("root"));
            options.push("--host-files".to_owned());
            options
        },
    },
    Place {
        name: "path map",
        word: "map",
        lay_out: |ground| {
            ground.move_to(&ground.path("here"));
            let (from, to) = (ground.path("build"), ground.path("here"));
            vec!["--map".to_owned(), format!("{}={}", from.display(), to.display())]
        },
    },
    Place {
        name: "directory of a layer",
        word: "layer",
        lay_out: |ground| {
            fs::create_dir_all(ground.path("lower/usr")).unwrap();
            ground.move_to(&below(ground, "upper"));
            let mut options = option("--layer", &ground.path("lower"));
            options.extend(option("--layer", &ground.path("upper")));
            options.push("--host-files".to_owned());
            options
        },
    },
    Place {
        name: "archive of an image",
        word: "layer",
        lay_out: |ground| {
            ground.move_to(&below(ground, "image/layer"));
            ground.shell("tar -cf layer.tar -C layer . && rm -r layer", "image");
            ground.shell("tar -cf image.tar -C image .", ".");
            let mut options = option("--layer", &ground.path("image.tar"));
            options.push("--host-files".to_owned());
            options
        },
    },
    Place {
        name: "build-id directory",
        word: "build-id",
        lay_out: |ground| {
            ground.move_to(&ground.path("debug/files"));
            // A file of another build lies there in the place of the right one.
            let id = ground.build_id();
            let folder = ground.path("debug/.build-id").join(&id[..2]);
            fs::create_dir_all(&folder).unwrap();
            symlink("../../files/app", folder.join(&id[2..])).unwrap();
            for debug in ground.files().iter().filter(|name| name.ends_with(".debug")) {
                symlink(format!("../../files/{debug}"), folder.join(format!("{}.debug", &id[2..])))
                    .unwrap();
            }
            // What stands beside a file is looked for beside the name by which that was found.
            for beside in ground.files().iter().filter(|name| !name.ends_with(".debug")) {
                let _ = symlink(format!("../../files/{beside}"), folder.join(beside));
            }
            let package = folder.join(format!("{}.dwp", &id[2..]));
            let _ = symlink("../../files/app.dwp", package);
            option("--debug-dir", &ground.path("debug"))
        },
    },
];

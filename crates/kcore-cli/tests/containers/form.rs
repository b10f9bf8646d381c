//! Containers of debug information, each with the commands that make it.

/// A container.
pub struct Form {
    pub name: &'static str,
    /// Lines of a shell that leave `app` in the folder of `main.c` and `second.c`.
    pub commands: &'static [&'static str],
    /// What of that is kept.
    pub files: &'static [&'static str],
    /// What is needed.
    pub tools: &'static [&'static str],
    /// Whether it has lines, and not names alone.
    pub has_lines: bool,
    /// Whether it has variables.
    pub has_variables: bool,
}

const APP: &[&str] = &["app"];

const fn dwarf(name: &'static str, commands: &'static [&'static str]) -> Form {
    let tools = &["gcc", "objcopy", "readelf"];
    Form { name, commands, files: APP, tools, has_lines: true, has_variables: true }
}

const fn needing(form: Form, tools: &'static [&'static str]) -> Form {
    Form { tools, ..form }
}

const fn with_files(form: Form, files: &'static [&'static str]) -> Form {
    Form { files, ..form }
}

/// All of them. The first one is the plainest.
pub const FORMS: &[Form] = &[
    dwarf("plain", &["gcc -g -O0 main.c second.c -o app"]),
    dwarf("dwarf2", &["gcc -gdwarf-2 -gstrict-dwarf -O0 main.c second.c -o app"]),
    dwarf("dwarf3", &["gcc -gdwarf-3 -gstrict-dwarf -O0 main.c second.c -o app"]),
    dwarf("dwarf4", &["gcc -gdwarf-4 -O0 main.c second.c -o app"]),
    dwarf("dwarf64", &["gcc -gdwarf-5 -gdwarf64 -O0 main.c second.c -o app"]),
    dwarf("types4", &["gcc -gdwarf-4 -fdebug-types-section -O0 main.c second.c -o app"]),
    dwarf("types5", &["gcc -gdwarf-5 -fdebug-types-section -O0 main.c second.c -o app"]),
    dwarf("zlib", &["gcc -g -gz=zlib -O0 main.c second.c -o app"]),
    dwarf(
        "zlib-gnu",
        &[
            "gcc -g -O0 main.c second.c -o app",
            "objcopy --compress-debug-sections=zlib-gnu app",
            "readelf -SW app | grep -q zdebug_info",
        ],
    ),
    dwarf(
        "zstd",
        &[
            "gcc -g -O0 main.c second.c -o app",
            "objcopy --compress-debug-sections=zstd app || gcc -g -O0 main.c second.c -o app",
        ],
    ),
    needing(
        dwarf("gdb_index", &["gcc -g -O0 main.c second.c -o app", "gdb-add-index app"]),
        &["gcc", "gdb-add-index"],
    ),
    needing(
        dwarf("debug_names", &["clang -g -gdwarf-5 -gpubnames -O0 main.c second.c -o app"]),
        &["clang"],
    ),
    needing(
        dwarf("dwz", &["gcc -gdwarf-4 -O0 main.c second.c -o app", "dwz app"]),
        &["gcc", "dwz"],
    ),
    with_files(
        needing(
            dwarf(
                "dwz-shared",
                &[
                    "gcc -gdwarf-4 -O0 main.c second.c -o app && gcc -gdwarf-4 -O0 main.c second.c -o twin",
                    "dwz -m shared.dwz -r app twin",
                    "test -f shared.dwz",
                ],
            ),
            &["gcc", "dwz"],
        ),
        &["app", "shared.dwz"],
    ),
    with_files(
        dwarf(
            "debug-link",
            &[
                "gcc -g -O0 main.c second.c -o app",
                "objcopy --only-keep-debug app app.debug",
                "objcopy --strip-all --add-gnu-debuglink=app.debug app",
            ],
        ),
        &["app", "app.debug"],
    ),
    with_files(
        dwarf("dwo", &["gcc -gdwarf-5 -gsplit-dwarf -O0 -c main.c second.c", "gcc *.o -o app"]),
        &["app", "main.dwo", "second.dwo"],
    ),
    with_files(
        dwarf("dwo4", &["gcc -gdwarf-4 -gsplit-dwarf -O0 -c main.c second.c", "gcc *.o -o app"]),
        &["app", "main.dwo", "second.dwo"],
    ),
    with_files(
        needing(
            dwarf(
                "dwp",
                &[
                    "gcc -gdwarf-4 -gsplit-dwarf -O0 -c main.c second.c && gcc *.o -o app",
                    "dwp -e app -o app.dwp",
                ],
            ),
            &["gcc", "dwp"],
        ),
        &["app", "app.dwp"],
    ),
    // Optimized for linking, the functions are in a unit of their own that imports another.
    Form {
        has_variables: false,
        ..dwarf(
            "lto",
            &[
                "gcc -g -O1 -flto -fno-inline -fno-ipa-cp -fno-ipa-sra -fno-optimize-sibling-calls main.c second.c -o app",
            ],
        )
    },
    Form {
        has_lines: false,
        has_variables: false,
        ..needing(
            dwarf(
                "mini",
                &[
                    "gcc -O0 -rdynamic main.c second.c -o app",
                    "nm -D app --format=posix --defined-only | awk '{ print $1 }' | sort > dynamic",
                    "nm app --format=posix --defined-only | awk '$2 ~ /^[TtDd]$/ { print $1 }' | sort > all",
                    "comm -13 dynamic all > keep",
                    "objcopy --only-keep-debug app app.all",
                    "objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=keep app.all mini",
                    "xz -k mini",
                    "strip --strip-all -R .comment app",
                    "objcopy --add-section .gnu_debugdata=mini.xz app",
                ],
            ),
            &["gcc", "objcopy", "xz"],
        )
    },
];

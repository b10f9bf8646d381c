//! Builds a scenario's program and libraries into the case's folder.

use std::path::Path;

use crate::command::Line;
use crate::recipe::{Lib, Panic};
use crate::variant::{Link, Opt, Toolchain};
use crate::{
    Language, Result, Scenario, Variant, cargo, debian, erlang, java, lua, node, paths, perl, php,
    python, ruby, tools, wheel,
};

/// What is built where.
pub(crate) struct Build<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The variant.
    pub variant: &'a Variant,
    /// The folder that everything goes to.
    pub dir: &'a Path,
}

impl Build<'_> {
    /// Builds all; gives the command lines.
    pub(crate) fn run(&self) -> Result<Vec<String>> {
        let mut done = self.libs()?;
        let lines = match self.scenario.recipe.language {
            Language::JavaScript => return node::lay_out(self.scenario, self.variant, self.dir),
            Language::Python => return python::lay_out(self.scenario, self.variant, self.dir),
            Language::Java => return java::lay_out(self.scenario, self.variant, self.dir),
            Language::Ruby => return ruby::lay_out(self.scenario, self.variant, self.dir),
            Language::Lua => return lua::lay_out(self.scenario, self.variant, self.dir),
            Language::Perl => return perl::lay_out(self.scenario, self.variant, self.dir),
            Language::Erlang => return erlang::lay_out(self.scenario, self.variant, self.dir),
            Language::Php => return php::lay_out(self.scenario, self.variant, self.dir),
            Language::Rust => match &self.scenario.recipe.manifest {
                Some(manifest) => cargo::build(self.scenario, manifest, self.variant).into(),
                None => vec![self.rust()],
            },
            Language::Go if self.variant.go.is_some() => self.go_build().into_iter().collect(),
            Language::Go => vec![self.go_object(), self.go_program()],
            Language::C | Language::Cpp => {
                let finish = self.variant.debug.finish(&self.scenario.name);
                let finish = finish.map(|script| shell(&script));
                [self.account(), self.native()].into_iter().chain(finish).collect()
            }
        };
        for line in lines {
            line.run(self.dir)?;
            done.push(line.text());
        }
        done.extend(wheel::lay_out(self.scenario, self.dir)?);
        Ok(done)
    }

    fn compiler(&self) -> Line {
        self.compiler_of(self.scenario.recipe.language)
    }

    /// The compiler of a language, told for which of its architectures it is to compile.
    fn compiler_of(&self, language: Language) -> Line {
        let mut line = Line::new(tools::compiler(language, self.variant));
        line.args(self.variant.arch.cross().map_or(&[][..], |cross| cross.flags));
        line
    }

    /// The object of truth.c: without the scenario's flags, which may break it on purpose.
    fn account(&self) -> Line {
        let mut line = self.compiler_of(Language::C);
        let threads = self.scenario.recipe.threads.unwrap_or(16);
        line.args(["-c", "-O1", "-g", "-fno-stack-protector", "-U_FORTIFY_SOURCE"]);
        line.args(code_model(self.variant.link)).args(self.prefix_maps());
        line.args([format!("-DTRUTH_THREADS={threads}"), "-o".to_owned(), "truth.o".to_owned()]);
        line.path(&paths::include_dir().join("truth.c"));
        line
    }

    /// The program in C or C++.
    fn native(&self) -> Line {
        let mut line = self.compiler();
        line.args(self.native_flags());
        line.args(code_model(self.variant.link)).args(link_model(self.variant.link));
        line.args(debian::flags(self.scenario, &self.scenario.recipe.flags));
        line.args(self.scenario.recipe.when_for(self.variant).flat_map(|when| &when.flags));
        line.args(["-o", &self.scenario.name]).path(&self.scenario.source());
        for unit in &self.scenario.recipe.units {
            line.path(&self.scenario.dir.join(unit));
        }
        line.arg("truth.o");
        line.args(self.linked_libs());
        line.args(debian::flags(self.scenario, &self.scenario.recipe.link));
        line
    }

    fn native_flags(&self) -> Vec<String> {
        let standard = match self.scenario.recipe.language {
            Language::Cpp => "-std=gnu++17",
            _ => "-std=gnu11",
        };
        let mut flags: Vec<String> =
            [standard, "-g", "-Wall", "-Wno-unused-value", "-fno-delete-null-pointer-checks"]
                .map(str::to_owned)
                .to_vec();
        flags.extend(opt_flags(self.variant.opt).iter().map(|flag| (*flag).to_owned()));
        flags.extend(self.variant.debug.native_flags());
        if self.variant.toolchain == Toolchain::LibCxx {
            flags.push("-stdlib=libc++".to_owned());
        }
        if self.variant.signed {
            flags.push("-mbranch-protection=standard".to_owned());
        }
        flags.push(format!("-I{}", paths::include_dir().display()));
        let shared = self.scenario.recipe.shares.iter().map(|name| paths::include_dir().join(name));
        flags.extend(shared.map(|dir| format!("-I{}", dir.display())));
        flags.extend(self.prefix_maps());
        flags
    }

    /// No path of this machine in debug information or `__FILE__`.
    fn prefix_maps(&self) -> Vec<String> {
        vec![
            format!("-ffile-prefix-map={}=gen-cores", paths::package_dir().display()),
            format!("-ffile-prefix-map={}=.", self.dir.display()),
        ]
    }

    fn linked_libs(&self) -> Vec<String> {
        let libs = self.scenario.recipe.libs.iter().filter(|lib| lib.linked);
        let mut args: Vec<String> =
            libs.flat_map(|lib| (0..lib.count).map(|number| lib.file_name(number))).collect();
        if !args.is_empty() {
            // Not as needed only: a lib that just takes part must be loaded too.
            args.insert(0, "-Wl,--no-as-needed".to_owned());
            args.push("-Wl,-rpath,$ORIGIN".to_owned());
        }
        args
    }

    fn libs(&self) -> Result<Vec<String>> {
        let mut done = Vec::new();
        for lib in &self.scenario.recipe.libs {
            for number in 0..lib.count {
                let line = self.lib(lib, number);
                line.run(self.dir)?;
                done.push(line.text());
            }
        }
        Ok(done)
    }

    fn lib(&self, lib: &Lib, number: u32) -> Line {
        if let Some(go) = self.variant.go {
            return go.build_lib(self.scenario, self.variant, lib);
        }
        let mut line = self.compiler();
        line.args(self.native_flags()).args(["-shared", "-fPIC"]);
        line.args(lib.flags.iter().map(|flag| flag.replace("{}", &number.to_string())));
        line.args(["-o", &lib.file_name(number)]).path(&self.scenario.dir.join(&lib.source));
        line.arg(format!("-Wl,-soname,{}", lib.file_name(number)));
        line
    }

    /// The program in Rust.
    fn rust(&self) -> Line {
        let mut line = Line::new("rustc");
        let crate_name = self.scenario.name.replace('-', "_");
        line.args(["--edition", "2021", "--crate-name", &crate_name, "-g", "-o"]);
        line.arg(&self.scenario.name).path(&self.scenario.source());
        line.arg(format!("--remap-path-prefix={}=gen-cores", paths::package_dir().display()));
        line.arg(format!("--remap-path-prefix={}=.", self.dir.display()));
        let panic = match self.scenario.recipe.panic {
            Panic::Abort => "panic=abort",
            Panic::Unwind => "panic=unwind",
        };
        line.args(["-C", panic]).args(rust_opt_flags(self.variant.opt));
        line.args(self.variant.debug.rust_flags());
        line.args(rust_link_flags(self.variant.link)).args(&self.scenario.recipe.flags);
        line
    }

    /// The object of a program in Go. The compiler alone, without `go build`, which would compile the
    /// whole library for each set of flags.
    fn go_object(&self) -> Line {
        let mut line = Line::new(tools::GO);
        line.args(["tool", "compile", "-p", "main", "-o", "main.o"]);
        if self.variant.opt == Opt::None {
            line.args(["-N", "-l"]);
        }
        line.arg(format!("-trimpath={}=>gen-cores", paths::package_dir().display()));
        line.args(&self.scenario.recipe.flags).path(&self.scenario.source());
        line
    }

    /// The whole program by a release's own `go build`; one in C that loads libraries of Go by gcc.
    fn go_build(&self) -> Option<Line> {
        let go = self.variant.go?;
        let source = self.scenario.source();
        if source.extension().is_none_or(|extension| extension != "c") {
            return Some(go.build(self.scenario, self.variant));
        }
        let mut line = Line::new(tools::compiler(Language::C, self.variant));
        line.args(["-g", "-O2", "-Wall", "-pthread"]).args(self.prefix_maps());
        line.args(["-o", &self.scenario.name]).path(&source);
        line.args(self.linked_libs()).args(&self.scenario.recipe.link);
        Some(line)
    }

    fn go_program(&self) -> Line {
        let mut line = Line::new(tools::GO);
        line.args(["tool", "link", "-o", &self.scenario.name]);
        line.args(&self.scenario.recipe.link).arg("main.o");
        line
    }
}

impl Lib {
    /// The file name of the lib with this number.
    pub fn file_name(&self, number: u32) -> String {
        self.file.replace("{}", &number.to_string())
    }
}

fn shell(script: &str) -> Line {
    let mut line = Line::new("sh");
    line.args(["-c", script]);
    line
}

fn opt_flags(opt: Opt) -> &'static [&'static str] {
    match opt {
        Opt::None => &["-O0"],
        Opt::Debug => &["-Og", "-fomit-frame-pointer"],
        Opt::Full => &["-O2", "-fomit-frame-pointer"],
        Opt::FramePointers => &["-O2", "-fno-omit-frame-pointer"],
    }
}

fn code_model(link: Link) -> &'static [&'static str] {
    match link {
        Link::Pie | Link::StaticPie => &["-fPIE"],
        Link::NoPie | Link::Static => &["-fno-pie"],
    }
}

fn link_model(link: Link) -> &'static [&'static str] {
    match link {
        Link::Pie => &["-pie"],
        Link::NoPie => &["-no-pie"],
        Link::Static => &["-static", "-no-pie"],
        Link::StaticPie => &["-static-pie"],
    }
}

fn rust_opt_flags(opt: Opt) -> &'static [&'static str] {
    match opt {
        Opt::None => &["-C", "opt-level=0"],
        Opt::Debug => &["-C", "opt-level=1"],
        Opt::Full => &["-C", "opt-level=3", "-C", "force-frame-pointers=no"],
        Opt::FramePointers => &["-C", "opt-level=3", "-C", "force-frame-pointers=yes"],
    }
}

fn rust_link_flags(link: Link) -> &'static [&'static str] {
    match link {
        Link::Pie => &[],
        Link::NoPie => &["-C", "relocation-model=static"],
        Link::StaticPie => &["-C", "target-feature=+crt-static"],
        Link::Static => &["-C", "target-feature=+crt-static", "-C", "relocation-model=static"],
    }
}

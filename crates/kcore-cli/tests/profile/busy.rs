//! Busy programs in Ruby, PHP, Lua and Perl whose calls are few: each stack of thousands that are sampled must be one that
//! the program can have.

use std::{path::Path, process::Command};

use gen_cores::{Case, Outcome, ensure};

use super::target::{Target, parsed, profile};

/// Which function calls which; `-` stands for what calls the outermost.
const CALLS: &[(&str, &[&str])] = &[
    ("-", &["root"]),
    ("root", &["alpha", "beta"]),
    ("alpha", &["gamma", "delta"]),
    ("beta", &["delta", "each", "fiber"]),
    ("gamma", &["leaf"]),
    ("delta", &["gamma", "leaf"]),
    ("each", &["inside"]),
    ("fiber", &["inside"]),
    ("inside", &["leaf"]),
    ("leaf", &[]),
];
/// Samples that have the functions of the language, at least, of a hundred: others are of an instant at which the runtime
/// itself changes what it calls.
const DECODED: u64 = 90;

/// Profiles that are taken of one program, at most.
const MAX_ROUNDS: usize = 40;
/// What threads wait in that Ruby has for itself.
const OWN_THREADS: [&str; 3] = ["epoll_wait", "poll", "ppoll"];

/// A language: the case whose interpreter runs the program, what it is told before it, and the words that frames have.
struct Language {
    scenario: &'static str,
    variants: &'static [&'static str],
    few: &'static [&'static str],
    script: &'static str,
    flags: &'static [&'static str],
    mark: &'static str,
    /// Functions as frames name them, and what they are in `CALLS`.
    names: &'static [(&'static str, &'static str)],
    /// Whether what a fiber runs has nothing around it.
    fibers_are_apart: bool,
}

const PLAIN: &[(&str, &str)] = &[
    ("root", "root"),
    ("alpha", "alpha"),
    ("beta", "beta"),
    ("gamma", "gamma"),
    ("delta", "delta"),
    ("each", "each"),
    ("each_one", "each"),
    ("fiber", "fiber"),
    ("leaf", "leaf"),
    ("made", "inside"),
];

const RUBY: Language = Language {
    scenario: "ruby-stack",
    variants: &["ruby2.7", "ruby3.1", "ruby3.3", "yjit3.1"],
    few: &["ruby3.3", "yjit3.1"],
    script: "busy.rb",
    flags: &["--disable-gems"],
    mark: " [ruby]",
    names: &[
        ("Work#root", "root"),
        ("Work#alpha", "alpha"),
        ("Work#beta", "beta"),
        ("Work#gamma", "gamma"),
        ("Work#delta", "delta"),
        ("Work#each", "each"),
        ("Work#fiber", "fiber"),
        ("Work#leaf", "leaf"),
        ("block in Work#each", "inside"),
        ("block in Work#fiber", "inside"),
    ],
    fibers_are_apart: true,
};

const PHP: Language = Language {
    scenario: "php-stack",
    variants: &["php7.4", "php8.2", "php8.4", "opcache8.2", "jit8.2", "jit8.4"],
    few: &["php8.4", "jit8.2"],
    script: "busy.php",
    flags: &["-n"],
    mark: " [php]",
    names: PLAIN,
    fibers_are_apart: false,
};

const LUA: Language = Language {
    scenario: "lua-stack",
    variants: &["lua5.1", "lua5.2", "lua5.3", "lua5.4", "lua5.4.2", "lua5.4.7"],
    few: &["lua5.1", "lua5.4"],
    script: "busy.lua",
    flags: &[],
    mark: " [lua]",
    names: PLAIN,
    fibers_are_apart: false,
};

const LUAJIT: Language = Language {
    scenario: "luajit-stack",
    variants: &["luajit2022", "luajit2025"],
    few: &["luajit2022"],
    ..LUA
};

const PERL: Language = Language {
    scenario: "perl-stack",
    variants: &["perl5.32", "perl5.36", "perl5.40", "perl5.42"],
    few: &["perl5.32", "perl5.42"],
    script: "busy.pl",
    flags: &[],
    mark: " [perl]",
    names: &[
        ("main::root", "root"),
        ("main::alpha", "alpha"),
        ("main::beta", "beta"),
        ("main::gamma", "gamma"),
        ("main::delta", "delta"),
        ("main::each_one", "each"),
        ("main::fiber", "fiber"),
        ("main::leaf", "leaf"),
        ("main::by_leaf", "inside"),
        ("(eval)", "inside"),
    ],
    fibers_are_apart: false,
};

impl Language {
    /// The functions of the program in a stack, from the outermost on, without the innermost one where the stack says that
    /// it is not certain.
    fn functions<'s>(&'s self, stack: &'s [String]) -> Vec<&'s str> {
        let own =
            |name: &'s String| name.strip_suffix(self.mark).map(|it| it.trim_end_matches(" (?)"));
        let known = |name: &'s str| {
            let is_inside = name.starts_with("function <") || name.starts_with("{closure");
            let of_table = self.names.iter().find(|(shown, _)| *shown == name);
            of_table.map(|(_, plain)| *plain).or(is_inside.then_some("inside"))
        };
        let marked = format!(" (?){}", self.mark);
        let last = stack.iter().rposition(|name| name.ends_with(self.mark));
        let is_certain = |at: usize, name: &String| last != Some(at) || !name.ends_with(&marked);
        let all = stack.iter().enumerate().filter(|(at, name)| is_certain(*at, name));
        all.filter_map(|(_, name)| own(name)).filter_map(known).collect()
    }

    /// Whether a stack says itself that it may not be of one instant: functions whose places are not known, and what stands
    /// for those that are missing, are outermost; one that could not be read any more has no name.
    fn is_incomplete(&self, stack: &[String]) -> bool {
        let marked = format!(" (?){}", self.mark);
        let nameless = format!("?{marked}");
        stack.get(1).is_some_and(|name| name.ends_with(&marked)) || stack.contains(&nameless)
    }

    /// Whether the program can call so.
    fn can_be(&self, functions: &[&str]) -> bool {
        let calls = |caller: &str, called: &str| {
            CALLS.iter().any(|(name, all)| *name == caller && all.contains(&called))
        };
        let starts = functions
            .first()
            .is_none_or(|first| calls("-", first) || self.fibers_are_apart && *first == "inside");
        starts && functions.windows(2).all(|pair| calls(pair[0], pair[1]))
    }

    fn check(&self) {
        let few = gen_cores::is_short_run();
        for variant in if few { self.few } else { self.variants } {
            match ensure(self.scenario, variant).unwrap() {
                Outcome::Made(case) | Outcome::Fresh(case) => {
                    self.check_case(&case, compiler_of(variant), few);
                }
                Outcome::Skipped(skipped) => gen_cores::not_tested(skipped),
            }
        }
    }

    fn check_case(&self, case: &Case, compiler: &[&str], few: bool) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profile").join(self.script);
        let mut command = Command::new(&case.exe);
        command.current_dir(&case.dir).env("LD_LIBRARY_PATH", "lib").env("RUBYLIB", "std:ext");
        let mut target = Target::of(command.args(self.flags).args(compiler).arg(script));
        assert_eq!(target.told(), "runs\n", "{}", case.name());
        let wanted = if few { 200 } else { 2000 };
        let (mut decoded, mut all) = (0, 0);
        // On a busy machine samples are rare.
        for _ in 0..MAX_ROUNDS {
            let words = ["-d", "3", "-F", "200", "--hold", "100", &target.pid()];
            let (right, seen) = self.check_stacks(case, &parsed(&profile(&words).0));
            (decoded, all) = (decoded + right, all + seen);
            if all >= wanted {
                break;
            }
        }
        println!("{}: {decoded} of {all} samples", case.name());
        assert!(all >= wanted, "{}: {all} samples", case.name());
        assert!(decoded * 100 >= all * DECODED, "{}: {decoded} of {all}", case.name());
    }

    /// How many samples have the functions of the language, and how many there are.
    fn check_stacks(&self, case: &Case, stacks: &[(Vec<String>, u64)]) -> (u64, u64) {
        let (mut decoded, mut all) = (0, 0);
        for (stack, count) in stacks {
            let (functions, is_incomplete) = (self.functions(stack), self.is_incomplete(stack));
            let can_be = is_incomplete || self.can_be(&functions);
            assert!(can_be, "{}: {functions:?} of {stack:#?}", case.name());
            // Threads that the runtime has for itself are none of the program.
            let is_own = stack.iter().any(|name| OWN_THREADS.contains(&name.as_str()));
            all += if is_own { 0 } else { *count };
            decoded += if functions.is_empty() || is_incomplete { 0 } else { *count };
        }
        (decoded, all)
    }
}

/// What turns on the compiler that a variant is named after.
fn compiler_of(variant: &str) -> &'static [&'static str] {
    const OF_PHP: [&str; 5] = [
        "-dextension_dir=lib",
        "-dzend_extension=opcache",
        "-dopcache.enable_cli=1",
        "-dopcache.jit_buffer_size=16M",
        "-dopcache.jit=function",
    ];
    match variant.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.') {
        "yjit" => &["--yjit", "--yjit-call-threshold=1"],
        "opcache" => &OF_PHP[..3],
        "jit" => &OF_PHP,
        _ => &[],
    }
}

#[test]
fn stacks_of_a_busy_ruby_are_such_as_it_can_have() {
    RUBY.check();
}

#[test]
fn stacks_of_a_busy_php_are_such_as_it_can_have() {
    PHP.check();
}

#[test]
fn stacks_of_a_busy_lua_are_such_as_it_can_have() {
    LUA.check();
}

#[test]
fn stacks_of_a_busy_luajit_are_such_as_it_can_have() {
    LUAJIT.check();
}

#[test]
fn stacks_of_a_busy_perl_are_such_as_it_can_have() {
    PERL.check();
}

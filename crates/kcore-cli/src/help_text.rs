//! What `--help` and `--version` print besides the options.

/// Whether this build can ask debuginfod servers.
#[cfg(feature = "debuginfod")]
macro_rules! debuginfod {
    () => {
        "if asked for"
    };
}
#[cfg(not(feature = "debuginfod"))]
macro_rules! debuginfod {
    () => {
        "no"
    };
}

pub(crate) const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\n\
cores: ELF of Linux, plain or packed by zstd, gzip, xz, lz4, bzip2; minidumps of Linux\n\
machines: x86-64, aarch64; cores alone of i386, x32, arm, riscv, powerpc, s390, mips, \
loongarch64, sparc64, m68k, alpha, hppa\n\
debug information: DWARF 2 to 5, split (.dwo, .dwp), dwz, .gnu_debugdata\n\
live processes: snapshot, save, catch, watch, profile, top, agent\n\
debuginfod: ",
    debuginfod!()
);

pub(crate) const LONG_ABOUT: &str = "\
Open a Linux core and ask what the process was doing when it died, or take a snapshot of
a live process and ask what it is doing.

kcore reads ELF cores, plain or compressed with zstd, gzip, xz, lz4 or bzip2, and
answers in the command language of MDB. Commands come from -c, from -f, or from standard
input; on a terminal and without commands, kcore is interactive. It never runs code of the
target. It never invents a value: it says what was not dumped.

With -p, kcore stops a live process for a moment, copies registers and stacks, and lets it
run on. That takes some milliseconds for a hundred threads. kcore marks memory that it did
not copy as not copied.

kcore tells EXE and CORE apart by their contents. You need EXE only if the core's own record
of it is wrong or gone. EXE alone shows symbols and code. CORE may be `-`, standard input.";

pub(crate) const AFTER_HELP: &str = "\
'kcore stacks CORE' prints the unique stacks of all threads, most common first, and exits;
so does 'kcore stacks PID' of a live process, and 'kcore stacks CORE CORE' compares cores;
'kcore diff CORE CORE' says what moved between two cores of one program;
'kcore why CORE' says why the process died, with the evidence;
'kcore missing CORE' lists the files to fetch for full answers, with their build-ids;
'kcore check CORE' says whether a core is whole, also by its exit status;
'kcore triage CORE...' shows in one line what happened in each core, and groups alike cores;
'kcore save PID -o FILE' saves a live process as a core: see 'kcore save --help';
'kcore catch PID EVENT' waits for an event, and shows that moment: see 'kcore catch --help';
'kcore watch PID' says which threads do not move: see 'kcore watch --help';
'kcore top PID' shows which functions run, as they do: see 'kcore top --help';
'kcore profile PID -o FILE.svg' samples its stacks: see 'kcore profile --help';
'kcore bundle CORE -o FILE' packs a core with its files: see 'kcore bundle --help';
'kcore cores' lists the cores that systemd-coredump keeps, the latest first;
'kcore heapdump CORE -o FILE' writes a heap for heap analyzers: see 'kcore heapdump --help';
'kcore ask PID' asks kcore's agent in the process for its stacks: see 'kcore ask --help';
'kcore gdb' lists commands of gdb and lldb, and what to type in kcore;
'kcore tutorial' teaches kcore by ten questions about a core of its own.
Try 'kcore --help' for examples, and '::help' inside.";

pub(crate) const AFTER_LONG_HELP: &str = "\
Examples:
  kcore tutorial                          ten questions about a core that comes with kcore
  kcore app.core                          look around
  kcore stacks app.core                   unique stacks of all threads, most common first
  kcore stacks a.core b.core              which stacks they have in common
  kcore diff before.core after.core       which stacks are new or gone, which classes grew
  kcore why app.core                      why the process died, with the evidence
  kcore missing app.core                  which files to fetch, the most useful one first
  kcore check app.core && mv app.core in/ keep a core only if it is whole
  kcore triage *.core                     what happened in each core, one line each, alike cores together
  kcore -p 4711                           look around in a live process as it is now
  kcore stacks 4711                       what its threads do, most common first
  kcore save 4711 -o app.core             a core of it, as gcore makes one
  kcore catch 4711 close=EBADF            its stacks at the moment when close() fails so
  kcore top 4711                          which functions run, as they do
  kcore watch 4711                        which of its threads do not move within four seconds
  kcore watch --until idle=30s 4711       its stacks once it hangs
  kcore profile 4711 -o app.svg           a flame graph of half a minute of it
  kcore bundle app.core -o app.tar        the core with its files, for another machine
  kcore cores                             the cores that systemd-coredump keeps
  kcore heapdump app.core -o app.hprof    the heap of Java, for Eclipse MAT or VisualVM
  kcore heapdump app.core -o app.pb.gz    who allocated what is in use, for pprof
  kcore ask 4711                          what its threads do, from its agent, without tracing
  kcore -c ::status -c ::stack app.core   two commands, then exit
  kcore -c '::walk thread | ::stack' app.core
                                          the stack of every thread, the crashed one first
  kcore --json -c ::stacks app.core | jq  the same facts for a program
  kcore --sysroot ./rootfs app.core       the files of a container are under ./rootfs
  kcore --map /build=$HOME/app app.core   files and sources that lay under /build
  kcore --layer base/ --layer app/ app.core
                                          a container's files, in the directories of its overlay
  kcore --layer image.tar app.core        the same from what 'docker save' or 'podman save' wrote
  kcore --debuginfod app.core             fetch what is missing from the servers of the distribution
  kcore --untrusted cores/app.core        a core from a stranger, with its files beside it
  kcore app.core < script                 a script; also -f script
  zstdcat app.core.zst | kcore -c ::status -

Type './stacks' for a file with the name 'stacks', and the same for 'why', 'missing', 'check', 'diff', 'triage', 'save', 'catch', 'profile', 'ask',
'watch', 'bundle', 'cores', 'heapdump', 'gdb' and 'tutorial'. '-c FILE' opens FILE, as gdb does, if FILE is a core and you name no other core.

From MDB:
  -e CMD            is -c CMDS
  -o OPT, -s DIST, -I PATH, -P PROMPT
                    are options of ::set, in the configuration file or by -c
  -S                is --no-rc
  -V MODE           is ::dismode

Environment:
  NO_COLOR          when set, no colour and no underlining, unless --color=always
  XDG_CONFIG_HOME   kcore/rc below it holds commands that are run first, kcore/macros the
                    files that $<name finds, kcore/printers printers of one's own (else
                    ~/.config)
  XDG_CACHE_HOME    kcore/ below it keeps indexes of big debug information (else ~/.cache)
  XDG_STATE_HOME    kcore/history below it keeps the lines typed (else ~/.local/state)
  DEBUGINFOD_URLS   servers to fetch missing files from, as for the usual client; DEBUGINFOD_CACHE_PATH
                    is the folder of fetched files (else debuginfod_client below XDG_CACHE_HOME), and
                    DEBUGINFOD_TIMEOUT for how many seconds silent servers are waited for in all (else 10)
  KCORE_COREDUMPS   the folder of stored cores (else /var/lib/systemd/coredump)
  TMPDIR            where a compressed core is unpacked, into a file without a name
  SHELL             runs the commands behind '!' (else /bin/sh)

Exit status:
  0  done, even where parts of stacks are missing; also when nobody reads the output any more
  1  a command failed
  2  wrong usage, or the target cannot be opened";

pub(crate) const USAGE_LINES: &str = "kcore [OPTIONS] [EXE] CORE\n       kcore [OPTIONS] -p PID\n       \
     kcore stacks [OPTIONS] PID|[EXE] CORE\n       kcore stacks [OPTIONS] CORE CORE...\n       kcore diff [OPTIONS] CORE CORE\n       kcore triage [OPTIONS] CORE...\n       kcore why [OPTIONS] PID|[EXE] CORE\n       kcore missing [OPTIONS] [EXE] CORE\n       kcore check [OPTIONS] CORE\n       kcore save [OPTIONS] PID -o FILE\n       kcore catch [OPTIONS] PID EVENT...\n       kcore watch [OPTIONS] PID\n       kcore profile [OPTIONS] PID [-o FILE]\n       kcore top [OPTIONS] PID\n       kcore ask [OPTIONS] PID\n       kcore bundle [OPTIONS] CORE -o FILE\n       kcore heapdump [OPTIONS] CORE -o FILE\n       kcore cores [OPTIONS]\n       kcore tutorial";

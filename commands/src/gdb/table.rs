//! Lines of gdb and lldb, and their counterparts in kcore. The alias, the hint, `kcore gdb`,
//! `::help gdb` and the page of the book are all made from this table. If several rows fit a line,
//! the first that can translate it counts.

use super::examine;
use super::here;
use super::operand;
use super::row::{Ours, Row};
use Ours::{AtStart, Instead, Made, Needless, Same};

const fn row(theirs: &'static [&'static str], ours: Ours, says: &'static str) -> Row {
    Row { theirs, ours, says }
}

/// Every row.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Where a debugger starts.
    row(&["gdb EXE CORE", "lldb EXE -c CORE"], AtStart("kcore CORE"), "kcore finds the executable; -e EXE names another one"),
    row(&["gdb -batch -ex CMD"], AtStart("kcore -c CMD"), "may be repeated; -f FILE runs a script"),
    row(&["gdb -p PID", "lldb -p PID"], AtStart("kcore -p PID"), "a snapshot: the process runs on"),
    row(&["gcore PID"], AtStart("kcore save PID -o FILE"), ""),
    // Stacks, threads and frames.
    row(&["bt", "backtrace", "where", "info stack", "thread backtrace"], Same("$C"), "shows the arguments that debug information finds"),
    row(&["bt N", "backtrace N", "where N", "thread backtrace -c N"], Same("$C -l {N}"), ""),
    row(&["bt full", "backtrace full", "where full", "bt -full"], Same("::stack -v"), "also shows source lines and locals"),
    row(&["thread apply all bt", "thread apply all backtrace", "thread backtrace all", "bt all"], Same("::walk thread | ::stack"), "::stacks shows each stack once"),
    row(&["thread apply all bt N", "thread apply all -q bt N"], Same("::walk thread | ::stack -l {N}"), ""),
    row(&["thread apply all bt full", "thread apply all backtrace full"], Same("::walk thread | ::stack -v"), ""),
    row(&["thread apply THREAD bt"], Same("{THREAD}::stack"), ""),
    row(&["info threads", "thread list"], Same("::threads"), "ids are those of LWPs"),
    row(&["thread", "thread info"], Same("::thread"), ""),
    row(&["thread THREAD", "thread select THREAD", "t THREAD"], Same("{THREAD}::thread"), "a number as gdb counts, from 1, or the id of an LWP"),
    row(&["thread ...", "t ..."], Instead("0tLWP::thread"), "::threads lists the ids of the threads"),
    row(&["frame", "frame info"], Same("::frame"), ""),
    row(&["frame N", "frame select N", "f N"], Same("::frame {N}"), ""),
    row(&["up", "up N"], Made("::frame N", here::up), "from the current frame"),
    row(&["down", "down N"], Made("::frame N", here::down), "from the current frame"),
    row(&["down ..."], Instead("::frame"), "there is no inner frame"),
    row(&["info frame ...", "frame ..."], Instead("::frame -v, ::regs"), ""),
    row(&["info locals", "info args", "frame variable", "fr v"], Same("::locals"), "arguments first, then locals"),
    row(&["info locals NAME", "info args NAME", "frame variable NAME", "fr v NAME"], Same("::locals {NAME}"), ""),
    row(&["info registers", "register read"], Same("::regs"), ""),
    row(&["info registers REG", "register read REG"], Same("<{REG}=J"), "<rip in any expression"),
    row(&["info all-registers", "register read --all"], Same("::regs; ::fpregs"), ""),
    row(&["info float", "info vector"], Same("::fpregs"), ""),
    // Values and types.
    row(&["p EXPR", "print EXPR", "inspect EXPR", "output EXPR", "expr EXPR", "expression EXPR", "po EXPR", "v EXPR", "target variable EXPR"], Made("::print EXPR", operand::print), "a local of the current frame, else a global; of a number N=e, of a register <REG=J"),
    row(&["p *(TYPE *)ADDR"], Made("ADDR::print TYPE", operand::print), ""),
    row(&["p/FMT EXPR", "print/FMT EXPR"], Made("::print -x EXPR, N=J", operand::print_as), "x and d; of numbers also u, o, t, a"),
    row(&["p ...", "print ...", "p/FMT ...", "print/FMT ...", "inspect ...", "output ...", "expr ...", "expression ...", "po ...", "call ..."], Instead("::print EXPR, N+N=E"), "kcore calls no functions, changes nothing, has no variables such as $1, and of formats x and d"),
    row(&["ptype TYPE", "ptype/o TYPE", "type lookup TYPE"], Same("::print -at {TYPE}"), "with offsets"),
    row(&["ptype EXPR", "whatis EXPR"], Made("::print -t EXPR", operand::type_of), "also shows the value"),
    row(&["ptype ...", "whatis ..."], Instead("::print -t VARIABLE, ::print -at TYPE"), ""),
    row(&["display EXPR"], Instead("::print EXPR"), "nothing runs, so there is nothing to show again"),
    // Memory.
    row(&["x/FMT ADDR", "x ADDR"], Made("ADDR,COUNT/LETTER", examine::line), "::formats lists the letters; nap adds addresses and symbols"),
    row(&["x/FMT ...", "x ..."], Instead("ADDR,COUNT/LETTER"), "the address comes first: name,8/J shows the memory of a variable, *name,8/J the memory to which it points; ::formats lists the letters"),
    row(&["memory read ADDR"], Same("{ADDR},20::dump"), "20 is hexadecimal"),
    row(&["memory read ...", "dump ..."], Instead("ADDR,SIZE::dump"), ""),
    row(&["find ...", "memory find ..."], Instead("VALUE::ugrep -a START -A END"), "searches all memory without options"),
    row(&["info proc mappings", "memory region --all"], Same("::mappings"), ""),
    row(&["info files", "info target", "memory region ..."], Instead("::mappings, ::objects"), ""),
    // The process.
    row(&["info program", "info inferiors", "process status"], Same("::status"), "what happened, and why"),
    row(&["info proc"], Same("::psinfo"), ""),
    row(&["info proc cmdline"], Same("::args"), ""),
    row(&["info auxv"], Same("::auxv"), ""),
    row(&["info signals ...", "info signal ..."], Instead("::siginfo"), "why the signal of the core was sent"),
    // Modules, symbols and code.
    row(&["info sharedlibrary", "info dll", "image list", "target modules list"], Same("::objects"), "with the file that was found and how it was checked"),
    row(&["info symbol ADDR", "image lookup -a ADDR"], Same("{ADDR}::whatis"), "also ADDR=p"),
    row(&["info address NAME"], Same("{NAME}=K"), ""),
    row(&["info line", "info source"], Same("::frame"), "the line of the current frame"),
    row(&["info line ...", "info source ..."], Instead("::frame, ::stack -v"), "kcore shows the lines of frames"),
    row(&["info functions ...", "image lookup -n NAME"], Instead("::nm -t func ! grep REGEX"), ""),
    row(&["info variables ..."], Instead("::nm -t objt ! grep REGEX"), ""),
    row(&["info types ..."], Instead("::print -at TYPE"), "kcore finds types by name"),
    row(&["info scope ..."], Instead("::locals"), ""),
    row(&["disassemble", "di -f", "disassemble --frame"], Made("FUNCTION::dis", here::disassemble_here), "the function of the current frame"),
    row(&["disassemble FUNC", "disassemble -n FUNC", "di -n FUNC"], Made("FUNCTION::dis", here::disassemble), "<rip::dis shows the code around an address"),
    row(&["disassemble ...", "di ..."], Instead("ADDR::dis"), ""),
    row(&["list", "source list"], Same("::frame -s"), "if the source file is at hand"),
    row(&["list ...", "source list ...", "l", "l ..."], Instead("::frame -s"), "kcore shows the source text of frames"),
    // The session.
    row(&["set print elements N", "set print element N"], Same("::set -o array_mem_limit={N}"), ""),
    row(&["set pagination off", "set height 0", "set height unlimited"], Same("::set +o pager"), ""),
    row(&["set pagination on"], Same("::set -o pager"), ""),
    row(&["set print pretty", "set print pretty ..."], Needless, "kcore always does this"),
    row(&["set confirm ...", "set width ...", "set print object ...", "set print static-members ...", "set debuginfod ...", "set auto-load ...", "set verbose ...", "set max-value-size ..."], Needless, "kcore has no such setting"),
    row(&["set disassembly-flavor att"], Needless, "kcore always does this"),
    row(&["set disassembly-flavor ..."], Instead(""), "kcore shows instructions only in AT&T syntax"),
    row(&["set sysroot ...", "set solib-search-path ...", "set debug-file-directory ...", "set substitute-path ...", "directory ...", "dir ..."], Instead("kcore --sysroot DIR CORE, --debug-dir DIR"), "say where files are when kcore starts"),
    row(&["set var ...", "set variable ..."], Instead("5>x"), "sets a variable of kcore, and <x reads it; kcore changes no core"),
    row(&["set ...", "settings ..."], Instead("::set"), "shows and changes the settings"),
    row(&["show version"], Same("::version"), ""),
    row(&["show ..."], Instead("::set"), "shows the settings"),
    row(&["shell ...", "platform shell ..."], Made("! CMD", here::shell), "after a dcmd, ! CMD reads its output"),
    row(&["pipe ..."], Instead("DCMD ! CMD"), ""),
    row(&["source ...", "command source ...", "define ...", "document ..."], Instead("$<FILE"), "runs a file of commands; kcore -f FILE does so at its start"),
    row(&["help", "h"], Same("::help"), ""),
    row(&["help NAME", "h NAME"], Same("::help {NAME}"), ""),
    row(&["apropos ...", "help ..."], Instead("::dcmds ! grep WORD"), ""),
    row(&["quit", "exit", "q"], Same("::quit"), "also control-D"),
    row(&["file ...", "exec-file ...", "symbol-file ...", "add-symbol-file ...", "core-file ...", "core ...", "target create ...", "target core ..."], Instead("kcore -e EXE CORE"), "name the files when kcore starts"),
    row(&["attach ...", "process attach ..."], Instead("kcore -p PID"), "opens a snapshot of a process"),
    row(&["generate-core-file ...", "gcore ...", "process save-core ..."], Instead("kcore save PID -o FILE"), ""),
    row(&["python ...", "py ...", "script ...", "guile ..."], Instead("kcore --json -c DCMD CORE"), "kcore loads no scripts; its JSON feeds any language"),
    row(&["printf ..."], Instead("::printf FORMAT TYPE MEMBER..."), ""),
    row(&["tui ...", "layout ...", "gui ...", "focus ..."], Instead(""), "kcore has no such screens"),
    row(&["run ...", "r ...", "start ...", "starti ...", "continue ...", "cont ...", "c N", "step ...", "s ...", "next ...", "n ...", "stepi ...", "si ...", "nexti ...", "ni ...", "finish ...", "until ...", "advance ...", "jump ...", "thread step ...", "process launch ...", "process continue ...", "reverse-continue ...", "reverse-step ...", "record ..."], Instead(""), "a core does not run, and kcore runs nothing"),
    row(&["break ...", "b NAME", "br ...", "breakpoint ...", "tbreak ...", "rbreak ...", "watch ...", "rwatch ...", "awatch ...", "watchpoint ...", "catch ...", "delete ...", "disable ...", "enable ...", "condition ...", "ignore ...", "info breakpoints ...", "info watchpoints ...", "handle ..."], Instead(""), "a core does not run: there are no breakpoints"),
    row(&["signal ...", "kill ...", "detach ...", "process kill ...", "process detach ..."], Instead(""), "kcore changes no process; ::quit leaves"),
    row(&["undisplay ...", "info display ..."], Instead(""), "nothing runs, so there is nothing to show again"),
    row(&["info ...", "image ...", "register ...", "memory ...", "process ...", "target ...", "maintenance ..."], Instead("::dcmds"), "lists all dcmds"),
];

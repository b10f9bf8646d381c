//! The dcmds and walkers of kcore.
//!
//! One dcmd is one file and one line in [`DCMDS`]; help, completion and tests are derived from that
//! slice. What several dcmds need (numbers among words, symbols as cells, instructions) has a file
//! of its own. A dcmd asks the core and emits typed records; how they look is decided elsewhere.

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod advice;
mod analyze;
mod args;
mod array;
mod auxv;
mod book_text;
mod bound_element;
mod bthreads;
mod cat;
mod check;
mod coroutines;
mod count;
mod crash_site;
mod dcmds;
mod declared;
mod dem;
mod dis;
mod dis_record;
mod dismode;
mod dmods;
mod dump;
mod echo;
mod element;
mod enumeration;
mod enumerator;
mod env;
mod erlang;
mod errno;
mod eval;
mod expression;
mod fibers;
mod files;
mod findcontexts;
mod findstack;
mod findsym;
mod foreign_values;
mod format;
mod formats;
mod fpregs;
mod frame;
mod frame_operand;
pub mod gdb;
mod goroutines;
mod greenlets;
mod grep;
mod head;
mod heap;
mod help;
mod help_topics;
mod history;
mod instruction;
mod java;
mod jmp_buf;
mod list;
mod listing;
mod load;
mod locals;
mod locks;
mod log;
mod lwpid;
mod lwpids;
mod macros;
mod malloc;
mod map;
mod mappings;
mod member_path;
mod missing;
mod names;
mod nm;
mod nmadd;
mod objects;
mod offsetof;
mod operand;
mod print;
mod printf;
mod process_state;
mod psinfo;
mod python;
mod quit;
mod radix;
mod reactors;
mod regs;
mod runtimes;
mod script_path;
mod script_values;
mod script_variable;
mod session_process;
mod settings;
mod short_text;
mod showrev;
mod siginfo;
mod sizeof;
mod sort;
mod source_text;
mod stack;
mod stack_filter;
mod stack_start;
mod stackinfo;
mod stacks;
mod status;
mod symbol_address;
mod symbol_type;
mod tasks;
mod term;
mod text_line;
mod thread;
mod thread_operand;
mod threads;
mod tls;
mod tmodel;
mod tokio;
mod trio;
mod type_words;
mod typedef;
mod typelist;
mod typeset;
mod ucontext;
mod ugrep;
mod uniq;
mod unsupported;
mod until;
mod v8;
mod variable;
mod vars;
mod version;
mod walk;
mod walkers;
mod watched;
mod whatis;
mod whatthread;
mod whattype;
mod which;
mod xdata;

use kcore_dcmd::{Dcmd, Walker};

pub use declared::DECLARED;
pub use expression::TYPED;
pub use gdb::GDB;
pub use help::show as show_help;

/// Every dcmd.
pub const DCMDS: &[&dyn Dcmd] = &[
    // Process.
    &status::Status,
    &analyze::Analyze,
    &check::Check,
    &siginfo::Siginfo,
    &psinfo::Psinfo,
    &process_state::ProcessState,
    &args::Args,
    &auxv::Auxv,
    &env::Env,
    &showrev::Showrev,
    &xdata::Xdata,
    // Threads, stacks and registers.
    &stack::STACK,
    &stack::STACK_WITH_POINTERS,
    &stacks::Stacks,
    &tasks::list::Tasks,
    &findstack::Findstack,
    &findcontexts::Findcontexts,
    &regs::Regs,
    &fpregs::Fpregs,
    &threads::Threads,
    &locks::Locks,
    &thread::Thread,
    &frame::Frame,
    &lwpid::Lwpid,
    &lwpids::Lwpids,
    &tls::Tls,
    &errno::Errno,
    &stackinfo::Stackinfo,
    &whatthread::Whatthread,
    &ucontext::Ucontext,
    &jmp_buf::JmpBuf,
    &tmodel::Tmodel,
    // Memory.
    &dump::Dump,
    &format::Examine,
    &format::ExamineFile,
    &format::ExaminePhysical,
    &format::Evaluate,
    &mappings::Mappings,
    &ugrep::Ugrep,
    &malloc::heap::Heap,
    &malloc::blocks::Blocks,
    &malloc::heapcheck::Heapcheck,
    &malloc::findleaks::Findleaks,
    &malloc::reachedby::Reachedby,
    &malloc::reaches::Reaches,
    &malloc::retained::Retained,
    &malloc::malloctypes::Malloctypes,
    &whatis::Whatis,
    // Modules, symbols and code.
    &dis::Dis,
    &findsym::Findsym,
    &nm::Nm,
    &nm::Externs,
    &nmadd::Nmadd,
    &nmadd::Nmdel,
    &objects::Objects,
    &missing::Missing,
    &files::Files,
    &dem::Dem,
    &dismode::Dismode,
    &dismode::Disasms,
    // Types and values.
    &print::Print,
    &printf::Printf,
    &sizeof::Sizeof,
    &offsetof::Offsetof,
    &enumeration::Enum,
    &list::List,
    &array::Array,
    &typedef::Typedef,
    &typelist::Typelist,
    &whattype::Whattype,
    // Language runtimes.
    &runtimes::Runtimes,
    &heap::classes::Classes,
    &heap::refs::Refs,
    &heap::path::PathFromRoot,
    &bthreads::list::Bthreads,
    &bthreads::bthread::Bthread,
    &fibers::list::Fibers,
    &goroutines::list::Goroutines,
    &goroutines::goroutine::Goroutine,
    &goroutines::channel::Channel,
    &goroutines::heap::Goheap,
    &goroutines::goprint::Goprint,
    &goroutines::gotimers::Gotimers,
    &goroutines::gocontexts::Gocontexts,
    &goroutines::gofinalizers::Gofinalizers,
    &java::threads::Javathreads,
    &java::locks::Javalocks,
    &java::print::Javaprint,
    &java::heap::Javaheap,
    &java::find::Findjavaobjects,
    &python::pystack::Pystack,
    &python::pyprint::Pyprint,
    &python::pyobjects::Pyobjects,
    &python::pytasks::Pytasks,
    &greenlets::list::Greenlets,
    &tokio::list::TokioTasks,
    &trio::list::TrioTasks,
    &coroutines::list::ListCoroutines,
    &reactors::ListReactors,
    &erlang::list::Erlprocesses,
    &erlang::erlmessages::Erlmessages,
    &erlang::erlprint::Erlprint,
    &erlang::erlets::Erlets,
    &erlang::erlschedulers::Erlschedulers,
    &v8::jsstack::Jsstack,
    &v8::jsframe::Jsframe,
    &v8::jsprint::Jsprint,
    &v8::jsconstructor::Jsconstructor,
    &v8::jsfunction::Jsfunction,
    &v8::jsawaiting::Jsawaiting,
    &v8::jshandles::Jshandles,
    &v8::jssource::Jssource,
    &v8::jsclosure::Jsclosure,
    &v8::jsarray::Jsarray,
    &v8::nodebuffer::Nodebuffer,
    &v8::raw::v8type::V8type,
    &v8::raw::v8print::V8print,
    &v8::raw::v8str::V8str,
    &v8::raw::v8array::V8array,
    &v8::raw::v8function::V8function,
    &v8::raw::v8code::V8code,
    &v8::raw::v8context::V8context,
    &v8::raw::v8scopeinfo::V8scopeinfo,
    &v8::raw::v8internal::V8internal,
    &v8::raw::v8metadata::V8classes,
    &v8::raw::v8metadata::V8types,
    &v8::raw::v8metadata::V8frametypes,
    &v8::raw::v8metadata::V8field,
    &v8::heap::findjsobjects::Findjsobjects,
    &v8::heap::jsfunctions::Jsfunctions,
    &v8::heap::jsfindrefs::Jsfindrefs,
    &v8::heap::jsheap::Jsheap,
    &v8::heap::jspath::Jspath,
    &v8::heap::v8whatis::V8whatis,
    // Language.
    &cat::Cat,
    &count::Count,
    &dcmds::Dcmds,
    &dmods::Dmods,
    &load::Load,
    &load::Unload,
    &echo::Echo,
    &eval::Eval,
    &formats::Formats,
    &grep::Grep,
    &head::Head,
    &help::Help,
    &history::History,
    &locals::Locals,
    &log::Log,
    &macros::Replace,
    &macros::Call,
    &map::Map,
    &quit::Quit,
    &radix::Radix,
    &term::Term,
    &settings::Set,
    &settings::prompt::Prompt,
    &settings::symbols::Demangling,
    &settings::symbols::DemanglingState,
    &settings::symbols::Distance,
    &settings::width::Width,
    &sort::Sort,
    &typeset::Typeset,
    &typeset::Unset,
    &uniq::Uniq,
    &vars::NonzeroVars,
    &vars::Vars,
    &version::Version,
    &walk::Walk,
    &walkers::Walkers,
    &which::Which,
    // What no core can do.
    &unsupported::ATTACH,
    &unsupported::BP,
    &unsupported::CONT,
    &unsupported::CONTEXT,
    &unsupported::DELETE,
    &unsupported::EVENTS,
    &unsupported::EVSET,
    &unsupported::FLTBP,
    &unsupported::GCORE,
    &unsupported::IGNORE,
    &unsupported::IGNORED,
    &unsupported::KILL,
    &unsupported::NEXT,
    &unsupported::RELEASE,
    &unsupported::REOPEN,
    &unsupported::RUN,
    &unsupported::SETENV,
    &unsupported::SIGBP,
    &unsupported::STEP,
    &unsupported::SYSBP,
    &unsupported::UNSETENV,
    &unsupported::VTOP,
    &unsupported::WP,
    &unsupported::WRITE,
];

/// Every walker.
pub const WALKERS: &[&dyn Walker] = &[
    &walk::thread::Thread,
    &locks::walk::WalkLock,
    &locks::walk::WalkWaiter,
    &walk::frame::Frame,
    &walk::mapping::Mappings,
    &walk::object::Objects,
    &malloc::walk::MALLOC,
    &malloc::walk::FREE,
    &walk::symbol::Symbols,
    &walk::link_map::LinkMap,
    &walk::ulwp::Ulwp,
    &walk::ucontext::Ucontext,
    &walk::auxv::Auxv,
    &walk::initial::ARG,
    &walk::initial::ENV,
    &bthreads::walk::Bthreads,
    &fibers::walk::Fibers,
    &goroutines::walk::Goroutines,
    &greenlets::walk::Greenlets,
    &tokio::walk::TokioTasks,
    &trio::walk::TrioTasks,
    &coroutines::walk::WalkCoroutines,
    &erlang::walk::ErlangProcesses,
    &java::walk::Javathreads,
    &v8::walk::jsframe::Jsframe,
    &v8::walk::jsprop::Jsprop,
    &v8::walk::jselement::Jselement,
];

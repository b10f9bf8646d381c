//! Gives the shared library the name by which programs ask for it: that of its interface's version. It stays loaded
//! once it is: handlers and a thread have its code. Where it begins as a program
//! (`src/outside/entry.rs`) and what `src/wraps.rs` stands before is said there.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    let soname = format!("-soname,libkcore_agent.so.{major}");
    let options = [
        &soname,
        "-z,nodelete",
        "-e,kcore_agent_start",
        "--wrap=abort",
        "--wrap=__cxa_thread_atexit_impl",
    ];
    for option in options {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{option}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

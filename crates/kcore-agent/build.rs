//! Gives the shared library the name by which programs ask for it: that of its interface's version.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libkcore_agent.so.{major}");
    println!("cargo::rerun-if-changed=build.rs");
}

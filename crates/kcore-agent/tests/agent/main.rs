//! The agent in other programs: they are built here, run with it, asked, and know the answer themselves.

mod answers;
mod assembly;
mod browser;
mod daemons;
mod install;
mod known;
mod languages;
mod loaded;
mod many;
mod musl;
mod owner;
mod profile;
mod program;
mod purity;
mod restless;
mod scarce;
mod servers;
mod stock;
mod uncommon;

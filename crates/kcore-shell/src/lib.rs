//! The MDB language: parser, session and interactive shell.

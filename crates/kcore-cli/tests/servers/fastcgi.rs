//! What a web server sends to ask a worker of FastCGI for a page.

use std::{io::Write, net::TcpStream};

/// `FCGI_BEGIN_REQUEST`, `FCGI_PARAMS` and `FCGI_STDIN`.
const BEGIN: u8 = 1;
const PARAMETERS: u8 = 4;
const INPUT: u8 = 5;

/// Asks for a page by its file and its address; `more` are further parameters.
pub fn ask(stream: &mut TcpStream, file: &str, uri: &str, more: &[(&str, &str)]) {
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let usual = [
        ("SCRIPT_FILENAME", file),
        ("SCRIPT_NAME", path),
        ("REQUEST_METHOD", "GET"),
        ("REQUEST_URI", uri),
        ("QUERY_STRING", query),
        ("SERVER_PROTOCOL", "HTTP/1.1"),
    ];
    let parameters = usual.iter().chain(more).flat_map(|(name, value)| parameter(name, value));
    // The role of one that answers.
    send(stream, BEGIN, &[0, 1, 0, 0, 0, 0, 0, 0]);
    send(stream, PARAMETERS, &parameters.collect::<Vec<u8>>());
    send(stream, PARAMETERS, &[]);
    send(stream, INPUT, &[]);
}

fn parameter(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).ok().filter(|it| *it < 128).expect("short");
    [&[length(name), length(value)], name.as_bytes(), value.as_bytes()].concat()
}

fn send(stream: &mut TcpStream, kind: u8, body: &[u8]) {
    let [high, low] = u16::try_from(body.len()).expect("short").to_be_bytes();
    stream.write_all(&[1, kind, 0, 1, high, low, 0, 0]).unwrap();
    stream.write_all(body).unwrap();
}

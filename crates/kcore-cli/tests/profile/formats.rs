//! The formats, read by readers of their own.

use std::collections::HashMap;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::target::{Target, profile};

/// What every sample of each of the two threads has.
const FUNCTIONS: [&str; 2] = ["main", "sleep_for_good"];

fn sampled(format: &str) -> Vec<u8> {
    let target = Target::start();
    profile(&[
        "-d",
        "1",
        "-F",
        "200",
        "--hold",
        "100",
        "--format",
        format,
        "-o",
        "-",
        &target.pid(),
    ])
    .0
}

#[test]
fn a_flame_graph_has_the_names() {
    let svg = String::from_utf8(sampled("svg")).unwrap();
    for name in FUNCTIONS {
        assert!(svg.contains(&format!("<title>{name} (")), "{name}");
    }
}

#[test]
fn the_profiler_of_firefox_finds_threads_samples_and_names() {
    let json: serde_json::Value = serde_json::from_slice(&sampled("firefox")).unwrap();
    let threads = json["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2);
    let text = json.to_string();
    for name in FUNCTIONS {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
    let samples = &threads[0]["samples"];
    assert_eq!(samples["stack"].as_array().unwrap().len() as u64, samples["length"]);
}

/// A field of a message of protocol buffers: a number, or bytes.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn number(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

/// The fields of a message by the rules of protobuf.dev/programming-guides/encoding.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = number(&mut bytes);
        let value = number(&mut bytes);
        fields.push((
            tag >> 3,
            match tag & 7 {
                0 => Field::Number(value),
                2 => {
                    let (content, rest) = bytes.split_at(value as usize);
                    bytes = rest;
                    Field::Bytes(content)
                }
                other => panic!("wire type {other}"),
            },
        ));
    }
    fields
}

fn messages<'a>(fields: &'a [(u64, Field<'a>)], wanted: u64) -> Vec<Vec<(u64, Field<'a>)>> {
    let of = |field: &'a (u64, Field<'a>)| match field {
        (tag, Field::Bytes(bytes)) if *tag == wanted => Some(self::fields(bytes)),
        _ => None,
    };
    fields.iter().filter_map(of).collect()
}

/// The numbers of a field, packed or not.
fn numbers(fields: &[(u64, Field<'_>)], wanted: u64) -> Vec<u64> {
    let mut found = Vec::new();
    for (tag, field) in fields {
        match field {
            Field::Number(value) if *tag == wanted => found.push(*value),
            Field::Bytes(bytes) if *tag == wanted => {
                let mut bytes = *bytes;
                while !bytes.is_empty() {
                    found.push(number(&mut bytes));
                }
            }
            _ => {}
        }
    }
    found
}

/// By `profile.proto` of github.com/google/pprof: samples are field 2, locations 4, functions 5, texts 6.
#[test]
fn a_reader_of_pprof_finds_values_and_names() {
    let mut bytes = Vec::new();
    GzDecoder::new(&sampled("pprof")[..]).read_to_end(&mut bytes).unwrap();
    let whole = fields(&bytes);
    let texts: Vec<&str> = whole
        .iter()
        .filter_map(|(tag, field)| match field {
            Field::Bytes(bytes) if *tag == 6 => Some(std::str::from_utf8(bytes).unwrap()),
            _ => None,
        })
        .collect();
    assert_eq!(texts[0], "");
    let function =
        |it: &Vec<(u64, Field<'_>)>| (numbers(it, 1)[0], texts[numbers(it, 2)[0] as usize]);
    let functions: HashMap<u64, &str> = messages(&whole, 5).iter().map(function).collect();
    let location = |it: &Vec<(u64, Field<'_>)>| {
        let lines = messages(it, 4);
        (numbers(it, 1)[0], functions[&numbers(&lines[0], 1)[0]])
    };
    let locations: HashMap<u64, &str> = messages(&whole, 4).iter().map(location).collect();
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for sample in messages(&whole, 2) {
        let names: Vec<&str> = numbers(&sample, 1).iter().map(|id| locations[id]).collect();
        let values = numbers(&sample, 2);
        assert_eq!(values[1], values[0] * 5_000_000, "the second value is time");
        for name in FUNCTIONS.iter().filter(|name| names.contains(name)) {
            *counts.entry(*name).or_default() += values[0];
        }
    }
    assert!(FUNCTIONS.iter().all(|name| counts[name] > 0), "{counts:?}");
}

//! Holds the tree that kcore gives against the one that the program told.

use serde_json::{Map, Value as Json};

use crate::tree::{children, last, member, walk};

/// How many elements are shown where there are more (`::set` and MDB's default).
const SHOWN: usize = 32;

/// What differs, with the path to it.
pub type Difference = Result<(), String>;

/// Compares a tree with the truth of it.
pub fn tree(truth: &Map<String, Json>, seen: &Json) -> Difference {
    if let Some(absent) = seen["absent"].as_str() {
        return Err(format!("is {absent}"));
    }
    let (key, wanted) = truth.iter().find(|(key, _)| is_main(key)).expect("a truth");
    check(key, wanted, truth, seen).map_err(|error| match error.starts_with(['.', '[']) {
        true => error,
        false => format!("{error}; got {}", brief(seen)),
    })
}

/// Keys that say more of what another key says.
fn is_main(key: &str) -> bool {
    !matches!(key, "symbol" | "dynamic" | "owns" | "total" | "of" | "struct") || key == "struct"
}

fn check(key: &str, wanted: &Json, truth: &Map<String, Json>, seen: &Json) -> Difference {
    match key {
        "int" => integer(text(wanted), seen),
        "char" => character(wanted.as_i64().unwrap(), seen),
        "bool" => same("bool", &seen["value"], wanted),
        "float" => float(text(wanted), &seen["value"]),
        "complex" => complex(wanted, seen),
        "ptr" => pointer(text(wanted), truth, seen),
        "cstr" => same("text", &seen["text"], wanted),
        "text" => same("text", &shown_by(seen)["value"], wanted),
        "enum" => enumerator(text(wanted), truth, seen),
        "count" => same("total", &seen["total"], wanted),
        "members" => members(text(wanted), seen),
        "at" => same("address", &seen["address"], wanted),
        "list" => list(array(wanted), truth, seen),
        "bag" => bag(array(wanted), truth, seen),
        "map" => map(array(wanted), truth, seen),
        "hash" => hash(array(wanted), truth, seen),
        "struct" if truth.contains_key("variant") => variant(&truth["variant"], truth, seen),
        "struct" => structure(wanted, seen),
        "tuple" => parts(array(wanted), seen),
        "variant" => variant(wanted, truth, seen),
        "optional" => one_of(wanted, seen, &["nullopt"]),
        "alternative" => one_of(wanted, seen, &["valueless"]),
        "any" => one_of(wanted, seen, &["empty", "null", "<no value>"]),
        "interface" => interface(wanted, truth, seen),
        "inside" => inside(object(wanted), seen),
        "says" => says(text(wanted), seen),
        "empty" => empty(seen),
        _ => panic!("unknown truth {key}"),
    }
}

fn text(wanted: &Json) -> &str {
    wanted.as_str().unwrap()
}

fn array(wanted: &Json) -> &[Json] {
    wanted.as_array().unwrap()
}

fn object(wanted: &Json) -> &Map<String, Json> {
    wanted.as_object().unwrap()
}

fn same(what: &str, seen: &Json, wanted: &Json) -> Difference {
    match seen == wanted {
        true => Ok(()),
        false => Err(format!("{what} should be {wanted}, is {seen}")),
    }
}

/// A number as its digits, whether it is one or its text.
fn digits(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// An integer. A `signed char` is one, with its sign, though it is shown as a character.
fn integer(wanted: &str, seen: &Json) -> Difference {
    match digits(&seen["value"]) == wanted {
        true => Ok(()),
        false => Err(format!("should be {wanted}")),
    }
}

/// A character, of which the program tells the code. One of an unsigned type is an integer; a `char` of a machine on
/// which that has a sign may be negative.
fn character(wanted: i64, seen: &Json) -> Difference {
    let kind = seen["kind"].as_str().unwrap_or_default();
    let of_code = |value: i64| match (value, seen["type"].as_str()) {
        (-0x80..0, Some("char")) => value.rem_euclid(0x100),
        _ => value,
    };
    match (kind, seen["value"].as_i64().map(of_code)) {
        ("character" | "integer", Some(value)) if value == wanted => Ok(()),
        _ => Err(format!("should be the character {wanted}")),
    }
}

/// A floating-point number. A program may tell one of 32 bits by as few digits as name it.
fn float(wanted: &str, seen: &Json) -> Difference {
    let wanted: f64 = wanted.parse().unwrap();
    let value = match seen {
        Json::String(text) => text.parse().unwrap_or(f64::NAN),
        value => value.as_f64().unwrap_or(f64::MAX),
    };
    let nan = wanted.is_nan() && seen == "nan";
    let equal = value == wanted && value.is_sign_negative() == wanted.is_sign_negative();
    match nan || equal || value as f32 == wanted as f32 && f64::from(value as f32) == value {
        true => Ok(()),
        false => Err(format!("should be {wanted}")),
    }
}

fn complex(wanted: &Json, seen: &Json) -> Difference {
    float(text(&wanted[0]), &seen["value"][0])?;
    float(text(&wanted[1]), &seen["value"][1])
}

/// A pointer, with the symbol there, the true type there, and what it owns, as far as they are told.
fn pointer(wanted: &str, truth: &Map<String, Json>, seen: &Json) -> Difference {
    if seen["kind"] != "pointer" || seen["value"] != wanted {
        return Err(format!("should be a pointer to {wanted}"));
    }
    if let Some(symbol) = truth.get("symbol").and_then(Json::as_str) {
        let shown = seen["symbol"].as_str().unwrap_or_default();
        if shown.rsplit('`').next() != Some(symbol) {
            return Err(format!("symbol should be {symbol}"));
        }
    }
    if let Some(dynamic) = truth.get("dynamic").and_then(Json::as_str) {
        let shown = seen["dynamic_type"].as_str().unwrap_or_default();
        if shown.trim_end_matches(['*', ' ']) != dynamic {
            return Err(format!("its true type should be {dynamic}, is {shown}"));
        }
    }
    match truth.get("owns") {
        None => Ok(()),
        Some(owned) => {
            let child = children(seen).first().ok_or("shows nothing of what it owns")?;
            tree(object(owned), child).map_err(|error| step("->", &error))
        }
    }
}

fn enumerator(wanted: &str, truth: &Map<String, Json>, seen: &Json) -> Difference {
    let name = text(&truth["symbol"]);
    let shown = spread(seen["symbol"].as_str().unwrap_or_default());
    // A fieldless enumeration of Rust may be shown as any other one of its.
    let is_variant = seen["kind"] == "variant" && seen["value"].is_null();
    if !is_variant && digits(&seen["value"]) != wanted {
        return Err(format!("should be {wanted}"));
    }
    match last(&shown) == last(name) || name.is_empty() && shown == "???" {
        true => Ok(()),
        false => Err(format!("name should be {name:?}, is {shown:?}")),
    }
}

/// Names that share a beginning: `P_{READ|WRITE}` is `P_READ|P_WRITE`.
fn spread(name: &str) -> String {
    let Some((prefix, rest)) = name.split_once('{') else { return name.to_owned() };
    let (names, rest) = rest.split_once('}').unwrap_or((rest, ""));
    let names: Vec<String> = names.split('|').map(|name| format!("{prefix}{name}")).collect();
    names.join("|") + rest
}

fn members(wanted: &str, seen: &Json) -> Difference {
    let names: Vec<&str> =
        children(seen).iter().map(|child| child["name"].as_str().unwrap_or("")).collect();
    match names.join(" ") == wanted {
        true => Ok(()),
        false => Err(format!("members should be {wanted:?}, are {:?}", names.join(" "))),
    }
}

/// How many there are, and how many of them are shown.
fn total(truth: &Map<String, Json>, count: usize, seen: &Json) -> Difference {
    let wanted = truth.get("total").and_then(Json::as_u64).unwrap_or(count as u64);
    let (shown, least) = (children(seen).len(), SHOWN.min(count));
    // What only walking to its end would count may stop at the limit.
    let known = seen["total"].as_u64();
    if known != Some(wanted) && (known.is_some() || count <= SHOWN) {
        return Err(format!("total should be {wanted}, is {}", seen["total"]));
    }
    match shown >= least && shown <= count {
        true => Ok(()),
        false => Err(format!("shows {shown} of {count}")),
    }
}

/// What an owner of text or of a sequence shows: the text or the sequence.
fn shown_by(seen: &Json) -> &Json {
    match (children(seen), seen["kind"] == "pointer" || seen["kind"] == "variant") {
        ([child], true) => child,
        _ => seen,
    }
}

fn list(wanted: &[Json], truth: &Map<String, Json>, seen: &Json) -> Difference {
    let seen = shown_by(seen);
    if seen["kind"] == "text" {
        return characters(wanted, seen);
    }
    if wanted.is_empty() && seen["kind"] == "empty" {
        return Ok(());
    }
    if seen["kind"] != "array" {
        return Err("should be an array".to_owned());
    }
    total(truth, wanted.len(), seen)?;
    pairwise(wanted, seen)
}

/// An array of characters may be shown as text.
fn characters(wanted: &[Json], seen: &Json) -> Difference {
    let codes = wanted.iter().map(|element| {
        let code = element.get("char").map(ToString::to_string);
        code.unwrap_or_else(|| element["int"].as_str().unwrap_or_default().to_owned())
    });
    let bytes: Vec<u8> = codes.filter_map(|code| code.parse().ok()).collect();
    match seen["value"].as_str().map(str::as_bytes) == Some(bytes.as_slice()) {
        true => Ok(()),
        false => Err(format!("should be the characters {bytes:?}")),
    }
}

fn pairwise(wanted: &[Json], seen: &Json) -> Difference {
    for (index, (wanted, child)) in wanted.iter().zip(children(seen)).enumerate() {
        tree(object(wanted), child).map_err(|error| step(&format!("[{index}]"), &error))?;
    }
    Ok(())
}

/// Elements of a container that has no order: each one that is shown is one of those that there are.
fn bag(wanted: &[Json], truth: &Map<String, Json>, seen: &Json) -> Difference {
    total(truth, wanted.len(), seen)?;
    any_order(wanted, seen, |wanted, child| tree(object(wanted), child))
}

fn any_order(
    wanted: &[Json],
    seen: &Json,
    same: impl Fn(&Json, &Json) -> Difference,
) -> Difference {
    let mut left: Vec<&Json> = wanted.iter().collect();
    for (index, child) in children(seen).iter().enumerate() {
        let Some(at) = left.iter().position(|wanted| same(wanted, child).is_ok()) else {
            return Err(step(&format!("[{index}]"), &format!("is none of them: {}", brief(child))));
        };
        left.remove(at);
    }
    Ok(())
}

fn entry(wanted: &Json, child: &Json) -> Difference {
    tree(object(&wanted[0]), &child["key"]).map_err(|error| step("key", &error))?;
    tree(object(&wanted[1]), child)
}

fn is_map(seen: &Json) -> Difference {
    match seen["kind"] == "map" {
        true => Ok(()),
        false => Err("should be a map".to_owned()),
    }
}

fn map(wanted: &[Json], truth: &Map<String, Json>, seen: &Json) -> Difference {
    is_map(seen)?;
    total(truth, wanted.len(), seen)?;
    for (index, (wanted, child)) in wanted.iter().zip(children(seen)).enumerate() {
        entry(wanted, child).map_err(|error| step(&format!("[{index}]"), &error))?;
    }
    Ok(())
}

fn hash(wanted: &[Json], truth: &Map<String, Json>, seen: &Json) -> Difference {
    is_map(seen)?;
    total(truth, wanted.len(), seen)?;
    any_order(wanted, seen, entry)
}

fn structure(wanted: &Json, seen: &Json) -> Difference {
    for (name, wanted) in object(wanted) {
        let child = member(seen, name).ok_or_else(|| format!("has no member {name}"))?;
        tree(object(wanted), child).map_err(|error| step(&format!(".{name}"), &error))?;
    }
    Ok(())
}

fn parts(wanted: &[Json], seen: &Json) -> Difference {
    let shown = children(seen).len();
    if shown != wanted.len() {
        return Err(format!("should have {} parts, has {shown}", wanted.len()));
    }
    pairwise(wanted, seen)
}

fn variant(name: &Json, truth: &Map<String, Json>, seen: &Json) -> Difference {
    let shown = seen["symbol"].as_str().unwrap_or_default();
    if last(shown) != text(name) {
        return Err(format!("should be {name}, is {shown:?}"));
    }
    match (truth.get("of"), truth.get("struct")) {
        (Some(of), _) => parts(array(of), seen),
        (_, Some(named)) => structure(named, seen),
        _ => Ok(()),
    }
}

/// Something that holds one value of several types, or none, for which there are `words`.
fn one_of(wanted: &Json, seen: &Json, words: &[&str]) -> Difference {
    let shown = seen["symbol"].as_str().or(seen["value"].as_str()).unwrap_or_default();
    match wanted {
        Json::Null if seen["kind"] == "empty" => Ok(()),
        Json::Null if words.iter().any(|word| shown.contains(word)) => Ok(()),
        Json::Null => Err(format!("should be {words:?}")),
        _ => match (children(seen), seen["kind"] == "variant") {
            ([child], true) => tree(object(wanted), child),
            _ => tree(object(wanted), seen),
        },
    }
}

fn interface(wanted: &Json, truth: &Map<String, Json>, seen: &Json) -> Difference {
    if wanted.is_null() {
        let is_nil = seen["value"] == "0x0" || seen["symbol"] == "nil" || seen["value"] == "nil";
        return if is_nil { Ok(()) } else { Err("should be nil".to_owned()) };
    }
    let held = children(seen).first().unwrap_or(seen);
    tree(object(wanted), held).or_else(|error| {
        // A pointer in an interface is the interface's own word.
        wanted.get("ptr").filter(|ptr| **ptr == seen["value"]).map(|_| ()).ok_or(error)
    })?;
    let dynamic = text(&truth["dynamic"]);
    let names = [&seen["dynamic_type"], &seen["symbol"], &held["type"]];
    match names.iter().filter_map(|name| name.as_str()).any(|name| name == dynamic) {
        true => Ok(()),
        false => Err(format!("its type should be {dynamic}")),
    }
}

/// What a wrapper holds: itself, or anything in it.
fn inside(wanted: &Map<String, Json>, seen: &Json) -> Difference {
    tree(wanted, seen).or_else(|error| {
        let found = children(seen).iter().any(|child| inside(wanted, child).is_ok());
        if found { Ok(()) } else { Err(error) }
    })
}

fn says(wanted: &str, seen: &Json) -> Difference {
    let here = brief(seen).contains(wanted);
    match here || children(seen).iter().any(|child| says(wanted, child).is_ok()) {
        true => Ok(()),
        false => Err(format!("should say {wanted:?}")),
    }
}

fn empty(seen: &Json) -> Difference {
    match children(seen).is_empty() && seen["value"].is_null() {
        true => Ok(()),
        false => Err("should be empty".to_owned()),
    }
}

fn step(path: &str, error: &str) -> String {
    let path = if path.starts_with(['.', '[', '-']) { path.to_owned() } else { format!(".{path}") };
    match error.starts_with(['.', '[']) {
        true => format!("{path}{error}"),
        false => format!("{path}: {error}"),
    }
}

/// A tree in a few words, for messages.
fn brief(seen: &Json) -> String {
    const MOST: usize = 160;
    let mut words: Vec<String> =
        ["kind", "type", "value", "symbol", "text", "dynamic_type", "total"]
            .iter()
            .filter(|key| !seen[**key].is_null())
            .map(|key| format!("{key} {}", seen[*key]))
            .collect();
    let names = children(seen).iter().map(|child| child["name"].as_str().unwrap_or("-"));
    let names: Vec<&str> = names.take(8).collect();
    if !names.is_empty() {
        words.push(format!("children {}", names.join(" ")));
    }
    words.join(", ").chars().take(MOST).collect()
}

/// Compares what a path leads to in the tree of its first word with the truth, if it leads anywhere.
pub fn from_root(truth: &Map<String, Json>, root: &Json, path: &str) -> Difference {
    match walk(root, path) {
        Some(seen) => tree(truth, seen).map_err(|error| format!("in its whole: {error}")),
        None => Ok(()),
    }
}

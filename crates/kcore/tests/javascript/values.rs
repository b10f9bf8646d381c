//! Values of JavaScript against what the program itself says of them.

use std::fs;

use gen_cores::Case;
use kcore::v8::{
    V8,
    value::{Contents, Key, Limits, Member, Object, PromiseState, Slot, Value, ValueKind},
};
use kcore::{Core, MAX_FRAMES, NamedFrame, Tid};
use serde_json::Value as Told;

use crate::{CASES, open};

const LIMITS: Limits = Limits { depth: 6, entries: 200, units: 1 << 16 };

/// What differs by intention, by path, each with its reason.
const KNOWN: &[(&str, &str)] = &[
    ("values.arrays.accessor", "an element with a getter has no value before it is called"),
    ("values.objects.symbolKeys", "its own tag names it, as in V8's traces"),
    ("values.classes.inferred", "a class without a name has the one that V8 made up"),
    ("values.classes.anonymous", "the same"),
    ("values.classes.misnamed", "its static property `name` is no name"),
    ("values.builtins.arguments", "V8 calls the class of `arguments` so"),
    ("values.builtins.generator", "a generator is of the class of its function"),
    ("values.builtins.asyncGenerator", "the same"),
];

/// Reads values of one core.
struct Reader<'a> {
    core: &'a Core,
    v8: &'a V8,
}

impl<'a> Reader<'a> {
    fn new(core: &'a Core) -> Self {
        Self { core, v8: core.runtimes().of::<V8>().next().expect("V8") }
    }

    /// The first argument of the innermost frame of this function.
    fn argument(&self, tid: u32, function: &str) -> Option<Value> {
        let stack = self.core.stacks().of_thread(Tid::new(tid), MAX_FRAMES);
        let is_it = |frame: &NamedFrame| frame.location.function.as_deref() == Some(function);
        let frame = self.core.stacks().named_frames(&stack).find(is_it)?.frame?;
        let details = self.v8.frame_details(self.core, &frame, LIMITS)?;
        details.arguments.into_iter().next()
    }

    /// What a path leads to, from a value that bears its first name.
    fn follow(&self, from: &Value, path: &str) -> Option<Value> {
        let mut value = from.clone();
        for name in path.split('.').skip(1) {
            value = member(self.object(&value)?.properties, name)?;
        }
        Some(self.again(&value))
    }

    fn object(&self, value: &Value) -> Option<Object> {
        match self.again(value).kind {
            ValueKind::Object(object) => Some(*object),
            _ => None,
        }
    }

    /// The same value, as deep as any: it may have been told where that ends.
    fn again(&self, value: &Value) -> Value {
        match value.word {
            Some(word) => self.v8.value(self.core, word, LIMITS).expect("a value"),
            None => value.clone(),
        }
    }
}

fn member(properties: Vec<Member>, name: &str) -> Option<Value> {
    let found = properties.into_iter().find(|member| member.key == Key::Name(name.into()))?;
    match found.slot {
        Slot::Value(value) => Some(value),
        Slot::Accessor { .. } => None,
    }
}

/// What differs, at which path.
type Difference = Option<String>;

fn expect(is_so: bool, what: impl FnOnce() -> String) -> Difference {
    (!is_so).then(what)
}

fn differ(value: &Value, told: &Told) -> Difference {
    let kind = told["type"].as_str().unwrap_or_default();
    let text = told["value"].as_str();
    let fits = match (&value.kind, kind) {
        (ValueKind::Undefined, "undefined")
        | (ValueKind::Null, "null")
        | (ValueKind::Hole, "hole") => true,
        (ValueKind::Boolean(value), "boolean") => told["value"] == *value,
        (ValueKind::Number(value), "number") => text.is_some_and(|text| is_number(*value, text)),
        (ValueKind::BigInt(value), "bigint") => value.starts_with("0x") || text == Some(value),
        (ValueKind::Symbol(description), "symbol") => {
            told["description"].as_str() == description.as_deref()
        }
        (ValueKind::String(value), "string") => {
            told["length"] == value.length && is_text(&value.text, told)
        }
        // Told before, at another path.
        (_, "again") => true,
        (ValueKind::Elided(_), "object" | "function") => true,
        (ValueKind::Object(object), "object" | "function") => return differ_object(object, told),
        _ => false,
    };
    expect(fits, || format!("{value:?} for {told}"))
}

fn is_number(value: f64, text: &str) -> bool {
    match text {
        "NaN" => value.is_nan(),
        "Infinity" => value == f64::INFINITY,
        "-Infinity" => value == f64::NEG_INFINITY,
        _ => text.parse::<f64>().is_ok_and(|told| told.to_bits() == value.to_bits()),
    }
}

fn is_text(text: &str, told: &Told) -> bool {
    let as_text = |told: &Told| match &told["units"] {
        Told::Array(units) => {
            let units = units.iter().filter_map(|unit| u16::try_from(unit.as_u64()?).ok());
            Some(String::from_utf16_lossy(&units.collect::<Vec<_>>()))
        }
        _ => told["value"].as_str().map(str::to_owned),
    };
    match as_text(told) {
        Some(whole) => whole == text,
        None => as_text(&told["head"]).is_some_and(|head| text.starts_with(&head)),
    }
}

fn differ_object(object: &Object, told: &Told) -> Difference {
    if told["type"] == "function" || told["kind"] == "proxy" {
        let is_callable = matches!(
            object.contents,
            Contents::Function { .. } | Contents::Bound { .. } | Contents::Proxy { .. }
        );
        return expect(is_callable, || format!("{:?} for a function", object.contents));
    }
    differ_contents(object, told)
        .or_else(|| differ_class(object, told))
        .or_else(|| differ_properties(object, told))
}

fn differ_class(object: &Object, told: &Told) -> Difference {
    let class = told["class"].as_str();
    let class = class.unwrap_or("Object");
    expect(*object.class == *class, || format!("class {} for {class}", object.class))
}

fn differ_contents(object: &Object, told: &Told) -> Difference {
    let kind = told["kind"].as_str().unwrap_or_default();
    let list = || told["list"].as_array().into_iter().flatten();
    let in_order =
        |values: &[Value]| values.iter().zip(list()).find_map(|(value, told)| differ(value, told));
    match (&object.contents, kind) {
        (Contents::Array { length }, "array") => {
            expect(told["length"] == *length, || format!("length {length} for {}", told["length"]))
                .or_else(|| differ_elements(object, told))
        }
        (Contents::Arguments, "arguments") => differ_elements(object, told),
        (Contents::Map { size, entries }, "map") => {
            expect(told["size"] == *size, || format!("size {size}")).or_else(|| {
                let told = told["entries"].as_array().into_iter().flatten();
                entries.iter().zip(told).find_map(|((key, value), told)| {
                    differ(key, &told[0]).or_else(|| differ(value, &told[1]))
                })
            })
        }
        (Contents::Set { size, values }, "set") => {
            expect(told["size"] == *size, || format!("size {size}")).or_else(|| in_order(values))
        }
        (Contents::Date(value), "date") => {
            let told = told["value"].as_str().unwrap_or_default();
            expect(is_number(*value, told), || format!("{value} for {told}"))
        }
        (Contents::RegExp { source, flags }, "regexp") => {
            expect(told["source"] == **source && told["flags"] == **flags, || {
                format!("/{source}/{flags}")
            })
        }
        (Contents::Boxed(value), "boxed") => differ(value, &told["value"]),
        (Contents::Promise { state, result }, "promise") => {
            differ_promise(*state, result.as_ref(), told)
        }
        (Contents::Buffer { length, .. }, "arraybuffer") => {
            expect(told["byte_length"] == *length, || format!("{length} bytes"))
        }
        (Contents::Typed { length, .. }, "typedarray" | "dataview") => {
            expect(told["byte_length"] == *length, || format!("{length} bytes"))
                .or_else(|| differ_numbers(object, told))
        }
        (Contents::Weak { .. }, "weakmap" | "weakset")
        | (Contents::Generator { .. }, "generator")
        | (Contents::Error { .. }, "error")
        | (Contents::WeakRef(_) | Contents::Plain, "plain") => None,
        (contents, kind) => Some(format!("{contents:?} for {kind}")),
    }
}

fn differ_promise(state: PromiseState, result: Option<&Value>, told: &Told) -> Difference {
    expect(told["state"]["value"] == state.as_str(), || format!("{state:?}"))
        .or_else(|| differ(result?, told.get("result")?))
}

/// Elements by index: those that are holes are not there.
fn differ_elements(object: &Object, told: &Told) -> Difference {
    let list = told["list"].as_array()?;
    let told = list.iter().enumerate().filter(|(_, told)| told["type"] != "hole");
    let told: Vec<_> = told.collect();
    if object.elements.len() < told.len() {
        return Some(format!("{} elements for {}", object.elements.len(), told.len()));
    }
    object.elements.iter().zip(told).find_map(|(element, (index, told))| {
        expect(element.index == index as u64, || format!("element {} for {index}", element.index))
            .or_else(|| match &element.slot {
                Slot::Value(value) => differ(value, told),
                Slot::Accessor { .. } => Some(format!("[{index}] has accessors")),
            })
    })
}

fn differ_numbers(object: &Object, told: &Told) -> Difference {
    let list = told["list"].as_array().into_iter().flatten();
    object.elements.iter().zip(list).find_map(|(element, told)| {
        let text = told.as_str().unwrap_or_default();
        let fits = match &element.slot {
            Slot::Value(Value { kind: ValueKind::Number(value), .. }) => is_number(*value, text),
            Slot::Value(Value { kind: ValueKind::BigInt(value), .. }) => **value == *text,
            _ => false,
        };
        expect(fits, || format!("[{}] {:?} for {text}", element.index, element.slot))
    })
}

fn name_of(key: &Key) -> Option<String> {
    match key {
        Key::Name(name) => Some(name.to_string()),
        Key::Symbol(name) => Some(format!("Symbol({name})")),
        // No program can ask for it.
        Key::Private(_) => None,
    }
}

fn differ_properties(object: &Object, told: &Told) -> Difference {
    let pairs: Vec<_> = told["properties"].as_array().into_iter().flatten().collect();
    let named = |name: &str| {
        let index = name.parse().ok();
        if let Some(element) = object.elements.iter().find(|it| Some(it.index) == index) {
            return Some(element.slot.clone());
        }
        let found = object
            .properties
            .iter()
            .find(|member| name_of(&member.key).is_some_and(|key| key == name))?;
        Some(found.slot.clone())
    };
    pairs.into_iter().find_map(|pair| {
        let name = pair[0].as_str().unwrap_or_default();
        match named(name) {
            None => Some(format!("no property {name}")),
            Some(Slot::Accessor { .. }) => {
                expect(pair[1]["type"] == "accessor", || format!("{name} is an accessor"))
            }
            Some(Slot::Value(value)) => {
                differ(&value, &pair[1]).map(|difference| format!("{name}: {difference}"))
            }
        }
    })
}

/// The values that a program tells of an argument of the function `keep`.
fn told_values(case: &Case) -> Vec<Told> {
    let text = fs::read_to_string(case.dir.join("values.jsonl")).expect("values were told");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    lines.filter(|line: &Told| line["frame"] == "keep").collect()
}

#[test]
fn values_are_what_the_program_says() {
    let mut differences = Vec::new();
    let mut count = 0;
    for (case, truth) in CASES.iter().filter(|(case, _)| case.scenario == "node-values") {
        let core = open(case);
        let reader = Reader::new(&core);
        let values = reader.argument(truth.pid, "keep").expect("the argument of keep");
        for told in told_values(case) {
            count += 1;
            let path = told["print"].as_str().expect("a path");
            if KNOWN.iter().any(|(known, _)| path.starts_with(known)) {
                continue;
            }
            let difference = match reader.follow(&values, path) {
                Some(value) => differ(&value, &told),
                None => Some("not found".to_owned()),
            };
            differences.extend(difference.map(|it| format!("{} {path}: {it}", case.name())));
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {count}:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

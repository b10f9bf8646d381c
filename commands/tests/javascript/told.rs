//! Whether a tree of JSON is the value that a program told of.

use serde_json::Value;

/// What differs, if anything does.
pub type Difference = Option<String>;

/// What differs between a tree and what the program says of the value.
pub fn differ(tree: &Value, told: &Value) -> Difference {
    let kind = told["type"].as_str().unwrap_or_default();
    let shown = tree["kind"].as_str().unwrap_or_default();
    match kind {
        // Told at another path.
        "again" => None,
        "undefined" | "null" | "hole" => expect(shown == kind, tree, told),
        "boolean" => expect(shown == kind && tree["value"] == told["value"], tree, told),
        "number" => expect(shown == kind && is_number(&tree["value"], told), tree, told),
        "bigint" => expect(shown == kind && tree["value"] == told["value"], tree, told),
        "symbol" => expect(shown == kind && tree["value"] == told["description"], tree, told),
        "string" => expect(shown == kind && is_text(tree, told), tree, told),
        // A getter of the prototype, which the program asked.
        "accessor" => expect(shown == "accessor", tree, told),
        _ if tree["cut"] == true && tree["children"] == Value::Array(Vec::new()) => None,
        "function" => function(tree, told),
        _ => object(tree, told),
    }
}

fn expect(is_so: bool, tree: &Value, told: &Value) -> Difference {
    (!is_so).then(|| {
        let tree: String = tree.to_string().chars().take(600).collect();
        let told: String = told.to_string().chars().take(300).collect();
        format!("{tree} for {told}")
    })
}

fn is_number(value: &Value, told: &Value) -> bool {
    let told = told["value"].as_str().unwrap_or_default();
    match value {
        Value::String(text) => text == told,
        Value::Number(number) => {
            // The reader of JSON may be wrong in the last bit of a number with many digits.
            let read = number.as_f64().unwrap_or_default();
            told.parse::<f64>().is_ok_and(|told| {
                told.to_bits().abs_diff(read.to_bits()) <= u64::from(told.abs() > 1e15)
            })
        }
        _ => false,
    }
}

fn is_text(tree: &Value, told: &Value) -> bool {
    let text = tree["value"].as_str().unwrap_or_default();
    let as_text = |told: &Value| match &told["units"] {
        Value::Array(units) => {
            let units = units.iter().filter_map(|unit| u16::try_from(unit.as_u64()?).ok());
            Some(String::from_utf16_lossy(&units.collect::<Vec<_>>()))
        }
        _ => told["value"].as_str().map(str::to_owned),
    };
    let is_whole = match as_text(told) {
        Some(whole) => whole == text && tree["cut"] == false,
        None => as_text(&told["head"]).is_some_and(|head| text.starts_with(&head)),
    };
    tree["length"] == told["length"] && is_whole
}

fn function(tree: &Value, told: &Value) -> Difference {
    if told["kind"] == "proxy" {
        return object(tree, told);
    }
    expect(tree["kind"] == "function", tree, told).or_else(|| {
        let bound = told.get("bound")?;
        let parts = bound["properties"].as_array()?;
        parts.iter().find_map(|part| {
            let name = match part[0].as_str()? {
                "args" => "arguments",
                name => name,
            };
            differ(fact(tree, name)?, &part[1])
        })
    })
}

fn object(tree: &Value, told: &Value) -> Difference {
    let kind = told["kind"].as_str().unwrap_or("plain");
    let shown = tree["kind"].as_str().unwrap_or_default();
    let wanted = match kind {
        "plain" => ["object", "weakref"],
        kind => [kind, kind],
    };
    // Of what lies deep in a value the program told no more.
    let is_brief = told.get("properties").is_none() && kind != "proxy";
    let differs = expect(wanted.contains(&shown), tree, told).or_else(|| class(tree, told));
    if is_brief {
        return differs;
    }
    differs
        .or_else(|| contents(tree, told, kind))
        .or_else(|| properties(tree, told))
        .or_else(|| private(tree, told))
}

fn class(tree: &Value, told: &Value) -> Difference {
    if told["kind"] == "proxy" || told["kind"] == "generator" || told["kind"] == "arguments" {
        return None;
    }
    expect(tree["class"] == told["class"] || told["class"].is_null(), tree, told)
}

fn parts<'t>(tree: &'t Value, role: &str) -> Vec<&'t Value> {
    let children = tree["children"].as_array().into_iter().flatten();
    children.filter(|child| child["role"] == role).collect()
}

fn fact<'t>(tree: &'t Value, name: &str) -> Option<&'t Value> {
    parts(tree, "fact").into_iter().find(|child| child["name"] == name)
}

fn contents(tree: &Value, told: &Value, kind: &str) -> Difference {
    let list = told["list"].as_array().map(Vec::as_slice).unwrap_or_default();
    match kind {
        "array" => {
            expect(tree["length"] == told["length"], tree, told).or_else(|| elements(tree, list))
        }
        "arguments" => elements(tree, list),
        "typedarray" => expect(tree["length"] == told["length"], tree, told).or_else(|| {
            let shown = parts(tree, "element");
            shown.iter().zip(list).find_map(|(shown, told)| {
                let told = serde_json::json!({ "value": told });
                let is_it = is_number(&shown["value"], &told) || shown["value"] == told["value"];
                expect(is_it, shown, &told)
            })
        }),
        "set" => expect(tree["length"] == told["size"], tree, told)
            .or_else(|| in_order(&parts(tree, "item"), list)),
        "map" => expect(tree["length"] == told["size"], tree, told).or_else(|| {
            let told = told["entries"].as_array()?;
            parts(tree, "entry").iter().zip(told).find_map(|(shown, told)| {
                differ(&shown["key"], &told[0]).or_else(|| differ(shown, &told[1]))
            })
        }),
        "date" => expect(is_number(&tree["value"], told) && tree["iso"] == told["iso"], tree, told),
        "regexp" => {
            expect(tree["value"] == told["source"] && tree["flags"] == told["flags"], tree, told)
        }
        "arraybuffer" | "dataview" => expect(tree["length"] == told["byte_length"], tree, told),
        "boxed" => {
            let inside = &told["value"];
            let is_it = is_number(&tree["value"], inside)
                || tree["value"] == inside["value"]
                || tree["value"] == inside["description"];
            expect(is_it, tree, told)
        }
        "promise" | "generator" => expect(
            fact(tree, "state").map(|state| &state["value"]) == told["state"].get("value"),
            tree,
            told,
        )
        .or_else(|| differ(fact(tree, "result")?, told.get("result")?)),
        "proxy" => differ(fact(tree, "target")?, &told["target"])
            .or_else(|| differ(fact(tree, "handler")?, &told["handler"])),
        "error" => stack(tree, told),
        _ => told.get("target").and_then(|told| differ(fact(tree, "target")?, told)),
    }
}

/// The stack of an error, line by line.
fn stack(tree: &Value, told: &Value) -> Difference {
    let lines = told["stack"].as_str()?;
    let shown = fact(tree, "stack").map(|stack| parts(stack, "element")).unwrap_or_default();
    let shown: Vec<_> = shown.iter().filter_map(|line| line["value"].as_str()).collect();
    expect(shown == lines.lines().collect::<Vec<_>>(), tree, told)
}

fn in_order(shown: &[&Value], told: &[Value]) -> Difference {
    shown.iter().zip(told).find_map(|(shown, told)| differ(shown, told))
}

/// Elements by index: those that are holes are not there.
fn elements(tree: &Value, list: &[Value]) -> Difference {
    let told = list.iter().enumerate().filter(|(_, told)| told["type"] != "hole");
    let shown = parts(tree, "element");
    told.into_iter().find_map(|(index, told)| {
        let Some(shown) = shown.iter().find(|shown| shown["index"] == index) else {
            return Some(format!("no element {index}"));
        };
        differ(shown, told)
    })
}

fn properties(tree: &Value, told: &Value) -> Difference {
    let pairs = told["properties"].as_array().into_iter().flatten();
    let children = tree["children"].as_array();
    pairs.into_iter().find_map(|pair| {
        let name = pair[0].as_str().unwrap_or_default();
        let is_it = |child: &&Value| match child["role"].as_str() {
            Some("property") => child["name"] == name,
            Some("symbol") => {
                child["name"].as_str().is_some_and(|it| format!("Symbol({it})") == name)
            }
            Some("element") => {
                child["index"].as_u64().is_some() && child["index"].as_u64() == name.parse().ok()
            }
            _ => false,
        };
        match children.into_iter().flatten().find(is_it) {
            Some(child) => differ(child, &pair[1]).map(|what| format!("{name}: {what}")),
            // V8 makes it when it is first asked for.
            None if tree["kind"] == "arguments" && name == "Symbol(Symbol.iterator)" => None,
            None => Some(format!("no property {name}")),
        }
    })
}

fn private(tree: &Value, told: &Value) -> Difference {
    let pairs = told["private"]["properties"].as_array().into_iter().flatten();
    let own = parts(tree, "private");
    pairs.into_iter().find_map(|pair| match own.iter().find(|child| child["name"] == pair[0]) {
        Some(child) => differ(child, &pair[1]),
        None => Some(format!("no private {}", pair[0])),
    })
}

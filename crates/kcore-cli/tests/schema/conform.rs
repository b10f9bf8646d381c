//! As much of JSON Schema as `docs/kcore.schema.json` uses. A full validator takes longer to build
//! than everything else in the tree together.

use serde_json::{Map, Value};

/// Checks `value`, which stands at `path`, against `rule`; the keywords that `rule` may have are
/// all known here, and another one is an error.
pub fn check(schema: &Value, rule: &Value, value: &Value, path: &str) -> Result<(), String> {
    for (keyword, wanted) in rule.as_object().ok_or("a rule is an object")? {
        match keyword.as_str() {
            "$ref" => check(schema, resolve(schema, wanted)?, value, path)?,
            "anyOf" => any_of(schema, wanted, value, path)?,
            "type" => has_type(wanted, value, path)?,
            "const" if value == wanted => {}
            "const" => return Err(format!("{path}: {value} is not {wanted}")),
            "pattern" => has_pattern(wanted, value, path)?,
            "items" => items(schema, wanted, value, path)?,
            "properties" => {
                properties(schema, wanted, value, path)?;
                others(rule, value, path)?;
            }
            "required" => required(wanted, value, path)?,
            "additionalProperties" => every_value(schema, wanted, value, path)?,
            other => return Err(format!("{path}: the keyword {other} is not known")),
        }
    }
    Ok(())
}

fn resolve<'a>(schema: &'a Value, name: &Value) -> Result<&'a Value, String> {
    let pointer = name.as_str().and_then(|name| name.strip_prefix('#'));
    let found = pointer.and_then(|pointer| schema.pointer(pointer));
    found.ok_or_else(|| format!("the schema has no {name}"))
}

fn any_of(schema: &Value, rules: &Value, value: &Value, path: &str) -> Result<(), String> {
    let rules = rules.as_array().ok_or("anyOf is a list")?;
    let fits = rules.iter().any(|rule| check(schema, rule, value, path).is_ok());
    if fits { Ok(()) } else { Err(format!("{path}: {value} fits none of {rules:?}")) }
}

fn has_type(wanted: &Value, value: &Value, path: &str) -> Result<(), String> {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        // One that a double does not hold is to be a text.
        Some("integer") => value.as_i64().is_some_and(|value| value.unsigned_abs() <= 1 << 53),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    let fits = wanted.as_array().map_or_else(|| is(wanted), |names| names.iter().any(is));
    if fits { Ok(()) } else { Err(format!("{path}: {value} is no {wanted}")) }
}

/// The two patterns of the schema: `0x` and lower-case digits, and decimal digits. What is no text has
/// none, as JSON Schema has it.
fn has_pattern(pattern: &Value, value: &Value, path: &str) -> Result<(), String> {
    let Some(text) = value.as_str() else { return Ok(()) };
    let fits = match pattern.as_str() {
        Some("^0x[0-9a-f]+$") => text.strip_prefix("0x").is_some_and(|digits| {
            consists_of(digits, |byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        }),
        // A number that a double holds is no text.
        Some("^-?[0-9]+$") => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            consists_of(digits, |byte| byte.is_ascii_digit())
                && digits.parse::<u128>().is_ok_and(|value| value > 1 << 53)
        }
        _ => return Err(format!("{path}: the pattern {pattern} is not known")),
    };
    if fits { Ok(()) } else { Err(format!("{path}: {value} is not {pattern}")) }
}

fn consists_of(text: &str, is_wanted: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(is_wanted)
}

fn items(schema: &Value, rule: &Value, value: &Value, path: &str) -> Result<(), String> {
    let mut items = value.as_array().into_iter().flatten().enumerate();
    items.try_for_each(|(at, item)| check(schema, rule, item, &format!("{path}[{at}]")))
}

fn properties(schema: &Value, rules: &Value, value: &Value, path: &str) -> Result<(), String> {
    let (rules, none) = (rules.as_object().ok_or("properties is an object")?, Map::new());
    let object = value.as_object().unwrap_or(&none);
    let mut known = rules.iter().filter_map(|(key, rule)| Some((key, rule, object.get(key)?)));
    known.try_for_each(|(key, rule, value)| check(schema, rule, value, &format!("{path}.{key}")))
}

fn required(keys: &Value, value: &Value, path: &str) -> Result<(), String> {
    let mut keys = keys.as_array().into_iter().flatten().filter_map(Value::as_str);
    match keys.find(|key| value.get(key).is_none()) {
        Some(missing) => Err(format!("{path}: {missing} is missing")),
        None => Ok(()),
    }
}

/// Keys that the rule does not name: a reader has to take them, but kcore may not write what its page does
/// not explain.
fn others(rule: &Value, value: &Value, path: &str) -> Result<(), String> {
    let is_known =
        |key: &String| rule.pointer("/properties").is_some_and(|it| it.get(key).is_some());
    match value.as_object().into_iter().flatten().find(|(key, _)| !is_known(key)) {
        Some((key, _)) => Err(format!("{path}: {key} is not in the schema")),
        None => Ok(()),
    }
}

/// The values of an object whose keys may be any.
fn every_value(schema: &Value, rule: &Value, value: &Value, path: &str) -> Result<(), String> {
    let mut members = value.as_object().into_iter().flatten();
    members.try_for_each(|(key, value)| check(schema, rule, value, &format!("{path}.{key}")))
}

//! Names of functions as Go's own traces have them (`runtime/traceback.go`, `funcNameForPrint`).

use std::sync::Arc;

/// A name as it is printed: of what a generic function was made for nothing is said, and `panic` is what programs
/// call.
pub fn printed(name: Arc<str>) -> Arc<str> {
    if &*name == "runtime.gopanic" {
        return "panic".into();
    }
    let (Some(from), Some(to)) = (name.find('['), name.rfind(']')) else { return name };
    match (name.get(..from), name.get(to.saturating_add(1)..)) {
        (Some(before), Some(behind)) if from < to => format!("{before}[...]{behind}").into(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_types_are_left_out() {
        let printed = |name: &str| printed(name.into()).to_string();
        assert_eq!(printed("main.Map[go.shape.int,[]go.shape.string]"), "main.Map[...]");
        assert_eq!(printed("main.(*L[go.shape.int]).Add.func1"), "main.(*L[...]).Add.func1");
        assert_eq!(printed("main.main"), "main.main");
        assert_eq!(printed("main.]["), "main.][");
        assert_eq!(printed("runtime.gopanic"), "panic");
    }
}

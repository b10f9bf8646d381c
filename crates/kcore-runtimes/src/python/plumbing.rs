//! Functions by which CPython calls: what they do says nothing of the program.

use super::activations::LOOP;

/// Each of them, or what its name begins with where a star ends it. Those of several versions: `Objects/call.c`,
/// `Python/ceval.c`, `Objects/methodobject.c`, `Objects/descrobject.c`, `Objects/typeobject.c`.
const NAMES: &[&str] = &[
    "PyEval_EvalCode*",
    "PyEval_EvalFrame*",
    "PyObject_Call*",
    "PyObject_Vectorcall*",
    "PyVectorcall_Call",
    "_PyCallMethodDescriptorFast*",
    "_PyEval_*",
    "_PyFunction_*call*",
    "_PyObject_Call*",
    "_PyObject_FastCall*",
    "_PyObject_MakeTpCall*",
    "_PyObject_Vectorcall*",
    "_PyVectorcall_Call*",
    "_Py_BuiltinCallFast*",
    "_Py_CallBuiltinClass_*",
    "_Py_VectorCall*",
    "call_function*",
    "call_method*",
    "cfunction_*",
    "do_call_core*",
    "function_code_fastcall*",
    "method_vectorcall*",
    "object_vacall*",
    "slot_tp_*",
    "vectorcall_*",
];

/// Whether a function of CPython's module is one of them. The evaluation loop is none: where its frames of Python are
/// not known, it stands for them.
pub fn is_plumbing(function: &str) -> bool {
    if function.starts_with(LOOP) {
        return false;
    }
    NAMES.iter().any(|name| match name.split_once('*') {
        None => function == *name,
        Some((start, rest)) => {
            let rest = rest.trim_end_matches('*');
            function.strip_prefix(start).is_some_and(|behind| behind.contains(rest))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_is_told_from_what_does() {
        let plumbing = [
            "_PyEval_Vector",
            "_PyFunction_Vectorcall",
            "method_vectorcall_NOARGS",
            "cfunction_call",
            "slot_tp_call",
            "_Py_VectorCallInstrumentation_StackRefSteal",
        ];
        assert!(plumbing.into_iter().all(is_plumbing));
        let others = ["os_abort", "list_sort", "Py_RunMain", "_PyFunction_New", LOOP];
        assert!(!others.into_iter().any(is_plumbing));
    }
}

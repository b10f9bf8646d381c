//! Functions by which MRI calls: what they do says nothing of the program.

/// Each of them, or what its name begins with where a star ends it: `vm.c`, `vm_eval.c`, `vm_insnhelper.c`, `vm_args.c`,
/// `eval.c`.
const NAMES: &[&str] = &[
    "invoke_*block*",
    "rb_block_call*",
    "rb_call*",
    "rb_check_funcall*",
    "rb_ec_exec_node",
    "rb_ensure",
    "rb_funcall*",
    "rb_iterate*",
    "rb_lambda_call",
    "rb_method_call*",
    "rb_obj_call_init*",
    "rb_proc_call*",
    "rb_protect",
    "rb_rescue2*",
    "rb_vm_call*",
    "rb_vm_exec",
    "rb_vm_invoke*",
    "rb_vrescue2",
    "rb_yield*",
    "vm_call*",
    "vm_cfp_*",
    "vm_exec*",
    "vm_invoke*",
    "vm_sendish*",
    "vm_yield*",
];

/// Whether a function of MRI's module is one of them.
pub fn is_plumbing(function: &str) -> bool {
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
            "rb_vm_exec",
            "vm_call_cfunc_with_frame",
            "rb_yield_1",
            "invoke_block_from_c_bh",
            "rb_ensure",
        ];
        assert!(plumbing.into_iter().all(is_plumbing));
        let others = ["rb_ary_each", "rb_thread_sleep", "ruby_run_node", "rb_str_new", "vm_stack"];
        assert!(!others.into_iter().any(is_plumbing));
    }
}

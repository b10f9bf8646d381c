//! Symbol files of Breakpad, with a record of each kind.

/// Name and text of each.
pub fn symbol_files() -> Vec<(&'static str, Vec<u8>)> {
    let rules = "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n\
                 STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa -16 + ^\n\
                 STACK CFI 1008 .cfa: $rbp -8 + ^ $rbx: $rax .cfa 16 @ +\n\
                 STACK CFI INIT 1100 8 .cfa: sp 8 + ra: ra .ra: .ra\n";
    let text = format!(
        "MODULE Linux x86_64 67452301AB89EFCDFEDCBA98765432100 app\nINFO CODE_ID 00 app\n\
         FILE 0 a.c\nFILE 9 b.c\nINLINE_ORIGIN 3 void f<int>(int)\n\
         FUNC m 1000 100 0 main(int, char**)\nINLINE 0 7 9 3 1008 10 1020 4\nINLINE 1 8 3 1008 4\n\
         1000 8 5 0\n1008 18 6 9\n1030 8 7 0\nPUBLIC 1100 0 _start\nSTACK WIN 4 0 0\n{rules}"
    );
    vec![("app", text.into_bytes()), ("rules", rules.as_bytes().to_vec())]
}

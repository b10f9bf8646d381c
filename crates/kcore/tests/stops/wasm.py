"""Calls a function of WebAssembly for ever, which wasmtime compiles."""
from wasmtime import Instance, Module, Store

FIBONACCI = """
(module (func $f (export "f") (param i32) (result i32)
  (if (result i32) (i32.lt_s (local.get 0) (i32.const 2))
    (then (local.get 0))
    (else (i32.add (call $f (i32.sub (local.get 0) (i32.const 1)))
                   (call $f (i32.sub (local.get 0) (i32.const 2))))))))
"""

store = Store()
function = Instance(store, Module(store.engine, FIBONACCI), []).exports(store)["f"]
while True:
    function(store, 20)

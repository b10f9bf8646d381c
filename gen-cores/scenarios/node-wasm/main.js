// WebAssembly that JavaScript calls and that calls JavaScript, twice over.
const truth = require('./truth.js');

// (import "js" "call" (func $call (param i32) (result i32)))
// (func $inner (param i32) (result i32) local.get 0 call $call)
// (func $outer (export "outer") (param i32) (result i32) local.get 0 i32.const 1 i32.add call $inner)
const MODULE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, //                          magic, version 1
  1, 6, 1, 96, 1, 127, 1, 127, //                          one type: i32 to i32
  2, 11, 1, 2, 106, 115, 4, 99, 97, 108, 108, 0, 0, //     one import: js.call
  3, 3, 2, 0, 0, //                                        two functions of that type
  7, 9, 1, 5, 111, 117, 116, 101, 114, 0, 2, //            one export: outer
  10, 18, 2, //                                            two bodies
  6, 0, 32, 0, 16, 0, 11, //                               inner
  9, 0, 32, 0, 65, 1, 106, 16, 1, 11, //                   outer
  0, 28, 4, 110, 97, 109, 101, //                          the section "name"
  1, 21, 3, 0, 4, 99, 97, 108, 108, 1, 5, 105, 110, 110, 101, 114, 2, 5, 111, 117, 116, 101, 114,
]);

function instantiate(call) {
  return new WebAssembly.Instance(new WebAssembly.Module(MODULE), { js: { call } }).exports;
}

const second = instantiate(function fromSecond(number) {
  truth.die();
});

const first = instantiate((number) => between(number));

function between(number) {
  return second.outer(number + 10);
}

function start() {
  return first.outer(1);
}

start();

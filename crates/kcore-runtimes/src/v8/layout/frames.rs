//! Types of frames by version of V8.

use super::table::table;

table! {
    /// Marks of frames that are no function's, `StackFrame::Type` in `src/execution/frames.h`.
    pub struct FrameTypes {
        /// C++ called JavaScript.
        entry: ["frametype_EntryFrame"]
            = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        /// C++ called a constructor.
        construct_entry: ["frametype_ConstructEntryFrame"]
            = [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];
        /// JavaScript called a builtin that is C++.
        builtin_exit: ["frametype_BuiltinExitFrame"]
            = [21, 22, 25, 26, 27, 27, 27, 17, 17, 17, 17];
        /// JavaScript called a function of the embedder; 0 while that is a builtin exit.
        api_callback_exit: ["frametype_ApiCallbackExitFrame"]
            = [0, 0, 0, 27, 28, 28, 28, 18, 18, 18, 18];
        /// `new` was called.
        construct: ["frametype_ConstructFrame"]
            = [19, 20, 23, 23, 24, 24, 24, 14, 14, 14, 14];
        /// `new` was called by the interpreter; 0 before.
        fast_construct: ["frametype_FastConstructFrame"]
            = [0, 0, 0, 24, 25, 25, 25, 15, 15, 15, 15];
        /// A function of V8 without a JavaScript function.
        stub: ["frametype_StubFrame"]
            = [14, 15, 17, 17, 18, 18, 18, 8, 8, 8, 8];
        /// A builtin that is JavaScript to others.
        builtin: ["frametype_BuiltinFrame"]
            = [20, 21, 24, 25, 26, 26, 26, 16, 16, 16, 16];
        /// The same of a JavaScript function.
        js_continuation: ["frametype_JavaScriptBuiltinContinuationFrame"]
            = [16, 17, 20, 20, 21, 21, 21, 11, 11, 11, 11];
        /// The same, which catches.
        js_continuation_catch: ["frametype_JavaScriptBuiltinContinuationWithCatchFrame"]
            = [17, 18, 21, 21, 22, 22, 22, 12, 12, 12, 12];
        /// WebAssembly.
        wasm: ["frametype_WasmFrame"]
            = [4, 4, 4, 4, 4, 4, 4, 24, 24, 24, 24];
        /// WebAssembly, stopped by a debugger.
        wasm_debug_break: ["frametype_WasmDebugBreakFrame"]
            = [7, 8, 9, 9, 9, 9, 8, 28, 28, 28, 28];
    }
}

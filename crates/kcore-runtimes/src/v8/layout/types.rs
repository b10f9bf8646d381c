//! Instance types by version of V8.

use super::table::table;

table! {
    /// Instance types: what kind of object a map is of. They move in every release.
    pub struct Types {
        /// The first type that is no string.
        first_nonstring: ["FirstNonstringType"]
            = [64, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128];
        /// Maps.
        map: ["type_Map__MAP_TYPE"]
            = [172, 250, 255, 264, 272, 274, 276, 278, 278, 268, 268];
        /// `undefined`, `null`, `true`, `false` and marks of V8's own.
        oddball: ["type_Oddball__ODDBALL_TYPE"]
            = [67, 131, 131, 131, 131, 131, 131, 131, 131, 131, 131];
        /// Marks of empty slots, once they are no oddballs; 0 before.
        hole: ["type_Hole__HOLE_TYPE"]
            = [0, 0, 0, 261, 269, 270, 272, 274, 274, 266, 266];
        /// Numbers that are no Smis.
        heap_number: ["type_HeapNumber__HEAP_NUMBER_TYPE"]
            = [66, 130, 130, 130, 130, 130, 130, 130, 130, 130, 130];
        /// Symbols.
        symbol: ["type_Symbol__SYMBOL_TYPE"]
            = [64, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128];
        /// Scripts.
        script: ["type_Script__SCRIPT_TYPE"]
            = [112, 170, 167, 167, 167, 165, 165, 166, 166, 167, 166];
        /// SharedFunctionInfos.
        shared: ["type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE"]
            = [179, 257, 262, 274, 282, 284, 286, 288, 288, 278, 278];
        /// What wraps a SharedFunctionInfo for the trusted space; 0 before.
        shared_wrapper: ["type_SharedFunctionInfoWrapper__SHARED_FUNCTION_INFO_WRAPPER_TYPE"]
            = [0, 0, 0, 0, 195, 193, 194, 195, 195, 195, 195];
        /// ScopeInfos.
        scope_info: ["type_ScopeInfo__SCOPE_INFO_TYPE"]
            = [178, 256, 261, 272, 280, 282, 284, 286, 286, 276, 276];
        /// Bytecode arrays.
        bytecode_array: ["type_BytecodeArray__BYTECODE_ARRAY_TYPE"]
            = [133, 195, 191, 205, 186, 184, 184, 185, 185, 185, 185];
        /// What describes machine code, or is it.
        code: ["type_Code__CODE_TYPE"]
            = [162, 240, 245, 206, 187, 185, 185, 186, 186, 186, 186];
        /// Machine code, once it is apart from what describes it; 0 before.
        instruction_stream: ["type_InstructionStream__INSTRUCTION_STREAM_TYPE"]
            = [0, 0, 252, 210, 192, 190, 191, 192, 192, 192, 192];
        /// What holds bytecode and its own trampoline.
        interpreter_data: ["type_InterpreterData__INTERPRETER_DATA_TYPE"]
            = [105, 162, 159, 207, 188, 186, 186, 187, 187, 187, 187];
        /// What a function is before it is compiled.
        uncompiled: [
            "type_UncompiledDataWithoutPreparseData__UNCOMPILED_DATA_WITHOUT_PREPARSE_DATA_TYPE",
        ]
            = [158, 219, 222, 202, 177, 175, 175, 176, 176, 177, 176];
        /// The same, with what the pre-parser found.
        uncompiled_preparsed: [
            "type_UncompiledDataWithPreparseData__UNCOMPILED_DATA_WITH_PREPARSE_DATA_TYPE",
        ]
            = [157, 217, 220, 200, 175, 173, 173, 174, 174, 175, 174];
        /// The same, with a job that compiles it; 0 before there were any.
        uncompiled_job: [
            "type_UncompiledDataWithoutPreparseDataWithJob__UNCOMPILED_DATA_WITHOUT_PREPARSE_DATA_WITH_JOB_TYPE",
        ]
            = [0, 220, 223, 203, 178, 176, 176, 177, 177, 178, 177];
        /// The same, with both; 0 before there were any.
        uncompiled_preparsed_job: [
            "type_UncompiledDataWithPreparseDataAndJob__UNCOMPILED_DATA_WITH_PREPARSE_DATA_AND_JOB_TYPE",
        ]
            = [0, 218, 221, 201, 176, 174, 174, 175, 175, 176, 175];
        /// Byte arrays.
        byte_array: ["type_ByteArray__BYTE_ARRAY_TYPE"]
            = [132, 194, 190, 186, 217, 218, 218, 218, 218, 218, 218];
        /// Byte arrays of the trusted space; 0 before there was one.
        trusted_byte_array: ["type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE"]
            = [0, 0, 0, 212, 196, 194, 195, 196, 196, 196, 196];
        /// Arrays of tagged values.
        fixed_array: ["type_FixedArray__FIXED_ARRAY_TYPE"]
            = [119, 179, 175, 174, 205, 205, 205, 205, 205, 205, 205];
        /// Arrays of doubles.
        fixed_double_array: ["type_FixedDoubleArray__FIXED_DOUBLE_ARRAY_TYPE"]
            = [134, 196, 192, 188, 218, 219, 219, 219, 219, 219, 219];
        /// Properties that have no room in their object.
        property_array: ["type_PropertyArray__PROPERTY_ARRAY_TYPE"]
            = [176, 254, 259, 269, 277, 279, 281, 283, 283, 273, 273];
        /// Properties of the global object.
        property_cell: ["type_PropertyCell__PROPERTY_CELL_TYPE"]
            = [177, 255, 260, 270, 278, 280, 282, 284, 284, 274, 274];
        /// Getters and setters.
        accessor_pair: ["type_AccessorPair__ACCESSOR_PAIR_TYPE"]
            = [87, 143, 142, 140, 140, 140, 140, 140, 140, 141, 141];
        /// Where in its script the text of a class lies.
        class_positions: ["type_ClassPositions__CLASS_POSITIONS_TYPE"]
            = [99, 155, 152, 152, 152, 151, 151, 151, 151, 152, 151];
        /// What debuggers attach to a function.
        debug_info: ["type_DebugInfo__DEBUG_INFO_TYPE"]
            = [100, 156, 153, 154, 154, 153, 153, 153, 153, 154, 153];
        /// What a promise does once it is settled.
        promise_reaction: ["type_PromiseReaction__PROMISE_REACTION_TYPE"]
            = [108, 166, 163, 163, 162, 160, 160, 160, 160, 161, 160];
        /// A promise and the functions that settle it.
        promise_capability: ["type_PromiseCapability__PROMISE_CAPABILITY_TYPE"]
            = [107, 164, 161, 161, 161, 159, 159, 159, 159, 160, 159];
        /// Templates of the embedder's functions.
        function_template: ["type_FunctionTemplateInfo__FUNCTION_TEMPLATE_INFO_TYPE"]
            = [83, 139, 139, 245, 247, 246, 248, 251, 251, 245, 245];
        /// What makes WebAssembly a function of JavaScript.
        wasm_exported: ["type_WasmExportedFunctionData__WASM_EXPORTED_FUNCTION_DATA_TYPE"]
            = [73, 223, 226, 231, 181, 179, 179, 180, 180, 184, 183];
        /// What `import * as` gives.
        module_namespace: ["type_JSModuleNamespace__JS_MODULE_NAMESPACE_TYPE"]
            = [191, 271, 281, 294, 302, 303, 305, 307, 305, 295, 295];
        /// Variables that modules export.
        cell: ["type_Cell__CELL_TYPE"]
            = [161, 239, 244, 251, 260, 260, 261, 263, 263, 255, 255];
        /// A module of WebAssembly.
        wasm_module: ["type_WasmModuleObject__WASM_MODULE_OBJECT_TYPE"]
            = [1114, 2144, 2156, 2158, 2163, 2164, 2154, 2162, 2163, 2166, 2166];
        /// An instance of one, once it is apart from what is trusted of it; 0 before.
        wasm_instance: ["type_WasmInstanceObject__WASM_INSTANCE_OBJECT_TYPE"]
            = [0, 0, 0, 2156, 2160, 2161, 2151, 2159, 2160, 2163, 2163];
        /// Bytecode and its baseline code, while they are no code's; 0 after.
        baseline_data: ["type_BaselineData__BASELINE_DATA_TYPE"]
            = [94, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        /// The first type of contexts.
        first_context: ["FirstContextType"]
            = [137, 207, 205, 190, 220, 221, 221, 221, 221, 221, 221];
        /// The last type of contexts.
        last_context: ["LastContextType"]
            = [146, 216, 214, 199, 229, 230, 230, 230, 230, 230, 230];
        /// Functions: the first of their types.
        first_function: ["type_JSFunction__JS_FUNCTION_TYPE"]
            = [1059, 2065, 2066, 2066, 2065, 2065, 2065, 2065, 2066, 2064, 2064];
        /// The global object.
        global_object: ["type_JSGlobalObject__JS_GLOBAL_OBJECT_TYPE"]
            = [189, 269, 279, 292, 300, 301, 303, 305, 307, 297, 297];
        /// What scripts have in place of the global object.
        global_proxy: ["type_JSGlobalProxy__JS_GLOBAL_PROXY_TYPE"]
            = [190, 270, 280, 293, 301, 302, 304, 306, 308, 298, 298];
        /// Proxies.
        proxy: ["type_JSProxy__JS_PROXY_TYPE"]
            = [188, 268, 278, 291, 299, 300, 302, 304, 304, 294, 294];
        /// Bound functions.
        bound_function: ["type_JSBoundFunction__JS_BOUND_FUNCTION_TYPE"]
            = [1058, 2063, 2064, 2064, 2063, 2063, 2063, 2063, 2064, 2082, 2082];
        /// Arrays.
        array: ["type_JSArray__JS_ARRAY_TYPE"]
            = [1085, 2104, 2113, 2115, 2119, 2119, 2119, 2120, 2121, 2124, 2124];
        /// `arguments`.
        arguments: ["type_JSArgumentsObject__JS_ARGUMENTS_OBJECT_TYPE"]
            = [1055, 2103, 2112, 2114, 2118, 2118, 2118, 2119, 2120, 2123, 2123];
        /// Promises.
        promise: ["type_JSPromise__JS_PROMISE_TYPE"]
            = [1101, 2062, 2063, 2063, 2115, 2115, 2115, 2116, 2117, 2120, 2120];
        /// Async functions that run or wait.
        async_function: ["type_JSAsyncFunctionObject__JS_ASYNC_FUNCTION_OBJECT_TYPE"]
            = [1053, 2097, 2106, 2108, 2110, 2110, 2110, 2111, 2112, 2115, 2115];
        /// Async generators.
        async_generator: ["type_JSAsyncGeneratorObject__JS_ASYNC_GENERATOR_OBJECT_TYPE"]
            = [1054, 2098, 2107, 2109, 2111, 2111, 2111, 2112, 2113, 2116, 2116];
        /// Errors.
        error: ["type_JSError__JS_ERROR_TYPE"]
            = [1094, 2112, 2122, 2124, 2128, 2128, 2128, 2129, 2130, 2133, 2133];
        /// What an error has in place of its stack while an inspector keeps another; 0 before.
        error_stack_data: ["type_ErrorStackData__ERROR_STACK_DATA_TYPE"]
            = [0, 158, 155, 156, 156, 155, 155, 155, 155, 156, 155];
        /// A frame of the stack that an error carries; since V8 14.6 its fields lie in an array.
        call_site_info: [
            "type_CallSiteInfo__CALL_SITE_INFO_TYPE",
            "type_StackFrameInfo__STACK_FRAME_INFO_TYPE",
        ]
            = [114, 154, 151, 150, 150, 149, 149, 149, 149, 150, 149];
        /// What is told about an exception that nobody catches.
        message: ["type_JSMessageObject__JS_MESSAGE_OBJECT_TYPE"]
            = [1098, 2117, 2127, 2129, 2133, 2133, 2133, 2134, 2135, 2138, 2138];
        /// Dates.
        date: ["type_JSDate__JS_DATE_TYPE"]
            = [1091, 2109, 2118, 2120, 2124, 2124, 2124, 2125, 2126, 2129, 2129];
        /// Regular expressions.
        regexp: ["type_JSRegExp__JS_REG_EXP_TYPE"]
            = [1102, 2120, 2131, 2133, 2137, 2137, 2137, 2138, 2139, 2142, 2142];
        /// `Map`s.
        js_map: ["type_JSMap__JS_MAP_TYPE"]
            = [1081, 2099, 2108, 2110, 2112, 2112, 2112, 2113, 2114, 2117, 2117];
        /// `Set`s.
        set: ["type_JSSet__JS_SET_TYPE"]
            = [1082, 2100, 2109, 2111, 2113, 2113, 2113, 2114, 2115, 2118, 2118];
        /// `WeakMap`s.
        weak_map: ["type_JSWeakMap__JS_WEAK_MAP_TYPE"]
            = [1083, 2101, 2110, 2112, 2116, 2116, 2116, 2117, 2118, 2121, 2121];
        /// `WeakSet`s.
        weak_set: ["type_JSWeakSet__JS_WEAK_SET_TYPE"]
            = [1084, 2102, 2111, 2113, 2117, 2117, 2117, 2118, 2119, 2122, 2122];
        /// `WeakRef`s.
        weak_ref: ["type_JSWeakRef__JS_WEAK_REF_TYPE"]
            = [1110, 2140, 2151, 2153, 2157, 2157, 2147, 2156, 2157, 2160, 2160];
        /// Boxed primitive values.
        primitive_wrapper: ["type_JSPrimitiveWrapper__JS_PRIMITIVE_WRAPPER_TYPE"]
            = [1041, 1041, 1041, 1041, 1041, 1041, 1041, 1041, 1041, 1041, 1041];
        /// `ArrayBuffer`s and `SharedArrayBuffer`s.
        array_buffer: ["type_JSArrayBuffer__JS_ARRAY_BUFFER_TYPE"]
            = [1086, 2061, 2062, 2062, 2062, 2062, 2062, 2062, 2063, 2063, 2063];
        /// Typed arrays.
        typed_array: ["type_JSTypedArray__JS_TYPED_ARRAY_TYPE"]
            = [1080, 2060, 2061, 2061, 2061, 2061, 2061, 2061, 2061, 2061, 2061];
        /// `DataView`s.
        data_view: ["type_JSDataView__JS_DATA_VIEW_TYPE"]
            = [1079, 2059, 2059, 2059, 2059, 2059, 2059, 2059, 2059, 2059, 2059];
    }
}

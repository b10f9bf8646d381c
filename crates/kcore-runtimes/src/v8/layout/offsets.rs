//! Offsets, indices and kinds by version of V8.

use super::table::table;

table! {
    /// Offsets of fields in bytes from the beginning of their object, indices and kinds, as far as
    /// versions differ.
    pub struct Offsets {
        /// JSFunction: SharedFunctionInfo.
        function_shared: ["class_JSFunction__shared__SharedFunctionInfo"]
            = [24, 24, 24, 32, 32, 32, 32, 32, 32, 32, 32];
        /// JSFunction: context.
        function_context: [
            "class_JSFunction__context__Context",
            "class_JSFunction__context__Tagged_Context_",
        ]
            = [32, 32, 32, 40, 40, 40, 40, 40, 40, 40, 40];
        /// SharedFunctionInfo: what it was compiled to.
        shared_data: ["class_SharedFunctionInfo__function_data__Object"]
            = [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8];
        /// SharedFunctionInfo: name or ScopeInfo.
        shared_name: [
            "class_SharedFunctionInfo__name_or_scope_info__Object",
            "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
            "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
        ]
            = [16, 16, 16, 16, 24, 24, 24, 24, 24, 24, 24];
        /// SharedFunctionInfo: script, or what debuggers attached.
        shared_script: [
            "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
            "class_SharedFunctionInfo__script__Tagged_HeapObject_",
            "class_SharedFunctionInfo__raw_script__Tagged_Object_",
        ]
            = [32, 32, 32, 32, 40, 40, 40, 40, 40, 40, 40];
        /// SharedFunctionInfo: parameters and receiver, u16.
        shared_parameters: ["class_SharedFunctionInfo__internal_formal_parameter_count__uint16_t"]
            = [42, 42, 42, 42, 50, 50, 50, 50, 50, 50, 50];
        /// SharedFunctionInfo: from `function` to the parameters, i16.
        shared_token: ["class_SharedFunctionInfo__raw_function_token_offset__int16_t"]
            = [44, 44, 44, 44, 52, 52, 52, 52, 52, 52, 52];
        /// SharedFunctionInfo: flags, u32.
        shared_flags: ["class_SharedFunctionInfo__flags__int"]
            = [48, 48, 48, 48, 56, 56, 56, 56, 56, 56, 56];
        /// BytecodeArray: source positions.
        bytecode_positions: []
            = [32, 32, 32, 24, 24, 24, 24, 24, 24, 24, 24];
        /// BytecodeArray: first bytecode.
        bytecode_data: ["class_BytecodeArray__data__uintptr_t"]
            = [54, 56, 54, 64, 64, 64, 64, 64, 64, 64, 64];
        /// ScopeInfo: index of its first part of variable length.
        scope_variable_part: ["scopeinfo_idx_first_vars"]
            = [3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5];
        /// Code: size of the instructions, u32.
        code_size: ["class_Code__instruction_size__int"]
            = [40, 40, 56, 52, 56, 56, 56, 56, 56, 56, 56];
        /// Code: flags, u32.
        code_flags: ["class_Code__flags__uint32_t"]
            = [48, 48, 48, 48, 52, 52, 52, 52, 52, 52, 52];
        /// Code: address of the instructions; they begin there themselves in a Code that is no
        /// InstructionStream's.
        code_start: [
            "class_Code__instruction_start__uintptr_t",
            "class_Code__instruction_start__Address",
        ]
            = [96, 128, 40, 40, 40, 40, 40, 40, 40, 40, 40];
        /// Code: deoptimization data, or bytecode.
        code_deopt: ["class_Code__deoptimization_data__FixedArray"]
            = [16, 16, 16, 8, 8, 8, 8, 8, 8, 8, 8];
        /// Code: source positions, or offsets of bytecodes.
        code_positions: ["class_Code__source_position_table__ByteArray"]
            = [24, 24, 24, 16, 16, 16, 16, 16, 16, 16, 16];
        /// The kind of code that is baseline code.
        kind_baseline: ["CodeKindBaseline"]
            = [11, 11, 11, 10, 10, 10, 10, 11, 11, 11, 11];
        /// The kind of code of Maglev; 0 before.
        kind_maglev: []
            = [0, 0, 12, 11, 11, 11, 11, 12, 12, 12, 12];
        /// The kind of code of TurboFan.
        kind_turbofan: []
            = [13, 13, 13, 12, 12, 12, 12, 13, 13, 13, 13];
        /// Deoptimization data: index of the literals.
        deopt_literals: ["DeoptimizationDataLiteralArrayIndex"]
            = [2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3];
        /// Deoptimization data: index of the inlining positions.
        deopt_positions: ["DeoptimizationDataInliningPositionsIndex"]
            = [7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8];
        /// DescriptorArray: first descriptor.
        descriptors: []
            = [24, 24, 24, 24, 24, 32, 32, 32, 32, 32, 32];
        /// Bit of the location in the details of a property.
        location_shift: ["prop_location_shift"]
            = [1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5];
        /// First bit of the attributes in the details of a property.
        attributes_shift: ["prop_attributes_shift"]
            = [3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];
        /// NameDictionary: words before its entries.
        dictionary_prefix: ["namedictionaryshape_prefix_size"]
            = [2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3];
        /// The kind of elements that are a dictionary.
        elements_dictionary: ["elements_dictionary_elements"]
            = [12, 12, 13, 13, 13, 13, 13, 13, 13, 13, 13];
        /// JSArrayBuffer: bytes.
        buffer_length: ["class_JSArrayBuffer__byte_length__size_t"]
            = [24, 24, 32, 32, 40, 40, 40, 40, 40, 40, 40];
        /// JSArrayBuffer: address of its bytes.
        buffer_store: ["class_JSArrayBuffer__backing_store__uintptr_t"]
            = [40, 40, 48, 48, 56, 56, 56, 56, 56, 56, 56];
        /// JSArrayBufferView: its first byte in the buffer.
        view_offset: ["class_JSArrayBufferView__byte_offset__size_t"]
            = [32, 32, 32, 32, 48, 48, 48, 48, 48, 48, 48];
        /// JSArrayBufferView: bytes.
        view_length: ["class_JSArrayBufferView__byte_length__size_t"]
            = [40, 40, 40, 40, 56, 56, 56, 56, 56, 56, 56];
        /// JSTypedArray: what its bytes are relative to, in its buffer.
        typed_external: ["class_JSTypedArray__external_pointer__uintptr_t"]
            = [56, 64, 64, 64, 72, 72, 72, 72, 72, 72, 72];
        /// JSTypedArray: the object that holds its bytes; 0 for none.
        typed_base: [
            "class_JSTypedArray__base_pointer__Object",
            "class_JSTypedArray__base_pointer__Tagged_Object_",
        ]
            = [64, 72, 72, 72, 80, 80, 80, 80, 80, 80, 80];
    }
}

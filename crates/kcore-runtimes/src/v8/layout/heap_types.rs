//! Instance types of objects of V8's own whose sizes differ, by version of V8.

use super::table::table;

table! {
    /// Instance types of objects that JavaScript never sees, as far as the size of an object, or what
    /// it refers to, depends on them; 0 where a version has no such type.
    pub struct HeapTypes {
        /// Feedback of a function's code.
        feedback_vector: ["type_FeedbackVector__FEEDBACK_VECTOR_TYPE"]
            = [167, 245, 249, 258, 266, 267, 269, 271, 271, 263, 263];
        /// Arrays of references that do not keep their objects.
        weak_fixed_array: ["type_WeakFixedArray__WEAK_FIXED_ARRAY_TYPE"]
            = [159, 237, 240, 247, 256, 255, 257, 258, 258, 250, 250];
        /// The same, which grow.
        weak_array_list: ["type_WeakArrayList__WEAK_ARRAY_LIST_TYPE"]
            = [184, 264, 274, 287, 295, 296, 298, 300, 300, 289, 289];
        /// Descriptors of the properties of maps.
        descriptor_array: ["type_DescriptorArray__DESCRIPTOR_ARRAY_TYPE"]
            = [153, 233, 236, 241, 252, 251, 253, 254, 254, 202, 202];
        /// The same, of which no descriptor is forgotten.
        strong_descriptor_array: ["type_StrongDescriptorArray__STRONG_DESCRIPTOR_ARRAY_TYPE"]
            = [154, 234, 237, 242, 253, 252, 254, 255, 255, 203, 203];
        /// What the embedder keeps in a context.
        embedder_data_array: ["type_EmbedderDataArray__EMBEDDER_DATA_ARRAY_TYPE"]
            = [165, 243, 247, 256, 264, 265, 267, 269, 269, 261, 261];
        /// Elements of `arguments` that are variables.
        sloppy_elements: ["type_SloppyArgumentsElements__SLOPPY_ARGUMENTS_ELEMENTS_TYPE"]
            = [136, 198, 194, 189, 219, 220, 220, 220, 220, 220, 220];
        /// What the pre-parser found.
        preparse_data: ["type_PreparseData__PREPARSE_DATA_TYPE"]
            = [175, 253, 258, 268, 276, 278, 280, 282, 282, 272, 272];
        /// Arrays that grow, once they are no FixedArrays.
        array_list: ["type_ArrayList__ARRAY_LIST_TYPE"]
            = [0, 0, 0, 250, 259, 259, 260, 262, 262, 254, 254];
        /// What an object literal begins with, once it is no FixedArray.
        object_boilerplate: ["type_ObjectBoilerplateDescription__OBJECT_BOILERPLATE_DESCRIPTION_TYPE"]
            = [0, 0, 0, 266, 274, 276, 278, 280, 280, 270, 270];
        /// What the last match of a regular expression was, once it is no FixedArray.
        regexp_match: ["type_RegExpMatchInfo__REG_EXP_MATCH_INFO_TYPE"]
            = [0, 0, 0, 271, 279, 281, 283, 285, 285, 275, 275];
        /// Contexts of scripts, once they are in no FixedArray.
        script_contexts: ["type_ScriptContextTable__SCRIPT_CONTEXT_TABLE_TYPE"]
            = [0, 0, 0, 273, 281, 283, 285, 287, 287, 277, 277];
        /// Feedback cells of closures, once they are in no FixedArray.
        closure_cells: ["type_ClosureFeedbackCellArray__CLOSURE_FEEDBACK_CELL_ARRAY_TYPE"]
            = [0, 0, 0, 252, 261, 261, 262, 264, 264, 256, 256];
        /// Pointers of the embedder.
        external_pointers: ["type_ExternalPointerArray__EXTERNAL_POINTER_ARRAY_TYPE"]
            = [0, 0, 0, 187, 0, 0, 0, 0, 0, 0, 0];
        /// Arrays of the trusted space.
        trusted_array: ["type_TrustedFixedArray__TRUSTED_FIXED_ARRAY_TYPE"]
            = [0, 0, 0, 213, 197, 195, 196, 197, 197, 197, 197];
        /// The same, whose references do not keep their objects.
        trusted_weak_array: ["type_TrustedWeakFixedArray__TRUSTED_WEAK_FIXED_ARRAY_TYPE"]
            = [0, 0, 0, 0, 199, 197, 198, 199, 199, 199, 199];
        /// Arrays of the trusted space that refer only to it.
        protected_array: ["type_ProtectedFixedArray__PROTECTED_FIXED_ARRAY_TYPE"]
            = [0, 0, 0, 211, 193, 191, 192, 193, 193, 193, 193];
        /// The same, whose references do not keep their objects.
        protected_weak_array: ["type_ProtectedWeakFixedArray__PROTECTED_WEAK_FIXED_ARRAY_TYPE"]
            = [0, 0, 0, 0, 194, 192, 193, 194, 194, 194, 194];
        /// What fills longer gaps, as long as metadata has it: its size is in bytes then, and in words later.
        free_space_in_bytes: ["type_FreeSpace__FREE_SPACE_TYPE"]
            = [169, 247, 251, 260, 0, 269, 0, 0, 0, 0, 0];
        /// What a `FinalizationRegistry` knows of an object.
        weak_cell: ["type_WeakCell__WEAK_CELL_TYPE"]
            = [185, 265, 275, 288, 296, 297, 299, 301, 301, 290, 290];
    }
}

impl HeapTypes {
    /// What fills gaps of a word or two: the type behind that of feedback, which metadata never has.
    pub const fn filler(&self) -> u64 {
        self.feedback_vector.saturating_add(1)
    }

    /// What fills longer gaps: the type behind that, which metadata has up to some V8 13.6.
    pub const fn free_space(&self) -> u64 {
        self.feedback_vector.saturating_add(2)
    }

    /// How maps came from others: the type behind that of weak arrays, which metadata never has.
    pub const fn transition_array(&self) -> u64 {
        self.weak_fixed_array.saturating_add(1)
    }
}

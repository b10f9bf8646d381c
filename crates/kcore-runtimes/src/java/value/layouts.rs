//! How collections keep what they hold (`src/java.base/share/classes/java/util`, JDK 11 to 25).

/// Where a collection keeps what it holds, by the names of fields.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// An array, and how many of its elements count.
    Array(&'static str, Option<&'static str>),
    /// An array with places that are empty.
    Sparse(&'static str),
    /// An array that is used in a circle: from the first index on, up to the last one, or so many.
    Ring(&'static str, &'static str, End),
    /// Links: the first, the item of each, and whether the first one is without.
    Links(&'static str, &'static str, bool),
    /// An array of lists of entries with keys and values.
    Buckets(&'static str, &'static str, &'static str),
    /// Entries in an order of their own, by the first and the next.
    Ordered(&'static str, &'static str),
    /// A tree with a root.
    Tree(&'static str),
    /// An array of keys with their values behind them.
    Pairs(&'static str),
    /// An array of keys, and one of values.
    Universe(&'static str, &'static str),
    /// Fields, some of which may have nothing.
    Fields(&'static [&'static str]),
    /// One key and its value.
    Pair(&'static str, &'static str),
    /// Another collection that this is a view of.
    View(&'static str),
    /// A map of whose entries the keys alone count.
    Keys(&'static str),
    /// A map of whose entries the values alone count.
    Values(&'static str),
    /// Another collection, of which a part counts: from `offset` on, so many as `size` says.
    Slice(&'static str),
    /// Links in both directions, by any of the first ones.
    BothWays(&'static str),
    /// A map as the lowest of lists that skip entries.
    Skipping(&'static str),
    /// The numbers of the bits that are set in an array of words.
    Bits(&'static str),
    /// Elements of an array by the bits that are set, in a word or in an array of words.
    Chosen(&'static str, &'static str),
    /// One element, so many times.
    Repeated(&'static str, &'static str),
    /// What may be there.
    Maybe(&'static str),
}

/// How the end of a ring is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Index(&'static str),
    Count(&'static str),
}

/// A class with its word, the layout, and the field that says how many there are.
pub(super) type Collection = (&'static str, &'static str, Layout, Option<&'static str>);

/// A class is looked for here before the ones that it extends.
pub(super) const KNOWN: &[Collection] = &[
    ("java.util.ArrayList", "list", Layout::Array("elementData", Some("size")), Some("size")),
    (
        "java.util.Vector",
        "list",
        Layout::Array("elementData", Some("elementCount")),
        Some("elementCount"),
    ),
    ("java.util.Arrays$ArrayList", "list", Layout::Array("a", None), None),
    ("java.util.concurrent.CopyOnWriteArrayList", "list", Layout::Array("array", None), None),
    ("java.util.concurrent.CopyOnWriteArraySet", "set", Layout::View("al"), None),
    ("java.util.PriorityQueue", "list", Layout::Array("queue", Some("size")), Some("size")),
    (
        "java.util.concurrent.PriorityBlockingQueue",
        "list",
        Layout::Array("queue", Some("size")),
        Some("size"),
    ),
    ("java.util.ArrayDeque", "list", Layout::Ring("elements", "head", End::Index("tail")), None),
    (
        "java.util.concurrent.ArrayBlockingQueue",
        "list",
        Layout::Ring("items", "takeIndex", End::Count("count")),
        Some("count"),
    ),
    ("java.util.LinkedList", "list", Layout::Links("first", "item", false), Some("size")),
    ("java.util.concurrent.LinkedBlockingQueue", "list", Layout::Links("head", "item", true), None),
    (
        "java.util.concurrent.LinkedBlockingDeque",
        "list",
        Layout::Links("first", "item", false),
        Some("count"),
    ),
    (
        "java.util.concurrent.ConcurrentLinkedQueue",
        "list",
        Layout::Links("head", "item", false),
        None,
    ),
    ("java.util.LinkedHashMap", "map", Layout::Ordered("head", "after"), Some("size")),
    ("java.util.HashMap", "map", Layout::Buckets("table", "key", "value"), Some("size")),
    ("java.util.HashSet", "set", Layout::Keys("map"), None),
    ("java.util.TreeMap", "map", Layout::Tree("root"), Some("size")),
    ("java.util.TreeSet", "set", Layout::Keys("m"), None),
    ("java.util.concurrent.ConcurrentHashMap", "map", Layout::Buckets("table", "key", "val"), None),
    ("java.util.concurrent.ConcurrentHashMap$KeySetView", "set", Layout::Keys("map"), None),
    ("java.util.concurrent.ConcurrentHashMap$ValuesView", "list", Layout::Values("map"), None),
    ("java.util.concurrent.ConcurrentHashMap$EntrySetView", "map", Layout::View("map"), None),
    ("java.util.concurrent.ConcurrentSkipListMap", "map", Layout::Skipping("head"), None),
    ("java.util.concurrent.ConcurrentSkipListSet", "set", Layout::Keys("m"), None),
    ("java.util.concurrent.ConcurrentLinkedDeque", "list", Layout::BothWays("head"), None),
    (
        "java.util.concurrent.LinkedTransferQueue",
        "list",
        Layout::Links("head", "item", false),
        None,
    ),
    ("java.util.concurrent.DelayQueue", "list", Layout::View("q"), None),
    (
        "java.util.concurrent.atomic.AtomicReferenceArray",
        "list",
        Layout::Array("array", None),
        None,
    ),
    ("java.util.HashMap$KeySet", "set", Layout::Keys("this$0"), None),
    ("java.util.HashMap$Values", "list", Layout::Values("this$0"), None),
    ("java.util.HashMap$EntrySet", "map", Layout::View("this$0"), None),
    ("java.util.LinkedHashMap$LinkedKeySet", "set", Layout::Keys("this$0"), None),
    ("java.util.LinkedHashMap$LinkedValues", "list", Layout::Values("this$0"), None),
    ("java.util.LinkedHashMap$LinkedEntrySet", "map", Layout::View("this$0"), None),
    ("java.util.TreeMap$KeySet", "set", Layout::Keys("m"), None),
    ("java.util.TreeMap$Values", "list", Layout::Values("this$0"), None),
    ("java.util.TreeMap$EntrySet", "map", Layout::View("this$0"), None),
    ("java.util.ArrayList$SubList", "list", Layout::Slice("root"), None),
    ("java.util.AbstractList$SubList", "list", Layout::Slice("root"), None),
    ("java.util.ImmutableCollections$SubList", "list", Layout::Slice("root"), None),
    ("java.util.BitSet", "set", Layout::Bits("words"), None),
    ("java.util.RegularEnumSet", "set", Layout::Chosen("universe", "elements"), None),
    ("java.util.JumboEnumSet", "set", Layout::Chosen("universe", "elements"), None),
    ("java.util.Collections$CopiesList", "list", Layout::Repeated("element", "n"), None),
    ("java.util.Collections$CheckedSet", "set", Layout::View("c"), None),
    ("java.util.Collections$CheckedCollection", "list", Layout::View("c"), None),
    ("java.util.Collections$CheckedMap", "map", Layout::View("m"), None),
    ("java.util.KeyValueHolder", "map", Layout::Pair("key", "value"), None),
    ("java.util.AbstractMap$SimpleEntry", "map", Layout::Pair("key", "value"), None),
    ("java.util.AbstractMap$SimpleImmutableEntry", "map", Layout::Pair("key", "value"), None),
    ("java.util.Optional", "list", Layout::Maybe("value"), None),
    ("java.util.Properties", "map", Layout::View("map"), None),
    ("java.util.Hashtable", "map", Layout::Buckets("table", "key", "value"), Some("count")),
    ("java.util.IdentityHashMap", "map", Layout::Pairs("table"), Some("size")),
    ("java.util.WeakHashMap", "map", Layout::Buckets("table", "referent", "value"), Some("size")),
    ("java.util.EnumMap", "map", Layout::Universe("keyUniverse", "vals"), Some("size")),
    ("java.util.ImmutableCollections$ListN", "list", Layout::Array("elements", None), None),
    ("java.util.ImmutableCollections$SetN", "set", Layout::Sparse("elements"), Some("size")),
    ("java.util.ImmutableCollections$List12", "list", Layout::Fields(&["e0", "e1"]), None),
    ("java.util.ImmutableCollections$Set12", "set", Layout::Fields(&["e0", "e1"]), None),
    ("java.util.ImmutableCollections$MapN", "map", Layout::Pairs("table"), Some("size")),
    ("java.util.ImmutableCollections$Map1", "map", Layout::Pair("k0", "v0"), None),
    ("java.util.Collections$UnmodifiableSet", "set", Layout::View("c"), None),
    ("java.util.Collections$UnmodifiableCollection", "list", Layout::View("c"), None),
    ("java.util.Collections$UnmodifiableMap", "map", Layout::View("m"), None),
    ("java.util.Collections$SynchronizedSet", "set", Layout::View("c"), None),
    ("java.util.Collections$SynchronizedCollection", "list", Layout::View("c"), None),
    ("java.util.Collections$SynchronizedMap", "map", Layout::View("m"), None),
    ("java.util.Collections$SetFromMap", "set", Layout::Keys("m"), None),
    ("java.util.Collections$SingletonList", "list", Layout::Fields(&["element"]), None),
    ("java.util.Collections$SingletonSet", "set", Layout::Fields(&["element"]), None),
    ("java.util.Collections$SingletonMap", "map", Layout::Pair("k", "v"), None),
    ("java.util.Collections$EmptyList", "list", Layout::Fields(&[]), None),
    ("java.util.Collections$EmptySet", "set", Layout::Fields(&[]), None),
    ("java.util.Collections$EmptyMap", "map", Layout::Fields(&[]), None),
];

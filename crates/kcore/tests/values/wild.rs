//! All types of real programs, over memory that no program left: whatever it holds, a value must come of
//! it, as large as its limits allow.

use std::{collections::HashMap, ops::ControlFlow, path::PathBuf};

use gen_cores::Outcome;
use kcore::{
    Addr, AddressSpace, Content, Core, Fault, Limits, Object, OpenOptions, Origin, Pointee,
    Process, Region, SymbolName, Target, Type, Value,
};

/// Programs whose types are asked for.
const PROGRAMS: &[(&str, &str)] = &[
    ("values-cpp", "O0-pie"),
    ("values-cpp", "O0-libcxx-pie"),
    ("values-rust", "debug-pie"),
    ("values-go", "O0-static"),
];

/// Types of each program.
const MAX_TYPES: usize = 1500;

/// Values of one tree.
const MAX_VALUES: u64 = 200;

/// Bytes of memory, at every multiple of which it begins anew.
const PERIOD: u64 = 1 << 16;

/// A process whose symbols and types are a core's, and whose memory is made here.
struct Wild<'a> {
    core: &'a Core,
    memory: Vec<u8>,
}

impl AddressSpace for Wild<'_> {
    fn target(&self) -> Target {
        self.core.target()
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        // The lowest addresses have no memory, nor have those that no process has.
        if at.get() < 0x1000 || at.get() >> 47 != 0 {
            return Err(Fault::Unmapped(at));
        }
        let into = usize::try_from(at.get() % PERIOD).unwrap();
        Ok(&self.memory[into..])
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

impl Process for Wild<'_> {
    fn budget(&self) -> &kcore::Budget {
        self.core.budget()
    }

    fn space(&self) -> &dyn AddressSpace {
        self
    }

    fn symbol_at(&self, at: Addr) -> Option<SymbolName> {
        Process::symbol_at(self.core, at)
    }

    fn definition(&self, declared: &Type) -> Option<Type> {
        self.core.definition(declared)
    }

    fn type_of_vtable(&self, vtable: Addr) -> Option<Type> {
        self.core.type_of_vtable(vtable)
    }

    fn type_of_descriptor(&self, at: Addr) -> Option<Type> {
        self.core.type_of_descriptor(at)
    }

    fn descriptors_around(&self, at: Addr) -> Option<Addr> {
        self.core.descriptors_around(at)
    }

    fn type_named(&self, near: &Type, name: &str) -> Option<Type> {
        Process::type_named(self.core, near, name)
    }
}

/// What memory may hold.
fn memories() -> HashMap<&'static str, Vec<u8>> {
    let words = |word: &dyn Fn(u64) -> u64| -> Vec<u8> {
        (0..PERIOD / 8).flat_map(|index| word(index).to_le_bytes()).collect()
    };
    // A generator of Lehmer, with a multiplier of Steele and Vigna.
    let random =
        |index: u64| index.wrapping_add(1).wrapping_mul(0xd134_2543_de82_ef95).rotate_left(29);
    HashMap::from([
        ("zeros", words(&|_| 0)),
        ("ones", words(&|_| u64::MAX)),
        ("small numbers", words(&|index| index % 3)),
        ("random", words(&random)),
        ("pointers to themselves", words(&|index| 0x7000_0000_0000 + index * 8)),
        ("pointers to the next word", words(&|index| 0x7000_0000_0000 + (index + 1) * 8)),
        ("pointers anywhere", words(&|index| 0x7000_0000_0000 + random(index) % PERIOD)),
        (
            "pointers and numbers",
            words(&|index| match random(index) % 3 {
                0 => random(index) % 16,
                1 => 0x7000_0000_0000 + random(index) % PERIOD / 16 * 16,
                _ => 1,
            }),
        ),
    ])
}

/// How many values a tree has.
fn count(value: &Value) -> u64 {
    let below: u64 = match &value.content {
        Content::Fields(fields) => fields.iter().map(|field| count(&field.value)).sum(),
        Content::Variant(variant) => variant.fields.iter().map(|field| count(&field.value)).sum(),
        Content::Elements(elements) => elements.values.iter().map(count).sum(),
        Content::Entries { entries, .. } => {
            entries.iter().map(|entry| count(&entry.key) + count(&entry.value)).sum()
        }
        Content::Pointer(pointer) => match &pointer.pointee {
            Some(Pointee::Value(value)) => count(value),
            _ => 0,
        },
        _ => 0,
    };
    below + 1
}

fn types_of(core: &Core) -> Vec<Type> {
    let module = core.modules().exe().unwrap();
    let info = module.symbols().debug_info().unwrap();
    let mut types = Vec::new();
    info.each_type(|id, _| {
        types.extend(info.type_at(id));
        if types.len() < MAX_TYPES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    types
}

fn core_of(scenario: &str, variant: &str) -> Option<PathBuf> {
    match gen_cores::ensure(scenario, variant).unwrap() {
        Outcome::Made(case) | Outcome::Fresh(case) => Some(case.core),
        Outcome::Skipped(skipped) => {
            gen_cores::not_tested(skipped);
            None
        }
    }
}

#[test]
fn whatever_memory_holds_a_value_comes_of_it() {
    for (scenario, variant) in PROGRAMS {
        let Some(path) = core_of(scenario, variant) else { continue };
        let options = OpenOptions { core: Some(path), ..OpenOptions::default() };
        let core = Core::open(&options).unwrap();
        let types = types_of(&core);
        assert!(types.len() > 100, "{scenario}/{variant} has {} types", types.len());
        for (name, memory) in memories() {
            let process = Wild { core: &core, memory };
            for ty in &types {
                let limits = Limits {
                    elements: None,
                    characters: None,
                    pointers: u64::MAX,
                    values: MAX_VALUES,
                    ..Limits::default()
                };
                let object = Object::at(ty.clone(), Addr::new(0x7000_0000_1230));
                let made = count(&object.value(&process, &limits));
                // What a limit cuts off is marked by values of its own.
                assert!(made <= 4 * MAX_VALUES, "{made} values of {} over {name}", ty.spelled());
            }
        }
    }
}

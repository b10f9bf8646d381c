//! A profile by function: how often each of them ran itself, and how often it was on a stack.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Profile, ProfileFrame, StackId};

/// A function, whatever line of it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProfileFunction {
    /// Its name, demangled; a name in brackets where it is not known.
    pub name: Arc<str>,
    /// The module whose code it is.
    pub module: Option<Arc<str>>,
    /// The source file of a script's function, of which many have the same name.
    pub file: Option<Arc<str>>,
    /// The language whose runtime runs it; `None` is machine code of a compiler.
    pub script: Option<&'static str>,
}

impl ProfileFunction {
    fn of(frame: &ProfileFrame) -> Self {
        let file = frame.file.clone().filter(|_| frame.script.is_some());
        let (name, module) = (frame.function.clone(), frame.module.clone());
        Self { name, module, file, script: frame.script }
    }
}

/// How often a function was seen, in intervals between samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCount {
    /// The function.
    pub function: ProfileFunction,
    /// It was the innermost one.
    pub own: u64,
    /// It was on the stack: a function that calls itself counts once.
    pub total: u64,
}

impl Profile {
    /// Takes what was counted since this was asked before: the functions that were seen, in no order, and the intervals of
    /// all stacks. Stacks and threads stay known; samples are forgotten.
    pub fn take_functions(&mut self) -> (Vec<FunctionCount>, u64) {
        let mut counting = Counting::default();
        let mut all = 0_u64;
        for (_, stack, intervals) in self.take_counts() {
            all = all.saturating_add(intervals);
            counting.add(self, stack, intervals);
        }
        (counting.functions, all)
    }
}

#[derive(Default)]
struct Counting {
    functions: Vec<FunctionCount>,
    places: FxHashMap<ProfileFunction, usize>,
    /// The places of functions by those of frames in the profile.
    by_frame: FxHashMap<usize, usize>,
}

impl Counting {
    fn add(&mut self, profile: &Profile, stack: StackId, intervals: u64) {
        let mut seen = FxHashSet::default();
        for (depth, (index, frame)) in profile.frames_of(stack).enumerate() {
            let place = self.place(index, frame);
            let is_first = seen.insert(place);
            let Some(count) = self.functions.get_mut(place) else { continue };
            if depth == 0 {
                count.own = count.own.saturating_add(intervals);
            }
            if is_first {
                count.total = count.total.saturating_add(intervals);
            }
        }
    }

    fn place(&mut self, index: usize, frame: &ProfileFrame) -> usize {
        if let Some(place) = self.by_frame.get(&index) {
            return *place;
        }
        let function = ProfileFunction::of(frame);
        let functions = &mut self.functions;
        let place = *self.places.entry(function).or_insert_with_key(|function| {
            functions.push(FunctionCount { function: function.clone(), own: 0, total: 0 });
            functions.len().saturating_sub(1)
        });
        self.by_frame.insert(index, place);
        place
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Sample, profile::tests::example};

    fn counts(profile: &mut Profile) -> Vec<(String, u64, u64)> {
        let (functions, _) = profile.take_functions();
        let mut counts: Vec<_> = functions
            .into_iter()
            .map(|it| (it.function.name.to_string(), it.own, it.total))
            .collect();
        counts.sort();
        counts
    }

    #[test]
    fn functions_are_counted_since_they_were_asked_for() {
        let mut profile = example();
        let (_, stack, _) = profile.counts()[0];
        let thread = profile.counts()[0].0;
        let of = |name: &str, own, total| (name.to_owned(), own, total);
        let first = [of("hot", 3, 3), of("main", 0, 4), of("say \"hi\";", 1, 1)];
        assert_eq!(counts(&mut profile), first);
        assert!(profile.is_empty() && profile.samples().is_empty());
        profile.add(Sample { at: Duration::ZERO, thread, stack, weight: 2 });
        assert_eq!(counts(&mut profile), [of("hot", 2, 2), of("main", 0, 2)]);
    }

    #[test]
    fn a_function_that_calls_itself_is_on_its_stack_once_and_lines_make_no_other_function() {
        let mut profile = example();
        profile.take_functions();
        let of =
            |line| ProfileFrame { function: "f".into(), line: Some(line), ..Default::default() };
        let stack = profile.stack(vec![of(1), of(2), of(3)]).unwrap();
        let thread = profile.thread(71, "pool");
        profile.add(Sample { at: Duration::ZERO, thread, stack, weight: 1 });
        assert_eq!(counts(&mut profile), [("f".to_owned(), 1, 1)]);
    }
}

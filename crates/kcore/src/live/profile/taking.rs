//! A profile from its first program to its last one.

use std::{sync::Arc, thread, time::Duration};

use kcore_live::{LiveError, Pid, Process};
use kcore_profile::Profile;

use super::{
    super::MAX_PROGRAMS,
    Method, ProfileChange, ProfileCost, ProfileOptions, ProfileProgress,
    counted::{Counted, Counting},
    course::{Course, Next},
    prepared::Prepared,
    sampler::Sampler,
};
use crate::{OpenError, OpenOptions, ThreadChoice, by_file::SymbolsByFile};

/// How long is waited before a process is looked at again that another one traces.
const MOMENT: Duration = Duration::from_millis(50);

/// A profile, and what goes from one program of the process to the next.
pub struct Taking<'a> {
    wanted: &'a ProfileOptions,
    progress: &'a ProfileProgress,
    /// `None` until a program could be looked at.
    course: Option<Course<'a>>,
    counting: Option<Counting>,
    /// The auxiliary vector of the program that was looked at last.
    auxv: Vec<u8>,
    tries: usize,
    /// Symbols that were loaded, for the next program as well.
    symbols: Arc<SymbolsByFile>,
}

impl<'a> Taking<'a> {
    /// Nothing was looked at yet.
    pub fn new(
        wanted: &'a ProfileOptions,
        progress: &'a ProfileProgress,
        symbols: Arc<SymbolsByFile>,
    ) -> Self {
        let auxv = Vec::new();
        Self { wanted, progress, course: None, counting: None, auxv, tries: 1, symbols }
    }

    /// Samples until the time is over, or the process or the program is.
    ///
    /// # Errors
    /// When there is not a single sample, since the process cannot be looked at.
    pub fn of_program(
        &mut self,
        process: &Process,
        options: &OpenOptions,
    ) -> Result<Next, OpenError> {
        match (self.try_program(process, options), self.sampled()) {
            (Err(error), None) => Err(error),
            (Err(OpenError::Live(error)), Some(course)) => {
                course.note_end(&error);
                Ok(Next::Over)
            }
            (Err(error), Some(course)) => {
                course.note(ProfileChange::Lost(error.to_string()));
                Ok(Next::Over)
            }
            (Ok(next), _) => Ok(next),
        }
    }

    fn try_program(&mut self, process: &Process, options: &OpenOptions) -> Result<Next, OpenError> {
        let prepared = match Prepared::of(process, &self.wanted.live, options, self.symbols.clone())
        {
            Err(OpenError::Live(LiveError::Gone(_))) if self.may_try_again() => {
                return Ok(Next::LookAgain);
            }
            prepared => prepared?,
        };
        let (wanted, progress) = (self.wanted, self.progress);
        let begin = || Course::begin(process, wanted, progress);
        let course = self.course.get_or_insert_with(begin);
        course.look_at(process, prepared.has_auxv(&self.auxv));
        self.auxv = prepared.auxv().to_vec();
        let stopped_for = prepared.runtime_of_the_instant().filter(|_| !wanted.native);
        match stopped_for {
            Some(runtime) if wanted.on_cpu => {
                let counted = self.counting.take();
                course.lose(counted.map_or(0, |counting| counting.lost()));
                course.cost.method = Method::StopsFor(runtime);
            }
            _ if wanted.on_cpu && course.cost.method == Method::Stops => {
                match Counting::begin(&prepared, course) {
                    Ok(counting) => course.cost.method = self.counting.insert(counting).method(),
                    Err(error) => course.cost.method = Method::StopsInstead(error.to_string()),
                }
            }
            _ => {}
        }
        Ok(match &mut self.counting {
            Some(counting) => Counted::new(&prepared, course, counting).run()?,
            None => Sampler::new(&prepared, course).run()?,
        })
    }

    /// A program that is replaced while it is looked at may be followed by another one: as long as there is time, or
    /// some times before the first sample.
    fn may_try_again(&mut self) -> bool {
        self.tries = self.tries.saturating_add(1);
        match &self.course {
            Some(course) => !course.is_over(),
            None => self.tries <= MAX_PROGRAMS,
        }
    }

    /// The profile, once there are samples.
    fn sampled(&mut self) -> Option<&mut Course<'a>> {
        self.course.as_mut().filter(|course| course.cost.samples > 0)
    }

    /// Looks at the process anew; `None` when that is the end.
    ///
    /// # Errors
    /// When there is not a single sample, since the process cannot be looked at.
    pub fn look_again(&mut self, pid: Pid) -> Result<Option<Process>, OpenError> {
        let is_same = |course: &Course<'_>, process: &Process| course.is_same(process);
        loop {
            let error = match Process::open(pid) {
                Ok(process) if self.course.as_ref().is_none_or(|it| is_same(it, &process)) => {
                    return Ok(Some(process));
                }
                Ok(_) => LiveError::NoProcess(pid),
                Err(error) => error,
            };
            let Some(course) = self.sampled() else { return Err(error.into()) };
            if !matches!(error, LiveError::Traced { .. }) {
                course.note_end(&error);
                return Ok(None);
            }
            course.note(ProfileChange::Refused(error.to_string()));
            if course.is_over() {
                return Ok(None);
            }
            thread::sleep(MOMENT);
        }
    }

    /// The profile, and what it cost.
    ///
    /// # Errors
    /// When no program could be looked at.
    pub fn finish(self, pid: Pid) -> Result<(Profile, ProfileCost), OpenError> {
        let mut course = self.course.ok_or(LiveError::Gone(pid))?;
        if let Some(counting) = self.counting {
            course.lose(counting.lost());
            let is_all =
                self.wanted.live.threads == ThreadChoice::All && self.wanted.states.is_none();
            course.cost.ran = counting.ran().filter(|_| is_all);
        }
        Ok(course.finish())
    }
}

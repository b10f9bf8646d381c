//! Specs: what a dcmd is called, takes and means. Parsing, usage, help, completion and the command
//! reference are all derived from them.

/// Whether a dcmd takes an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddrUse {
    /// An address is a usage error.
    None,
    /// It may be given.
    Optional,
    /// It must be given.
    Required,
}

/// The part of help in which a dcmd is listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Group {
    /// What died, and why.
    Process,
    /// Threads, stacks and registers.
    Stacks,
    /// Memory and what lies where.
    Memory,
    /// Modules, symbols and code.
    Symbols,
    /// Types and values.
    Types,
    /// Languages that run beside native code.
    Runtimes,
    /// What files of the user declare.
    Own,
    /// The language itself.
    Language,
    /// What MDB does with a process that runs, and no core can do.
    Unsupported,
}

impl Group {
    /// Its title.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Process => "Process",
            Self::Stacks => "Threads, stacks and registers",
            Self::Memory => "Memory",
            Self::Symbols => "Modules, symbols and code",
            Self::Types => "Types and values",
            Self::Runtimes => "Language runtimes",
            Self::Own => "Of one's own",
            Self::Language => "Language",
            Self::Unsupported => "Not supported on a core",
        }
    }
}

/// One option of a dcmd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opt {
    /// Its letter, after a dash.
    pub flag: char,
    /// The name of its value, if it takes one.
    pub value: Option<&'static str>,
    /// What it does.
    pub help: &'static str,
}

/// The words after the options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operands {
    /// How usage shows them, such as `[name]`.
    pub usage: &'static str,
    /// Least number.
    pub min: usize,
    /// Greatest number.
    pub max: usize,
}

/// A command line that runs on a core, and what it shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Example {
    /// The line as typed.
    pub line: &'static str,
    /// What it shows.
    pub shows: &'static str,
}

/// What a dcmd is called, takes and means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spec {
    /// Its name without `::`, or with its `$` when it has no long name.
    pub name: &'static str,
    /// Other spellings: `$m`, or a second long name.
    pub aliases: &'static [&'static str],
    /// Where help lists it.
    pub group: Group,
    /// One line: lower case, no period.
    pub summary: &'static str,
    /// Whether it takes an address.
    pub addr: AddrUse,
    /// Its options.
    pub options: &'static [Opt],
    /// Its operands.
    pub operands: Operands,
    /// More help, in paragraphs.
    pub help: &'static str,
    /// Examples.
    pub examples: &'static [Example],
    /// Whether, behind a pipe, it takes all elements at once and not one by one.
    pub takes_list: bool,
    /// Whether the count before it is a length for it and not a number of repetitions.
    pub takes_count: bool,
    /// Whether its words are taken as they are, options as well: it has something to say before it
    /// looks at them.
    pub takes_anything: bool,
    /// Whether it opens files, runs text, or changes what the session is: no dcmd of a file may run it.
    pub is_for_users: bool,
}

impl Spec {
    /// A dcmd without address, options and operands.
    pub const fn new(name: &'static str, group: Group, summary: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            group,
            summary,
            addr: AddrUse::None,
            options: &[],
            operands: Operands { usage: "", min: 0, max: 0 },
            help: "",
            examples: &[],
            takes_list: false,
            takes_count: false,
            takes_anything: false,
            is_for_users: false,
        }
    }

    /// Other spellings.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Whether it takes an address.
    #[must_use]
    pub const fn addr(mut self, addr: AddrUse) -> Self {
        self.addr = addr;
        self
    }

    /// Its options.
    #[must_use]
    pub const fn options(mut self, options: &'static [Opt]) -> Self {
        self.options = options;
        self
    }

    /// Its operands: how usage shows them, least and greatest number.
    #[must_use]
    pub const fn operands(mut self, usage: &'static str, min: usize, max: usize) -> Self {
        self.operands = Operands { usage, min, max };
        self
    }

    /// More help.
    #[must_use]
    pub const fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    /// Examples that run on a core.
    #[must_use]
    pub const fn examples(mut self, examples: &'static [Example]) -> Self {
        self.examples = examples;
        self
    }

    /// It takes all elements of a pipe at once.
    #[must_use]
    pub const fn takes_list(mut self) -> Self {
        self.takes_list = true;
        self
    }

    /// The count before it is a length.
    #[must_use]
    pub const fn takes_count(mut self) -> Self {
        self.takes_count = true;
        self
    }

    /// Its words are taken as they are.
    #[must_use]
    pub const fn takes_anything(mut self) -> Self {
        self.takes_anything = true;
        self
    }

    /// No dcmd of a file may run it.
    #[must_use]
    pub const fn for_users(mut self) -> Self {
        self.is_for_users = true;
        self
    }

    /// Whether `name` is one of its names; a `::` before it may be left out.
    pub fn is_called(&self, name: &str) -> bool {
        let bare = name.strip_prefix("::").unwrap_or(name);
        self.name == bare || self.aliases.contains(&bare)
    }

    /// Every spelling, with `::` before a long name.
    pub fn spellings(&self) -> impl Iterator<Item = String> {
        std::iter::once(&self.name).chain(self.aliases).map(|name| spelled(name))
    }

    /// The usage line without the word «Usage», as in `[address]::dis [-fw] [-n count] [symbol]`.
    pub fn usage(&self) -> String {
        self.usage_as(&spelled(self.name))
    }

    /// The usage line under one of the dcmd's spellings.
    pub fn usage_as(&self, spelling: &str) -> String {
        let address = match self.addr {
            AddrUse::None => "",
            AddrUse::Optional => "[address]",
            AddrUse::Required => "address",
        };
        let count = if self.takes_count { "[,count]" } else { "" };
        let mut usage = format!("{address}{count}{spelling}");
        let flags: String =
            self.options.iter().filter(|opt| opt.value.is_none()).map(|opt| opt.flag).collect();
        if !flags.is_empty() {
            usage.push_str(&format!(" [-{flags}]"));
        }
        for (flag, value) in self.options.iter().filter_map(|opt| Some((opt.flag, opt.value?))) {
            usage.push_str(&format!(" [-{flag} {value}]"));
        }
        if !self.operands.usage.is_empty() {
            usage.push_str(&format!(" {}", self.operands.usage));
        }
        usage
    }
}

fn spelled(name: &str) -> String {
    let long = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if long { format!("::{name}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_follows_from_the_declaration() {
        const OPTIONS: &[Opt] = &[
            Opt { flag: 'f', value: None, help: "" },
            Opt { flag: 'n', value: Some("count"), help: "" },
        ];
        let spec = Spec::new("dis", Group::Symbols, "disassemble")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[symbol]", 0, 1);
        assert_eq!(spec.usage(), "[address]::dis [-f] [-n count] [symbol]");
        let dollar = Spec::new("$C", Group::Stacks, "stack");
        assert_eq!(dollar.usage(), "$C");
    }
}

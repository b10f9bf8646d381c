//! The manual page: the command line as clap knows it, and the dcmds and walkers as they say of
//! themselves.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::{Group, Spec};

/// The page of `command`, whose texts behind its options are in `texts`: headings that end with a
/// colon, with indented lines below them. It refers to the pages `others`.
pub(crate) fn page<'o>(
    command: Command,
    texts: &str,
    others: impl Iterator<Item = &'o str>,
) -> String {
    let mut roff = Roff::new();
    dcmds(&mut roff);
    walkers(&mut roff);
    sections(&mut roff, texts);
    see_also(&mut roff, others);
    with_options(command, &roff)
}

/// The page, named `page`, of a word behind `kcore` that has options of its own.
pub(crate) fn page_of_word(page: &'static str, command: Command) -> String {
    let texts = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    sections(&mut roff, &texts);
    see_also(&mut roff, ["kcore"].into_iter());
    with_options(command.name(page), &roff)
}

/// What clap knows of a command, and what stands behind that.
fn with_options(command: Command, rest: &Roff) -> String {
    let man = Man::new(command).manual("User Commands");
    let mut page = Vec::new();
    // Writing to memory does not fail.
    let _ = man.render_title(&mut page);
    let _ = man.render_name_section(&mut page);
    let _ = man.render_synopsis_section(&mut page);
    let _ = man.render_description_section(&mut page);
    let _ = man.render_options_section(&mut page);
    let _ = rest.to_writer(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}

fn heading(roff: &mut Roff, title: &str) {
    roff.control("SH", [title.to_uppercase().as_str()]);
}

/// A term, and what it means.
fn entry(roff: &mut Roff, term: Vec<Inline>, meaning: &str) {
    roff.control("TP", []);
    roff.text(term);
    roff.text([roman(meaning)]);
}

fn dcmds(roff: &mut Roff) {
    let mut specs: Vec<Spec> = DCMDS.iter().map(|dcmd| dcmd.spec()).collect();
    specs.sort_by_key(|spec| spec.group);
    heading(roff, "Commands");
    roff.text([
        roman("Within kcore, "),
        bold("::help "),
        italic("name"),
        roman(" says all of a command, with its options and examples."),
    ]);
    for group in specs.chunk_by(|a, b| a.group == b.group) {
        group_of(roff, group);
    }
}

fn group_of(roff: &mut Roff, specs: &[Spec]) {
    let title = specs.first().map(|spec| spec.group).map(Group::title).unwrap_or_default();
    roff.control("SS", [title]);
    for spec in specs {
        let aliases: Vec<String> = spec.spellings().skip(1).collect();
        let aliases = match aliases.as_slice() {
            [] => String::new(),
            all => format!("; also {}", all.join(" ")),
        };
        entry(roff, vec![bold(spec.usage())], &format!("{}{aliases}", spec.summary));
    }
}

fn walkers(roff: &mut Roff) {
    heading(roff, "Walkers");
    for walker in WALKERS {
        let spec = walker.spec();
        entry(roff, vec![bold(format!("::walk {}", spec.name))], spec.summary);
    }
}

/// Other pages of the same chapter.
fn see_also<'p>(roff: &mut Roff, pages: impl Iterator<Item = &'p str>) {
    heading(roff, "See also");
    let pages: Vec<String> = pages.map(|page| format!("{page}(1)")).collect();
    roff.text([roman(pages.join(", "))]);
}

/// Texts for a terminal as sections; their lines stand as they are.
fn sections(roff: &mut Roff, texts: &str) {
    let mut filled = true;
    for line in texts.lines() {
        match line.strip_suffix(':').filter(|title| !title.starts_with(' ')) {
            Some(title) => {
                heading(roff, title);
                roff.control("nf", []);
                filled = false;
            }
            None if line.is_empty() => {
                if !filled {
                    roff.control("fi", []);
                }
                filled = true;
                roff.control("PP", []);
            }
            None => drop(roff.text([roman(line.strip_prefix("  ").unwrap_or(line))])),
        }
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> String {
        let texts = "Examples:\n  kcore a   b\n\nText.\n";
        page(Command::new("kcore").about("Opens cores"), texts, ["kcore-save"].into_iter())
    }

    #[test]
    fn every_dcmd_and_walker_is_in_the_page() {
        let page = shown().replace("\\-", "-").replace("\\*(Aq", "'").replace("\\(aq", "'");
        for spec in DCMDS.iter().map(|dcmd| dcmd.spec()) {
            assert!(page.contains(spec.summary), "{}", spec.name);
        }
        for walker in WALKERS {
            assert!(page.contains(&format!("::walk {}", walker.spec().name)));
        }
    }

    #[test]
    fn texts_become_sections() {
        let page = shown();
        assert!(page.contains(".SH EXAMPLES\n.nf\nkcore a   b\n.fi\n.PP\nText.\n"), "{page}");
    }
}

//! A flame graph as SVG, drawn by `inferno`.

use std::io::Write;

use inferno::flamegraph::{self, Options};

use crate::{Profile, WriteError, folded};

/// Writes the picture.
///
/// # Errors
/// When it cannot be written, or there is nothing to draw.
pub fn write(profile: &Profile, to: &mut dyn Write) -> Result<(), WriteError> {
    if profile.is_empty() {
        return Err(WriteError::Empty);
    }
    let about = &profile.about;
    let mut options = Options::default();
    options.title = format!("{} (process {}{})", about.program, about.pid, others(profile));
    options.subtitle = Some(subtitle(profile));
    options.count_name = "samples".to_owned();
    options.deterministic = true;
    let lines = folded::lines(profile);
    let lines = lines.iter().map(String::as_str);
    Ok(flamegraph::from_lines(&mut options, lines, to)?)
}

/// What is told of a profile of several processes.
fn others(profile: &Profile) -> String {
    match profile.processes().len() {
        0 => String::new(),
        count => format!(" and those that it started, {count} in all"),
    }
}

fn subtitle(profile: &Profile) -> String {
    let about = &profile.about;
    let clock = if about.on_cpu { "on a processor" } else { "by the clock" };
    let seconds = about.elapsed.as_secs_f64();
    format!("{} samples in {seconds:.1} s, {clock}", profile.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{process::tests::family, profile::tests::example};

    #[test]
    fn the_picture_has_the_names() {
        let mut svg = Vec::new();
        write(&example(), &mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.contains("<title>hot (3 samples, 75.00%)</title>"), "{svg}");
        assert!(svg.contains("app (process 70)"));
        assert!(svg.contains("say &quot;hi&quot;: [js] (1 samples, 25.00%)"));
    }

    #[test]
    fn processes_are_drawn_below_their_threads() {
        let mut svg = Vec::new();
        write(&family(), &mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.contains("app (process 70 and those that it started, 2 in all)"), "{svg}");
        assert!(svg.contains("<title>app [72] (4 samples, 50.00%)</title>"), "{svg}");
    }
}

//! Licences of third-party crates.

use spdx::{Expression, ParseMode};

use super::Supplied;

/// Licences that are compatible with MIT or Apache-2.0, by their SPDX identifiers.
const ALLOWED: &[&str] = &[
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Crates that may be used under a further licence, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // CDDL covers only the crate's own files, which are used unmodified and are available from the registry.
    ("inferno", "CDDL-1.0"),
    // Data and no code: the certificates of Mozilla's list. The licence asks only that its text goes with them.
    ("webpki-roots", "CDLA-Permissive-2.0"),
];

/// Why a crate may not be used; `None` where it may.
pub fn refusal(supplied: &Supplied) -> Option<String> {
    let Supplied { name, version, licence, .. } = supplied;
    let Some(licence) = licence else {
        return Some(format!("{name} {version}: its manifest names no licence"));
    };
    match Expression::parse_mode(licence, ParseMode::LAX) {
        Err(error) => Some(format!("{name} {version}: licence {licence}: {}", error.reason)),
        Ok(expression) if may_be_used(name, &expression) => None,
        Ok(_) => Some(format!("{name} {version}: licence {licence} is not among those allowed")),
    }
}

fn may_be_used(name: &str, expression: &Expression) -> bool {
    expression.evaluate(|wanted| {
        let id = wanted.license.id().map(|id| id.name);
        id.is_some_and(|id| ALLOWED.contains(&id) || EXCEPTIONS.contains(&(name, id)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, licence: Option<&str>) -> Option<String> {
        let licence = licence.map(ToOwned::to_owned);
        let source = "registry+there".to_owned();
        refusal(&Supplied { name: name.to_owned(), version: "1.0.0".to_owned(), licence, source })
    }

    #[test]
    fn one_of_several_licences_is_enough_and_all_of_those_joined_are_wanted() {
        assert_eq!(refused("a", Some("GPL-3.0-only OR MIT")), None);
        assert_eq!(refused("a", Some("MIT/Apache-2.0")), None);
        let said = refused("a", Some("(MIT OR Apache-2.0) AND GPL-3.0-only")).unwrap();
        assert_eq!(
            said,
            "a 1.0.0: licence (MIT OR Apache-2.0) AND GPL-3.0-only is not among those allowed"
        );
        assert_eq!(refused("a", None).unwrap(), "a 1.0.0: its manifest names no licence");
        assert!(refused("a", Some("as you like")).is_some());
    }

    #[test]
    fn an_exception_is_one_crates() {
        assert_eq!(refused("inferno", Some("CDDL-1.0")), None);
        assert!(refused("other", Some("CDDL-1.0")).is_some());
    }
}

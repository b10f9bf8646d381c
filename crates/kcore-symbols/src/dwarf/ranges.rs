//! Which units may hold an address.

use gimli::{ArangeHeader, DebugAranges};
use rustc_hash::FxHashSet;

use super::{Reader, Result};

/// Addresses, and the unit that claims them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// First address.
    pub begin: u64,
    /// First address after it.
    pub end: u64,
    /// Where the unit begins in `.debug_info`.
    pub unit: usize,
}

/// Claims of many units. They may overlap: linkers fold equal functions of several units.
#[derive(Debug, Default)]
pub struct Claims {
    /// By end, then by unit, each with the lowest begin of it and of all after it.
    sorted: Vec<(Claim, u64)>,
}

impl Claims {
    /// Sorts the claims.
    pub fn new(mut claims: Vec<Claim>) -> Self {
        claims.sort_unstable_by_key(|claim| (claim.end, claim.unit));
        let mut lowest = u64::MAX;
        let mut sorted: Vec<_> = claims
            .into_iter()
            .rev()
            .map(|claim| {
                lowest = lowest.min(claim.begin);
                (claim, lowest)
            })
            .collect();
        sorted.reverse();
        Self { sorted }
    }

    /// The units that claim `pc`, the most likely first.
    pub fn find(&self, pc: u64) -> Vec<usize> {
        let first = self.sorted.partition_point(|(claim, _)| claim.end <= pc);
        let rest = self.sorted.get(first..).unwrap_or_default().iter();
        let holding = rest
            .take_while(|(_, lowest)| *lowest <= pc)
            .filter(|(claim, _)| claim.begin <= pc)
            .map(|(claim, _)| claim.unit);
        let mut units: Vec<usize> = holding.collect();
        units.dedup();
        units
    }
}

/// What `.debug_aranges` says.
#[derive(Debug, Default)]
pub struct Aranges {
    /// The addresses of its units.
    pub claims: Claims,
    /// The units that it tells of, be it that they have no code.
    pub units: FxHashSet<usize>,
}

impl Aranges {
    /// Reads the section as far as it is good. Of the units behind a damage nothing is known, as of
    /// those that a compiler left out.
    pub fn read(section: Reader) -> Self {
        let (mut claims, mut units) = (Vec::new(), FxHashSet::default());
        let mut headers = DebugAranges::from(section).headers();
        while let Ok(Some(header)) = headers.next() {
            let unit = header.debug_info_offset().0;
            if add_entries(&header, &mut claims).is_ok() {
                units.insert(unit);
            }
        }
        Self { claims: Claims::new(claims), units }
    }
}

fn add_entries(header: &ArangeHeader<Reader>, claims: &mut Vec<Claim>) -> Result<()> {
    let unit = header.debug_info_offset().0;
    let mut entries = header.entries();
    while let Some(raw) = entries.next_raw()? {
        // What has no end belongs to removed code.
        if let Ok(Some(entry)) = entries.convert_raw(raw)
            && entry.length() > 0
        {
            let range = entry.range();
            claims.push(Claim { begin: range.begin, end: range.end, unit });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(all: &[(u64, u64, usize)]) -> Claims {
        let claims = all.iter().map(|&(begin, end, unit)| Claim { begin, end, unit });
        Claims::new(claims.collect())
    }

    #[test]
    fn an_address_belongs_to_all_that_claim_it() {
        let claims = claims(&[(0, 100, 3), (10, 20, 1), (10, 20, 2), (30, 40, 1)]);
        assert_eq!(claims.find(5), [3]);
        assert_eq!(claims.find(10), [1, 2, 3]);
        assert_eq!(claims.find(20), [3]);
        assert_eq!(claims.find(39), [1, 3]);
        assert!(claims.find(100).is_empty());
        assert!(Claims::default().find(0).is_empty());
    }
}

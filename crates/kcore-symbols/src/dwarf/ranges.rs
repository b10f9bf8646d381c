//! Which units may hold an address.

use std::sync::OnceLock;

use gimli::{ArangeHeader, DebugAranges};
use rustc_hash::FxHashSet;

use super::{Reader, Result};
use crate::parts::Parts;

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

/// Claims to a part, on average.
const CROWD: usize = 4;
/// Parts that a claim reaches, at most; the wider ones are few and kept apart.
const MAX_REACH: u64 = 16;
/// Claims of one part, or in order, that are looked at one by one. Code that a linker removed lies at 0 and is asked
/// for never; where addresses are so uneven for another reason, an order is made when it is needed.
const MAX_CROWD: usize = 1 << 12;
/// Units that are asked about one address. Linkers fold equal functions of some; where any number claims all
/// addresses, each would be read for each of them.
const MAX_UNITS: usize = 64;

/// Claims of many units. They may overlap: linkers fold equal functions of several units.
#[derive(Debug, Default)]
pub struct Claims {
    narrow: Vec<Claim>,
    parts: Parts,
    wide: Ordered,
    /// The narrow ones in order, for parts that are too full.
    ordered: OnceLock<Ordered>,
}

impl Claims {
    /// Lays out the claims, without an order of the most.
    pub fn new(mut claims: Vec<Claim>) -> Self {
        let lowest = claims.iter().map(|claim| claim.begin).min().unwrap_or(0);
        let highest = claims.iter().map(|claim| claim.end).max().unwrap_or(0);
        let parts = Parts::new(lowest, highest, claims.len().div_ceil(CROWD));
        let reach = parts.width().saturating_mul(MAX_REACH);
        let mut wide = Vec::new();
        claims.retain(|claim| {
            let is_narrow = claim.end.saturating_sub(claim.begin) < reach;
            if !is_narrow {
                wide.push(*claim);
            }
            is_narrow && claim.begin < claim.end
        });
        let numbered = (0..).zip(&claims);
        let parts =
            parts.deal(numbered.map(|(id, claim)| (claim.begin, claim.end.saturating_sub(1), id)));
        Self { narrow: claims, parts, wide: Ordered::new(wide), ordered: OnceLock::new() }
    }

    /// The units that claim `pc`, the most likely first: the one whose claim ends first.
    pub fn find(&self, pc: u64) -> Vec<usize> {
        let near = self.parts.part_of(pc).map_or(&[][..], |part| self.parts.members(part));
        let mut found: Vec<&Claim> = self.wide.find(pc).take(MAX_UNITS).collect();
        if near.len() > MAX_CROWD {
            let ordered = self.ordered.get_or_init(|| Ordered::new(self.narrow.clone()));
            found.extend(ordered.find(pc).take(MAX_UNITS));
        } else {
            let near = near.iter().filter_map(|id| self.narrow.get(*id as usize));
            found.extend(near.filter(|claim| (claim.begin..claim.end).contains(&pc)));
        }
        let mut units: Vec<usize> =
            first_to_end(found).into_iter().map(|claim| claim.unit).collect();
        units.dedup();
        units
    }
}

/// The claims that end first, in order. Not all are sorted: any number may claim one address.
fn first_to_end(mut claims: Vec<&Claim>) -> Vec<&Claim> {
    let order = |claim: &&Claim| (claim.end, claim.unit);
    if claims.len() > MAX_UNITS {
        claims.select_nth_unstable_by_key(MAX_UNITS, order);
        claims.truncate(MAX_UNITS);
    }
    claims.sort_unstable_by_key(order);
    claims
}

/// Claims by end, each with the lowest begin of it and of all after it.
#[derive(Debug, Default)]
struct Ordered(Vec<(Claim, u64)>);

impl Ordered {
    fn new(mut claims: Vec<Claim>) -> Self {
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
        Self(sorted)
    }

    /// The claims to `pc`, the one that ends first before the others.
    fn find(&self, pc: u64) -> impl Iterator<Item = &Claim> {
        let first = self.0.partition_point(|(claim, _)| claim.end <= pc);
        let rest = self.0.get(first..).unwrap_or_default().iter();
        rest.take(MAX_CROWD)
            .take_while(move |(_, lowest)| *lowest <= pc)
            .map(|(claim, _)| claim)
            .filter(move |claim| claim.begin <= pc)
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

    #[test]
    fn wide_and_narrow_claims_answer_together() {
        let mut all: Vec<_> = (0..500).map(|n| (n * 10, n * 10 + 9, n as usize)).collect();
        all.push((0, 5000, 900));
        all.push((95, 131, 901));
        let claims = claims(&all);
        assert_eq!(claims.find(95), [9, 901, 900]);
        assert_eq!(claims.find(99), [901, 900]);
        assert_eq!(claims.find(4999), [900]);
    }

    #[test]
    fn uneven_claims_are_found_in_an_order() {
        let same = (0..MAX_CROWD + 2).map(|unit| (7, 9, unit));
        let claims = claims(&same.chain([(1 << 40, 1 << 41, 1)]).collect::<Vec<_>>());
        assert_eq!(claims.find(8), (0..MAX_UNITS).collect::<Vec<_>>());
        assert_eq!(claims.find(1 << 40), [1]);
    }
}

//! Decides which sentences a citation covers.
//!
//! The rule, in order:
//! 1. A citation covers the sentence it stands in, and the one it follows before anything else is said.
//! 2. It covers the sentences without citations directly before its own, in the same paragraph or list item.
//! 3. A citation that stands alone after a block covers that block, if nothing in the block cites. It is a listing's citation
//!    before any other.
//! 4. A sentence that ends in a colon and the list, table or listing it leads in cover each other where one of them cites
//!    nothing: the lead-in is covered by the first that cites, an item or a row by the lead-in. A listing is covered by the
//!    sentence directly before it, whatever that ends in.
//!
//! Never covered: what follows a citation, what stands in another paragraph, and any sentence with a citation of its own, valid
//! or not. [`crate::gate`] shows what is covered by 2 to 4 only if the cited passage also speaks of it
//! ([`crate::evidence`]); without that, a citation at a paragraph's end would vouch for whatever was written above it.

use crate::writing::{Place, PlaceKind};

/// A sentence or a citation that stands alone, as the rule sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Where it stands.
    pub place: Place,
    /// It has citations of its own.
    pub cites: bool,
    /// It is nothing but citations.
    pub alone: bool,
}

/// Whose citations cover a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cover {
    /// Its own.
    Own,
    /// Those of the unit at this position.
    By(usize),
    /// Nobody's.
    Nobody,
    /// That depends on what follows.
    Open,
}

/// Whose citations cover the unit at `at`, given what was written so far, in order; `ended` when nothing follows.
#[must_use]
pub fn cover(units: &[Unit], at: usize, ended: bool) -> Cover {
    let unit = units[at];
    if unit.cites || unit.alone {
        return Cover::Own;
    }
    let place = unit.place;
    let after = &units[at + 1..];
    let position = |found: &dyn Fn(&Unit) -> bool| after.iter().position(found).map(|n| at + 1 + n);
    // Rule 2.
    let in_block = |other: &Unit| other.place.block == place.block && !other.alone;
    if let Some(citing) = position(&|other| !in_block(other) || other.cites)
        && in_block(&units[citing])
    {
        return Cover::By(citing);
    }
    let Some(next) = position(&|other| !in_block(other)) else {
        return if ended {
            before(units, at)
        } else {
            Cover::Open
        };
    };
    if place.kind != PlaceKind::Listing && before(units, at) != Cover::Nobody {
        return before(units, at);
    }
    // Rule 3.
    let in_group = |other: &Unit| other.place.group == place.group && !other.alone;
    let group_cites = units.iter().any(|other| in_group(other) && other.cites);
    let beyond = position(&|other| !in_group(other));
    match beyond {
        Some(beyond) if units[beyond].alone && !group_cites => return Cover::By(beyond),
        None if !group_cites && !ended => return Cover::Open,
        _ => {}
    }
    // Rule 4, the lead-in's side. It is its block's last sentence, so `next` is what it leads in.
    let led = units[next];
    let leads_in = place.kind != PlaceKind::Listing
        && place.leads_in
        && next == at + 1
        && led.place.group != place.group
        && led.place.kind != PlaceKind::Paragraph;
    if leads_in {
        let in_led = |other: &Unit| other.place.group == led.place.group || other.alone;
        return match position(&|other| !in_led(other) || other.cites) {
            Some(first) if in_led(&units[first]) => Cover::By(first),
            None if !ended => Cover::Open,
            _ => Cover::Nobody,
        };
    }
    before(units, at)
}

/// Rule 4, the side of what is led in: the sentence before the group.
fn before(units: &[Unit], at: usize) -> Cover {
    let place = units[at].place;
    let Some(lead) = units[..at]
        .iter()
        .rposition(|other| other.place.group != place.group)
    else {
        return Cover::Nobody;
    };
    let leads = match place.kind {
        PlaceKind::Paragraph => false,
        PlaceKind::Listing => true,
        PlaceKind::Item | PlaceKind::Row => units[lead].place.leads_in,
    };
    if leads && units[lead].cites && !units[lead].alone {
        Cover::By(lead)
    } else {
        Cover::Nobody
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units written as `p1+` a paragraph's sentence that cites, `i2` an item, `r3` a row, `l4` a listing, `a5` citations that stand
    /// alone; `:` leads in. The number is the block; items and rows of neighbouring blocks are one group.
    fn units(text: &str) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for word in text.split(' ') {
            let kind = match &word[..1] {
                "i" => PlaceKind::Item,
                "r" => PlaceKind::Row,
                "l" => PlaceKind::Listing,
                _ => PlaceKind::Paragraph,
            };
            let block = word[1..]
                .trim_end_matches(['+', ':'])
                .parse()
                .expect("a number");
            let alone = word.starts_with('a');
            let goes_on = matches!(kind, PlaceKind::Item | PlaceKind::Row);
            let same =
                |last: &Unit| last.place.block == block || goes_on && last.place.kind == kind;
            let group = units
                .last()
                .map_or(0, |last| last.place.group + usize::from(!same(last)));
            let place = Place {
                group,
                block,
                kind,
                leads_in: word.ends_with(':'),
            };
            units.push(Unit {
                place,
                cites: alone || word.contains('+'),
                alone,
            });
        }
        units
    }

    /// Who covers each unit: a position, `=` itself, `-` nobody, `?` open.
    #[track_caller]
    fn check(text: &str, ended: bool, expected: &str) {
        let units = units(text);
        let covers: Vec<String> = (0..units.len())
            .map(|at| match cover(&units, at, ended) {
                Cover::Own => "=".to_owned(),
                Cover::By(lender) => lender.to_string(),
                Cover::Nobody => "-".to_owned(),
                Cover::Open => "?".to_owned(),
            })
            .collect();
        assert_eq!(covers.join(" "), expected, "{text:?}");
    }

    #[test]
    fn a_citation_covers_the_uncited_before_it_in_its_paragraph() {
        check("p1 p1 p1+ p1", true, "2 2 = -");
        check("p1 p2+", true, "- =");
        check("i1 i1+ i2 i3+", true, "1 = - =");
        check("p1 p1", false, "? ?");
    }

    #[test]
    fn alone_it_covers_the_block_before_it() {
        check("p1 p1 a2 p3", true, "2 2 = -");
        check("p1+ p1 a2", true, "= - =");
        check("i1 i2 a3", true, "2 2 =");
        check("i1 i2+ a3", true, "- = =");
        check("r1 r2 a3", true, "2 2 =");
        check("l1 a2 l3", true, "1 = -");
    }

    #[test]
    fn a_lead_in_and_what_it_leads_in_cover_each_other() {
        check("p1: i2 i3+ i4", true, "2 - = -");
        check("p1+: i2 i3 p4", true, "= 0 0 -");
        check("p1+ i2 i3", true, "= - -");
        check("p1: i2 i3", false, "? ? ?");
        check("p1: i2 a3", true, "2 2 =");
        check("p1: p2+", true, "- =");
        check("p1 p1: i2+", true, "- 2 =");
    }

    #[test]
    fn a_listing_is_covered_from_below_or_above() {
        check("p1+ l2 p3", true, "= 0 -");
        check("p1+: l2 a3", true, "= 2 =");
        check("p1: l2 a3", true, "2 2 =");
        check("p1 l2 p3+", true, "- - =");
        check("p1+ l2", false, "= ?");
        check("p1: l2", true, "- -");
    }
}

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

//! Whether a sentence says the opposite of its quote: negations, and pairs such as on/off, before/after, at least/at most.
//!
//! Words are compared where they stand, not by number: a negation must meet words the quote denies, and a pole must be the
//! quote's pole beside the same words. Where the two texts share no words nothing is said, for a paraphrase may turn a
//! statement round. What the quote leaves open, the sentence it was cut from and the rest of its passage may settle. Texts are
//! read by [`super::reading`]; [`super::unsupported`] is the caller.

use super::lexicon::{Axis, stem};
use super::reading::{LIMIT, ONLY, Pole, Scope, Sign, Stance, Word};
use super::text::{Plain, sentence_ends};

/// How a negation's words stand in the other text.
enum Meeting {
    /// The first of them, or all that are shared, are affirmed there.
    Opposed { head: bool, words: usize },
    /// Some shared word is denied there too.
    Agreed,
    /// None is shared.
    Apart,
}

/// What it is worth that two poles both speak of the default, or both of a condition.
const SAME_SETTING: usize = 2;
/// Content words on each side of a pole that say what it is about.
const BESIDE: usize = 3;

impl Stance {
    /// Whether this, a sentence, contradicts `evidence`. `passages` are asked what the quotes leave open.
    pub(super) fn contradicts(&self, evidence: &Self, passages: &[&Plain]) -> bool {
        let contradicted = self.denies(evidence, passages)
            || evidence.is_passed_over(self)
            || self.stands_opposite(evidence, passages)
            || self.limits_alone(evidence, passages);
        contradicted && !self.is_said_elsewhere(evidence, passages)
    }

    /// Whether another sentence of a passage says this one, and more of it than the quote: then the quote is badly chosen, but
    /// the sentence is true.
    fn is_said_elsewhere(&self, evidence: &Self, passages: &[&Plain]) -> bool {
        const LEAST: usize = 3;
        let words = |stance: &Self| stance.shares(self);
        let by_quote = words(evidence);
        let total = words(self);
        let says = |read: Self| {
            let shared = words(&read);
            shared >= LEAST
                && shared > by_quote
                && shared * 5 >= total * 3
                && !self.denies(&read, &[])
                && !read.is_passed_over(self)
                && !self.stands_opposite(&read, &[])
        };
        let mut stems: Vec<&str> = self.words.iter().map(|word| word.stem.as_str()).collect();
        stems.dedup();
        let is_alike = |sentence: &str| has_at_least(LEAST, &stems, sentence);
        passages
            .iter()
            .any(|passage| sentences_with(passage, is_alike).any(says))
    }

    /// Whether a negation of this sentence meets only words the evidence affirms.
    fn denies(&self, evidence: &Self, passages: &[&Plain]) -> bool {
        let binds = |scope: &&Scope| !(scope.conditional && evidence.conditioned);
        self.scopes.iter().filter(binds).any(|scope| {
            let is_settled =
                || !evidence.has_free_negation(self) && !self.is_denied_in(scope, passages);
            match self.meets(scope, evidence) {
                Meeting::Agreed => self.is_affirmed_better(scope, evidence, passages),
                Meeting::Opposed { head, words } if scope.attributive => head && words >= 2,
                Meeting::Opposed { head: true, .. } => true,
                _ if self.is_affirmed_in(scope, passages) => true,
                Meeting::Opposed { words, .. } => {
                    (words >= 2 || evidence.is_plain()) && is_settled()
                }
                Meeting::Apart => {
                    evidence.is_plain() && self.is_about(scope, evidence) && is_settled()
                }
            }
        })
    }

    /// Whether a negation of this evidence meets only words `sentence` affirms.
    fn is_passed_over(&self, sentence: &Self) -> bool {
        let binds = |scope: &&Scope| {
            let is_alike = scope.conditional && sentence.conditioned;
            scope.quoted
                && !(scope.attributive || is_alike || self.is_about_others(scope, sentence))
        };
        let has_limit = sentence.words.iter().any(|word| word.stem == ONLY);
        !has_limit
            && self
                .scopes
                .iter()
                .filter(binds)
                .any(|scope| match self.meets(scope, sentence) {
                    Meeting::Opposed { head, words } => {
                        (head || words >= 2) && !sentence.has_free_negation(self)
                    }
                    Meeting::Agreed | Meeting::Apart => false,
                })
    }

    /// Whether the scope's clause tells of what `sentence` leaves out: "later lines are not read" denies no reading of the first.
    fn is_about_others(&self, scope: &Scope, sentence: &Self) -> bool {
        const OTHERS: &[&str] = &[
            "later",
            "earlier",
            "other",
            "others",
            "further",
            "remaining",
            "rest",
            "another",
        ];
        let Some(&first) = scope.words.first() else {
            return false;
        };
        let clause = self.words[first].place.clause;
        self.words[..first].iter().any(|word| {
            word.place.clause == clause
                && OTHERS.iter().any(|other| stem(other) == word.stem)
                && sentence.sign_of(&word.stem).is_none()
        })
    }

    fn meets(&self, scope: &Scope, other: &Self) -> Meeting {
        let signs: Vec<Option<Sign>> = scope
            .words
            .iter()
            .map(|&index| other.sign_of(&self.words[index].stem))
            .collect();
        let head = signs.first() == Some(&Some(Sign::Affirmed));
        let words = signs
            .iter()
            .filter(|sign| **sign == Some(Sign::Affirmed))
            .count();
        // "no number was taken" is "none was taken", though numbers are spoken of.
        let is_denied_there = || {
            scope.words.iter().any(|&index| {
                let stem = &self.words[index].stem;
                let heads = other.scopes.iter().filter_map(|scope| scope.words.first());
                heads
                    .into_iter()
                    .any(|&head| other.words[head].stem == *stem)
            })
        };
        let agrees = signs.contains(&Some(Sign::Negated))
            || (!head && signs.contains(&Some(Sign::Either)))
            || (head && is_denied_there());
        if agrees {
            Meeting::Agreed
        } else if words == 0 {
            Meeting::Apart
        } else {
            Meeting::Opposed { head, words }
        }
    }

    /// How many of the content words of `other` stand here.
    pub(super) fn shares(&self, other: &Self) -> usize {
        let mut stems: Vec<&str> = other
            .words
            .iter()
            .map(|word| word.stem.as_str())
            .filter(|stem| !stem.starts_with('<') && self.sign_of(stem).is_some())
            .collect();
        stems.sort_unstable();
        stems.dedup();
        stems.len()
    }

    /// How a word is meant; both ways is [`Sign::Either`]. Words around the quote count too, for a quote may leave out half of
    /// what its sentence says of them.
    fn sign_of(&self, stem: &str) -> Option<Sign> {
        let mut signs = self
            .words
            .iter()
            .filter(|word| word.stem == stem)
            .map(|word| word.sign);
        let first = signs.next()?;
        Some(if signs.all(|sign| sign == first) {
            first
        } else {
            Sign::Either
        })
    }

    /// Whether some negation here shares no word with `other`: it may be the other's negation in other words.
    fn has_free_negation(&self, other: &Self) -> bool {
        self.elliptic
            || self.scopes.iter().any(|scope| {
                scope
                    .words
                    .iter()
                    .all(|&index| other.sign_of(&self.words[index].stem).is_none())
            })
    }

    /// Whether nothing here denies, limits or stands at a denying end, so that a negation can be no paraphrase of it.
    fn is_plain(&self) -> bool {
        let denies = |pole: &Pole| {
            pole.axis == Axis::Bound
                || (!pole.positive
                    && matches!(
                        pole.axis,
                        Axis::State
                            | Axis::Permission
                            | Axis::Duty
                            | Axis::Success
                            | Axis::Inclusion
                            | Axis::Frequency
                    ))
        };
        !self.hedged
            && self.scopes.is_empty()
            && self.words.iter().all(|word| word.sign == Sign::Affirmed)
            && !self.poles.iter().any(denies)
    }

    /// Whether the clause of the scope shares a word with `other`.
    fn is_about(&self, scope: &Scope, other: &Self) -> bool {
        let Some(&first) = scope.words.first() else {
            return false;
        };
        let clause = self.words[first].place.clause;
        self.words
            .iter()
            .any(|word| word.place.clause == clause && other.sign_of(&word.stem).is_some())
    }

    /// Whether a passage denies the scope's first word somewhere.
    fn is_denied_in(&self, scope: &Scope, passages: &[&Plain]) -> bool {
        let Some(head) = scope
            .words
            .first()
            .map(|&index| self.words[index].stem.as_str())
        else {
            return true;
        };
        passages.iter().any(|passage| {
            sentences_with(passage, |sentence| sentence.contains(head)).any(|read| {
                read.words
                    .iter()
                    .any(|word| word.sign != Sign::Affirmed && word.stem == head)
            })
        })
    }

    /// Whether a plain sentence of a passage affirms what the scope denies: its first word and another.
    fn is_affirmed_in(&self, scope: &Scope, passages: &[&Plain]) -> bool {
        const LEAST: usize = 2;
        let Some(head) = scope
            .words
            .first()
            .map(|&index| self.words[index].stem.as_str())
        else {
            return false;
        };
        let affirms = |read: Self| {
            matches!(self.meets(scope, &read), Meeting::Opposed { head: true, words } if words >= LEAST)
                && read.scopes.is_empty()
        };
        passages
            .iter()
            .any(|passage| sentences_with(passage, |sentence| sentence.contains(head)).any(affirms))
            && !self.is_denied_in(scope, passages)
    }

    /// Whether a sentence of a passage affirms what the scope denies, and says more of the scope's clause than the quote: the
    /// quote denies something else.
    fn is_affirmed_better(&self, scope: &Scope, evidence: &Self, passages: &[&Plain]) -> bool {
        const LEAST: usize = 3;
        let Some(&first) = scope.words.first() else {
            return false;
        };
        let (head, clause) = (
            self.words[first].stem.as_str(),
            self.words[first].place.clause,
        );
        let shared_by = |other: &Self| {
            let words = self
                .words
                .iter()
                .filter(|word| word.place.clause == clause && !word.stem.starts_with('<'));
            words
                .filter(|word| other.sign_of(&word.stem).is_some())
                .count()
        };
        let by_quote = shared_by(evidence);
        let affirms = |read: Self| {
            let shared = shared_by(&read);
            shared >= LEAST
                && shared > by_quote
                && read.scopes.is_empty()
                && read.sign_of(head) == Some(Sign::Affirmed)
        };
        passages
            .iter()
            .any(|passage| sentences_with(passage, |sentence| sentence.contains(head)).any(affirms))
    }

    /// Whether a pole of this sentence stands where the evidence has the other end.
    fn stands_opposite(&self, evidence: &Self, passages: &[&Plain]) -> bool {
        self.poles.iter().any(|pole| {
            let others: Vec<&Pole> = evidence
                .poles
                .iter()
                .filter(|other| other.axis == pole.axis)
                .collect();
            if others.is_empty() {
                return self.is_opposed_in(pole, passages);
            }
            if pole.axis == Axis::Order {
                self.is_out_of_order(pole, &others, evidence)
                    .unwrap_or_else(|| self.is_opposed_in(pole, passages))
            } else {
                self.is_opposed(pole, &others, evidence)
            }
        })
    }

    fn is_opposed(&self, pole: &Pole, others: &[&Pole], evidence: &Self) -> bool {
        let beside = self.beside(pole);
        let best = |positive: bool, quoted: bool| {
            others
                .iter()
                .filter(|other| other.positive == positive && (other.quoted || !quoted))
                .map(|other| {
                    let alike =
                        (pole.by_default && other.by_default) || (pole.supposed && other.supposed);
                    let by_default = if alike { SAME_SETTING } else { 0 };
                    shared(&beside, &evidence.beside(other)) + by_default
                })
                .max()
        };
        let opposite = best(!pole.positive, false);
        if pole.axis == Axis::Duty && pole.positive && self.is_bounded_duty(pole, others) {
            return false;
        }
        match (best(pole.positive, false), opposite) {
            (_, None) => false,
            (None, Some(overlap)) => {
                // "It is off; turn it on to …": beside a pole that agrees, another is advice unless it is about the same.
                let has_agreeing = self
                    .poles
                    .iter()
                    .any(|other| other.axis == pole.axis && other.positive != pole.positive);
                let least = if has_agreeing {
                    2
                } else {
                    usize::from(best(!pole.positive, true).is_none())
                };
                overlap >= least
                    && !(pole.axis == Axis::Amount && self.is_turned(pole, others, evidence))
            }
            (Some(same), Some(opposite)) => {
                // What is allowed and what is prevented are told of the same thing in one breath.
                let margin = if pole.axis == Axis::Permission { 2 } else { 1 };
                opposite >= 2 && opposite >= same + margin && pole.axis != Axis::Amount
            }
        }
    }

    /// "Must be handed in within 14 days" may be said of what may be handed in within 14 days; what is optional never must.
    fn is_bounded_duty(&self, pole: &Pole, others: &[&Pole]) -> bool {
        let is_optional = others
            .iter()
            .any(|other| !other.positive && other.by_default);
        !is_optional
            && self
                .words
                .iter()
                .any(|word| word.stem == "<bound>" && word.place.sentence == pole.place.sentence)
    }

    /// Whether the evidence puts the two sides in the other order: "A before B" is "B after A", and neither is "A after B".
    /// `None` if it speaks of other things.
    fn is_out_of_order(&self, pole: &Pole, others: &[&Pole], evidence: &Self) -> Option<bool> {
        let (object, main) = self.sides(pole);
        let mut best: Option<(usize, bool)> = None;
        for other in others {
            let (other_object, other_main) = evidence.sides(other);
            let same_word = pole.positive == other.positive;
            let objects = shared(&object, &other_object);
            let mains = shared(&main, &other_main);
            let crossed = shared(&object, &other_main) + shared(&main, &other_object);
            // "After a restart it takes effect": without a comma the sides cannot be told apart.
            let is_split = !main.is_empty() && !other_main.is_empty();
            let is_crossed = is_split && crossed > objects + mains;
            let is_straight = if object.is_empty() || other_object.is_empty() {
                object.is_empty() && other_object.is_empty() && mains > 0
            } else {
                objects > 0 && (mains > 0 || !is_split || objects == object.len())
            };
            if !is_straight && !is_crossed {
                continue;
            }
            let agrees = if is_crossed {
                crossed < 2 || !same_word
            } else {
                same_word
            };
            let alike = if is_split {
                crossed.max(objects + mains)
            } else {
                shared(&self.behind(pole), &evidence.behind(other))
            };
            let weight = alike * 2 + usize::from(other.quoted);
            best = match best {
                Some((most, _)) if most > weight => best,
                Some((most, agreed)) if most == weight => Some((most, agreed || agrees)),
                _ => Some((weight, agrees)),
            };
        }
        best.map(|(_, agrees)| !agrees)
    }

    /// Whether the sentence names the sides the other way round than some pole of the evidence.
    fn is_turned(&self, pole: &Pole, others: &[&Pole], evidence: &Self) -> bool {
        others.iter().any(|other| {
            let (straight, crossed) = self.sides_shared(pole, other, evidence);
            crossed > straight
        })
    }

    /// Words that stand on the same and on the other side of two poles; none if a side is not to be told.
    fn sides_shared(&self, pole: &Pole, other: &Pole, evidence: &Self) -> (usize, usize) {
        let (object, main) = self.sides(pole);
        let (other_object, other_main) = evidence.sides(other);
        if main.is_empty() || other_main.is_empty() {
            return (0, 0);
        }
        (
            shared(&object, &other_object) + shared(&main, &other_main),
            shared(&object, &other_main) + shared(&main, &other_object),
        )
    }

    /// What a relation is to, the rest of its clause, and what it is said of: what stands before it in its clause, or else the
    /// rest of its sentence.
    fn sides<'a>(&'a self, pole: &Pole) -> (Vec<&'a str>, Vec<&'a str>) {
        let in_sentence = |word: &&Word| {
            word.place.sentence == pole.place.sentence
                && word.place.at != pole.place.at
                && !word.stem.starts_with('<')
        };
        let in_clause = |word: &&Word| word.place.clause == pole.place.clause;
        let is_after = |word: &&Word| word.place.at > pole.place.at;
        let of = |keep: &dyn Fn(&&'a Word) -> bool| -> Vec<&'a str> {
            let words = self.words.iter().filter(in_sentence);
            words.filter(keep).map(|word| word.stem.as_str()).collect()
        };
        let mut object = of(&|word| in_clause(word) && is_after(word));
        if object.is_empty() {
            // "built anew after it": what the sentence's other relation was to.
            object = self
                .poles
                .iter()
                .filter(|other| {
                    other.axis == pole.axis
                        && other.place.sentence == pole.place.sentence
                        && other.place.at < pole.place.at
                })
                .flat_map(|other| {
                    of(&|word| {
                        word.place.clause == other.place.clause && word.place.at > other.place.at
                    })
                })
                .collect();
        }
        let before = of(&|word| in_clause(word) && !is_after(word));
        if before.is_empty() {
            return (object, of(&|word| !(in_clause(word) && is_after(word))));
        }
        (object, before)
    }

    fn behind(&self, pole: &Pole) -> Vec<&str> {
        let follows = |word: &&Word| {
            word.place.clause == pole.place.clause
                && word.place.at > pole.place.at
                && !word.stem.starts_with('<')
        };
        self.words
            .iter()
            .filter(follows)
            .take(BESIDE)
            .map(|word| word.stem.as_str())
            .collect()
    }

    fn beside(&self, pole: &Pole) -> Vec<&str> {
        let near = |word: &&Word| {
            word.place.clause == pole.place.clause
                && word.place.at != pole.place.at
                && !word.stem.starts_with('<')
        };
        let before = self
            .words
            .iter()
            .rev()
            .filter(|word| word.place.at < pole.place.at)
            .filter(near)
            .take(BESIDE);
        let after = self
            .words
            .iter()
            .filter(|word| word.place.at > pole.place.at)
            .filter(near)
            .take(BESIDE);
        before.chain(after).map(|word| word.stem.as_str()).collect()
    }

    /// What the quote leaves open the passage may settle: a default, or a pole beside the same words.
    fn is_opposed_in(&self, pole: &Pole, passages: &[&Plain]) -> bool {
        const LEAST: usize = 2;
        let beside = self.beside(pole);
        let (mut same, mut opposite) = (0, 0);
        for passage in passages {
            let is_alike = |sentence: &str| {
                let default = usize::from(pole.by_default && sentence.contains("default"));
                has_at_least(LEAST - default, &beside, sentence)
            };
            for read in sentences_with(passage, is_alike) {
                for other in read.poles.iter().filter(|other| other.axis == pole.axis) {
                    let default = if pole.by_default && other.by_default && pole.axis == Axis::State
                    {
                        LEAST
                    } else {
                        0
                    };
                    let overlap = shared(&beside, &read.beside(other)) + default;
                    let turned = pole.axis == Axis::Order && {
                        let (straight, crossed) = self.sides_shared(pole, other, &read);
                        crossed > straight
                    };
                    if (other.positive == pole.positive) != turned {
                        same = same.max(overlap);
                    } else {
                        opposite = opposite.max(overlap);
                    }
                }
            }
        }
        opposite >= LEAST && opposite > same
    }

    /// Whether a clause with "only" has a negation too.
    fn denies_limit(&self) -> bool {
        let limited = |clause: usize| {
            self.words
                .iter()
                .any(|word| word.stem == ONLY && word.place.clause == clause)
        };
        let mut denied = self.scopes.iter().filter_map(|scope| scope.words.first());
        denied.any(|&index| limited(self.words[index].place.clause))
    }

    /// Whether the sentence limits ("only") what the evidence states without any limit.
    fn limits_alone(&self, evidence: &Self, passages: &[&Plain]) -> bool {
        let is_limit =
            |word: &Word| word.stem == ONLY || word.stem == LIMIT || word.sign != Sign::Affirmed;
        if self.denies_limit()
            && evidence.words.iter().any(|word| word.stem == ONLY)
            && !evidence.denies_limit()
        {
            return true;
        }
        if !evidence.scopes.is_empty() || evidence.words.iter().any(is_limit) {
            return false;
        }
        let limited = self
            .words
            .windows(2)
            .filter(|pair| pair[0].stem == ONLY)
            .map(|pair| &pair[1]);
        let mut limited = limited.filter(|word| evidence.sign_of(&word.stem).is_some());
        limited.any(|word| {
            !passages.iter().any(|passage| {
                sentences_with(passage, |sentence| {
                    sentence.contains("only") || sentence.contains("no")
                })
                .any(|read| {
                    read.words.iter().any(is_limit) && read.sign_of(&word.stem).is_some()
                        || !read.scopes.is_empty()
                })
            })
        })
    }
}

fn shared(one: &[&str], other: &[&str]) -> usize {
    one.iter().filter(|stem| other.contains(stem)).count()
}

/// Whether so many of `stems` stand somewhere in `sentence`: a cheap look before it is read.
fn has_at_least(least: usize, stems: &[&str], sentence: &str) -> bool {
    stems
        .iter()
        .filter(|stem| sentence.contains(**stem))
        .take(least)
        .count()
        >= least
}

/// The sentences of `passage` that may matter, read.
fn sentences_with<'a>(
    passage: &'a Plain,
    matters: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = Stance> + 'a {
    let mut start = 0;
    let ends = sentence_ends(&passage.cased).chain(std::iter::once(passage.lower.len()));
    ends.filter_map(move |end| {
        let from = std::mem::replace(&mut start, end);
        let sentence = &passage.lower[from..end];
        matters(sentence).then(|| {
            let mut stance = Stance::default();
            stance.add(passage, from..end, from..end);
            stance
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{Plain, Stance};

    /// `passage` is quoted whole unless a part of it stands in brackets.
    #[track_caller]
    fn check(passage: &str, same: &[&str], opposite: &[&str]) {
        let quoted = match (passage.find('['), passage.find(']')) {
            (Some(from), Some(to)) => from..to - 1,
            _ => 0..passage.len(),
        };
        let passage = Plain::new(&passage.replace(['[', ']'], ""));
        let mut evidence = Stance::default();
        evidence.add(&passage, passage.sentences_around(quoted.clone()), quoted);
        for sentence in same {
            assert!(
                !Stance::of(&Plain::new(sentence)).contradicts(&evidence, &[&passage]),
                "{sentence:?}"
            );
        }
        for sentence in opposite {
            assert!(
                Stance::of(&Plain::new(sentence)).contradicts(&evidence, &[&passage]),
                "{sentence:?}"
            );
        }
    }

    #[test]
    fn negations_meet_the_words_they_deny() {
        check(
            "Keys are not kept in order, and rows cannot be read by others.",
            &[
                "Keys aren't retained in order.",
                "The order of keys is never preserved.",
                "Others cannot read the rows.",
            ],
            &["Keys are kept in order.", "Rows can be read by others."],
        );
        check(
            "Rows that cannot be locked at once are skipped.",
            &["Rows already locked are skipped."],
            &["Rows that cannot be locked are not skipped."],
        );
        check(
            "Files are read from the top; [the first line that matches decides, and later lines are not read].",
            &["The server reads the file from the top and the first matching line decides."],
            &["The first line is not the one that decides."],
        );
        check(
            "It returns the number last taken, and reports an error if none was taken yet.",
            &["If no number was taken yet, it reports an error."],
            &["If no number was taken yet, it reports no error."],
        );
        check(
            "Changes and sequences are not copied.",
            &["Neither sequences nor changes are copied."],
            &["Sequences and changes are copied."],
        );
        check(
            "Rules may be changed at any time.",
            &["You may change rules at any time."],
            &["Rules must not be changed.", "Rules can never be changed."],
        );
    }

    #[test]
    fn states_are_on_or_off() {
        check(
            "The check is off by default; when enabled, it costs time.",
            &[
                "It is disabled by default.",
                "The check isn't enabled by default.",
                "Turn the check on if time does not matter.",
            ],
            &["The check is on by default.", "It is enabled by default."],
        );
        check(
            "The table is on the disk.",
            &["The table is kept off the network and on the disk."],
            &[],
        );
    }

    #[test]
    fn sides_of_before_and_after() {
        check(
            "Stop the server before you copy the files.",
            &[
                "Copy the files after you have stopped the server.",
                "Before you copy the files, stop the server.",
            ],
            &[
                "Copy the files before you stop the server.",
                "After you have copied the files, stop the server.",
                "Stop the server after you copy the files.",
            ],
        );
    }

    #[test]
    fn bounds_from_below_and_above() {
        check(
            "A name may have at most 30 letters.",
            &[
                "The maximum is 30 letters.",
                "A name cannot have more than 30 letters.",
                "Up to 30 letters are possible.",
            ],
            &[
                "The minimum is 30 letters.",
                "A name has at least 30 letters.",
            ],
        );
    }

    #[test]
    fn duties_and_permissions() {
        check(
            "The comma is optional.",
            &["The comma is not required."],
            &["The comma is required.", "There must be a comma."],
        );
        check(
            "The lock allows reads.",
            &["Reads are permitted under the lock."],
            &["The lock prevents reads.", "The lock does not allow reads."],
        );
    }

    #[test]
    fn only_says_more_than_its_absence() {
        check(
            "Owners can drop the queue.",
            &["The queue can be dropped by owners."],
            &["Only owners can drop the queue."],
        );
        check(
            "Only owners can drop the queue.",
            &["The queue can be dropped only by its owners."],
            &["The queue cannot be dropped only by owners."],
        );
    }

    #[test]
    fn what_the_quote_leaves_out_of_its_sentence_counts() {
        check(
            "This option is not [recommended for production].",
            &["It is not recommended for production."],
            &["It is recommended for production."],
        );
    }
}

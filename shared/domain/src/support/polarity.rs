//! Whether a sentence says the opposite of its quote: negations, and pairs such as on/off, before/after, at least/at most.
//!
//! Words are compared where they stand, not by number: a negation must meet words the quote denies, and a pole must be the
//! quote's pole beside the same words. Where the two texts share no words nothing is said, for a paraphrase may turn a
//! statement round; what stands in plain opposition is never let through. The words are in [`super::lexicon`];
//! [`super::unsupported`] is the caller.

use std::ops::Range;

use super::lexicon::{self, Axis, stem};
use super::text::{Plain, is_word, sentence_ends};

/// What a text says, read for polarity.
#[derive(Debug, Default)]
pub(super) struct Stance {
    words: Vec<Word>,
    scopes: Vec<Scope>,
    poles: Vec<Pole>,
    /// Something in it is left out, skipped, refused or the like.
    hedged: bool,
    /// Something in it holds only under a condition.
    conditioned: bool,
    /// "but not when": a denial of words that stand elsewhere.
    elliptic: bool,
}

/// A content word and how it is meant.
#[derive(Debug, Clone)]
struct Word {
    stem: String,
    sign: Sign,
    place: Place,
}

/// Where a word stands: in which sentence, in which clause of it, and as which of all words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    sentence: usize,
    clause: usize,
    at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Affirmed,
    Negated,
    /// Under "only", "unless", "fails to": affirmed for some, denied for others.
    Either,
}

/// The content words one negation denies, the first of them first.
#[derive(Debug, Clone)]
struct Scope {
    words: Vec<usize>,
    quoted: bool,
    /// "not … unless", "never … until": a paraphrase affirms it.
    conditional: bool,
    /// "rows that cannot be locked": it tells which, and denies nothing of others.
    attributive: bool,
}

/// A word that is one end of a pair.
#[derive(Debug, Clone)]
struct Pole {
    axis: Axis,
    positive: bool,
    place: Place,
    quoted: bool,
    by_default: bool,
    /// "when it is on": what holds then, not what is so.
    supposed: bool,
}

/// How a negation's words stand in the other text.
enum Meeting {
    /// The first of them, or all that are shared, are affirmed there.
    Opposed { head: bool, words: usize },
    /// Some shared word is denied there too.
    Agreed,
    /// None is shared.
    Apart,
}

/// Content words a negation reaches.
const REACH: usize = 6;
/// What it is worth that two poles both speak of the default, or both of a condition.
const SAME_SETTING: usize = 2;
/// Content words on each side of a pole that say what it is about.
const BESIDE: usize = 3;
/// The word that stands for "only" among the content words.
const ONLY: &str = "<only>";
/// The word that stands for what "only" may paraphrase.
const LIMIT: &str = "<limit>";

impl Stance {
    /// Reads `plain` as a whole.
    pub(super) fn of(plain: &Plain) -> Self {
        let mut stance = Self::default();
        let whole = 0..plain.lower.len();
        stance.add(plain, whole.clone(), whole);
        stance
    }

    /// Reads a further `part` of a text, of which `quoted` was quoted; the rest of the part is the sentence around the quote.
    pub(super) fn add(&mut self, plain: &Plain, part: Range<usize>, quoted: Range<usize>) {
        const APART: usize = 100;
        let last = self.words.last().map_or((0, 0, 0), |word| {
            (
                word.place.sentence,
                word.place.clause,
                word.place.at + APART,
            )
        });
        let mut reader = Reader {
            place: Place {
                sentence: last.0 + 1,
                clause: last.1 + 1,
                at: last.2,
            },
            stance: self,
            quoted,
            open: None,
            soft: 0,
            supposed: false,
            denies_subject: false,
            either_next: false,
            since_negator: usize::MAX,
            sentence_scopes: 0,
        };
        reader.read(&tokens(plain, part));
    }

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
        let words = |stance: &Self| {
            let mut stems: Vec<&str> = self
                .words
                .iter()
                .map(|word| word.stem.as_str())
                .filter(|stem| !stem.starts_with('<') && stance.sign_of(stem).is_some())
                .collect();
            stems.sort_unstable();
            stems.dedup();
            stems.len()
        };
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
        passages
            .iter()
            .any(|passage| sentences_with(passage, |_| true).any(says))
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
            scope.quoted && !scope.attributive && !(scope.conditional && sentence.conditioned)
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
        let agrees =
            signs.contains(&Some(Sign::Negated)) || (!head && signs.contains(&Some(Sign::Either)));
        if agrees {
            Meeting::Agreed
        } else if words == 0 {
            Meeting::Apart
        } else {
            Meeting::Opposed { head, words }
        }
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
            let is_on_axis = |sentence: &str| {
                pole.axis == Axis::State
                    || lexicon::words_of(pole.axis).any(|word| sentence.contains(word))
            };
            for read in sentences_with(passage, is_on_axis) {
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

#[derive(Debug, Clone)]
struct Token<'a> {
    text: &'a str,
    start: usize,
    /// What divides it from the token before.
    divided: Divided,
    /// It stands in quotation marks or backticks of its own.
    marked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Divided {
    Not,
    Comma,
    Clause,
    Sentence,
}

/// The words of a part of `plain`, phrases read as one.
fn tokens(plain: &Plain, part: Range<usize>) -> Vec<Token<'_>> {
    let lower = &plain.lower[..part.end];
    let mut out: Vec<Token<'_>> = Vec::new();
    // A sentence begins with a capital, so that its bounds are seen in the cased form only.
    let mut ends = sentence_ends(&plain.cased[part.clone()])
        .map(|end| part.start + end)
        .peekable();
    let mut divided = Divided::Sentence;
    let mut at = part.start;
    while let Some(c) = lower[at..].chars().next() {
        while ends.next_if(|&end| end <= at).is_some() {
            divided = Divided::Sentence;
        }
        if !is_word(c) {
            let called = c == '(' && lower[..at].ends_with(is_word);
            divided = match c {
                ',' if divided == Divided::Not => Divided::Comma,
                ';' | ':' | '(' | ')' | '\t' if divided != Divided::Sentence && !called => {
                    Divided::Clause
                }
                '=' => {
                    out.push(Token {
                        text: "=",
                        start: at,
                        divided,
                        marked: false,
                    });
                    Divided::Not
                }
                _ => divided,
            };
            at += c.len_utf8();
            continue;
        }
        let end = token_end(lower, at);
        let word = &lower[at..end];
        let (text, length) = match lexicon::phrase(word, &lower[at..]) {
            Some((phrase, meaning)) => (meaning, phrase.len()),
            None => (word, word.len()),
        };
        let marks = ['`', '\'', '"'];
        if !text.is_empty() {
            out.push(Token {
                text,
                start: at,
                divided,
                marked: lower[..at].ends_with(marks) && lower[at + length..].starts_with(marks),
            });
            divided = Divided::Not;
        }
        at += length;
    }
    out
}

/// A word with inner apostrophes, hyphens and dots: `isn't`, `read-only`, `17.2`.
fn token_end(lower: &str, start: usize) -> usize {
    let mut end = start;
    let mut chars = lower[start..].chars().peekable();
    while let Some(c) = chars.next() {
        let joins =
            matches!(c, '\'' | '-' | '.') && chars.peek().is_some_and(|&next| is_word(next));
        if !(is_word(c) || joins) {
            break;
        }
        end += c.len_utf8();
    }
    end
}

/// Reads tokens into a [`Stance`].
struct Reader<'a> {
    stance: &'a mut Stance,
    place: Place,
    quoted: Range<usize>,
    /// The negation whose words are being read.
    open: Option<Scope>,
    /// Content words still under a soft negator.
    soft: usize,
    /// The open negation denies the subject, and so the predicate too: "no row is kept", "neither is exempt".
    denies_subject: bool,
    /// The clause began with "when" or "if".
    supposed: bool,
    /// The next content word is what "only" names.
    either_next: bool,
    /// Content words since the last negator.
    since_negator: usize,
    /// Where the scopes of this sentence begin.
    sentence_scopes: usize,
}

impl Reader<'_> {
    fn read(&mut self, tokens: &[Token<'_>]) {
        self.sentence_scopes = self.stance.scopes.len();
        for (index, token) in tokens.iter().enumerate() {
            self.divide(token);
            self.place.at += 1;
            self.word(tokens, index);
        }
        self.close();
    }

    /// Ends what ends before the token.
    fn divide(&mut self, token: &Token<'_>) {
        let opens = lexicon::entry(token.text).opens_clause;
        if token.divided == Divided::Not && !opens {
            return;
        }
        self.close();
        self.soft = 0;
        self.since_negator = usize::MAX;
        self.place.clause += 1;
        self.supposed = matches!(token.text, "when" | "if" | "while");
        if token.divided == Divided::Sentence {
            self.place.sentence += 1;
            self.sentence_scopes = self.stance.scopes.len();
        }
    }

    fn word(&mut self, tokens: &[Token<'_>], index: usize) {
        let token = &tokens[index];
        let entry = lexicon::entry(token.text);
        let quoted = self.quoted.contains(&token.start);
        self.stance.conditioned |= matches!(
            token.text,
            "only" | "solely" | "exclusively" | "if" | "when" | "must" | "requires"
        );
        let denied = self.open.is_some()
            || self.stance.scopes[self.sentence_scopes..]
                .iter()
                .any(|scope| !scope.words.is_empty());
        if token.text == "until" && denied {
            // "not … until" is "not … before".
            self.mark(Axis::Order, true, tokens, index, quoted);
        }
        if entry.conditions {
            for scope in &mut self.stance.scopes[self.sentence_scopes..] {
                scope.conditional = true;
            }
            if let Some(scope) = self.open.as_mut() {
                scope.conditional = true;
            }
        }
        if matches!(token.text, "only" | "solely" | "exclusively") {
            return self.only(tokens, index, quoted);
        }
        if matches!(
            token.text,
            "within" | "by" | "before" | "after" | "to" | "until" | "at" | "if"
        ) {
            self.push("<bound>", Sign::Affirmed);
        }
        if entry.limits {
            self.push(LIMIT, Sign::Affirmed);
        }
        if (entry.negates && !is_answer(tokens, index)) || is_kept_out(tokens, index) {
            return self.negate(tokens, index, quoted);
        }
        if (entry.is_auxiliary || token.text == "with")
            && !self.denies_subject
            && self
                .open
                .as_ref()
                .is_some_and(|scope| !scope.words.is_empty())
        {
            self.close();
        }
        if self.is_denied_excess(tokens, index) {
            // "cannot take more than five" is "at most five".
            return self.bound(token.text, tokens, index, quoted);
        }
        let is_than = tokens
            .get(index + 1)
            .is_some_and(|next| next.text == "than");
        if is_than && matches!(token.text, "more" | "less" | "fewer") {
            self.mark(Axis::Bound, token.text == "more", tokens, index, quoted);
        }
        if let Some((axis, positive)) = pole(tokens, index) {
            let turned = self.turns(axis, token.text);
            self.stance.poles.push(Pole {
                axis,
                positive: positive != turned,
                place: self.place,
                quoted,
                by_default: clause_has_default(tokens, index)
                    || matches!(token.text, "optional" | "<need-not>"),
                supposed: self.supposed,
            });
            if turned && axis != Axis::Permission {
                // The pair says what the negation says.
                self.open = None;
            }
            if entry.softens {
                self.soften();
            }
            if axis == Axis::Order {
                self.soft = 0;
            }
            if matches!(axis, Axis::Duty | Axis::State | Axis::Order | Axis::Bound) {
                return;
            }
        }
        if let Some(affirmed) = entry.denies {
            return self.denied(affirmed, quoted);
        }
        let is_adverb = token.text.ends_with("ly") && self.open.is_some();
        if entry.is_function || is_adverb || token.text == "=" || token.text.starts_with('<') {
            return;
        }
        self.content(token.text, quoted);
        let goes_on = tokens.get(index + 1).is_some_and(|next| next.text == "to");
        if entry.judges && self.since_negator == 1 && !goes_on {
            self.deny_clause();
        }
        if entry.softens {
            self.soften();
        }
    }

    /// What follows is denied without a negation, or for some only.
    fn soften(&mut self) {
        self.soft = REACH;
        self.stance.hedged = true;
    }

    /// "more than" or "less than" under a negation near by.
    fn is_denied_excess(&self, tokens: &[Token<'_>], index: usize) -> bool {
        const NEAR: usize = 3;
        let compares = matches!(tokens[index].text, "more" | "less" | "fewer" | "longer")
            && tokens
                .get(index + 1)
                .is_some_and(|next| next.text == "than");
        compares && self.open.is_some() && self.since_negator <= NEAR
    }

    /// Ends the negation, which sets a bound and denies nothing.
    fn bound(&mut self, word: &str, tokens: &[Token<'_>], index: usize, quoted: bool) {
        for &denied in self.open.take().iter().flat_map(|scope| &scope.words) {
            self.stance.words[denied].sign = Sign::Either;
        }
        self.mark(
            Axis::Bound,
            matches!(word, "less" | "fewer"),
            tokens,
            index,
            quoted,
        );
    }

    fn mark(
        &mut self,
        axis: Axis,
        positive: bool,
        tokens: &[Token<'_>],
        index: usize,
        quoted: bool,
    ) {
        self.stance.poles.push(Pole {
            axis,
            positive,
            place: self.place,
            quoted,
            by_default: clause_has_default(tokens, index),
            supposed: self.supposed,
        });
    }

    /// A negation just before a pole turns it round; further back it denies something else.
    fn turns(&self, axis: Axis, word: &str) -> bool {
        let near = match axis {
            Axis::Permission => 2,
            Axis::State
            | Axis::Bound
            | Axis::Inclusion
            | Axis::Synchrony
            | Axis::Success
            | Axis::Sameness
            | Axis::Frequency => 1,
            Axis::Amount
                if matches!(
                    word,
                    "more" | "less" | "fewer" | "larger" | "smaller" | "higher" | "greater"
                ) =>
            {
                0
            }
            _ => return false,
        };
        self.since_negator <= near
    }

    fn content(&mut self, word: &str, quoted: bool) {
        let sign = if self.soft > 0 || self.either_next {
            Sign::Either
        } else if self.open.is_some() {
            Sign::Negated
        } else {
            Sign::Affirmed
        };
        self.soft = self.soft.saturating_sub(1);
        self.either_next = false;
        self.since_negator = self.since_negator.saturating_add(1);
        let index = self.push(&stem(word), sign);
        // A number further on says how much, not what is denied.
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        if let Some(scope) = self
            .open
            .as_mut()
            .filter(|scope| !is_number || scope.words.is_empty())
        {
            scope.words.push(index);
            scope.quoted |= quoted;
            if scope.words.len() >= REACH {
                self.close();
            }
        }
    }

    fn negate(&mut self, tokens: &[Token<'_>], index: usize, quoted: bool) {
        let word = tokens[index].text;
        self.close();
        let turned_round = matches!(word, "neither" | "nor")
            && tokens
                .get(index + 1)
                .is_some_and(|next| lexicon::entry(next.text).is_auxiliary);
        if turned_round {
            // "and neither are duplicates" denies what was said before.
            self.soft = REACH;
            return;
        }
        if matches!(word, "no" | "none" | "nothing" | "neither")
            && tokens[index].divided == Divided::Not
        {
            // "stores no rows" denies the storing as well.
            self.soften_last();
        }
        let next = tokens.get(index + 1);
        self.stance.elliptic |=
            next.is_some_and(|next| matches!(next.text, "when" | "if" | "while"));
        let attributive = tokens[index.saturating_sub(2)..index].iter().any(|token| {
            matches!(token.text, "that" | "which" | "who") && token.divided == Divided::Not
        });
        self.open = Some(Scope {
            words: Vec::new(),
            quoted,
            conditional: false,
            attributive,
        });
        let clause = self.place.clause;
        let begins = !self
            .stance
            .words
            .iter()
            .rev()
            .any(|word| word.place.clause == clause && !word.stem.starts_with('<'));
        self.denies_subject = word == "nor"
            || (begins && matches!(word, "no" | "none" | "neither" | "nobody" | "nothing"));
        self.since_negator = 0;
    }

    /// A word that denies another by its prefix. Under a negation it affirms it.
    fn denied(&mut self, affirmed: &str, quoted: bool) {
        let doubly = self.open.take().is_some_and(|scope| scope.words.is_empty());
        let sign = if doubly {
            Sign::Affirmed
        } else {
            Sign::Negated
        };
        let word = self.push(&stem(affirmed), sign);
        if !doubly {
            self.stance.scopes.push(Scope {
                words: vec![word],
                quoted,
                conditional: false,
                attributive: false,
            });
        }
    }

    /// "Running it there is not possible" denies the running.
    fn deny_clause(&mut self) {
        let clause = self.place.clause;
        let last = self.stance.words.len().saturating_sub(1);
        let Some(scope) = self.open.as_mut() else {
            return;
        };
        for (index, word) in self.stance.words[..last].iter_mut().enumerate().rev() {
            if word.place.clause != clause {
                break;
            }
            if word.sign == Sign::Affirmed && !word.stem.starts_with('<') {
                word.sign = Sign::Negated;
                scope.words.push(index);
            }
        }
        self.close();
    }

    /// What is limited is affirmed for some and denied for others: "used only with", "only the owner".
    fn only(&mut self, tokens: &[Token<'_>], index: usize, quoted: bool) {
        if tokens[index].divided == Divided::Not {
            self.soften_last();
        }
        self.push(ONLY, Sign::Either);
        self.either_next = tokens.get(index + 1).is_some_and(|next| {
            let leads = matches!(
                next.text,
                "if" | "when"
                    | "after"
                    | "before"
                    | "for"
                    | "with"
                    | "in"
                    | "at"
                    | "by"
                    | "on"
                    | "to"
                    | "from"
                    | "as"
            );
            !leads && next.divided == Divided::Not
        });
    }

    fn push(&mut self, stem: &str, sign: Sign) -> usize {
        self.stance.words.push(Word {
            stem: stem.to_owned(),
            sign,
            place: self.place,
        });
        self.stance.words.len() - 1
    }

    fn close(&mut self) {
        if let Some(scope) = self.open.take().filter(|scope| !scope.words.is_empty()) {
            self.stance.scopes.push(scope);
        }
    }

    fn soften_last(&mut self) {
        let clause = self.place.clause;
        if let Some(word) = self
            .stance
            .words
            .last_mut()
            .filter(|word| word.place.clause == clause)
        {
            word.sign = Sign::Either;
        }
    }
}

/// Whether "no" or "not" answers a question (`No, …`, `Usually not: …`) rather than denying what follows, or is part of a
/// name (`NO KEY`, `NO ACTION`).
fn is_answer(tokens: &[Token<'_>], index: usize) -> bool {
    let next = tokens.get(index + 1);
    let ends = next.is_none_or(|next| next.divided != Divided::Not);
    match tokens[index].text {
        "no" => {
            let opens_name = next.is_some_and(|next| match next.text {
                "key" => tokens
                    .get(index + 2)
                    .is_some_and(|third| third.text == "update"),
                word => word == "action",
            });
            (index == 0 && ends) || opens_name
        }
        "not" => index <= 1 && ends,
        _ => false,
    }
}

/// "left out of", "keeps it out of": denied without a negation.
fn is_kept_out(tokens: &[Token<'_>], index: usize) -> bool {
    const NEAR: usize = 5;
    let keeps = |token: &Token<'_>| {
        matches!(
            token.text,
            "keep" | "keeps" | "kept" | "leave" | "leaves" | "left" | "leaving"
        )
    };
    let is_of = tokens.get(index + 1).is_some_and(|next| next.text == "of");
    tokens[index].text == "out"
        && is_of
        && tokens[index.saturating_sub(NEAR)..index].iter().any(keeps)
}

/// The axis and end of the token, if it is a pole where it stands.
fn pole(tokens: &[Token<'_>], index: usize) -> Option<(Axis, bool)> {
    let token = &tokens[index];
    let previous = index.checked_sub(1).map_or("", |i| tokens[i].text);
    if matches!(token.text, "on" | "true" | "false" | "yes") {
        let is_state = token.marked || is_state(tokens, index);
        return is_state.then_some((Axis::State, token.text != "false"));
    }
    // A mode's name is not the talk of its opposite.
    if token.text == "exclusive" && matches!(previous, "access" | "row" | "share") {
        return None;
    }
    lexicon::entry(token.text).pole
}

/// Whether "on" or "true" is a state and no preposition: `is on`, `turn it on`, `= on`, `on by default`.
fn is_state(tokens: &[Token<'_>], index: usize) -> bool {
    const LEADS: &[&str] = &[
        "is",
        "are",
        "be",
        "was",
        "to",
        "default",
        "defaults",
        "set",
        "it",
        "remains",
        "remain",
        "stays",
        "stay",
        "being",
        "as",
        "not",
        "isn't",
        "either",
        "value",
        "currently",
        "normally",
        "always",
        "them",
    ];
    const FOLLOWS: &[&str] = &[
        "by", "or", "and", "unless", "when", "if", "for", "in", "while", "because", "so", "but",
        "to", "before", "after", "at", "as", "then", "until", "since", "it", "only",
    ];
    const NEAR: usize = 5;
    let token = &tokens[index];
    let previous = index.checked_sub(1).map_or("", |i| tokens[i].text);
    let next = tokens.get(index + 1);
    let ends = next.is_none_or(|next| next.divided != Divided::Not || FOLLOWS.contains(&next.text));
    let turns =
        |token: &Token<'_>| token.text.starts_with("turn") || token.text.starts_with("switch");
    let turned = tokens[index.saturating_sub(NEAR)..index].iter().any(turns);
    if token.divided != Divided::Not {
        return false;
    }
    let directly = index.checked_sub(1).is_some_and(|i| turns(&tokens[i]));
    let by_default = next.is_some_and(|next| next.text == "by") && previous != "based";
    let after_name = previous.contains('_');
    previous == "="
        || directly
        || (ends && (turned || LEADS.contains(&previous) || by_default || after_name))
}

/// Whether the token's clause, up to a comma, speaks of a default.
fn clause_has_default(tokens: &[Token<'_>], index: usize) -> bool {
    let is_default =
        |token: &Token<'_>| matches!(token.text, "default" | "defaults" | "defaulting");
    let begins = |token: &Token<'_>| {
        token.divided != Divided::Not || lexicon::entry(token.text).opens_clause
    };
    let mut from = index;
    // A leading "By default, …" stands before its comma.
    while from > 0 && !begins(&tokens[from]) {
        from -= 1;
    }
    if from > 1
        && tokens[from].divided == Divided::Comma
        && is_default(&tokens[from - 1])
        && tokens[from - 2].text == "by"
    {
        return true;
    }
    let behind = tokens[index + 1..]
        .iter()
        .take_while(|token| !begins(token));
    tokens[from..=index].iter().chain(behind).any(is_default)
}

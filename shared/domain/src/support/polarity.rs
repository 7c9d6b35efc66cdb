//! Whether a sentence says the opposite of its quote: negations, and pairs such as on/off, before/after, at least/at most.
//!
//! Words are compared where they stand, not by number: a negation must meet words the quote negates, and a pole must be the
//! quote's pole beside the same words. Where the two texts share no words nothing is said, for a paraphrase may turn a statement
//! round; what stands in plain opposition is never let through. [`super::unsupported`] is the caller.

use std::ops::Range;

use super::text::{Plain, is_word, sentence_ends};

/// What the quotes of a sentence say, read for polarity.
pub(super) struct Stance {
    words: Vec<Word>,
    scopes: Vec<Scope>,
    poles: Vec<Pole>,
}

/// A content word and how it is meant.
#[derive(Debug, Clone)]
struct Word {
    stem: String,
    sign: Sign,
    /// Clause, for the words beside a pole.
    clause: usize,
    at: usize,
    quoted: bool,
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
    /// "not … unless", "never … without": a paraphrase affirms it.
    conditional: bool,
}

/// A word that is one end of a pair.
#[derive(Debug, Clone)]
struct Pole {
    axis: Axis,
    positive: bool,
    at: usize,
    clause: usize,
    quoted: bool,
    by_default: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    State,
    Order,
    Bound,
    Amount,
    Permission,
    Duty,
    Frequency,
    Inclusion,
    Synchrony,
    Sorting,
    End,
    Success,
    Sameness,
    Side,
    Need,
}

/// Words at either end of an axis; the first list is the positive end.
const AXES: &[(Axis, &[&str], &[&str])] = &[
    (
        Axis::State,
        &[
            "enabled",
            "enable",
            "enables",
            "enabling",
            "activated",
            "activate",
            "activates",
        ],
        &[
            "off",
            "disabled",
            "disable",
            "disables",
            "disabling",
            "deactivated",
            "deactivate",
            "deactivates",
        ],
    ),
    (
        Axis::Order,
        &[
            "before",
            "prior",
            "preceding",
            "precedes",
            "precede",
            "earlier",
            "beforehand",
        ],
        &[
            "after",
            "afterwards",
            "afterward",
            "following",
            "follows",
            "later",
            "subsequently",
        ],
    ),
    (
        Axis::Bound,
        &["minimum", "minimal", "min", "<min>"],
        &["maximum", "maximal", "max", "<max>"],
    ),
    (
        Axis::Amount,
        &[
            "more",
            "greater",
            "larger",
            "bigger",
            "higher",
            "increase",
            "increases",
            "increased",
            "increasing",
            "raise",
            "raises",
            "raised",
            "raising",
            "grow",
            "grows",
            "growing",
            "exceed",
            "exceeds",
            "exceeding",
            "above",
            "longer",
            "faster",
            "quicker",
            "improve",
            "improves",
            "improved",
        ],
        &[
            "less",
            "fewer",
            "smaller",
            "decrease",
            "decreases",
            "decreased",
            "decreasing",
            "reduce",
            "reduces",
            "reduced",
            "reducing",
            "shrink",
            "shrinks",
            "shrinking",
            "below",
            "shorter",
            "slower",
            "lowers",
            "lowering",
            "lowered",
            "worsen",
            "worsens",
        ],
    ),
    (
        Axis::Permission,
        &[
            "allow",
            "allows",
            "allowed",
            "allowing",
            "permit",
            "permits",
            "permitted",
            "permitting",
            "accept",
            "accepts",
            "accepted",
        ],
        &[
            "prevent",
            "prevents",
            "prevented",
            "preventing",
            "forbid",
            "forbids",
            "forbidden",
            "prohibit",
            "prohibits",
            "prohibited",
            "disallow",
            "disallows",
            "disallowed",
            "reject",
            "rejects",
            "rejected",
            "deny",
            "denies",
            "denied",
            "refuse",
            "refuses",
            "refused",
            "block",
            "blocks",
            "blocked",
            "blocking",
        ],
    ),
    (
        Axis::Duty,
        &["must", "mandatory", "obligatory", "compulsory", "shall"],
        &["may", "optional", "optionally", "might", "<need-not>"],
    ),
    (
        Axis::Need,
        &["required", "necessary", "needed"],
        &["optional", "optionally", "<need-not>"],
    ),
    (
        Axis::Frequency,
        &["always", "invariably"],
        &["sometimes", "occasionally", "rarely", "seldom"],
    ),
    (
        Axis::Inclusion,
        &["include", "includes", "included", "including", "inclusive"],
        &["exclude", "excludes", "excluded", "excluding", "exclusive"],
    ),
    (
        Axis::Synchrony,
        &["synchronous", "synchronously"],
        &["asynchronous", "asynchronously"],
    ),
    (
        Axis::Sorting,
        &["ascending", "asc"],
        &["descending", "desc"],
    ),
    (
        Axis::End,
        &["first", "oldest", "earliest", "beginning"],
        &["last", "newest", "latest", "end"],
    ),
    (
        Axis::Success,
        &[
            "succeed",
            "succeeds",
            "succeeded",
            "success",
            "successful",
            "successfully",
        ],
        &["fail", "fails", "failed", "failure"],
    ),
    (
        Axis::Sameness,
        &["same", "identical", "equal"],
        &["different", "differing", "unequal"],
    ),
    (
        Axis::Side,
        &["lower", "leftmost", "left"],
        &["upper", "rightmost", "right"],
    ),
];

/// Phrases read as one word. Longer ones stand before those they begin with.
const PHRASES: &[(&str, &str)] = &[
    ("no more than", "<max>"),
    ("not more than", "<max>"),
    ("no greater than", "<max>"),
    ("no longer than", "<max>"),
    ("no later than", "<max>"),
    ("no less than", "<min>"),
    ("not less than", "<min>"),
    ("no fewer than", "<min>"),
    ("not fewer than", "<min>"),
    ("no sooner than", "<min>"),
    ("not exceed", "<max>"),
    ("never exceed", "<max>"),
    ("never exceeds", "<max>"),
    ("at least", "<min>"),
    ("at most", "<max>"),
    ("at a minimum", "<min>"),
    ("at the least", "<min>"),
    ("at the most", "<max>"),
    ("or fewer", "<max>"),
    ("or less", "<max>"),
    ("or greater", "<min>"),
    ("or higher", "<min>"),
    ("or later", "<min>"),
    ("and later", "<min>"),
    ("one or more", ""),
    ("or more", "<min>"),
    ("more or less", ""),
    ("once more", ""),
    ("up to date", ""),
    ("up to the", ""),
    ("up to", "<max>"),
    ("need not", "<need-not>"),
    ("needs not", "<need-not>"),
    ("needn't", "<need-not>"),
    ("not required", "<need-not>"),
    ("not necessary", "<need-not>"),
    ("not mandatory", "<need-not>"),
    ("not needed", "<need-not>"),
    ("isn't required", "<need-not>"),
    ("isn't necessary", "<need-not>"),
    ("doesn't need to", "<need-not>"),
    ("does not need to", "<need-not>"),
    ("do not need to", "<need-not>"),
    ("don't need to", "<need-not>"),
    ("does not have to", "<need-not>"),
    ("do not have to", "<need-not>"),
    ("doesn't have to", "<need-not>"),
    ("don't have to", "<need-not>"),
    ("has to", "must"),
    ("have to", "must"),
    ("not only", ""),
    ("not just", ""),
    ("not merely", ""),
    ("whether or not", ""),
    ("no matter", ""),
    ("not null", ""),
    ("not valid", ""),
    ("on the other hand", ""),
    ("as follows", ""),
    ("the following", ""),
    ("in order to", ""),
    ("in order", ""),
    ("at the same time", ""),
    ("in addition", ""),
    ("end user", ""),
    ("in the end", ""),
];

const NEGATORS: &[&str] = &[
    "not", "never", "no", "cannot", "without", "neither", "nor", "none", "nothing", "nobody",
    "nowhere", "hardly", "rarely", "seldom", "barely", "unlikely",
];

/// Words under which what follows is affirmed for some and denied for others, or denied without a negation.
const SOFT_NEGATORS: &[&str] = &[
    "unless",
    "except",
    "until",
    "instead",
    "rather",
    "unlike",
    "lack",
    "lacks",
    "lacking",
    "omit",
    "omits",
    "omitted",
    "avoid",
    "avoids",
    "avoiding",
    "fail",
    "fails",
    "failed",
    "failing",
    "refuse",
    "refuses",
    "refused",
    "unable",
    "ignore",
    "ignores",
    "ignored",
    "skip",
    "skips",
    "skipped",
    "prevent",
    "prevents",
    "prevented",
    "preventing",
    "prohibits",
    "forbids",
    "excludes",
    "excluded",
    "stop",
    "stops",
    "drops",
    "lose",
    "loses",
    "lost",
    "absent",
    "missing",
];

/// What makes a negation in the same sentence conditional.
const CONDITIONS: &[&str] = &["unless", "except", "until", "without", "only", "otherwise"];

/// Words that limit a statement to what they name.
const LIMITS: &[&str] = &[
    "only",
    "solely",
    "exclusively",
    "just",
    "except",
    "unless",
    "restricted",
    "limited",
    "alone",
    "single",
    "sole",
    "must",
    "exclusive",
    "other",
    "requires",
    "required",
    "merely",
];

/// Clauses end before these.
const CLAUSE_OPENERS: &[&str] = &[
    "and", "but", "although", "though", "because", "since", "while", "when", "if", "whereas", "so",
    "then", "yet", "however", "unless", "which",
];

/// Words that carry no statement of their own.
const FUNCTION_WORDS: &[&str] = &[
    "a",
    "an",
    "the",
    "of",
    "to",
    "in",
    "on",
    "at",
    "by",
    "for",
    "with",
    "from",
    "as",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "it",
    "its",
    "this",
    "that",
    "these",
    "those",
    "they",
    "them",
    "their",
    "there",
    "or",
    "nor",
    "do",
    "does",
    "did",
    "done",
    "can",
    "could",
    "will",
    "would",
    "should",
    "shall",
    "may",
    "might",
    "must",
    "have",
    "has",
    "had",
    "having",
    "any",
    "all",
    "each",
    "every",
    "some",
    "such",
    "same",
    "also",
    "even",
    "very",
    "too",
    "than",
    "into",
    "onto",
    "over",
    "under",
    "out",
    "up",
    "down",
    "about",
    "you",
    "your",
    "we",
    "our",
    "i",
    "he",
    "she",
    "who",
    "whom",
    "whose",
    "what",
    "where",
    "how",
    "why",
    "here",
    "both",
    "either",
    "most",
    "many",
    "much",
    "other",
    "another",
    "own",
    "currently",
    "directly",
    "itself",
    "themselves",
    "just",
    "still",
    "already",
    "yet",
    "ever",
    "always",
    "usually",
    "generally",
    "necessarily",
    "normally",
    "typically",
    "automatically",
    "actually",
    "really",
    "simply",
    "again",
    "between",
    "through",
    "during",
    "within",
    "against",
    "per",
    "via",
    "one",
    "ones",
    "only",
    "get",
    "gets",
    "make",
    "makes",
    "made",
    "way",
    "case",
    "cases",
    "thing",
    "things",
    "like",
    "if",
    "when",
    "while",
    "then",
    "so",
    "and",
    "but",
    "because",
    "since",
    "although",
    "which",
    "whether",
    "yes",
    "value",
    "values",
    "able",
    "s",
    "t",
];

/// Words taken as one in comparing statements.
const SYNONYMS: &[&[&str]] = &[
    &[
        "keep",
        "keeps",
        "kept",
        "keeping",
        "preserve",
        "preserves",
        "preserved",
        "retain",
        "retains",
        "retained",
        "maintain",
        "maintains",
        "remain",
        "remains",
    ],
    &[
        "use", "uses", "used", "using", "usable", "utilize", "utilized", "employ", "employed",
    ],
    &[
        "require",
        "requires",
        "required",
        "need",
        "needs",
        "needed",
        "necessary",
    ],
    &[
        "recommended",
        "recommend",
        "recommends",
        "advised",
        "advisable",
        "suggested",
    ],
    &[
        "erase", "erased", "remove", "removes", "removed", "delete", "deletes", "deleted", "drop",
        "dropped",
    ],
    &["save", "saved", "store", "stores", "stored", "storing"],
    &[
        "run",
        "runs",
        "ran",
        "running",
        "execute",
        "executes",
        "executed",
        "executing",
        "perform",
        "performed",
        "performs",
    ],
    &[
        "return", "returns", "returned", "yield", "yields", "give", "gives",
    ],
    &[
        "change", "changes", "changed", "changing", "alter", "alters", "altered", "modify",
        "modifies", "modified",
    ],
    &["work", "works", "working", "function", "functions"],
    &[
        "guarantee",
        "guarantees",
        "guaranteed",
        "ensure",
        "ensures",
        "ensured",
    ],
    &["see", "sees", "seen", "visible"],
    &["write", "writes", "written", "wrote"],
    &["apply", "applies", "applied", "applicable"],
    &["locks", "lock", "locked", "locking"],
    &["wait", "waits", "waiting", "await"],
    &["take", "takes", "taken", "acquire", "acquires", "acquired"],
    &["support", "supports", "supported"],
    &["safe", "safely", "safety"],
    &["set", "sets", "setting"],
];

/// Denying prefixes that would be guesses: only these words are taken apart.
const DENIED_WORDS: &[(&str, &str)] = &[
    ("unsupported", "supported"),
    ("unable", "able"),
    ("impossible", "possible"),
    ("unnecessary", "necessary"),
    ("unavailable", "available"),
    ("invalid", "valid"),
    ("incorrect", "correct"),
    ("unsafe", "safe"),
    ("insufficient", "sufficient"),
    ("incompatible", "compatible"),
    ("unlimited", "limited"),
    ("unused", "used"),
    ("unchanged", "changed"),
    ("invisible", "visible"),
    ("undesirable", "desirable"),
    ("unreliable", "reliable"),
    ("inefficient", "efficient"),
    ("unencrypted", "encrypted"),
    ("unauthorized", "authorized"),
    ("uncommitted", "committed"),
    ("unrelated", "related"),
    ("unaffected", "affected"),
    ("irreversible", "reversible"),
    ("unrecoverable", "recoverable"),
];

/// Content words a negation reaches.
const REACH: usize = 6;
/// Content words on each side of a pole that say what it is about.
const BESIDE: usize = 4;

impl Stance {
    /// Reads `text`, of which `quoted` was quoted; the rest is the sentence around the quote.
    pub(super) fn read(text: &Plain, quoted: Range<usize>) -> Self {
        let mut stance = Self {
            words: Vec::new(),
            scopes: Vec::new(),
            poles: Vec::new(),
        };
        stance.add(&text.lower, quoted);
        stance
    }

    /// Nothing read yet.
    pub(super) fn empty() -> Self {
        Self {
            words: Vec::new(),
            scopes: Vec::new(),
            poles: Vec::new(),
        }
    }

    /// Reads a further text.
    pub(super) fn add(&mut self, lower: &str, quoted: Range<usize>) {
        let offset = self.words.last().map_or(0, |word| word.clause + 2);
        let at_offset = self.words.last().map_or(0, |word| word.at + 100);
        let tokens = tokens(lower);
        let mut reader = Reader {
            stance: self,
            clause: offset,
            at: at_offset,
            quoted,
        };
        reader.read(&tokens);
    }

    /// Whether this, a sentence, contradicts `evidence`. `passages` are asked what the quotes leave open.
    pub(super) fn contradicts(&self, evidence: &Self, passages: &[&Plain]) -> bool {
        #[cfg(test)]
        if std::env::var("TRACE").is_ok() {
            eprintln!(
                "S {:?} {:?} {:?}\nE {:?} {:?} {:?}",
                self.words,
                self.scopes,
                self.poles,
                evidence.words,
                evidence.scopes,
                evidence.poles
            );
            eprintln!(
                "denies {} silence {} opposite {} limits {}",
                self.denies(evidence, passages),
                evidence.is_denied_by_silence(self),
                self.stands_opposite(evidence, passages),
                self.limits_alone(evidence)
            );
        }
        self.denies(evidence, passages)
            || evidence.is_denied_by_silence(self)
            || self.stands_opposite(evidence, passages)
            || self.limits_alone(evidence)
    }

    /// Whether a negation of this sentence meets only words the evidence affirms.
    fn denies(&self, evidence: &Self, passages: &[&Plain]) -> bool {
        self.scopes.iter().any(|scope| {
            if scope.conditional {
                return false;
            }
            match self.meets(scope, evidence) {
                Meeting::Opposed { head: true, .. } => true,
                Meeting::Opposed { words, .. } => {
                    words >= 2
                        && !evidence.has_free_negation(self)
                        && !self.denied_in(scope, passages)
                }
                Meeting::Agreed => false,
                Meeting::Apart => evidence.is_plain() && !self.denied_in(scope, passages),
            }
        })
    }

    /// Whether a negation of this evidence meets only words the sentence affirms.
    fn is_denied_by_silence(&self, sentence: &Self) -> bool {
        self.scopes.iter().any(|scope| {
            if scope.conditional || !scope.quoted {
                return false;
            }
            match self.meets(scope, sentence) {
                Meeting::Opposed { head: true, .. } => !sentence.has_limit(),
                Meeting::Opposed { words, .. } => {
                    (words >= 2 || scope.words.len() <= 2)
                        && !sentence.has_free_negation(self)
                        && !sentence.has_limit()
                }
                Meeting::Agreed | Meeting::Apart => false,
            }
        })
    }

    fn meets(&self, scope: &Scope, other: &Self) -> Meeting {
        let mut opposed = 0;
        let mut head = false;
        for (position, &index) in scope.words.iter().enumerate() {
            match other.sign_of(&self.words[index].stem) {
                None => {}
                Some(Sign::Affirmed) => {
                    opposed += 1;
                    head |= position == 0;
                }
                Some(Sign::Negated | Sign::Either) => return Meeting::Agreed,
            }
        }
        if opposed == 0 {
            Meeting::Apart
        } else {
            Meeting::Opposed {
                head,
                words: opposed,
            }
        }
    }

    /// How a word is meant: in the quote if it is there, else around it. Both ways is [`Sign::Either`].
    fn sign_of(&self, stem: &str) -> Option<Sign> {
        for quoted in [true, false] {
            let mut signs = self
                .words
                .iter()
                .filter(|word| word.stem == stem && word.quoted == quoted)
                .map(|word| word.sign);
            if let Some(first) = signs.next() {
                return Some(if signs.all(|sign| sign == first) {
                    first
                } else {
                    Sign::Either
                });
            }
        }
        None
    }

    /// Whether some negation here shares no word with `other`: it may be the other's negation in other words.
    fn has_free_negation(&self, other: &Self) -> bool {
        self.words.iter().any(|word| word.sign == Sign::Either)
            || self.scopes.iter().any(|scope| {
                scope
                    .words
                    .iter()
                    .all(|&index| other.sign_of(&self.words[index].stem).is_none())
            })
    }

    /// Whether nothing here denies, limits or stands at a negative end.
    fn is_plain(&self) -> bool {
        self.scopes.is_empty()
            && self.words.iter().all(|word| word.sign == Sign::Affirmed)
            && self.poles.iter().all(|pole| pole.positive)
    }

    fn has_limit(&self) -> bool {
        self.words.iter().any(|word| word.sign == Sign::Either)
    }

    /// Whether a passage denies the scope's first word somewhere.
    fn denied_in(&self, scope: &Scope, passages: &[&Plain]) -> bool {
        let Some(head) = scope
            .words
            .first()
            .map(|&index| self.words[index].stem.as_str())
        else {
            return true;
        };
        passages.iter().any(|passage| {
            let read = Self::read(passage, 0..passage.lower.len());
            read.words
                .iter()
                .any(|word| word.sign != Sign::Affirmed && word.stem == head)
        })
    }

    /// Whether a pole of this sentence stands where the evidence has the other end.
    fn stands_opposite(&self, evidence: &Self, passages: &[&Plain]) -> bool {
        self.poles.iter().any(|pole| {
            let quoted: Vec<&Pole> = evidence
                .poles
                .iter()
                .filter(|other| other.axis == pole.axis && other.quoted)
                .collect();
            if !quoted.is_empty() {
                return self.is_opposed(pole, &quoted, evidence, 0);
            }
            let around: Vec<&Pole> = evidence
                .poles
                .iter()
                .filter(|other| other.axis == pole.axis)
                .collect();
            if !around.is_empty() {
                return self.is_opposed(pole, &around, evidence, 1);
            }
            pole.axis == Axis::State
                && pole.by_default
                && default_state(passages).is_some_and(|positive| positive != pole.positive)
        })
    }

    fn is_opposed(&self, pole: &Pole, others: &[&Pole], evidence: &Self, least: usize) -> bool {
        let beside = self.beside(pole);
        let best = |positive: bool| {
            others
                .iter()
                .filter(|other| other.positive == positive)
                .map(|other| {
                    let by_default = usize::from(pole.by_default && other.by_default);
                    evidence
                        .beside(other)
                        .iter()
                        .filter(|stem| beside.contains(stem))
                        .count()
                        + by_default
                })
                .max()
        };
        match (best(pole.positive), best(!pole.positive)) {
            (None, Some(overlap)) => {
                overlap >= least
                    && !(pole.axis.is_relation() && self.is_turned(pole, others, evidence))
            }
            (Some(same), Some(opposite)) => {
                opposite >= 2 && opposite > same && !pole.axis.is_relation()
            }
            (_, None) => false,
        }
    }

    /// Whether the sentence names the sides the other way round: "A before B" is "B after A".
    fn is_turned(&self, pole: &Pole, others: &[&Pole], evidence: &Self) -> bool {
        let (left, right) = self.sides(pole);
        others.iter().any(|other| {
            let (other_left, other_right) = evidence.sides(other);
            let shared =
                |one: &[&str], two: &[&str]| one.iter().filter(|stem| two.contains(stem)).count();
            let straight = shared(&left, &other_left) + shared(&right, &other_right);
            let crossed = shared(&left, &other_right) + shared(&right, &other_left);
            crossed > straight
        })
    }

    fn beside(&self, pole: &Pole) -> Vec<&str> {
        let near = |word: &&Word| word.clause == pole.clause && word.at != pole.at;
        let before = self
            .words
            .iter()
            .rev()
            .filter(|word| word.at < pole.at)
            .filter(near)
            .take(BESIDE);
        let after = self
            .words
            .iter()
            .filter(|word| word.at > pole.at)
            .filter(near)
            .take(BESIDE);
        before.chain(after).map(|word| word.stem.as_str()).collect()
    }

    fn sides(&self, pole: &Pole) -> (Vec<&str>, Vec<&str>) {
        const FAR: usize = 8;
        let before = self
            .words
            .iter()
            .rev()
            .filter(|word| word.at < pole.at)
            .take(FAR);
        let after = self.words.iter().filter(|word| word.at > pole.at).take(FAR);
        (
            before.map(|word| word.stem.as_str()).collect(),
            after.map(|word| word.stem.as_str()).collect(),
        )
    }

    /// Whether the sentence limits ("only") what the evidence states without any limit.
    fn limits_alone(&self, evidence: &Self) -> bool {
        let only = |stance: &Self| stance.words.iter().any(|word| word.stem == "<only>");
        only(self)
            && !only(evidence)
            && evidence.scopes.is_empty()
            && evidence
                .words
                .iter()
                .all(|word| word.sign == Sign::Affirmed)
            && !evidence.words.iter().any(|word| word.stem == "<limit>")
    }
}

enum Meeting {
    /// All shared words are affirmed by the other text.
    Opposed { head: bool, words: usize },
    /// Some shared word is denied there too.
    Agreed,
    /// No shared words.
    Apart,
}

impl Axis {
    /// Whether its words relate two things, so that naming them the other way round turns the word.
    fn is_relation(self) -> bool {
        matches!(self, Self::Order | Self::Amount)
    }

    /// Whether a negation just before the word turns it round.
    fn turns(self) -> bool {
        matches!(
            self,
            Self::State
                | Self::Permission
                | Self::Inclusion
                | Self::Synchrony
                | Self::Success
                | Self::Sameness
                | Self::Amount
                | Self::Frequency
                | Self::Need
        )
    }
}

/// The state the passages give as the default, if they give one and not both.
fn default_state(passages: &[&Plain]) -> Option<bool> {
    let mut states = passages.iter().flat_map(|passage| {
        let read = Stance::read(passage, 0..passage.lower.len());
        read.poles
            .into_iter()
            .filter(|pole| pole.axis == Axis::State && pole.by_default)
            .map(|pole| pole.positive)
    });
    let first = states.next()?;
    states.all(|state| state == first).then_some(first)
}

#[derive(Debug, Clone)]
struct Token<'a> {
    text: &'a str,
    start: usize,
    /// What divides it from the token before.
    divided: Divided,
    /// The character before and after.
    marked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Divided {
    Not,
    Comma,
    Clause,
}

/// The words of `lower`, phrases read as one.
fn tokens(lower: &str) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::new();
    let ends: Vec<usize> = sentence_ends(lower).collect();
    let mut next_end = ends.iter().copied().peekable();
    let mut divided = Divided::Clause;
    let mut at = 0;
    while at < lower.len() {
        while next_end.next_if(|&end| end <= at).is_some() {
            divided = Divided::Clause;
        }
        let rest = &lower[at..];
        let Some(c) = rest.chars().next() else { break };
        if !is_word(c) {
            divided = match c {
                ',' if divided == Divided::Not => Divided::Comma,
                ';' | ':' | '(' | ')' | '\t' => Divided::Clause,
                '=' if out.last().is_some() => {
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
        let phrase = PHRASES.iter().find(|(phrase, _)| {
            rest.starts_with(phrase) && !rest[phrase.len()..].starts_with(is_word)
        });
        if let Some((phrase, meaning)) = phrase {
            if !meaning.is_empty() {
                out.push(Token {
                    text: meaning,
                    start: at,
                    divided,
                    marked: false,
                });
            }
            divided = Divided::Not;
            at += phrase.len();
            continue;
        }
        let end = token_end(lower, at);
        let marked =
            lower[..at].ends_with(['`', '\'', '"']) && lower[end..].starts_with(['`', '\'', '"']);
        out.push(Token {
            text: &lower[at..end],
            start: at,
            divided,
            marked,
        });
        divided = Divided::Not;
        at = end;
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

struct Reader<'a> {
    stance: &'a mut Stance,
    clause: usize,
    at: usize,
    quoted: Range<usize>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: &[Token<'_>]) {
        let mut open: Option<Scope> = None;
        let mut soft = 0_usize;
        let mut since_negator = usize::MAX;
        let mut either_next = false;
        let mut sentence_from = self.stance.scopes.len();
        for (index, token) in tokens.iter().enumerate() {
            let previous = index.checked_sub(1).map_or("", |i| tokens[i].text);
            let next = tokens.get(index + 1);
            let quoted = self.quoted.contains(&token.start);
            let opener = CLAUSE_OPENERS.contains(&token.text);
            if token.divided != Divided::Not || opener {
                self.close(&mut open);
                soft = 0;
                since_negator = usize::MAX;
                self.clause += 1;
                if token.divided == Divided::Clause {
                    sentence_from = self.stance.scopes.len();
                }
            }
            since_negator = since_negator.saturating_add(1);
            self.at += 1;
            if CONDITIONS.contains(&token.text) {
                // "not … unless", "never … until", "without … not": said the other way round as easily.
                if let Some(scope) = open.as_mut() {
                    scope.conditional = token.text != "only" || scope.conditional;
                }
                for scope in &mut self.stance.scopes[sentence_from..] {
                    scope.conditional |= token.text != "only" && token.text != "without";
                }
            }
            if token.text == "only" || token.text == "solely" {
                self.limit(token, quoted);
                either_next = true;
                continue;
            }
            if LIMITS.contains(&token.text) {
                self.push("<limit>".to_owned(), Sign::Affirmed, quoted);
            }
            if is_negator(token.text) && !is_answer(tokens, index) {
                self.close(&mut open);
                open = Some(Scope {
                    words: Vec::new(),
                    quoted,
                    conditional: false,
                });
                if matches!(token.text, "no" | "none" | "nothing" | "neither") && previous != "" {
                    // "stores no rows" denies the storing as well.
                    self.soften_last();
                }
                since_negator = 0;
                continue;
            }
            if SOFT_NEGATORS.contains(&token.text) {
                soft = REACH;
            }
            if let Some((axis, positive)) = pole(tokens, index) {
                let turned = since_negator <= 2 && axis.turns();
                self.stance.poles.push(Pole {
                    axis,
                    positive: positive != turned,
                    at: self.at,
                    clause: self.clause,
                    quoted,
                    by_default: clause_has_default(tokens, index),
                });
                if axis == Axis::Duty || axis == Axis::State {
                    if turned {
                        open = None;
                    }
                    continue;
                }
                if turned {
                    // The pair says what the negation says.
                    open = None;
                }
            }
            if let Some((_, affirmed)) = DENIED_WORDS
                .iter()
                .find(|(denied, _)| *denied == token.text)
            {
                let stem = stem(affirmed);
                let doubly = open.is_some();
                let sign = if doubly {
                    Sign::Affirmed
                } else {
                    Sign::Negated
                };
                let word = self.push(stem, sign, quoted);
                if doubly {
                    open = None;
                } else {
                    self.stance.scopes.push(Scope {
                        words: vec![word],
                        quoted,
                        conditional: false,
                    });
                }
                continue;
            }
            if is_function_word(token.text) {
                continue;
            }
            let sign = if soft > 0 || either_next {
                Sign::Either
            } else if open.is_some() {
                Sign::Negated
            } else {
                Sign::Affirmed
            };
            soft = soft.saturating_sub(1);
            either_next = false;
            let in_scope = open.is_some();
            let word = self.push(stem(token.text), sign, quoted);
            if let Some(scope) = open.as_mut()
                && in_scope
            {
                scope.words.push(word);
                scope.quoted |= quoted;
                if scope.words.len() >= REACH {
                    self.close(&mut open);
                }
            }
            let _ = next;
        }
        self.close(&mut open);
    }

    fn push(&mut self, stem: String, sign: Sign, quoted: bool) -> usize {
        self.stance.words.push(Word {
            stem,
            sign,
            clause: self.clause,
            at: self.at,
            quoted,
        });
        self.stance.words.len() - 1
    }

    fn close(&mut self, open: &mut Option<Scope>) {
        if let Some(scope) = open.take().filter(|scope| !scope.words.is_empty()) {
            self.stance.scopes.push(scope);
        }
    }

    fn soften_last(&mut self) {
        if let Some(word) = self.stance.words.last_mut() {
            word.sign = Sign::Either;
        }
    }

    /// "used only with": what is limited is affirmed for some and denied for others.
    fn limit(&mut self, token: &Token<'_>, quoted: bool) {
        if token.divided == Divided::Not {
            self.soften_last();
        }
        self.push("<only>".to_owned(), Sign::Either, quoted);
    }
}

fn is_negator(word: &str) -> bool {
    NEGATORS.contains(&word) || word.ends_with("n't")
}

/// Whether "no" answers a question (`No, …`) rather than denying what follows, or opens a name (`NO KEY`, `NO ACTION`).
fn is_answer(tokens: &[Token<'_>], index: usize) -> bool {
    if tokens[index].text != "no" {
        return false;
    }
    let next = tokens.get(index + 1);
    let answers = index == 0 && next.is_none_or(|next| next.divided != Divided::Not);
    answers
        || next.is_some_and(|next| matches!(next.text, "key" | "action" | "longer"))
            && next.is_none_or(|next| next.text != "longer")
}

/// The axis and end of the token, if it is a pole where it stands.
fn pole(tokens: &[Token<'_>], index: usize) -> Option<(Axis, bool)> {
    let token = &tokens[index];
    let previous = index.checked_sub(1).map_or("", |i| tokens[i].text);
    let next = tokens.get(index + 1);
    if matches!(token.text, "on" | "true" | "false" | "yes") {
        let is_state = token.marked || is_state(previous, token, next);
        return is_state.then_some((Axis::State, token.text != "false"));
    }
    if token.text == "off"
        && matches!(
            previous,
            "trade" | "cut" | "kick" | "kicks" | "back" | "log" | "tear"
        )
    {
        return None;
    }
    // A mode's name is not the talk of its opposite.
    if matches!(token.text, "exclusive" | "exclusively")
        && matches!(previous, "access" | "row" | "share")
    {
        return None;
    }
    AXES.iter().find_map(|(axis, positive, negative)| {
        if positive.contains(&token.text) {
            Some((*axis, true))
        } else if negative.contains(&token.text) {
            Some((*axis, false))
        } else {
            None
        }
    })
}

/// Whether "on" or "true" is a state and no preposition: `is on`, `turn on`, `= on`, `on by default`.
fn is_state(previous: &str, token: &Token<'_>, next: Option<&Token<'_>>) -> bool {
    const LEADS: &[&str] = &[
        "is",
        "are",
        "be",
        "was",
        "to",
        "turn",
        "turned",
        "turning",
        "turns",
        "switch",
        "switched",
        "switching",
        "default",
        "defaults",
        "=",
        "set",
        "it",
        "remains",
        "remain",
        "stays",
        "stay",
        "being",
        "as",
        "not",
        "either",
        "value",
        "currently",
        "normally",
        "always",
    ];
    const FOLLOWS: &[&str] = &[
        "by", "or", "and", "unless", "when", "if", "for", "in", "while", "because", "so", "but",
        "to", "before", "after", "at", "as", "then", "until", "since", "it", "only",
    ];
    let leads = LEADS.contains(&previous) && token.divided == Divided::Not;
    let turns = previous.starts_with("turn") || previous.starts_with("switch");
    let ends = next.is_none_or(|next| next.divided != Divided::Not || FOLLOWS.contains(&next.text));
    let by_default = next.is_some_and(|next| next.text == "by");
    (leads && (ends || turns)) || (by_default && ends && previous != "based")
}

/// Whether the token's clause, up to a comma, speaks of a default.
fn clause_has_default(tokens: &[Token<'_>], index: usize) -> bool {
    let is_default =
        |token: &Token<'_>| matches!(token.text, "default" | "defaults" | "defaulting");
    let before = tokens[..=index].iter().rev();
    let mut open = true;
    let found_before = before
        .take_while(|token| {
            let inside = open;
            open = token.divided == Divided::Not && !CLAUSE_OPENERS.contains(&token.text);
            inside
        })
        .any(is_default);
    found_before
        || tokens[index + 1..]
            .iter()
            .take_while(|token| {
                token.divided == Divided::Not && !CLAUSE_OPENERS.contains(&token.text)
            })
            .any(is_default)
}

fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.contains(&word) || word == "=" || word.starts_with('<')
}

/// What the word's forms have in common, crudely: enough to see that two texts use the same word.
fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    if let Some(group) = SYNONYMS.iter().find(|group| group.contains(&word)) {
        return group[0].to_owned();
    }
    if word.contains(['_', '.', '$']) || word.len() < 4 {
        return word.to_owned();
    }
    let mut stem = word;
    for ending in [
        "ations", "ation", "ically", "ively", "ities", "ments", "ings", "able", "ible", "ment",
        "ions", "ing", "ity", "ied", "ies", "ers", "ion", "ive", "ed", "es", "ly", "er", "al", "s",
        "e", "y",
    ] {
        if let Some(short) = stem.strip_suffix(ending).filter(|short| short.len() >= 3) {
            stem = short;
            break;
        }
    }
    let stem = stem
        .strip_suffix('e')
        .filter(|short| short.len() >= 3)
        .unwrap_or(stem);
    let mut chars = stem.chars().rev();
    match (chars.next(), chars.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 's' | 'l') => {
            stem[..stem.len() - last.len_utf8()].to_owned()
        }
        _ => stem.to_owned(),
    }
}

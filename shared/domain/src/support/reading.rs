//! Reads a text for polarity: its content words and how each is meant, what its negations reach, and its poles.
//!
//! Reading knows one text alone and judges nothing; [`super::polarity`] compares two. A word's meaning here is its stem, whether
//! it is affirmed or denied, and where it stands.

use std::ops::Range;

use super::lexicon::{self, Axis, stem};
use super::text::{Plain, is_word, sentence_ends};

/// What a text says, read for polarity.
#[derive(Debug, Default)]
pub(super) struct Stance {
    pub(super) words: Vec<Word>,
    pub(super) scopes: Vec<Scope>,
    pub(super) poles: Vec<Pole>,
    /// Something in it is left out, skipped, refused or the like.
    pub(super) hedged: bool,
    /// Something in it holds only under a condition.
    pub(super) conditioned: bool,
    /// "but not when": a denial of words that stand elsewhere.
    pub(super) elliptic: bool,
}

/// A content word and how it is meant.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) stem: String,
    pub(super) sign: Sign,
    pub(super) place: Place,
}

/// Where a word stands: in which sentence, in which clause of it, and as which of all words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) sentence: usize,
    pub(super) clause: usize,
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Affirmed,
    Negated,
    /// Under "only", "unless", "fails to": affirmed for some, denied for others.
    Either,
}

/// The content words one negation denies, the first of them first.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) words: Vec<usize>,
    pub(super) quoted: bool,
    /// "not … unless", "never … until": a paraphrase affirms it.
    pub(super) conditional: bool,
    /// "rows that cannot be locked": it tells which, and denies nothing of others.
    pub(super) attributive: bool,
}

/// A word that is one end of a pair.
#[derive(Debug, Clone)]
pub(super) struct Pole {
    pub(super) axis: Axis,
    pub(super) positive: bool,
    pub(super) place: Place,
    pub(super) quoted: bool,
    pub(super) by_default: bool,
    /// "when it is on": what holds then, not what is so.
    pub(super) supposed: bool,
}

/// Content words a negation reaches.
const REACH: usize = 6;
/// The word that stands for "only" among the content words.
pub(super) const ONLY: &str = "<only>";
/// The word that stands for what "only" may paraphrase.
pub(super) const LIMIT: &str = "<limit>";

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
        // "17 and later" sets a bound, "…, and later lines" goes on.
        let goes_on = divided == Divided::Comma && matches!(word, "and" | "or");
        let phrase = lexicon::phrase(word, &lower[at..]).filter(|_| !goes_on);
        let (text, length) = match phrase {
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
            return self.only(tokens, index);
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
        if is_than && matches!(token.text, "more" | "longer" | "less" | "fewer") {
            let is_least = matches!(token.text, "more" | "longer");
            self.mark(Axis::Bound, is_least, tokens, index, quoted);
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
        let turned_round = matches!(word, "neither" | "nor")
            && tokens
                .get(index + 1)
                .is_some_and(|next| lexicon::entry(next.text).is_auxiliary);
        if word == "nor" && !turned_round && self.denies_subject && self.open.is_some() {
            // "Neither tables nor views are kept" denies the keeping of both.
            self.since_negator = 0;
            return;
        }
        self.close();
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
    fn only(&mut self, tokens: &[Token<'_>], index: usize) {
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

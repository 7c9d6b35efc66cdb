//! Numbers with their units, versions and number words, and whether one text's number is another's.
//!
//! Values are exact integers of millionths, so `5.3` is never `53` and `1,000` is `1000`. A unit may be spelt out, shortened or
//! converted (`1 GB`, `one gigabyte`, `1024 MB`), never dropped for another. [`super::unsupported`] is the caller.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::text::is_word;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nothing that is known here.
    Bare,
    Bytes,
    Bits,
    /// In microseconds.
    Time,
    /// Months and years have no fixed length in days.
    Months,
    Percent,
    /// A thing counted, by its place in [`COUNTED`].
    Counted(usize),
    /// Compared as written: `17.2`, `24.1.3`.
    Version,
}

impl Unit {
    /// Whether the number means nothing without it.
    fn is_measure(self) -> bool {
        !matches!(self, Self::Bare | Self::Counted(_) | Self::Version)
    }
}

/// A number of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    /// In millionths of the unit's smallest measure; `None` for what is only comparable as written.
    amount: Option<i128>,
    /// In millionths, before the unit is applied.
    value: Option<i128>,
    pub(super) unit: Unit,
    /// As written, without separators.
    literal: String,
    /// Days may be calendar or working days.
    qualifier: Option<&'static str>,
    start: usize,
    end: usize,
    /// Written as a word.
    worded: bool,
    /// `a minute`, `every hour`: the unit is the statement, not the number.
    implied: bool,
}

const MILLION: i128 = 1_000_000;

/// Spellings of units of measure, what they measure, and how much.
const UNITS: &[(&[&str], Unit, i128)] = &[
    (&["b", "byte", "bytes", "octet", "octets"], Unit::Bytes, 1),
    (
        &[
            "kb",
            "kib",
            "kilobyte",
            "kilobytes",
            "kibibyte",
            "kibibytes",
        ],
        Unit::Bytes,
        1 << 10,
    ),
    (
        &[
            "mb",
            "mib",
            "megabyte",
            "megabytes",
            "mebibyte",
            "mebibytes",
        ],
        Unit::Bytes,
        1 << 20,
    ),
    (
        &[
            "gb",
            "gib",
            "gigabyte",
            "gigabytes",
            "gibibyte",
            "gibibytes",
        ],
        Unit::Bytes,
        1 << 30,
    ),
    (
        &[
            "tb",
            "tib",
            "terabyte",
            "terabytes",
            "tebibyte",
            "tebibytes",
        ],
        Unit::Bytes,
        1 << 40,
    ),
    (
        &["pb", "pib", "petabyte", "petabytes"],
        Unit::Bytes,
        1 << 50,
    ),
    (&["bit", "bits"], Unit::Bits, 1),
    (
        &["us", "µs", "μs", "microsecond", "microseconds"],
        Unit::Time,
        1,
    ),
    (
        &["ms", "msec", "msecs", "millisecond", "milliseconds"],
        Unit::Time,
        1_000,
    ),
    (
        &["s", "sec", "secs", "second", "seconds"],
        Unit::Time,
        MILLION,
    ),
    (
        &["min", "mins", "minute", "minutes"],
        Unit::Time,
        60 * MILLION,
    ),
    (
        &["h", "hr", "hrs", "hour", "hours"],
        Unit::Time,
        3_600 * MILLION,
    ),
    (&["d", "day", "days"], Unit::Time, 86_400 * MILLION),
    (&["week", "weeks"], Unit::Time, 7 * 86_400 * MILLION),
    (&["month", "months"], Unit::Months, 1),
    (&["year", "years", "yr", "yrs"], Unit::Months, 12),
    (&["percent", "per cent", "pct"], Unit::Percent, 1),
];

/// Things that are counted, each with what else it is called. Two different ones are a contradiction, an unknown one is not.
const COUNTED: &[&[&str]] = &[
    &["row", "rows", "tuple", "tuples", "record", "records"],
    &["column", "columns", "field", "fields"],
    &["table", "tables", "relation", "relations"],
    &["character", "characters", "char", "chars"],
    &["digit", "digits"],
    &["page", "pages", "block", "blocks"],
    &["connection", "connections", "session", "sessions"],
    &["transaction", "transactions", "xids", "commits"],
    &["process", "processes", "worker", "workers"],
    &["index", "indexes", "indices"],
    &["time", "times", "attempts"],
    &["file", "files", "segment", "segments"],
    &["argument", "arguments", "parameter", "parameters"],
    &["token", "tokens"],
    &["word", "words"],
];

const WORDS: &[(&str, i128)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
];

/// Words that a passage may use for a number. A sentence that uses one states nothing that needs a number.
const EVIDENCE_WORDS: &[(&str, i128)] = &[
    ("both", 2),
    ("pair", 2),
    ("couple", 2),
    ("twice", 2),
    ("double", 2),
    ("doubled", 2),
    ("triple", 3),
    ("single", 1),
    ("once", 1),
    ("none", 0),
    ("no", 0),
    ("second", 2),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("dozen", 12),
];

const MAGNITUDES: &[(&str, i128)] = &[
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", MILLION),
    ("billion", 1_000 * MILLION),
    ("trillion", MILLION * MILLION),
];

/// What may stand between a number and its unit.
const BETWEEN: &[&str] = &[
    "calendar",
    "working",
    "business",
    "consecutive",
    "full",
    "whole",
    "more",
    "additional",
    "extra",
    "further",
];

const VERSION_WORDS: &[&str] = &[
    "postgresql",
    "postgres",
    "pg",
    "version",
    "versions",
    "release",
    "releases",
];

/// Adverbs that state a unit without a number.
const RHYTHMS: &[(&str, &str)] = &[
    ("hourly", "hour"),
    ("daily", "day"),
    ("weekly", "week"),
    ("monthly", "month"),
    ("yearly", "year"),
    ("annually", "year"),
];

/// Words that begin a number or a unit, so that all others are passed over at the cost of one look-up.
static NUMBER_WORDS: LazyLock<HashMap<&'static str, i128>> = LazyLock::new(|| {
    let other = ["half", "a", "an", "per", "each", "every"];
    WORDS
        .iter()
        .copied()
        .chain(other.map(|word| (word, 0)))
        .collect()
});

/// The numbers a sentence states.
pub(super) fn stated(lower: &str) -> Vec<Quantity> {
    let mut quantities = scan(lower);
    quantities.retain(|quantity| {
        let is_pronoun =
            quantity.worded && quantity.value == Some(MILLION) && !quantity.unit.is_measure();
        let is_none = quantity.worded && quantity.value == Some(0);
        !(is_pronoun || is_none)
    });
    quantities
}

/// The numbers a passage holds.
pub(super) fn held(lower: &str) -> Vec<Quantity> {
    scan(lower)
}

/// Whether `claim` is among the numbers of the passage `lower`.
pub(super) fn is_held(claim: &Quantity, held: &[Quantity], lower: &str) -> bool {
    if claim.implied {
        return mentions_unit(lower, claim);
    }
    held.iter().any(|evidence| agree(claim, evidence, lower)) || is_worded(claim, lower)
}

/// Whether the passage has another word for the number: "both" for two.
fn is_worded(claim: &Quantity, lower: &str) -> bool {
    matches!(claim.unit, Unit::Bare | Unit::Counted(_))
        && EVIDENCE_WORDS
            .iter()
            .any(|(word, value)| claim.value == Some(value * MILLION) && word_in(lower, word))
}

/// Whether the sentence puts another number in the place of the quote's: `claim` stands in it more often than in `quote`, of
/// whose numbers of this unit another is missing from `stated`. Bare numbers count different things, so that they are compared
/// only where there are as many of them on both sides.
pub(super) fn is_substituted(claim: &Quantity, stated: &[Quantity], quote: &[Quantity]) -> bool {
    let agree = |one: &Quantity, other: &Quantity| agree(one, other, "");
    if claim.implied {
        // "every day" in the place of "once an hour".
        let rhythms = || quote.iter().filter(|other| other.implied);
        let is_said = |other: &Quantity| {
            stated
                .iter()
                .any(|said| said.implied && said.amount == other.amount)
        };
        return rhythms().next().is_some()
            && !rhythms().any(|other| other.amount == claim.amount || is_said(other));
    }
    let is_kin = |other: &&Quantity| other.unit == claim.unit && !other.implied;
    let said: Vec<&Quantity> = stated.iter().filter(is_kin).collect();
    let quoted: Vec<&Quantity> = quote.iter().filter(is_kin).collect();
    let in_quote = quote.iter().filter(|other| agree(claim, other)).count();
    let in_sentence = said.iter().filter(|other| agree(claim, other)).count();
    let is_added = if claim.unit.is_measure() && said.len() != quoted.len() {
        in_quote == 0
    } else {
        said.len() == quoted.len() && in_sentence > in_quote
    };
    is_added
        && quoted
            .iter()
            .any(|other| !said.iter().any(|said| agree(said, other)))
}

fn agree(claim: &Quantity, evidence: &Quantity, lower: &str) -> bool {
    if claim.unit == Unit::Version || claim.value.is_none() {
        return claim.literal == evidence.literal;
    }
    // "one day per week" does not say one week.
    if evidence.implied && !matches!(evidence.literal.as_str(), "a" | "an") {
        return false;
    }
    if let (Some(one), Some(other)) = (claim.qualifier, evidence.qualifier)
        && one != other
    {
        return false;
    }
    let same_value = claim.value == evidence.value;
    // A share may be written as a fraction: 20% is 0.2.
    let as_percent = |share: &Quantity, percent: &Quantity| {
        share.unit == Unit::Bare
            && percent.unit == Unit::Percent
            && share.value.map(|value| value * 100) == percent.value
    };
    match (claim.unit, evidence.unit) {
        (Unit::Bare, _) => same_value || as_percent(claim, evidence),
        (Unit::Percent, Unit::Bare) => as_percent(evidence, claim),
        (Unit::Counted(_), Unit::Bare) => same_value,
        (Unit::Counted(one), Unit::Counted(other)) => one == other && same_value,
        // The passage may give the number here and its unit a few words on: `64, in megabytes`.
        (_, Unit::Bare) => same_value && unit_nearby(claim, evidence, lower),
        (one, other) => one == other && claim.amount.is_some() && claim.amount == evidence.amount,
    }
}

fn unit_nearby(claim: &Quantity, evidence: &Quantity, lower: &str) -> bool {
    const NEAR: usize = 120;
    let mut from = evidence.start.saturating_sub(NEAR).min(lower.len());
    let mut to = (evidence.end + NEAR).min(lower.len());
    while !lower.is_char_boundary(from) {
        from -= 1;
    }
    while !lower.is_char_boundary(to) {
        to += 1;
    }
    // A number written as a word is rarely a measure without its unit.
    !evidence.worded && mentions_unit(&lower[from..to], claim)
}

/// Whether some spelling of the claim's unit stands in `text`.
fn mentions_unit(text: &str, claim: &Quantity) -> bool {
    let factor = claim
        .amount
        .zip(claim.value)
        .and_then(|(amount, value)| amount.checked_div(value));
    UNITS
        .iter()
        .filter(|(_, unit, per)| *unit == claim.unit && Some(*per) == factor)
        .flat_map(|(spellings, ..)| spellings.iter())
        .filter(|spelling| spelling.len() > 1)
        .any(|spelling| word_in(text, spelling) || measured(text, spelling))
        || RHYTHMS.iter().any(|(adverb, unit)| {
            word_in(text, adverb)
                && unit_of(unit)
                    .is_some_and(|(kind, per)| kind == claim.unit && Some(per) == factor)
        })
}

/// Whether `spelling` follows a digit without a space: `64MB`.
fn measured(text: &str, spelling: &str) -> bool {
    text.match_indices(spelling).any(|(at, _)| {
        text[..at].ends_with(|c: char| c.is_ascii_digit())
            && !text[at + spelling.len()..].starts_with(is_word)
    })
}

fn word_in(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word)
    })
}

fn unit_of(word: &str) -> Option<(Unit, i128)> {
    UNITS
        .iter()
        .find(|(spellings, ..)| spellings.contains(&word))
        .map(|&(_, unit, per)| (unit, per))
}

fn counted(word: &str) -> Option<Unit> {
    COUNTED
        .iter()
        .position(|names| names.contains(&word))
        .map(Unit::Counted)
}

/// Every number of `lower`, in order.
fn scan(lower: &str) -> Vec<Quantity> {
    let bytes = lower.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut previous = "";
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_digit()
            || (byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
        {
            let quantity = number_at(lower, at, previous);
            at = quantity.end.max(at + 1);
            previous = "";
            found.push(quantity);
            continue;
        }
        if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || !byte.is_ascii() {
            let end = word_end(lower, at);
            let word = &lower[at..end];
            match word_number(lower, at, end) {
                Some(mut quantity) => {
                    let follows_measure = found
                        .last()
                        .is_some_and(|last: &Quantity| last.end + 1 == at);
                    if quantity.implied
                        && (follows_measure
                            || matches!(previous, "once" | "twice" | "times" | "time"))
                    {
                        // "one day a week", "once a week": a rate, not a week.
                        quantity.literal = "per".to_owned();
                    }
                    at = quantity.end.max(end);
                    found.push(quantity);
                    previous = "";
                }
                None => {
                    if let Some(label) = label(lower, at, end) {
                        at = label.end;
                        found.push(label);
                    } else if let Some(quantity) = rhythm(word, at, end) {
                        at = end;
                        found.push(quantity);
                    } else if let Some(version) = attached_version(lower, at, word) {
                        at = version.end;
                        found.push(version);
                    } else {
                        at = end;
                    }
                    previous = word;
                }
            }
            continue;
        }
        if !matches!(byte, b' ' | b'\n') {
            previous = if byte == b'-' || byte == b'(' {
                previous
            } else {
                ""
            };
        }
        at += 1;
    }
    share_units(lower, &mut found);
    found
}

fn word_end(text: &str, at: usize) -> usize {
    text[at..]
        .char_indices()
        .find(|&(_, c)| !is_word(c))
        .map_or(text.len(), |(length, c)| {
            if length == 0 {
                at + c.len_utf8()
            } else {
                at + length
            }
        })
}

/// A number in digits, with what is attached to it and the unit after it.
fn number_at(lower: &str, start: usize, previous: &str) -> Quantity {
    let bytes = lower.as_bytes();
    let digits_from = |from: usize| {
        from + bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut end = digits_from(start);
    while bytes.get(end) == Some(&b',')
        && digits_from(end + 1) == end + 4
        && end - start <= 3 + 4 * (lower[start..end].matches(',').count())
        && !lower[start..].starts_with('0')
    {
        end += 4;
    }
    let mut dots = 0;
    while bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits_from(end + 1);
        dots += 1;
    }
    let literal = lower[start..end].replace(',', "");
    let suffix_end = word_end_or(lower, end);
    let suffix = &lower[end..suffix_end];
    let mut quantity = Quantity {
        amount: None,
        value: if dots <= 1 {
            millionths(&literal)
        } else {
            None
        },
        unit: Unit::Bare,
        literal,
        qualifier: None,
        start,
        end,
        worded: false,
        implied: false,
    };
    if negative(lower, start) {
        quantity.value = quantity.value.map(|value| -value);
        quantity.literal.insert(0, '-');
    }
    match suffix {
        "" => {}
        "st" | "nd" | "rd" | "th" => quantity.end = suffix_end,
        "x" => (quantity.unit, quantity.end) = (counted("times").unwrap_or(Unit::Bare), suffix_end),
        "k" => {
            quantity.value = quantity.value.map(|value| value * 1_000);
            quantity.end = suffix_end;
        }
        _ => {
            if let Some((unit, per)) = unit_of(suffix) {
                quantity.end = suffix_end;
                measure(&mut quantity, unit, per);
                return quantity;
            }
            // `42p01`, `0x1f`, `1e6`: comparable as written only.
            quantity.end = suffix_end;
            quantity.literal = lower[start..suffix_end].to_owned();
            quantity.value = None;
            return quantity;
        }
    }
    if VERSION_WORDS.contains(&previous) && quantity.value.is_none_or(|value| value >= 0) {
        quantity.unit = Unit::Version;
        return quantity;
    }
    if suffix.is_empty() || suffix == "k" {
        take_unit(lower, &mut quantity);
    }
    quantity.amount = quantity.amount.or(quantity.value);
    quantity
}

fn word_end_or(text: &str, at: usize) -> usize {
    if text[at..].starts_with(is_word) {
        word_end(text, at)
    } else {
        at
    }
}

/// Whether a minus sign belongs to the number: `= -1`, `(-1`, and not `5-10` or `checkpoint-1`.
fn negative(lower: &str, start: usize) -> bool {
    lower[..start].strip_suffix('-').is_some_and(|before| {
        before.is_empty() || before.ends_with([' ', '\n', '(', '=', '\'', '"', '`', ',', '['])
    })
}

/// `K.1`, `E.12`: a letter's number, compared as written.
fn label(lower: &str, start: usize, end: usize) -> Option<Quantity> {
    let rest = lower[end..].strip_prefix('.')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (end - start == 1 && digits > 0).then(|| Quantity {
        amount: None,
        value: None,
        unit: Unit::Bare,
        literal: lower[start..end + 1 + digits].to_owned(),
        qualifier: None,
        start,
        end: end + 1 + digits,
        worded: false,
        implied: false,
    })
}

/// `hourly`: a unit without a number.
fn rhythm(word: &str, start: usize, end: usize) -> Option<Quantity> {
    if !(word.ends_with("ly")) {
        return None;
    }
    let (_, unit) = RHYTHMS.iter().find(|(adverb, _)| *adverb == word)?;
    let (unit, per) = unit_of(unit)?;
    Some(Quantity {
        amount: Some(MILLION * per),
        value: Some(MILLION),
        unit,
        literal: word.to_owned(),
        qualifier: None,
        start,
        end,
        worded: true,
        implied: true,
    })
}

/// `v17.2` as one word and a dotted rest.
fn attached_version(lower: &str, start: usize, word: &str) -> Option<Quantity> {
    let digits = word.strip_prefix('v').or_else(|| word.strip_prefix("pg"))?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let at = start + word.len() - digits.len();
    let mut quantity = number_at(lower, at, "version");
    quantity.start = start;
    quantity.unit = Unit::Version;
    Some(quantity)
}

/// A number written as a word: `two`, `twenty-five`, `half a`.
fn word_number(lower: &str, start: usize, end: usize) -> Option<Quantity> {
    let word = &lower[start..end];
    NUMBER_WORDS.get(word)?;
    let value = |word: &str| {
        let known = WORDS.iter().find(|(name, _)| *name == word);
        known.map(|&(_, value)| value)
    };
    let mut quantity = Quantity {
        amount: None,
        value: None,
        unit: Unit::Bare,
        literal: word.to_owned(),
        qualifier: None,
        start,
        end,
        worded: true,
        implied: false,
    };
    if let Some(tens) = value(word) {
        let mut total = tens;
        if tens >= 20
            && let Some(rest) = lower[end..].strip_prefix('-')
            && let Some(ones) =
                value(&rest[..word_end_or(rest, 0)]).filter(|ones| (1..10).contains(ones))
        {
            total += ones;
            quantity.end = end + 1 + word_end_or(rest, 0);
        }
        quantity.value = Some(total * MILLION);
        take_unit(lower, &mut quantity);
        quantity.amount = quantity.amount.or(quantity.value);
        return Some(quantity);
    }
    if word == "half" {
        quantity.value = Some(MILLION / 2);
        for article in [" a ", " an ", "-a-", "-an-"] {
            if lower[end..].starts_with(article) {
                quantity.end = end + article.len() - 1;
            }
        }
        take_unit(lower, &mut quantity);
        // `half of the rows` is vague, `half a second` is not.
        return quantity.unit.is_measure().then_some(quantity);
    }
    if matches!(word, "a" | "an" | "per" | "each" | "every") {
        quantity.value = Some(MILLION);
        take_unit(lower, &mut quantity);
        // "a second index" counts indexes.
        let is_ordinal = lower[..quantity.end].ends_with("second");
        let spelt = quantity.end > end + 3;
        quantity.implied = true;
        return (quantity.unit.is_measure()
            && spelt
            && !is_ordinal
            && quantity.unit != Unit::Bits
            && quantity.unit != Unit::Percent)
            .then_some(quantity);
    }
    None
}

/// Takes magnitude, qualifier and unit from what follows the number.
fn take_unit(lower: &str, quantity: &mut Quantity) {
    if let Some(end) = percent_sign(lower, quantity.end) {
        quantity.end = end;
        return measure(quantity, Unit::Percent, 1);
    }
    let mut next = next_word(lower, quantity.end);
    if let Some((start, word)) = next
        && let Some(&(_, times)) = MAGNITUDES.iter().find(|(name, _)| *name == word)
    {
        quantity.value = quantity.value.and_then(|value| value.checked_mul(times));
        quantity.end = start + word.len();
        next = next_word(lower, quantity.end);
    }
    let mut qualifier = None;
    if let Some((start, word)) = next
        && let Some(between) = BETWEEN.iter().find(|between| **between == word)
    {
        qualifier = match *between {
            "working" | "business" => Some("working"),
            "calendar" => Some("calendar"),
            _ => None,
        };
        next = next_word(lower, start + word.len());
    }
    let Some((start, word)) = next else { return };
    if word == "per" && lower[start..].starts_with("per cent") {
        quantity.end = start + "per cent".len();
        return measure(quantity, Unit::Percent, 1);
    }
    // Single letters measure only what they are attached to.
    if let Some((unit, per)) = unit_of(word).filter(|_| word.len() > 1) {
        quantity.qualifier = qualifier;
        quantity.end = start + word.len();
        measure(quantity, unit, per);
    } else if let Some(unit) = counted(word) {
        quantity.unit = unit;
    }
}

fn measure(quantity: &mut Quantity, unit: Unit, per: i128) {
    quantity.unit = unit;
    quantity.amount = quantity.value.and_then(|value| value.checked_mul(per));
}

fn percent_sign(lower: &str, at: usize) -> Option<usize> {
    let rest = &lower[at..];
    let trimmed = rest.trim_start_matches(' ');
    (trimmed.starts_with('%') && !trimmed[1..].starts_with(is_word))
        .then_some(at + rest.len() - trimmed.len() + 1)
}

/// The word after `at`, over one space or hyphen.
fn next_word(lower: &str, at: usize) -> Option<(usize, &str)> {
    let rest = &lower[at..];
    let gap = usize::from(rest.starts_with([' ', '-', '\n']));
    let start = at + gap;
    (gap == 1 && lower[start..].starts_with(is_word))
        .then(|| (start, &lower[start..word_end(lower, start)]))
}

/// In `5 to 10 seconds` and `versions 14 and 15` the first or the second number has the other's unit.
fn share_units(lower: &str, quantities: &mut [Quantity]) {
    let joins = |left: &Quantity, right: &Quantity| {
        left.end <= right.start
            && matches!(
                lower[left.end..right.start].trim(),
                "to" | "and" | "or" | "-" | "," | ", or" | ", and" | "/"
            )
    };
    for at in (1..quantities.len()).rev() {
        let (left, right) = quantities.split_at_mut(at);
        let (left, right) = (&mut left[at - 1], &right[0]);
        if left.unit == Unit::Bare
            && right.unit.is_measure()
            && !right.implied
            && joins(left, right)
        {
            let per = right
                .amount
                .zip(right.value)
                .and_then(|(amount, value)| amount.checked_div(value));
            measure(left, right.unit, per.unwrap_or(1));
        }
    }
    for at in 1..quantities.len() {
        let (left, right) = quantities.split_at_mut(at);
        let (left, right) = (&left[at - 1], &mut right[0]);
        if left.unit == Unit::Version && right.unit == Unit::Bare && joins(left, right) {
            right.unit = Unit::Version;
        }
    }
}

/// `literal` in millionths, exactly; `None` beyond what that holds.
fn millionths(literal: &str) -> Option<i128> {
    const PLACES: usize = 6;
    const DIGITS: usize = 20;
    let (whole, fraction) = literal.split_once('.').unwrap_or((literal, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > PLACES || whole.len() > DIGITS {
        return None;
    }
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let part: i128 = format!("{fraction:0<PLACES$}").parse().ok()?;
    Some(whole * MILLION + part)
}

#[cfg(test)]
mod tests {
    use super::{held, is_held, is_substituted, stated};

    fn supported(sentence: &str, passage: &str) -> bool {
        let (sentence, passage) = (sentence.to_lowercase(), passage.to_lowercase());
        let held = held(&passage);
        stated(&sentence)
            .iter()
            .all(|claim| is_held(claim, &held, &passage))
    }

    #[track_caller]
    fn check(passage: &str, same: &[&str], other: &[&str]) {
        for sentence in same {
            assert!(supported(sentence, passage), "{sentence:?} in {passage:?}");
        }
        for sentence in other {
            assert!(
                !supported(sentence, passage),
                "{sentence:?} not in {passage:?}"
            );
        }
    }

    #[test]
    fn c138_numbers_are_exact() {
        check(
            "The default is 1 GB since 5.3.",
            &[
                "1 GB",
                "one gigabyte",
                "1GB",
                "1 gigabyte",
                "1024 MB",
                "5.3",
                "a 1-GB limit",
                "1 GiB",
                "1,024 MB",
            ],
            &[
                "10 GB",
                "1 MB",
                "1 TB",
                "53",
                "5.30.1",
                "two gigabytes",
                "1 byte",
                "5",
            ],
        );
        check(
            "about 1000 rows",
            &[
                "1,000 rows",
                "1000",
                "one thousand rows",
                "1k rows",
                "1000 tuples",
            ],
            &["1,00 rows", "100", "10,000", "1000 columns", "1000 MB"],
        );
        check(
            "set it to -1 (0.5 seconds)",
            &["-1", "0.5 s", "half a second", "500 ms", "500 milliseconds"],
            &["1", "5 seconds", "half a minute"],
        );
        check(
            "0.2 (20% of the size)",
            &["0.2", "20%", "20 percent", "twenty per cent"],
            &["2%", "0.02"],
        );
    }

    #[test]
    fn units_are_shared_in_ranges() {
        check(
            "between 5 and 10 seconds",
            &["5 seconds", "from 5 to 10 s", "5 to 10 seconds"],
            &["5 minutes", "5 to 10 minutes"],
        );
        check("The value is 64, in megabytes.", &["64 MB"], &["64 GB"]);
    }

    #[test]
    fn time_and_days() {
        check(
            "30 days, 24 hours",
            &[
                "30 calendar days",
                "thirty days",
                "one day",
                "a 30-day window",
            ],
            &["30 minutes", "3 days", "30 months"],
        );
        check(
            "five working days",
            &["5 days", "five working days", "five business days"],
            &["five calendar days", "five weeks"],
        );
        check(
            "It runs once a day.",
            &["daily", "every day", "once per day"],
            &["once an hour", "every minute"],
        );
    }

    #[test]
    fn versions_are_compared_as_written() {
        check(
            "As of PostgreSQL 17.2 and version 9.6",
            &["PostgreSQL 17.2", "v17.2", "version 9.6"],
            &[
                "PostgreSQL 17",
                "version 17.20",
                "v9",
                "versions 17.2 and 9.5",
            ],
        );
    }

    #[test]
    fn words_that_are_no_numbers() {
        for sentence in [
            "one of them",
            "no one",
            "int4 and md5",
            "$1 is utf8",
            "a second index",
            "zero rows",
        ] {
            assert!(
                stated(sentence).is_empty(),
                "{sentence:?} {:?}",
                stated(sentence)
            );
        }
    }

    #[test]
    fn another_number_in_the_quotes_place() {
        let quote = held("the default is 1 gb.");
        for (sentence, expected) in [
            ("the default is 64 mb", true),
            ("from 64 mb up; 1 gb if unset", false),
            ("1 gb", false),
        ] {
            let said = stated(sentence);
            let any = said
                .iter()
                .any(|claim| is_substituted(claim, &said, &quote));
            assert_eq!(any, expected, "{sentence:?}");
        }
    }
}

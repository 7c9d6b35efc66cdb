//! Changes one fact of a sentence, class by class: what a model that remembers wrongly would write.
//!
//! Each mutant differs from its sentence in one place. A sentence without such a fact has no mutant of that class.

use domain::names::{self, NameKind};

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Number,
    Unit,
    Version,
    Name,
    OnOff,
    Not,
    BeforeAfter,
    MinMax,
}

pub(crate) const CLASSES: [Class; 8] = [
    Class::Number,
    Class::Unit,
    Class::Version,
    Class::Name,
    Class::OnOff,
    Class::Not,
    Class::BeforeAfter,
    Class::MinMax,
];

impl Class {
    /// Whether it turns a statement round rather than changing a fact in it.
    pub(crate) fn is_polar(self) -> bool {
        matches!(
            self,
            Self::OnOff | Self::Not | Self::BeforeAfter | Self::MinMax
        )
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Unit => "unit",
            Self::Version => "version",
            Self::Name => "name",
            Self::OnOff => "on/off",
            Self::Not => "not",
            Self::BeforeAfter => "before/after",
            Self::MinMax => "min/max",
        }
    }
}

/// The mutants of `sentence` in `class`.
pub(crate) fn mutants(class: Class, sentence: &str) -> Vec<String> {
    let mut mutants = match class {
        Class::Number => numbers(sentence, false),
        Class::Version => numbers(sentence, true),
        Class::Unit => swaps(sentence, UNITS),
        Class::Name => renamed(sentence),
        Class::OnOff => swaps(sentence, ON_OFF),
        Class::Not => negations(sentence),
        Class::BeforeAfter => swaps(sentence, BEFORE_AFTER),
        Class::MinMax => swaps(sentence, MIN_MAX),
    };
    mutants.retain(|mutant| mutant != sentence);
    mutants.sort();
    mutants.dedup();
    mutants
}

const UNITS: &[(&str, &str)] = &[
    ("MB", "GB"),
    ("kB", "MB"),
    ("GB", "TB"),
    ("64MB", "64GB"),
    ("16MB", "16kB"),
    ("8MB", "8GB"),
    ("megabytes", "gigabytes"),
    ("gigabyte", "megabyte"),
    ("kilobyte", "megabyte"),
    ("bytes", "bits"),
    ("bytes", "megabytes"),
    ("seconds", "minutes"),
    ("seconds", "milliseconds"),
    ("milliseconds", "seconds"),
    ("ms", "s"),
    ("s", "ms"),
    ("minutes", "hours"),
    ("minutes", "seconds"),
    ("hour", "day"),
    ("hours", "days"),
    ("days", "weeks"),
    ("days", "minutes"),
    ("months", "years"),
    ("weeks", "months"),
    ("hourly", "weekly"),
    ("day", "week"),
    ("columns", "rows"),
    ("percent", "MB"),
];

const ON_OFF: &[(&str, &str)] = &[
    ("is on", "is off"),
    ("are on", "are off"),
    ("on by default", "off by default"),
    ("turned on", "turned off"),
    ("turned off", "turned on"),
    ("turn on", "turn off"),
    ("turn off", "turn on"),
    ("is off", "is on"),
    ("it off", "it on"),
    ("autosave off", "autosave on"),
    ("compression is off", "compression is on"),
    ("enabled", "disabled"),
    ("disabled", "enabled"),
    ("Disable", "Enable"),
    ("disable", "enable"),
    ("enable", "disable"),
    ("Enabling", "Disabling"),
    ("checks on", "checks off"),
];

const BEFORE_AFTER: &[(&str, &str)] = &[
    ("before", "after"),
    ("after", "before"),
    ("Before", "After"),
    ("After", "Before"),
];

const MIN_MAX: &[(&str, &str)] = &[
    ("at least", "at most"),
    ("At least", "At most"),
    ("at most", "at least"),
    ("At most", "At least"),
    ("minimum", "maximum"),
    ("maximum", "minimum"),
    ("Up to", "At least"),
    ("up to", "at least"),
    ("No more than", "No less than"),
    ("no more than", "no fewer than"),
];

/// Each place where a whole `from` stands, as `to`.
fn swaps(sentence: &str, pairs: &[(&str, &str)]) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    for (from, to) in pairs {
        for (at, _) in sentence.match_indices(from) {
            let (before, after) = (&sentence[..at], &sentence[at + from.len()..]);
            let attached = before.ends_with(|c: char| c.is_ascii_digit())
                && from.chars().all(char::is_alphabetic);
            if after.starts_with(is_word)
                || after.starts_with('-')
                || (before.ends_with(is_word) && !attached)
                || before.ends_with('-') && from.len() < 3
            {
                continue;
            }
            // A unit needs a number or a rhythm before it.
            let is_unit = UNITS.iter().any(|unit| unit == &(*from, *to));
            let measures = before
                .trim_end_matches([' ', '-'])
                .ends_with(|c: char| c.is_ascii_digit() || c == '%')
                || NUMBER_WORDS.iter().any(|(word, _)| {
                    before
                        .trim_end_matches([' ', '-'])
                        .to_lowercase()
                        .ends_with(word)
                })
                || ["every ", "Every ", "each ", "calendar ", "an ", "a "]
                    .iter()
                    .any(|lead| before.ends_with(lead))
                || from.ends_with("ly")
                || from.starts_with(|c: char| c.is_ascii_digit());
            let is_idiom = after.starts_with(" date")
                || (after.starts_with(" eight") && before.starts_with("From"))
                || after.starts_with(" the way");
            if (is_unit && !measures) || is_idiom {
                continue;
            }
            out.push(format!("{before}{to}{after}"));
        }
    }
    out
}

const NUMBER_WORDS: &[(&str, &str)] = &[
    ("two", "three"),
    ("three", "four"),
    ("five", "six"),
    ("eight", "nine"),
    ("ten", "twelve"),
    ("thirty", "twenty"),
    ("one", "two"),
];

const VERSION_LEADS: &[&str] = &[
    "version ",
    "Version ",
    "v",
    "release ",
    "Release ",
    "PostgreSQL ",
];

/// Each number changed in value, in magnitude and in its decimal point; versions and other numbers apart.
fn numbers(sentence: &str, versions: bool) -> Vec<String> {
    let bytes = sentence.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len()
            && (bytes[at].is_ascii_digit()
                || (matches!(bytes[at], b'.' | b',')
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)))
        {
            at += 1;
        }
        let (before, number, after) = (&sentence[..start], &sentence[start..at], &sentence[at..]);
        let is_name = before.ends_with(|c: char| c.is_alphabetic() && c != 'v' || c == '_')
            || after.starts_with(['P', '_']);
        let is_version = VERSION_LEADS.iter().any(|lead| before.ends_with(lead));
        if is_name || is_version != versions {
            continue;
        }
        let last = bytes[at - 1] - b'0';
        let stepped = format!("{}{}", &number[..number.len() - 1], (last + 1) % 10);
        let mut changed = vec![stepped];
        if versions {
            changed.push(match number.split_once('.') {
                Some((major, _)) => major.to_owned(),
                None => format!("{number}.1"),
            });
        } else {
            if !number.contains('.') && number != "0" {
                changed.push(format!("{number}0"));
            }
            changed.push(format!("1{number}"));
            if number.contains('.') {
                changed.push(number.replace('.', ""));
            }
        }
        out.extend(
            changed
                .into_iter()
                .map(|number| format!("{before}{number}{after}")),
        );
    }
    if !versions {
        for (from, to) in NUMBER_WORDS {
            for (at, _) in sentence.match_indices(from) {
                let (before, after) = (&sentence[..at], &sentence[at + from.len()..]);
                let whole =
                    !before.ends_with(char::is_alphanumeric) && after.starts_with([' ', '-']);
                // "one another", "no one", "one of": no numbers.
                let is_number = *from != "one"
                    || ["megabyte", "gigabyte", "hour", "day"]
                        .iter()
                        .any(|unit| after.trim_start().starts_with(unit));
                if whole && is_number {
                    out.push(format!("{before}{to}{after}"));
                }
            }
        }
    }
    out
}

/// Each exact name as one that looks like it.
fn renamed(sentence: &str) -> Vec<String> {
    let mut out = Vec::new();
    for name in names::exact_names(sentence) {
        let wrong = match name.kind {
            NameKind::Version => continue,
            NameKind::Capitals
                if name.text.len() < 3
                    || matches!(name.text.as_str(), "not" | "all" | "and" | "only") =>
            {
                continue;
            }
            // A word the sentence has anyway would be no invention.
            NameKind::Capitals if name.text == "vacuum" || sentence.contains("VACUUM") => {
                vec![format!("{}X", name.text.to_uppercase())]
            }
            NameKind::Capitals => vec![
                if name.text == "vacuum" {
                    "REINDEX".to_owned()
                } else {
                    "VACUUM".to_owned()
                },
                format!("{}X", name.text.to_uppercase()),
            ],
            NameKind::Operator => vec![format!("{}>", name.text)],
            NameKind::Option if name.text.starts_with("--") => vec![format!("{}-all", name.text)],
            NameKind::Option => vec![
                format!("{}q", name.text),
                name.text[..name.text.len() - 1].to_owned(),
            ],
            NameKind::Code => vec![name.text.replace(['2', '4'], "3")],
            NameKind::File => vec![format!("my_{}", name.text)],
            NameKind::Identifier | NameKind::Qualified | NameKind::Call => siblings(&name.text),
        };
        let lower = sentence.to_lowercase();
        // Lower-casing keeps byte offsets in these texts, which are all but ASCII.
        if lower.len() != sentence.len() || matches!(name.text.as_str(), "postgresql") {
            continue;
        }
        let needle = name.text.to_lowercase();
        let place = lower.match_indices(&needle).map(|(at, _)| at).find(|&at| {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            !lower[..at].ends_with(is_word) && !lower[at + needle.len()..].starts_with(is_word)
        });
        if let Some(at) = place {
            let (before, after) = (&sentence[..at], &sentence[at + needle.len()..]);
            out.extend(
                wrong
                    .into_iter()
                    .filter(|wrong| wrong.to_lowercase() != needle && wrong.len() > 1)
                    .map(|wrong| format!("{before}{wrong}{after}")),
            );
        }
    }
    out
}

/// Names that share most of their letters with `name`.
fn siblings(name: &str) -> Vec<String> {
    let mut out = vec![format!("{name}_size")];
    if let Some((head, tail)) = name.split_once('_') {
        out.push(format!("auto_{tail}"));
        out.push(format!("{head}_total_{tail}"));
    }
    if name.contains(|c: char| c.is_ascii_digit()) {
        out.push(name.replace('8', "2").replace('4', "8"));
    }
    for (from, to) in [("max_", "min_"), ("min_", "max_")] {
        if name.contains(from) {
            out.push(name.replace(from, to));
        }
    }
    out
}

/// Negations taken out and put in.
fn negations(sentence: &str) -> Vec<String> {
    const REMOVED: &[(&str, &str)] = &[
        (" is not ", " is "),
        (" are not ", " are "),
        (" does not ", " does "),
        (" do not ", " do "),
        (" did not ", " did "),
        (" cannot ", " can "),
        (" can't ", " can "),
        (" isn't ", " is "),
        (" aren't ", " are "),
        (" doesn't ", " does "),
        (" don't ", " do "),
        (" mustn't ", " must "),
        (" may not ", " may "),
        (" must not ", " must "),
        (" never ", " "),
        ("unsupported", "supported"),
        ("Without ", "With "),
        (" without ", " with "),
    ];
    const INSERTED: &[(&str, &str)] = &[
        (" is ", " is not "),
        (" are ", " are not "),
        (" was ", " was not "),
        (" can ", " cannot "),
        (" may ", " may not "),
        (" must ", " must not "),
        (" should ", " should not "),
        (" will ", " will not "),
        (" does ", " does not "),
    ];
    let mut out = Vec::new();
    for (from, to) in REMOVED {
        for (at, _) in sentence.match_indices(from) {
            out.push(format!(
                "{}{to}{}",
                &sentence[..at],
                &sentence[at + from.len()..]
            ));
        }
    }
    for (from, to) in INSERTED {
        // One is enough: the first verb outside an exception is what the sentence says.
        let place = sentence
            .find(from)
            .filter(|&at| !sentence[..at].contains("unless"));
        if let Some(at) = place.filter(|_| !sentence.starts_with("No more")) {
            let after = &sentence[at + from.len()..];
            let denied = ["not ", "no ", "never ", "neither ", "only ", "it."]
                .iter()
                .any(|word| after.starts_with(word));
            // "asks whether it is not there" asks the same.
            let asks = sentence[..at].ends_with("whether it");
            if !denied && !asks {
                out.push(format!("{}{to}{after}", &sentence[..at]));
            }
        }
    }
    const IMPERATIVES: &[&str] = &[
        "Use ", "Take ", "Set ", "Keep ", "Add ", "Book ", "Drop ", "Apply ", "Give ", "Resolve ",
        "Define ", "Run ", "Start ", "Make ",
    ];
    if let Some(verb) = IMPERATIVES.iter().find(|verb| sentence.starts_with(**verb)) {
        out.push(format!(
            "Do not {}{}",
            verb.to_lowercase(),
            &sentence[verb.len()..]
        ));
    }
    out
}

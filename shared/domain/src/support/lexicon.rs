//! The words that decide polarity, as tables: negations, the two ends of each pair, phrases, synonyms.
//!
//! A word that is not here is a word of content and means itself. Adding one widens what counts as a contradiction or as an
//! equivalent, and so belongs with a sentence in the measure (`tests/it/support`). [`super::reading`] reads by them.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A pair of opposites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Axis {
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
    Place,
}

/// Words at either end of an axis; the first list is the positive end.
const AXES: &[(Axis, &str, &str)] = &[
    (
        Axis::State,
        "enabled enable enables enabling activated activate activates",
        "off disabled disable disables disabling deactivated deactivate deactivates",
    ),
    (
        Axis::Order,
        "before beforehand",
        "after afterwards afterward subsequently",
    ),
    (
        Axis::Bound,
        "minimum minimal min smallest lowest <min>",
        "maximum maximal max largest highest <max>",
    ),
    (
        Axis::Amount,
        "more greater larger bigger higher increase increases increased increasing raise raises raised raising grow grows growing \
         exceed exceeds exceeding above longer faster quicker improve improves improved speeds",
        "less fewer smaller decrease decreases decreased decreasing reduce reduces reduced reducing shrink shrinks shrinking below \
         shorter slower lowers lowering lowered worsen worsens slows",
    ),
    (
        Axis::Permission,
        "allow allows allowed allowing permit permits permitted permitting accept accepts accepted",
        "prevent prevents prevented preventing forbid forbids forbidden prohibit prohibits prohibited disallow disallows disallowed \
         reject rejects rejected deny denies denied block blocks blocked blocking",
    ),
    (
        Axis::Duty,
        "must mandatory obligatory compulsory required necessary",
        "may might optional optionally <need-not>",
    ),
    (
        Axis::Frequency,
        "always invariably",
        "sometimes occasionally rarely seldom",
    ),
    (
        Axis::Inclusion,
        "include includes included including inclusive",
        "exclude excludes excluded excluding exclusive",
    ),
    (
        Axis::Synchrony,
        "synchronous synchronously",
        "asynchronous asynchronously",
    ),
    (Axis::Sorting, "ascending asc", "descending desc"),
    (Axis::End, "first oldest earliest", "last newest latest"),
    (
        Axis::Success,
        "succeed succeeds succeeded success successful successfully",
        "fail fails failed failure",
    ),
    (
        Axis::Sameness,
        "same identical equal",
        "different differing unequal",
    ),
    (Axis::Side, "lower leftmost left", "upper rightmost right"),
    (Axis::Place, "inside", "outside"),
];

/// Phrases read as one word, or as none. Of two that begin alike the longer counts.
const PHRASES: &[(&str, &str)] = &[
    ("no more than", "<max>"),
    ("not more than", "<max>"),
    ("no greater than", "<max>"),
    ("no longer than", "<max>"),
    ("no later than", "<max>"),
    ("not exceed", "<max>"),
    ("never exceed", "<max>"),
    ("never exceeds", "<max>"),
    ("at most", "<max>"),
    ("at the most", "<max>"),
    ("or fewer", "<max>"),
    ("or less", "<max>"),
    ("up to", "<max>"),
    ("no less than", "<min>"),
    ("not less than", "<min>"),
    ("no fewer than", "<min>"),
    ("not fewer than", "<min>"),
    ("no sooner than", "<min>"),
    ("at least", "<min>"),
    ("at a minimum", "<min>"),
    ("at the least", "<min>"),
    ("or greater", "<min>"),
    ("or higher", "<min>"),
    ("or later", "<min>"),
    ("and later", "<min>"),
    ("or more", "<min>"),
    ("one or more", ""),
    ("more or less", ""),
    ("once more", ""),
    ("up to date", ""),
    ("up to the", ""),
    ("up to version", ""),
    ("up to release", ""),
    ("up to you", ""),
    ("in the event of", "after"),
    ("prior to", "before"),
    ("earlier than", "before"),
    ("later than", "after"),
    ("nothing else", "only"),
    ("nobody else", "only"),
    ("no one else", "only"),
    ("no other", "only"),
    ("older than", "before"),
    ("newer than", "after"),
    ("or older", "before"),
    ("nobody but", "only"),
    ("no one but", "only"),
    ("nothing but", "only"),
    ("none but", "only"),
    ("need not", "<need-not>"),
    ("needs not", "<need-not>"),
    ("needn't", "<need-not>"),
    ("not required", "<need-not>"),
    ("not necessary", "<need-not>"),
    ("not mandatory", "<need-not>"),
    ("not needed", "<need-not>"),
    ("isn't required", "<need-not>"),
    ("isn't necessary", "<need-not>"),
    ("aren't required", "<need-not>"),
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
    ("nulls not distinct", ""),
    ("if not exists", ""),
    ("not valid", ""),
    ("on the other hand", ""),
    ("as follows", ""),
    ("the following", ""),
    ("in order to", ""),
    ("in order", ""),
    ("at the same time", ""),
    ("trade off", ""),
    ("cut off", ""),
    ("cuts off", ""),
];

const NEGATORS: &str = "not never no cannot without neither nor none nothing nobody nowhere hardly rarely seldom barely unlikely lack lacks lacking";

/// Under these, what follows is affirmed for some and denied for others, or denied without a negation.
const SOFT_NEGATORS: &str = "unless except until instead rather unlike omit omits omitted avoid avoids avoiding fail \
     fails failed failing refuse refuses refused unable ignore ignores ignored skip skips skipped prevent prevents prevented preventing \
     prohibits forbids stop stops drops lose loses lost absent missing <need-not>";

/// These make a negation in the same sentence conditional: it is said the other way round as easily.
const CONDITIONS: &str = "unless except until otherwise";

/// What "only" may paraphrase.
const LIMITS: &str = "only solely exclusively just except unless restricted limited alone single sole must exclusive other requires \
     required merely";

/// Clauses begin with these.
const OPENERS: &str =
    "and but although though because since while when if whereas so then yet however unless which";

/// A negation that has reached its words ends here: "cannot be locked | are skipped".
const AUXILIARIES: &str =
    "is are was were can could will would may might must should has have had does do did";

/// What these deny is what the clause said before: "running it there is not possible".
const JUDGEMENTS: &str = "possible allowed permitted supported available true case enough useful used done performed applied";

/// Words that carry no statement of their own.
const FUNCTION_WORDS: &str = "a an the of to in on at by for with from as is are was were be been being it its this that these those they them \
     their there or nor do does did done can could will would should shall may might must have has had having any all each every some such \
     same also even very too than into onto over under out up down about you your we our i he she who whom whose what where how why here \
     both either most many much other another own currently directly itself themselves just still already yet ever always usually \
     generally necessarily normally typically automatically actually really simply between through during within against per via \
     one ones only get gets make makes made way case cases thing things like if when while then so and but because since although which \
     whether yes value values able inside outside s t";

/// Words taken as one when statements are compared.
const SYNONYMS: &[&str] = &[
    "keep keeps kept keeping preserve preserves preserved retain retains retained maintain maintains maintained remain remains",
    "use uses used using usable utilize utilized employ employed",
    "need needs needed require requires",
    "recommended recommend recommends advised advisable suggested",
    "erase erased remove removes removed delete deletes deleted drop dropped",
    "save saves saved store stores stored storing write writes written wrote writing",
    "run runs ran running execute executes executed executing perform performed performs",
    "return returns returned yield yields give gives given",
    "change changes changed changing alter alters altered modify modifies modified",
    "work works working function functions",
    "guarantee guarantees guaranteed ensure ensures ensured",
    "see sees seen visible",
    "apply applies applied applicable",
    "wait waits waiting await",
    "take takes taken acquire acquires acquired",
    "set sets setting",
    "start starts started starting begin begins",
    "safe safely safety",
    "row rows tuple tuples record records",
    "1 one",
    "2 two twice",
    "3 three",
    "4 four",
    "5 five",
    "6 six",
    "7 seven",
    "8 eight",
    "9 nine",
    "10 ten",
    "11 eleven",
    "12 twelve",
    "20 twenty",
    "30 thirty",
    "60 sixty",
    "90 ninety",
];

/// Denying prefixes would be guesses: only these words are taken apart.
const DENIED: &[(&str, &str)] = &[
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
    ("unrelated", "related"),
    ("unaffected", "affected"),
    ("irreversible", "reversible"),
    ("unrecoverable", "recoverable"),
];

/// What a word does.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    pub(super) negates: bool,
    pub(super) softens: bool,
    pub(super) conditions: bool,
    pub(super) limits: bool,
    pub(super) opens_clause: bool,
    pub(super) is_auxiliary: bool,
    pub(super) judges: bool,
    pub(super) is_function: bool,
    pub(super) pole: Option<(Axis, bool)>,
    /// The word it denies.
    pub(super) denies: Option<&'static str>,
    /// The word it is taken for.
    group: Option<&'static str>,
}

/// Gives a word one of its roles.
type Assign = fn(&mut Entry);

static LEXICON: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    let mut lexicon: HashMap<&'static str, Entry> = HashMap::new();
    let roles: [(&'static str, Assign); 8] = [
        (NEGATORS, |entry| entry.negates = true),
        (SOFT_NEGATORS, |entry| entry.softens = true),
        (CONDITIONS, |entry| entry.conditions = true),
        (LIMITS, |entry| entry.limits = true),
        (OPENERS, |entry| entry.opens_clause = true),
        (AUXILIARIES, |entry| entry.is_auxiliary = true),
        (JUDGEMENTS, |entry| entry.judges = true),
        (FUNCTION_WORDS, |entry| entry.is_function = true),
    ];
    for (words, assign) in roles {
        for word in words.split_whitespace() {
            assign(lexicon.entry(word).or_default());
        }
    }
    for (axis, positive, negative) in AXES {
        for (words, is_positive) in [(positive, true), (negative, false)] {
            for word in words.split_whitespace() {
                lexicon.entry(word).or_default().pole = Some((*axis, is_positive));
            }
        }
    }
    for (denied, affirmed) in DENIED {
        lexicon.entry(denied).or_default().denies = Some(affirmed);
    }
    for group in SYNONYMS {
        let mut words = group.split_whitespace();
        let first = words.clone().next();
        for word in words.by_ref() {
            lexicon.entry(word).or_default().group = first;
        }
    }
    lexicon
});

/// Phrases and what they are read as, by their first word.
type Phrases = HashMap<&'static str, Vec<(&'static str, &'static str)>>;

static PHRASES_BY_HEAD: LazyLock<Phrases> = LazyLock::new(|| {
    let mut by_head = Phrases::new();
    for &(phrase, meaning) in PHRASES {
        let head = phrase.split(' ').next().unwrap_or(phrase);
        by_head.entry(head).or_default().push((phrase, meaning));
    }
    for phrases in by_head.values_mut() {
        phrases.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
    }
    by_head
});

/// What `word` does; nothing in particular if it is not listed.
pub(super) fn entry(word: &str) -> Entry {
    let mut entry = LEXICON.get(word).copied().unwrap_or_default();
    entry.negates |= word.ends_with("n't");
    entry
}

/// Whether `word` only holds others together, or is judged for what it turns round.
pub(super) fn says_nothing(word: &str) -> bool {
    let entry = entry(word);
    entry.is_function
        || entry.negates
        || entry.conditions
        || entry.opens_clause
        || entry.is_auxiliary
        || word.len() == 1
}

/// The phrase that `rest` begins with, `head` being its first word, and what it is read as.
pub(super) fn phrase(head: &str, rest: &str) -> Option<(&'static str, &'static str)> {
    let is_whole = |phrase: &str| !rest[phrase.len()..].starts_with(super::text::is_word);
    PHRASES_BY_HEAD
        .get(head)?
        .iter()
        .find(|(phrase, _)| rest.starts_with(phrase) && is_whole(phrase))
        .copied()
}

/// What the word's forms have in common, crudely: enough to see that two texts use the same word.
pub(super) fn stem(word: &str) -> String {
    const ENDINGS: &[&str] = &[
        "ations", "ation", "ically", "ively", "ities", "ments", "ings", "able", "ible", "ment",
        "ions", "ing", "ity", "ied", "ies", "ers", "ion", "ive", "ed", "es", "ly", "er", "al", "s",
        "e", "y",
    ];
    const LEAST: usize = 3;
    let word = word.strip_suffix("'s").unwrap_or(word);
    if let Some(group) = LEXICON.get(word).and_then(|entry| entry.group) {
        return group.to_owned();
    }
    if word.contains(['_', '.', '$']) || word.len() <= LEAST {
        return word.to_owned();
    }
    let short = ENDINGS
        .iter()
        .find_map(|ending| {
            word.strip_suffix(ending)
                .filter(|short| short.len() >= LEAST)
        })
        .unwrap_or(word);
    let short = short
        .strip_suffix('e')
        .filter(|short| short.len() >= LEAST)
        .unwrap_or(short);
    let mut chars = short.chars().rev();
    match (chars.next(), chars.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 's' | 'l') => {
            short[..short.len() - last.len_utf8()].to_owned()
        }
        _ => short.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, entry, phrase, stem};

    #[test]
    fn forms_of_a_word_are_one() {
        for (one, other) in [
            ("recommended", "advisable"),
            ("locks", "locked"),
            ("commit", "committed"),
            ("retry", "retries"),
            ("keeps", "retained"),
            ("stored", "writes"),
            ("compression", "compressed"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        for (one, other) in [
            ("work_mem", "work_mems"),
            ("17.2", "17.1"),
            ("reader", "write"),
        ] {
            assert_ne!(stem(one), stem(other), "{one} {other}");
        }
    }

    #[test]
    fn the_longer_phrase_counts() {
        assert_eq!(phrase("up", "up to date now"), Some(("up to date", "")));
        assert_eq!(phrase("up", "up to 5"), Some(("up to", "<max>")));
        assert_eq!(phrase("up", "up topped"), None);
        assert_eq!(entry("<max>").pole, Some((Axis::Bound, false)));
        assert!(entry("isn't").negates && !entry("point").negates);
    }
}

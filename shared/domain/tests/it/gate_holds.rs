//! Properties of the gate over generated answers, held against checks that share no code with it.

use domain::gate::{End, Gate, GateLimits, Passage, Ruling};
use proptest::prelude::*;

const PASSAGES: [&str; 6] = [
    "queue_depth (integer) Sets how many requests may wait before the server turns new ones away. The default is 64 requests.",
    "When archive_mode is on, every finished segment is handed to the command in archive_command. Segments stay until it succeeds.",
    "The view stat_queue holds one row for each queue, with its length and the time of the oldest request in it.",
    "SELECT count(*) FROM stat_queue WHERE length > 10; counts the queues that are longer than ten requests.",
    "Use brackets for elements: a[1] is the first one, and “nested \"quotes\"” stay as they are (see the list; it is short).",
    "Le délai par défaut est de 30 secondes – voir « timeout_idle » – et ne s’applique pas aux sessions ouvertes.",
];

/// Sentences with a quote that holds them up.
const TRUE: &[(usize, &str, &str)] = &[
    (
        1,
        "By default 64 requests may wait",
        "The default is 64 requests",
    ),
    (
        1,
        "New requests are turned away when queue_depth is reached, e.g. under load",
        "how many requests may wait before the server turns new ones away",
    ),
    (
        2,
        "Each segment goes to `archive_command`",
        "every finished segment is handed to the command in archive_command",
    ),
    (
        2,
        "A segment is kept until then (it is not lost)",
        "Segments stay until it succeeds.",
    ),
    (
        3,
        "The view has a row a queue",
        "holds one row for each queue, with its length",
    ),
    (
        4,
        "It counts long queues",
        "counts the queues that are longer than ten requests",
    ),
    (
        5,
        "The first element is a[1] there",
        "a[1] is the first one",
    ),
    (
        5,
        "Nested marks stay",
        "“nested \"quotes\"” stay as they are",
    ),
    (
        6,
        "Le délai est de 30 secondes",
        "Le délai par défaut est de 30 secondes",
    ),
    (
        6,
        "Il ne vaut pas pour une session ouverte",
        "ne s'applique pas aux sessions ouvertes",
    ),
];

/// A part of an answer as written; with what may be shown of it, if anything may.
#[derive(Debug, Clone)]
struct Piece {
    written: String,
    shown: Option<String>,
}

fn piece(written: String, shown: Option<String>) -> Piece {
    Piece { written, shown }
}

fn marks() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("\"", "\""),
        ("“", "”"),
        ("«", "»"),
        ("“", "\""),
        ("„", "“"),
    ])
}

fn cite(form: usize, passage: usize, quote: &str, (open, close): (&str, &str)) -> String {
    match form % 7 {
        0 | 1 => format!("[P{passage}: {open}{quote}{close}]"),
        2 => format!("[p{passage} {open}{quote}{close}]"),
        3 => format!("([P{passage}: {open}{quote}{close}])"),
        4 => format!("［P{passage}, {open}{quote}{close}］"),
        5 => format!("[P{passage}: {open}{quote}{close}; P{passage}: {open}{quote}{close}]"),
        _ => format!("[Source P{passage}: {open}{quote}{close}]"),
    }
}

fn valid() -> impl Strategy<Value = Piece> {
    (
        prop::sample::select(TRUE),
        any::<usize>(),
        marks(),
        0..7_usize,
    )
        .prop_map(|((passage, text, quote), form, marks, place)| {
            let mark = cite(form, passage, quote, marks);
            match place {
                0 | 1 => piece(format!("{text} {mark}. "), Some(format!("{text}."))),
                2 => piece(format!("{text}. {mark} "), Some(format!("{text}."))),
                3 => piece(format!("{text}. {mark}. "), Some(format!("{text}."))),
                4 => piece(format!("\n- {text} {mark}\n\n"), Some(text.to_owned())),
                5 => piece(format!("\n| {text} | {mark} |\n\n"), Some(text.to_owned())),
                _ => piece(
                    format!("{text} [P9: {mark}] {mark}! "),
                    Some(format!("{text}!")),
                ),
            }
        })
}

/// Sentences that must not be shown: each says `zork`.
fn planted() -> impl Strategy<Value = Piece> {
    let fault = (
        prop::sample::select(TRUE),
        any::<usize>(),
        marks(),
        0..16_usize,
    );
    fault.prop_map(|((passage, _, quote), form, marks, fault)| {
        let other = passage % PASSAGES.len() + 1;
        let words: Vec<&str> = quote.split(' ').collect();
        let altered = match form % 3 {
            0 => words[..words.len() - 1].join(" ") + " zork",
            1 => format!("{} zork {}", words[0], words[1..].join(" ")),
            _ => quote
                .replace("64", "640")
                .replace("30", "3")
                .replace("the", "no")
                .replace("is", "was")
                .replace("stay", "go")
                .replace("one", "two")
                .replace("ne s'", "il s'"),
        };
        let text = match fault {
            0 => "A zork cites nothing at all. \n\n".to_owned(),
            1 => format!("A zork cites {}. ", cite(form, 9, quote, marks)),
            2 => format!("A zork cites {}. ", cite(form, other, quote, marks)),
            3 | 4 => format!("A zork cites {}. ", cite(form, passage, &altered, marks)),
            5 => format!("A zork cites {}. ", cite(form, passage, words[0], marks)),
            6 => format!("A zork cites [P{passage}]. "),
            7 => format!("A zork cites {}{quote}\n\n", "[P1: \""),
            8 => format!("A zork cites [P{passage}: \"{quote} "),
            9 => "A zork cites [1] and 【3†source】. ".to_owned(),
            10 => format!(
                "\n\n```\nzork[P1] {}\n```\n{}\n\n",
                cite(form, passage, quote, marks),
                cite(form, passage, quote, marks)
            ),
            11 => format!(
                "A zork cites `{}`. ",
                cite(form, passage, quote, marks).replace('`', "")
            ),
            12 => "\n\n## Zork\n\n".to_owned(),
            13 => format!(
                "\n\n| zork | zork |\n|---|---|\n| zork | {} |\n\n",
                cite(form, 7, quote, marks)
            ),
            14 => {
                "A zork cites [P184467440737095516160: \"The default is 64 requests\"]. ".to_owned()
            }
            _ => "The zork moon shines on cheese. ".to_owned(),
        };
        piece(text, None)
    })
}

/// Sentences whose number is put in at `#`.
const NUMBERED: &[(usize, &str, &str)] = &[
    (
        1,
        "By default # requests may wait",
        "The default is 64 requests",
    ),
    (
        4,
        "It counts the queues that are longer than # requests",
        "counts the queues that are longer than ten requests",
    ),
    (
        5,
        "The first element is a[#] there",
        "a[1] is the first one",
    ),
    (
        6,
        "Le délai est de # secondes",
        "Le délai par défaut est de 30 secondes",
    ),
];

/// Sentences whose name is put in at `#`.
const NAMED: &[(usize, &str, &str)] = &[
    (
        1,
        "New requests are turned away when `#` is reached",
        "how many requests may wait before the server turns new ones away",
    ),
    (
        2,
        "Each segment goes to #",
        "every finished segment is handed to the command in archive_command",
    ),
    (
        3,
        "The view # has a row for each queue",
        "holds one row for each queue, with its length",
    ),
    (
        6,
        "Le délai `#` est de 30 secondes",
        "Le délai par défaut est de 30 secondes",
    ),
];

/// The opposite of what is quoted. The lint reads English only, and takes "not … until" for a paraphrase of "until".
const TURNED: &[(usize, &str, &str)] = &[
    (
        1,
        "The server does not turn new requests away",
        "how many requests may wait before the server turns new ones away",
    ),
    (
        1,
        "Requests may never wait",
        "how many requests may wait before the server turns new ones away",
    ),
    (
        2,
        "A finished segment is not handed to `archive_command`",
        "every finished segment is handed to the command in archive_command",
    ),
    (
        2,
        "Segments are handed over when archive_mode is off",
        "When archive_mode is on, every finished segment is handed",
    ),
    (
        3,
        "The view does not hold a row for each queue",
        "holds one row for each queue, with its length",
    ),
    (
        4,
        "It does not count the queues longer than ten requests",
        "counts the queues that are longer than ten requests",
    ),
    (
        4,
        "It counts the queues that are shorter than ten requests",
        "counts the queues that are longer than ten requests",
    ),
    (5, "a[1] is not the first element", "a[1] is the first one"),
    (5, "a[1] is the last one", "a[1] is the first one"),
];

/// Sentences whose quote holds and does not support them. No number is one of the passages', no name either.
fn unsupported() -> impl Strategy<Value = Piece> {
    let altered = prop_oneof![
        (prop::sample::select(NUMBERED), 100..100_000_u32).prop_map(
            |((passage, text, quote), n)| (passage, text.replace('#', &n.to_string()), quote)
        ),
        (
            prop::sample::select(NAMED),
            "(queue|archive|stat)_[a-z]{1,3}x[a-z]{0,3}"
        )
            .prop_map(|((passage, text, quote), name)| (
                passage,
                text.replace('#', &name),
                quote
            )),
        prop::sample::select(TURNED).prop_map(|(passage, text, quote)| (
            passage,
            text.to_owned(),
            quote
        )),
    ];
    (altered, any::<usize>(), marks(), 0..5_usize).prop_map(
        |((passage, text, quote), form, marks, place)| {
            let mark = cite(form, passage, quote, marks);
            let written = match place {
                0 => format!("{text} {mark}. "),
                1 => format!("{text}. {mark} "),
                2 => format!("\n- {text} {mark}\n\n"),
                3 => format!("\n| {text} | {mark} |\n\n"),
                _ => format!("Sure, here is the answer: {text} {mark}. "),
            };
            piece(written, None)
        },
    )
}

fn answers() -> impl Strategy<Value = Vec<Piece>> {
    let listing = Just(piece(
        "\n\n```sql\nSELECT count(*) FROM stat_queue WHERE length > 10;\n```\n[P4: \"counts the queues that are longer\"]\n\n".to_owned(),
        Some("SELECT count(*) FROM stat_queue WHERE length > 10;".to_owned()),
    ));
    let layout = prop::sample::select(vec![
        "\n\n",
        "\n",
        "\n\n# Title\n",
        "[NOT COVERED] ",
        "\n\n---\n\n",
        "\n\n**Title**\n\n",
    ])
    .prop_map(|text| piece(text.to_owned(), None));
    prop::collection::vec(
        prop_oneof![5 => valid(), 4 => planted(), 2 => unsupported(), 1 => listing, 1 => layout],
        1..9,
    )
}

fn rule(text: &str, cuts: &[usize], end: End) -> Vec<Ruling> {
    let passages = PASSAGES.map(|text| Passage { text, heading: "" });
    let mut gate = Gate::new(&passages, GateLimits { words: 100_000 });
    let mut rulings = Vec::new();
    let mut rest = text;
    for &cut in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let mut at = cut.clamp(1, rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let before = rulings.len();
        rulings.extend(gate.push(&rest[..at]));
        // Nothing is taken back: what was ruled stays, what is added comes after it.
        assert!(rulings.len() >= before);
        rest = &rest[at..];
    }
    rulings.extend(gate.finish(end));
    rulings
}

/// Letters and digits in lower case: blunt, and none of the gate's own folding.
fn blunt(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// What must hold for rulings whatever was written.
fn hold(text: &str, rulings: &[Ruling]) -> Result<(), TestCaseError> {
    let mut last = None;
    for ruling in rulings {
        let index = match ruling {
            Ruling::Shown(sentence) => {
                prop_assert!(!sentence.citations().is_empty());
                for citation in sentence.citations() {
                    let passage = PASSAGES[citation.passage()];
                    let words: String = passage
                        .chars()
                        .skip(citation.start())
                        .take(citation.end() - citation.start())
                        .collect();
                    prop_assert_eq!(&words, citation.quote());
                    prop_assert!(blunt(passage).contains(&blunt(citation.quote())));
                    prop_assert!(
                        citation.quote().split_whitespace().count() >= 3
                            || citation.quote().contains(['_', '(', '['])
                    );
                }
                let mut written = text.chars().flat_map(char::to_lowercase);
                let said = blunt(sentence.text());
                prop_assert!(
                    said.chars().all(|c| written.any(|w| w == c)),
                    "{:?} was not written",
                    sentence.text()
                );
                sentence.index()
            }
            Ruling::Removed { index, .. } => *index,
            Ruling::NotCovered | Ruling::NoAnswer | Ruling::Truncated => continue,
        };
        prop_assert!(
            last.is_none_or(|last| index > last),
            "rulings come in order"
        );
        last = Some(index);
    }
    Ok(())
}

/// Whether text outside of code spans holds a citation mark, or what is left where one was.
fn holds_mark(text: &str, written: &str) -> bool {
    let outside: String = text.split('`').step_by(2).collect();
    let label = |mark: &&str| {
        outside.match_indices(*mark).any(|(at, _)| {
            let next = outside[at + mark.len()..].chars().next();
            next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    };
    let labels = ["[P1", "[P9", "[p3", "（P1", "［P1"];
    let squeeze = |text: &str| {
        let visible = |c: &char| !c.is_whitespace() && !matches!(c, '\u{200B}' | '\u{202E}');
        text.chars().filter(visible).collect::<String>()
    };
    let squeezed = squeeze(written);
    let leftovers = ["[ ]", "( )", "()", "[]"];
    labels.iter().any(label)
        || leftovers
            .iter()
            .any(|left| outside.contains(left) && !squeezed.contains(&squeeze(left)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(7_000))]

    #[test]
    fn no_planted_fault_is_shown(
        pieces in answers(),
        cuts in prop::collection::vec(1..40_usize, 1..8),
        end in prop::sample::select(vec![End::Complete, End::Truncated, End::Interrupted]),
        kept in 0.5..1.2_f64,
    ) {
        let mut text: String = pieces.iter().map(|piece| piece.written.as_str()).collect();
        if end != End::Complete {
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a short text")]
            let mut length = ((text.len() as f64) * kept) as usize;
            length = length.min(text.len());
            while !text.is_char_boundary(length) {
                length -= 1;
            }
            text.truncate(length);
        }
        let rulings = rule(&text, &[usize::MAX], end);
        prop_assert_eq!(&rule(&text, &cuts, end), &rulings, "cut at {:?}: {:?}", cuts, text);
        hold(&text, &rulings)?;
        for ruling in &rulings {
            let Ruling::Shown(sentence) = ruling else { continue };
            let said = sentence.text();
            prop_assert!(!said.to_lowercase().contains("zork"), "{said:?} of {text:?}");
            let is_true = pieces.iter().any(|piece| piece.shown.as_deref() == Some(said));
            prop_assert!(is_true, "{said:?} is no sentence of {text:?}");
        }
    }

    #[test]
    fn no_text_breaks_the_gate(
        text in prop::collection::vec(prop::sample::select(vec![
            "[", "]", "(", ")", "P1", "P9", "p3", "P", ":", ";", ",", ".", ". ", " ", "  ", "\n", "\n\n", "\r\n", "\"", "“", "”", "'", "`", "``", "```",
            "```\n", "~~~", "|", "| a | b |", "|---|", "- ", "* ", "**", "1. ", "#", "# ", "> ", "    ", "\t", "The default is 64 requests",
            "[P1: \"The default is 64 requests\"]", "[P1: \"The default", "[P3]", "【", "】", "†source", "［", "］", "NOT COVERED", "[NOT COVERED]",
            "and", "see", "source", "Passage 1", "e.g.", "17.2", "pg_dump.", "Word", "word", "é", "\u{1F600}", "。", "\u{301}", "!", "?", "…", "—", "{", "}", "^",
            "NO ANSWER IN THE PASSAGES", "•", "–", "：", "；", "*", "_", "\\", "&", "0", "=", "\u{200B}", "\u{202E}", "one row for each queue, with its length", "a[1]", "stat_queue",
        ]), 0..60).prop_map(|parts| parts.concat()),
        cuts in prop::collection::vec(1..9_usize, 1..6),
        end in prop::sample::select(vec![End::Complete, End::Truncated, End::Interrupted]),
    ) {
        let rulings = rule(&text, &[usize::MAX], end);
        prop_assert_eq!(&rule(&text, &cuts, end), &rulings, "cut at {:?}: {:?}", cuts, text);
        hold(&text, &rulings)?;
        for ruling in &rulings {
            if let Ruling::Shown(sentence) = ruling
                && sentence.kind() == domain::citation::ShownAs::Prose
            {
                let said = sentence.text();
                prop_assert!(!holds_mark(said, &text) || said.contains('`'), "{said:?} of {text:?}");
                prop_assert!(!said.starts_with("NOT COVERED:"), "{said:?}");
            }
        }
    }
}

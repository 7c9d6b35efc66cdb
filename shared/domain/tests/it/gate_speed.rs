//! How long the gate takes. Run with
//! `cargo nextest run -p domain --release --run-ignored only --no-capture gate_speed`.

use std::time::{Duration, Instant};

use domain::citation::{ClaimedCitation, ClaimedSentence, ShownAs, Verifier};
use domain::gate::{End, Gate, GateLimits, Passage, Ruling};
use domain::tokens;
use domain::writing::Writing;

const PASSAGES: usize = 6;
const PASSAGE_TOKENS: usize = 800;

const VERBS: [&str; 8] = [
    "keeps", "reads", "writes", "drops", "sorts", "locks", "copies", "sends",
];
const NOUNS: [&str; 12] = [
    "segment",
    "page",
    "session",
    "table",
    "index",
    "checkpoint",
    "backup",
    "role",
    "trigger",
    "cursor",
    "lock",
    "queue",
];

/// Sentences that differ, as many as make up a passage.
fn passage(number: usize) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut text = String::new();
    for n in 0.. {
        let seed = n * 31 + number * 17;
        let sentence = format!(
            "When {}_limit reaches {} MB, the server {} each {} before the next {} and {} the {} of version {}.{}.",
            NOUNS[seed % 12],
            seed * 7 % 997,
            VERBS[seed / 3 % 8],
            NOUNS[(seed + 5) % 12],
            NOUNS[seed / 5 % 12],
            VERBS[seed / 7 % 8],
            NOUNS[seed / 11 % 12],
            seed % 19,
            n,
        );
        text.push_str(&sentence);
        text.push(' ');
        if tokens::count(&text) > PASSAGE_TOKENS {
            break;
        }
        sentences.push(sentence);
    }
    sentences
}

fn with_heading<'a>(texts: &[&'a str]) -> Vec<Passage<'a>> {
    let heading = "Server Administration";
    texts
        .iter()
        .map(|&text| Passage { text, heading })
        .collect()
}

fn p99(mut times: Vec<Duration>) -> (Duration, Duration, Duration) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    (at(50), at(99), times[times.len() - 1])
}

/// Words of a sentence from its `n`th on, in other white space and marks.
fn quote(sentence: &str, n: usize) -> String {
    let words: Vec<&str> = sentence.split(' ').collect();
    words[n % 4..words.len() - n % 3].join("\u{A0} ")
}

#[test]
#[ignore = "a measure, not a check"]
#[expect(clippy::print_stdout, reason = "the measure is read by people")]
fn time_to_check_a_sentence() {
    let sentences: Vec<Vec<String>> = (0..PASSAGES).map(passage).collect();
    let texts: Vec<String> = sentences
        .iter()
        .map(|sentences| sentences.join(" "))
        .collect();
    let passages: Vec<&str> = texts.iter().map(String::as_str).collect();
    let verifier = Verifier::new(&passages);
    let began = Instant::now();
    let _ = Gate::new(&with_heading(&passages), GateLimits::default());
    println!(
        "a gate over {PASSAGES} passages of {PASSAGE_TOKENS} tokens is made in {:?}",
        began.elapsed()
    );
    for (kind, spoil) in [("quotes that hold", ""), ("quotes that do not", " zork")] {
        let mut times = Vec::new();
        for round in 0..5_000 {
            let citations = (0..2)
                .map(|n| {
                    let of = &sentences[(round + n) % PASSAGES];
                    ClaimedCitation {
                        passage: format!("P{}", (round + n) % PASSAGES + 1),
                        quote: quote(&of[round * 7 % of.len()], round) + spoil,
                    }
                })
                .collect();
            let claimed = ClaimedSentence {
                index: round,
                text: "So it is.".to_owned(),
                kind: ShownAs::Prose,
                citations,
            };
            let began = Instant::now();
            std::hint::black_box(verifier.check(claimed));
            times.push(began.elapsed());
        }
        println!(
            "verifier, two {kind} a sentence: p50, p99, most {:?}",
            p99(times)
        );
    }
    for (kind, cites) in [("a quote", true), ("a bare label", false)] {
        let mut times = Vec::new();
        let mut gate = Gate::new(&with_heading(&passages), GateLimits { words: usize::MAX });
        for round in 0..5_000 {
            let passage = round % PASSAGES;
            let sentence = &sentences[passage][round * 7 % sentences[passage].len()];
            let mark = if cites {
                format!("[P{}: \"{}\"]", passage + 1, quote(sentence, round))
            } else {
                format!("[P{}]", passage + 1)
            };
            gate.push(&format!("{} {mark}.", sentence.trim_end_matches('.')));
            // What decides is the next sentence's first letter.
            let began = Instant::now();
            let rulings = gate.push(" T");
            times.push(began.elapsed());
            assert!(matches!(rulings[..], [Ruling::Shown(_)]));
            gate.push("hat [P1].");
            gate.push("\n\n");
        }
        println!(
            "gate, from the deciding letter to a sentence with {kind}: p50, p99, most {:?}",
            p99(times)
        );
    }
}

#[test]
#[ignore = "a measure, not a check"]
#[expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "the measure is read by people"
)]
fn throughput() {
    let sentences = passage(0);
    let texts = [sentences.join(" ")];
    let passages: Vec<&str> = texts.iter().map(String::as_str).collect();
    let answer: String = sentences
        .iter()
        .enumerate()
        .map(|(n, sentence)| match n % 4 {
            0 => format!(
                "{} [P1: \"{}\"]. ",
                sentence.trim_end_matches('.'),
                quote(sentence, n)
            ),
            1 => format!("{sentence} [P1: “{}”]\n\n", quote(sentence, n)),
            2 => format!("- `{}` {sentence} (P1)\n", NOUNS[n % 12]),
            _ => format!(
                "\n```sql\nSELECT {}[P1];\n```\n| a | {sentence} [P1] |\n\n",
                NOUNS[n % 12]
            ),
        })
        .collect();
    let text = answer.repeat(200);
    let hostile = [
        ("brackets", "[(".repeat(100_000)),
        (
            "an open quote",
            format!("A [P1: \"{}", "words ".repeat(40_000)),
        ),
        ("backticks", "`a ".repeat(80_000)),
        ("one code span", format!("A {}", "`".repeat(100_000))),
        ("one line", "word ".repeat(60_000)),
        ("dashes", "-".repeat(200_000)),
    ];
    let measure = |name: &str, text: &str, read: &mut dyn FnMut(&str)| {
        let chars: Vec<char> = text.chars().collect();
        let deltas: Vec<String> = chars
            .chunks(4)
            .map(|delta| delta.iter().collect())
            .collect();
        let began = Instant::now();
        deltas.iter().for_each(|delta| read(delta));
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{name}: {:.1} MB/s of {} KB",
            text.len() as f64 / seconds / 1e6,
            text.len() / 1_000
        );
    };
    let mut writing = Writing::default();
    measure("parser", &text, &mut |delta| {
        std::hint::black_box(writing.push(delta));
    });
    let mut gate = Gate::new(&with_heading(&passages), GateLimits { words: usize::MAX });
    measure("gate, one passage", &text, &mut |delta| {
        std::hint::black_box(gate.push(delta));
    });
    std::hint::black_box(gate.finish(End::Complete));
    for (name, text) in &hostile {
        let mut writing = Writing::default();
        measure(name, text, &mut |delta| {
            std::hint::black_box(writing.push(delta));
        });
    }
}

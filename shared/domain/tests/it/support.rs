//! How much the support lint catches, and how much truth it costs.
//!
//! True sentences must pass; each is then changed in one fact, class by class, and the change must be objected to. The counts
//! are printed with every miss, the aims asserted: losses per set, catches per class over all sets. Rows whose answer states
//! facts that its quote lacks are counted apart, for objecting to them is right, and so are turned clauses of which the
//! evidence says nothing. Sentences are in [`pairs`] and in the public data sets.
//!
//!     cargo nextest run -p domain --test it --no-capture

mod mutate;
mod pairs;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use domain::fold::Folded;
use domain::support::{Evidence, Unsupported, unsupported};
use domain::{names, quote};

use mutate::{CLASSES, Class, mutants};
use pairs::PAIRS;

/// At least this share of the changed sentences is objected to, class by class.
const CAUGHT: f64 = 0.95;
/// At most this share of the true ones.
const LOST: f64 = 0.05;

/// A true sentence and what it cites.
struct Case {
    id: String,
    sentence: String,
    evidence: Vec<(String, String)>,
}

impl Case {
    fn judge(&self, sentence: &str) -> Option<Unsupported> {
        let evidence: Vec<_> = self
            .evidence
            .iter()
            .map(|(passage, quote)| Evidence {
                passage,
                heading: "",
                quote,
            })
            .collect();
        unsupported(sentence, &evidence)
    }

    /// Whether a longer word of `clause` begins like some word cited: only then can the evidence contradict it.
    fn speaks_of(&self, clause: &str) -> bool {
        const ALIKE: usize = 4;
        let heads = |text: &str| -> Vec<String> {
            text.to_lowercase()
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| {
                    word.chars().count() >= ALIKE
                        && ![
                            "with", "that", "than", "this", "from", "when", "does", "cannot",
                            "more", "after", "before", "they", "must", "should",
                        ]
                        .contains(word)
                })
                .map(|word| word.chars().take(ALIKE).collect())
                .collect()
        };
        let cited: Vec<String> = self
            .evidence
            .iter()
            .flat_map(|(passage, _)| heads(passage))
            .collect();
        heads(clause).iter().any(|head| cited.contains(head))
    }

    /// Whether the evidence says anything of what `class` changes: without a word of order it states none.
    fn states(&self, class: Class) -> bool {
        const ORDER: &[&str] = &[
            "before", "after", "until", "once", "when", "event", "older", "newer",
        ];
        let is_order = |word: &str| ORDER.contains(&word.to_lowercase().as_str());
        class != Class::BeforeAfter
            || self
                .evidence
                .iter()
                .any(|(passage, _)| passage.split(|c: char| !c.is_alphanumeric()).any(is_order))
    }

    /// Whether each number and exact name of the sentence stands in what it cites, looked up without the lint.
    fn has_its_facts(&self) -> bool {
        let cited: String = self
            .evidence
            .iter()
            .flat_map(|(passage, _)| [passage.as_str(), " "])
            .collect::<String>()
            .to_lowercase();
        let holds = |fact: &str| cited.contains(&fact.to_lowercase());
        let digits = self
            .sentence
            .split(|c: char| !c.is_ascii_digit())
            .filter(|digits| !digits.is_empty())
            .all(holds);
        digits
            && names::exact_names(&self.sentence)
                .iter()
                .all(|name| holds(&name.text))
    }
}

fn written() -> Vec<Case> {
    let said = |pair: &'static pairs::Pair| pair.said.iter().map(move |said| (pair, *said));
    PAIRS
        .iter()
        .flat_map(said)
        .map(|(pair, said)| Case {
            id: said.to_owned(),
            sentence: said.to_owned(),
            evidence: vec![(pair.passage.to_owned(), pair.quote.to_owned())],
        })
        .collect()
}

/// The answerable rows of a public data set, each gold quote standing for its passage too.
fn rows(name: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../eval/datasets")
        .join(name);
    let text = std::fs::read_to_string(path).expect("the data set is in the checkout");
    text.lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a row is JSON"))
        .filter(|row| row["type"] == "answerable")
        .map(|row| {
            let gold = row["gold"].as_array().expect("gold is a list");
            let quote =
                |gold: &serde_json::Value| gold["quote"].as_str().unwrap_or_default().to_owned();
            Case {
                id: row["id"].as_str().unwrap_or_default().to_owned(),
                sentence: row["reference_answer"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                evidence: gold.iter().map(|gold| (quote(gold), quote(gold))).collect(),
            }
        })
        .collect()
}

/// Counts of true sentences.
#[derive(Default)]
struct Truth {
    sentences: usize,
    lost: Vec<String>,
    beyond: Vec<String>,
}

fn measure_truth(cases: &[Case]) -> Truth {
    let mut truth = Truth::default();
    for case in cases {
        match case.judge(&case.sentence) {
            Some(Unsupported::Number | Unsupported::Name) if !case.has_its_facts() => {
                truth.beyond.push(case.id.clone())
            }
            Some(reason) => {
                truth.sentences += 1;
                truth.lost.push(format!("{} {}", reason.as_str(), case.id));
            }
            None => truth.sentences += 1,
        }
    }
    truth
}

/// Caught and made per class, and what was missed.
#[derive(Default)]
struct Caught {
    by_class: BTreeMap<&'static str, (usize, usize)>,
    missed: Vec<String>,
    /// Polarity changed in a clause of which the evidence says nothing at all.
    beyond: usize,
}

/// The clause of `mutant` in which it differs from `sentence`.
fn changed_clause(sentence: &str, mutant: &str) -> String {
    let same = sentence
        .bytes()
        .zip(mutant.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let is_bound = |c: char| matches!(c, ',' | ';' | ':');
    let at = (0..=same.min(mutant.len().saturating_sub(1)))
        .rev()
        .find(|&at| mutant.is_char_boundary(at))
        .unwrap_or(0);
    let start = mutant[..at].rfind(is_bound).map_or(0, |bound| bound + 1);
    let end = mutant[at..]
        .find(is_bound)
        .map_or(mutant.len(), |bound| at + bound);
    mutant[start..end].to_owned()
}

fn measure_mutants(cases: &[Case]) -> Caught {
    let mut caught = Caught::default();
    for case in cases
        .iter()
        .filter(|case| case.judge(&case.sentence).is_none())
    {
        for class in CLASSES {
            for mutant in mutants(class, &case.sentence) {
                let clause = changed_clause(&case.sentence, &mutant);
                if class.is_polar() && !(case.speaks_of(&clause) && case.states(class)) {
                    caught.beyond += 1;
                    continue;
                }
                let (hits, all) = caught.by_class.entry(class.name()).or_default();
                *all += 1;
                if case.judge(&mutant).is_some() {
                    *hits += 1;
                } else {
                    caught
                        .missed
                        .push(format!("{:>12} {} {mutant:?}", class.name(), case.id));
                }
            }
        }
    }
    caught
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Caught and made per class over all sets.
type Pooled = BTreeMap<&'static str, (usize, usize)>;

/// Prints what was measured and adds it to `pooled`.
fn report(title: &str, cases: &[Case], pooled: &mut Pooled) -> Truth {
    let (truth, caught) = (measure_truth(cases), measure_mutants(cases));
    println!(
        "\n{title}: {} true sentences, {} wrongly removed ({:.3}); {} more state facts their quote lacks",
        truth.sentences,
        truth.lost.len(),
        share(truth.lost.len(), truth.sentences),
        truth.beyond.len()
    );
    for lost in &truth.lost {
        println!("    lost {lost}");
    }
    println!("    beyond the quote: {}", truth.beyond.join(" "));
    for (class, (hits, all)) in &caught.by_class {
        println!(
            "    {class:>12}: {hits} of {all} caught ({:.3})",
            share(*hits, *all)
        );
        let (pooled_hits, pooled_all) = pooled.entry(*class).or_default();
        *pooled_hits += hits;
        *pooled_all += all;
    }
    println!(
        "    {} more changes in clauses of which the evidence says nothing",
        caught.beyond
    );
    for missed in &caught.missed {
        println!("    missed {missed}");
    }
    truth
}

#[test]
fn changed_facts_are_caught_and_true_sentences_kept() {
    let sets = [
        ("written pairs", written()),
        ("public rows", rows("postgresql-17.jsonl")),
        ("handbook rows", rows("handbook.jsonl")),
    ];
    assert!(PAIRS.len() >= 60 && sets[1].1.len() == 102);
    let mut below = Vec::new();
    let mut pooled = Pooled::new();
    for (title, cases) in &sets {
        let truth = report(title, cases, &mut pooled);
        let lost = share(truth.lost.len(), truth.sentences);
        if lost > LOST {
            below.push(format!("{title}: {lost:.3} of the true sentences lost"));
        }
    }
    println!("\nall sets:");
    for (class, (hits, all)) in &pooled {
        println!(
            "    {class:>12}: {hits} of {all} caught ({:.3})",
            share(*hits, *all)
        );
        if share(*hits, *all) < CAUGHT {
            below.push(format!("{class}: {hits} of {all} caught"));
        }
    }
    // A class without mutants would pass unmeasured.
    assert_eq!(pooled.len(), CLASSES.len());
    assert_eq!(below, Vec::<String>::new(), "measured below the aims");
}

/// A quote cut from its pair stands in the passage, or the measure would be of nothing.
#[test]
fn quotes_of_the_pairs_stand_in_their_passages() {
    for pair in PAIRS {
        assert!(
            !quote::occurrences(&Folded::new(pair.passage), pair.quote).is_empty(),
            "{:?}",
            pair.quote
        );
    }
}

/// The lint is no judge of relevance: what a sentence cites is the quote check's business. How much of it the lint notices
/// is worth knowing all the same.
#[test]
fn swapped_passages_and_invented_quotes() {
    let cases = written();
    let mut swapped = 0;
    for (position, case) in cases.iter().enumerate() {
        let other = &cases[(position + 7) % cases.len()];
        swapped += usize::from(other.judge(&case.sentence).is_some());
    }
    println!(
        "\nswapped passages: {swapped} of {} noticed ({:.3})",
        cases.len(),
        share(swapped, cases.len())
    );
    // An invented quote never comes here: the quote check finds it in no passage.
    let mut invented = 0;
    for case in &cases {
        let (passage, quote) = &case.evidence[0];
        let words: Vec<&str> = quote.split_whitespace().collect();
        let middle = words.len() / 2;
        let altered = [&words[..middle], &["surely"], &words[middle..]]
            .concat()
            .join(" ");
        invented += usize::from(quote::find(&Folded::new(passage), &altered).is_err());
    }
    println!(
        "invented quotes: {invented} of {} refused by the quote check",
        cases.len()
    );
    assert_eq!(invented, cases.len());
}

/// One sentence against six passages of some 800 tokens each takes well under a millisecond. The bound asserted is the median's,
/// for a test is built with less optimisation than a release and shares its machine.
#[test]
fn a_sentence_costs_little() {
    const PASSAGE_CHARS: usize = 3_400;
    let texts: Vec<&str> = PAIRS.iter().map(|pair| pair.passage).collect();
    let passages: Vec<String> = (0..6)
        .map(|shift| {
            let words = texts.iter().cycle().skip(shift * 13);
            let mut passage = String::new();
            for text in words {
                passage.push_str(text);
                passage.push('\n');
                if passage.len() > PASSAGE_CHARS {
                    break;
                }
            }
            passage
        })
        .collect();
    let mut took: Vec<Duration> = PAIRS
        .iter()
        .flat_map(|pair| pair.said.iter().map(move |said| (pair, said)))
        .map(|(pair, said)| {
            let evidence: Vec<Evidence<'_>> = passages
                .iter()
                .map(|passage| Evidence {
                    passage,
                    heading: "Settings › Memory",
                    quote: pair.quote,
                })
                .collect();
            let once = || {
                let start = Instant::now();
                std::hint::black_box(unsupported(said, &evidence));
                start.elapsed()
            };
            // The quickest of a few runs is the work; what it took longer was the machine's.
            (0..5).map(|_| once()).min().unwrap_or_default()
        })
        .collect();
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    println!(
        "\na sentence, six passages: p50 {:?}, p99 {:?}, most {:?}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    assert!(at(0.5) < Duration::from_millis(1), "{:?}", at(0.5));
}

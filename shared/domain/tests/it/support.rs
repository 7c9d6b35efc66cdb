//! How much the support lint catches, and how much truth it costs.
//!
//! True sentences must pass; each is then changed in one fact, class by class, and the change must be objected to. The counts
//! are printed, the aims asserted. Rows whose answer states facts that its quote lacks are counted apart: objecting to them is
//! right. Sentences are in [`pairs`] and in the public data sets.

mod mutate;
mod pairs;

use std::collections::BTreeMap;
use std::path::Path;

use domain::fold::Folded;
use domain::support::{Evidence, Unsupported, unsupported};
use domain::{names, quote};

use mutate::{CLASSES, mutants};
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
}

fn measure_mutants(cases: &[Case]) -> Caught {
    let mut caught = Caught::default();
    for case in cases
        .iter()
        .filter(|case| case.judge(&case.sentence).is_none())
    {
        for class in CLASSES {
            for mutant in mutants(class, &case.sentence) {
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

/// Prints what was measured and returns the classes below the aim.
fn report(title: &str, cases: &[Case]) -> (Truth, Vec<String>) {
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
    let mut below = Vec::new();
    for (class, (hits, all)) in &caught.by_class {
        println!(
            "    {class:>12}: {hits} of {all} caught ({:.3})",
            share(*hits, *all)
        );
        if share(*hits, *all) < CAUGHT {
            below.push(format!("{title}: {class} {hits} of {all}"));
        }
    }
    for missed in &caught.missed {
        println!("    missed {missed}");
    }
    (truth, below)
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
    for (title, cases) in &sets {
        let (truth, classes) = report(title, cases);
        let lost = share(truth.lost.len(), truth.sentences);
        if lost > LOST {
            below.push(format!("{title}: {lost:.3} of the true sentences lost"));
        }
        below.extend(classes);
    }
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

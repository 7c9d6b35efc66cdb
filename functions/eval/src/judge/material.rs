//! What a judge reads of one answer: its sentences, the passages they cite, and a planted sentence of each kind.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::ballot::Slot;
use crate::metrics::Draws;
use crate::record::Asked;
use crate::verdict::fold;

/// Words that a planted sentence has at the least.
const LEAST_WORDS: usize = 6;

/// An answer that can be judged.
pub(crate) struct Material<'a> {
    id: &'a str,
    question: &'a str,
    passages: Vec<Passage<'a>>,
    statements: Vec<Statement<'a>>,
    good: Planted,
    bad: Planted,
}

#[derive(Clone)]
struct Statement<'a> {
    text: &'a str,
    cites: Vec<&'a str>,
}

/// A planted sentence, and the passage it is said to rest on.
struct Planted {
    text: String,
    cites: String,
}

#[derive(Clone, Serialize)]
struct Passage<'a> {
    passage: &'a str,
    heading: String,
    text: &'a str,
}

#[derive(Serialize)]
struct Task<'a> {
    question: &'a str,
    passages: Vec<Passage<'a>>,
    statements: Vec<Numbered<'a>>,
}

#[derive(Serialize)]
struct Numbered<'a> {
    statement: usize,
    text: &'a str,
    cites: Vec<&'a str>,
}

impl<'a> Material<'a> {
    /// What there is to judge of an answer; nothing of one that shows no sentence. `foreign` are sentences of other answers.
    pub(crate) fn of(asked: &'a Asked, foreign: &[&str]) -> Option<Self> {
        let statements: Vec<Statement<'_>> = asked.events("sentence").map(statement).collect();
        let cited: BTreeSet<&str> = statements
            .iter()
            .flat_map(|one| one.cites.iter().copied())
            .collect();
        let passages: Vec<Passage<'_>> = asked
            .events("passages")
            .flat_map(|data| data["passages"].as_array().into_iter().flatten())
            .filter_map(passage)
            .filter(|passage| cited.contains(passage.passage))
            .collect();
        let first = passages.first()?;
        let shown: Vec<String> = statements.iter().map(|one| fold(one.text)).collect();
        let others = passages.iter().flat_map(|passage| {
            let lines = passage.text.split_inclusive(['.', '\n']).map(str::trim);
            lines.map(move |line| (line, passage.passage))
        });
        let is_plantable = |(line, _): &(&str, &str)| {
            line.ends_with('.')
                && line.split_whitespace().count() >= LEAST_WORDS
                && !shown.contains(&fold(line))
        };
        let (text, cites) = others.into_iter().find(is_plantable).unwrap_or_else(|| {
            let own = &statements[0];
            (
                own.text,
                own.cites.first().copied().unwrap_or(first.passage),
            )
        });
        let good = Planted {
            text: text.to_owned(),
            cites: cites.to_owned(),
        };
        let all: String = passages.iter().map(|passage| fold(passage.text)).collect();
        let strange = foreign.iter().find(|text| !all.contains(&fold(text)));
        let bad = Planted {
            text: another_number(&good.text)
                .filter(|text| !all.contains(&fold(text)))
                .or_else(|| strange.map(|text| (*text).to_owned()))
                .unwrap_or_else(|| format!("It is not so that {}", good.text)),
            cites: good.cites.clone(),
        };
        Some(Self {
            id: &asked.row.id,
            question: &asked.row.question,
            passages,
            statements,
            good,
            bad,
        })
    }

    /// The order of one ballot, and the JSON that a judge is sent. Each ballot has its own order of statements, and the
    /// passages the other way round from one to the next: a verdict that hangs on the order is seen as a flip.
    pub(crate) fn ballot(&self, number: u64) -> (Vec<Slot>, String) {
        let mut slots: Vec<Slot> = (0..self.statements.len()).map(Slot::Statement).collect();
        slots.extend([Slot::KnownGood, Slot::KnownBad]);
        let digest = Sha256::digest(self.id);
        let mut draws =
            Draws(u64::from_be_bytes(digest[..8].try_into().unwrap_or_default()) ^ number);
        for end in (1..slots.len()).rev() {
            slots.swap(end, draws.below(end + 1));
        }
        let mut passages = self.passages.clone();
        if number % 2 == 1 {
            passages.reverse();
        }
        let statements = slots.iter().zip(1..).map(|(slot, statement)| {
            let (text, cites) = match slot {
                Slot::Statement(n) => (self.statements[*n].text, self.statements[*n].cites.clone()),
                Slot::KnownGood => (self.good.text.as_str(), vec![self.good.cites.as_str()]),
                Slot::KnownBad => (self.bad.text.as_str(), vec![self.bad.cites.as_str()]),
            };
            Numbered {
                statement,
                text,
                cites,
            }
        });
        let task = Task {
            question: self.question,
            passages,
            statements: statements.collect(),
        };
        // Strings and lists are always JSON.
        (
            slots.clone(),
            serde_json::to_string(&task).unwrap_or_default(),
        )
    }
}

fn statement(event: &Value) -> Statement<'_> {
    let citations = event["citations"].as_array().into_iter().flatten();
    Statement {
        text: event["text"].as_str().unwrap_or_default(),
        cites: citations
            .filter_map(|citation| citation["passage"].as_str())
            .collect(),
    }
}

fn passage(event: &Value) -> Option<Passage<'_>> {
    let heading = event["heading"].as_array().into_iter().flatten();
    let mut place: Vec<&str> = event["title"].as_str().into_iter().collect();
    place.extend(heading.filter_map(Value::as_str));
    Some(Passage {
        passage: event["id"].as_str()?,
        heading: place.join(" › "),
        text: event["text"].as_str()?,
    })
}

/// The same with its first number made another one.
fn another_number(text: &str) -> Option<String> {
    let begin = text.find(|c: char| c.is_ascii_digit())?;
    let digits = text[begin..]
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len() - begin);
    let number: u64 = text[begin..begin + digits].parse().ok()?;
    let other = number.checked_mul(3)?.checked_add(7)?;
    Some(format!(
        "{}{other}{}",
        &text[..begin],
        &text[begin + digits..]
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::verdict::tests::asked;

    fn material(foreign: &[&str]) -> (Asked, Vec<(Vec<Slot>, Value)>) {
        let row = json!({"id": "q1", "type": "answerable", "question": "When?"});
        let mut asked = asked(row, &["Trains run every 20 minutes on weekdays."]);
        asked.events[0].1["passages"][0]["text"] = json!(
            "Trains run every 20 minutes on weekdays. They stop for 45 minutes at noon each day. Tickets are sold on board."
        );
        let judged = Material::of(&asked, foreign).expect("an answer");
        let ballots = (0..3).map(|n| {
            let (slots, task) = judged.ballot(n);
            (slots, serde_json::from_str(&task).expect("JSON"))
        });
        let ballots = ballots.collect();
        (asked, ballots)
    }

    #[test]
    fn every_ballot_holds_the_answer_and_a_planted_sentence_of_each_kind() {
        let (_, ballots) = material(&[]);
        for (slots, task) in &ballots {
            assert_eq!(slots.len(), 3);
            for (slot, statement) in slots
                .iter()
                .zip(task["statements"].as_array().expect("a list"))
            {
                let expected = match slot {
                    Slot::Statement(_) => "Trains run every 20 minutes on weekdays.",
                    Slot::KnownGood => "They stop for 45 minutes at noon each day.",
                    Slot::KnownBad => "They stop for 142 minutes at noon each day.",
                };
                assert_eq!(statement["text"], expected);
                assert_eq!(statement["cites"], json!(["P1"]));
            }
        }
        assert!(
            ballots.iter().any(|(slots, _)| *slots != ballots[0].0),
            "the order changes"
        );
        assert_eq!(material(&[]).1, ballots, "the same each time");
    }

    #[test]
    fn nothing_is_judged_of_an_answer_without_sentences() {
        let refused = asked(
            json!({"id": "q1", "type": "answerable", "question": "When?"}),
            &[],
        );
        assert!(Material::of(&refused, &[]).is_none());
    }
}

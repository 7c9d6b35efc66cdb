//! Whether what is shown is held up by what it cites, from the shown sentences and the passages alone.
//!
//! Citation recall and precision are those of ALCE (Gao et al. 2023), with [`domain::support`]'s check where they ask a model:
//! a sentence is recalled when its cited passages together support it, and a citation of such a sentence is precise unless it
//! does not support it alone and the others do without it. For the passages' own sentences all of this is an invariant; for a
//! model's it says what a deterministic check can say, which is not that every sentence is true.

use std::collections::BTreeMap;

use domain::support::{Evidence, unsupported, unsupported_code};
use serde_json::Value;

use super::Metric;
use crate::record::{Asked, Run};
use crate::verdict::fold;

pub(super) fn measure(run: &Run) -> Vec<Metric> {
    let mut counts = Counts::default();
    for asked in &run.questions {
        let passages = passages(asked);
        for sentence in asked.events("sentence") {
            counts.sentence(&Sentence::of(sentence, &passages));
        }
    }
    let Counts {
        sentences,
        quotes_hold,
        word_for_word,
        recalled,
        citations,
        precise,
    } = counts;
    vec![
        Metric::rate("citation.quotes_hold", quotes_hold, sentences),
        Metric::rate("citation.word_for_word", word_for_word, sentences),
        Metric::rate("citation.recall", recalled, sentences),
        Metric::rate("citation.precision", precise, citations),
    ]
}

#[derive(Default)]
struct Counts {
    sentences: usize,
    /// Sentences whose every quote stands in the passage it names: below 1 is a broken verifier.
    quotes_hold: usize,
    /// Sentences that stand in a cited passage as they are.
    word_for_word: usize,
    recalled: usize,
    citations: usize,
    precise: usize,
}

impl Counts {
    fn sentence(&mut self, sentence: &Sentence<'_>) {
        self.sentences += 1;
        self.quotes_hold += usize::from(sentence.quotes_hold());
        self.word_for_word += usize::from(sentence.is_word_for_word());
        let all: Vec<usize> = (0..sentence.cited.len()).collect();
        let recalled = sentence.is_supported_by(&all);
        self.recalled += usize::from(recalled);
        for citation in 0..sentence.cited.len() {
            let others: Vec<usize> = all.iter().copied().filter(|&n| n != citation).collect();
            let is_needed =
                sentence.is_supported_by(&[citation]) || !sentence.is_supported_by(&others);
            self.citations += 1;
            self.precise += usize::from(recalled && is_needed);
        }
    }
}

/// A passage as it was sent.
struct Passage<'a> {
    text: &'a str,
    folded: String,
    heading: String,
}

struct Sentence<'a> {
    text: &'a str,
    is_code: bool,
    /// Each quote with its passage, if the passage holds it.
    cited: Vec<(&'a str, Option<&'a Passage<'a>>)>,
}

fn passages(asked: &Asked) -> BTreeMap<&str, Passage<'_>> {
    asked
        .events("passages")
        .flat_map(|data| data["passages"].as_array().into_iter().flatten())
        .filter_map(|passage| {
            let text = passage["text"].as_str()?;
            let heading = passage["heading"].as_array().into_iter().flatten();
            let mut place: Vec<&str> = passage["title"].as_str().into_iter().collect();
            place.extend(heading.filter_map(Value::as_str));
            let read = Passage {
                text,
                folded: fold(text),
                heading: place.join(" › "),
            };
            Some((passage["id"].as_str()?, read))
        })
        .collect()
}

impl<'a> Sentence<'a> {
    fn of(event: &'a Value, passages: &'a BTreeMap<&str, Passage<'a>>) -> Self {
        let citations = event["citations"].as_array().into_iter().flatten();
        Self {
            text: event["text"].as_str().unwrap_or_default(),
            is_code: event["kind"] == "code",
            cited: citations
                .map(|citation| {
                    let label = citation["passage"].as_str().unwrap_or_default();
                    let quote = citation["quote"].as_str().unwrap_or_default();
                    let passage = passages.get(label);
                    (quote, passage.filter(|it| it.folded.contains(&fold(quote))))
                })
                .collect(),
        }
    }

    fn quotes_hold(&self) -> bool {
        !self.cited.is_empty() && self.cited.iter().all(|(_, passage)| passage.is_some())
    }

    fn is_word_for_word(&self) -> bool {
        // The cells of a table's row are shown with a line between them.
        let cells = self.text.split('|').map(str::trim);
        let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        let [text, row] = [fold(self.text), fold(&cells.join(" "))];
        let mut passages = self.cited.iter().filter_map(|(_, passage)| *passage);
        passages.any(|passage| passage.folded.contains(&text) || passage.folded.contains(&row))
    }

    fn is_supported_by(&self, citations: &[usize]) -> bool {
        let evidence: Vec<Evidence<'_>> = citations
            .iter()
            .filter_map(|&n| {
                let (quote, passage) = self.cited[n];
                passage.map(|passage| Evidence {
                    passage: passage.text,
                    heading: &passage.heading,
                    quote,
                })
            })
            .collect();
        if evidence.is_empty() {
            return false;
        }
        if self.is_code {
            unsupported_code(self.text, &evidence).is_none()
        } else {
            unsupported(self.text, &evidence).is_none()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::Head;
    use crate::verdict::tests::asked;

    /// The four rates of one sentence over two passages.
    fn rates(text: &str, citations: &[(&str, &str)]) -> Vec<f64> {
        let row = json!({"id": "q", "type": "answerable", "question": "?"});
        let mut asked = asked(row, &[]);
        let passages = json!({"passages": [
            {"id": "P1", "title": "Trains", "heading": ["Times"], "text": "Trains run every 20 minutes. They stop at noon."},
            {"id": "P2", "title": "Planes", "heading": [], "text": "Planes fly at 9 in the morning."},
        ]});
        let citations: Vec<Value> = citations
            .iter()
            .map(|(passage, quote)| json!({"passage": passage, "quote": quote}))
            .collect();
        let sentence = json!({"text": text, "kind": "prose", "citations": citations});
        asked.events = vec![
            ("passages".to_owned(), passages),
            ("sentence".to_owned(), sentence),
        ];
        let run = Run {
            head: Head::new("docs", "h".into(), "local".into()),
            questions: vec![asked],
        };
        measure(&run).iter().map(|metric| metric.value).collect()
    }

    #[test]
    fn each_rate_sees_its_fault() {
        let first = ("P1", "Trains run every 20 minutes");
        let second = ("P2", "Planes fly at 9");
        let true_text = "Trains run every 20 minutes.";
        assert_eq!(rates(true_text, &[first]), [1.0, 1.0, 1.0, 1.0]);
        assert_eq!(
            rates("Trains run every 30 minutes.", &[first]),
            [1.0, 0.0, 0.0, 0.0],
            "an altered number"
        );
        assert_eq!(
            rates(true_text, &[first, second]),
            [1.0, 1.0, 1.0, 0.5],
            "a citation too many"
        );
        assert_eq!(
            rates(
                "A train comes every 20 minutes and a plane at 9.",
                &[first, second]
            )[2..],
            [1.0, 1.0],
            "both are needed"
        );
        assert_eq!(
            rates(true_text, &[("P2", first.1)]),
            [0.0, 0.0, 0.0, 0.0],
            "another passage's words"
        );
        assert_eq!(rates(true_text, &[]), [0.0, 0.0, 0.0, 0.0]);
    }
}

//! Holds one answer against the contract, by rules of its own: it shares no code with the verifier it checks.
//!
//! Its folding is cruder than the product's (letters and digits only, in lower case), so it agrees wherever a quote really
//! stands in its passage.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::client::Sent;

/// What is wrong with an answer; nothing when it holds.
pub(crate) fn faults(events: &[Sent]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(text);
    let terminal = events
        .iter()
        .filter(|event| matches!(event.name.as_str(), "done" | "error"))
        .count();
    if terminal != 1
        || !events
            .last()
            .is_some_and(|event| matches!(event.name.as_str(), "done" | "error"))
    {
        fault(format!("{terminal} last events, or one not at the end"));
    }
    let mut passages: BTreeMap<&str, &Value> = BTreeMap::new();
    let (mut words, mut sentences) = (0, 0);
    for event in events {
        match event.name.as_str() {
            "passages" => {
                for passage in event.data["passages"].as_array().into_iter().flatten() {
                    passages.insert(passage["id"].as_str().unwrap_or_default(), passage);
                }
            }
            "sentence" => {
                sentences += 1;
                let text = event.data["text"].as_str().unwrap_or_default();
                words += text.split_whitespace().count();
                let citations = event.data["citations"]
                    .as_array()
                    .map_or(&[][..], Vec::as_slice);
                if citations.is_empty() {
                    fault(format!("a sentence without citation: {text}"));
                }
                for citation in citations {
                    let passage = passages.get(citation["passage"].as_str().unwrap_or_default());
                    if let Err(error) = cited(citation, passage.copied()) {
                        fault(error);
                    }
                }
            }
            "done"
                if matches!(
                    event.data["outcome"].as_str(),
                    Some("abstained" | "unsupported")
                ) && sentences > 0 =>
            {
                fault("a refusal with sentences".into());
            }
            "done" if event.data["sentences"].as_u64() != Some(sentences) => {
                fault("a wrong number of sentences".into())
            }
            "error" => fault(format!("error: {}", event.data)),
            _ => {}
        }
    }
    if passages.len() > 6 {
        fault(format!("{} passages", passages.len()));
    }
    // 250 words, and as much as the last sentence needs to end.
    if words > 275 {
        fault(format!("an answer of {words} words"));
    }
    faults
}

fn cited(citation: &Value, passage: Option<&Value>) -> Result<(), String> {
    let passage = passage.ok_or_else(|| format!("an unknown passage: {}", citation["passage"]))?;
    let text = passage["text"].as_str().unwrap_or_default();
    let quote = citation["quote"].as_str().unwrap_or_default();
    let offset = |name: &str| {
        citation[name]
            .as_u64()
            .and_then(|offset| usize::try_from(offset).ok())
    };
    let (Some(start), Some(end)) = (offset("start"), offset("end")) else {
        return Err("offsets that are no numbers".into());
    };
    let span: String = text
        .chars()
        .skip(start)
        .take(end.saturating_sub(start))
        .collect();
    if !holds(text, quote) {
        return Err(format!("a quote that is not in its passage: {quote}"));
    }
    if !holds(&span, quote) {
        return Err(format!(
            "offsets that lead elsewhere: {span:?} for {quote:?}"
        ));
    }
    let url = citation["url"].as_str().unwrap_or_default();
    if !(url.starts_with("https://") || url.starts_with("http://") || url.starts_with("sources/")) {
        return Err(format!("a citation without a source: {url:?}"));
    }
    Ok(())
}

/// Whether `quote` stands in `text`. A quote of signs alone must stand there as it is.
fn holds(text: &str, quote: &str) -> bool {
    match letters(quote) {
        folded if folded.is_empty() => !quote.trim().is_empty() && text.contains(quote.trim()),
        folded => letters(text).contains(&folded),
    }
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// How often the words of a link's text fragment stand on a page of this text. A fragment has the form
/// `:~:text=[prefix-,]start[,end][,-suffix]`.
pub(crate) fn matches_of_fragment(url: &str, page: &str) -> usize {
    let Some((_, directive)) = url.split_once(":~:text=") else {
        return 0;
    };
    let (mut prefix, mut suffix, mut words) = (String::new(), String::new(), Vec::new());
    for part in directive.split(',') {
        if let Some(part) = part.strip_suffix('-') {
            prefix = folded(&decoded(part));
        } else if let Some(part) = part.strip_prefix('-') {
            suffix = folded(&decoded(part));
        } else {
            words.push(folded(&decoded(part)));
        }
    }
    let page = folded(page);
    let (Some(start), end) = (words.first(), words.get(1)) else {
        return 0;
    };
    let bound = |at: usize, text: &str| {
        let before = page[..at].chars().next_back();
        let after = page[at + text.len()..].chars().next();
        // An underscore joins words, as it does for browsers.
        let joins = |c: char| c.is_alphanumeric() || c == '_';
        !before.is_some_and(joins) && !after.is_some_and(joins)
    };
    let followed = |behind: usize| page[behind..].trim_start().starts_with(&suffix);
    let found = page.match_indices(start.as_str()).filter(|(at, _)| {
        let behind = at + start.len();
        bound(*at, start)
            && page[..*at].trim_end().ends_with(&prefix)
            && match end {
                None => followed(behind),
                // As browsers do: an end that the suffix does not follow is passed over.
                Some(end) => page[behind..]
                    .match_indices(end.as_str())
                    .any(|(found, _)| {
                        bound(behind + found, end) && followed(behind + found + end.len())
                    }),
            }
    });
    found.count()
}

fn folded(text: &str) -> String {
    text.to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn decoded(part: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), part.as_bytes());
    while let [first, tail @ ..] = rest {
        let code = tail
            .get(..2)
            .and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match code {
            Some(code) if *first == b'%' => {
                bytes.push(code);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text a browser shows for a page: blocks and cells apart, character references decoded.
pub(crate) fn shown(html: &str) -> String {
    let body = html.split_once("<main>").map_or(html, |(_, body)| body);
    let mut text = String::new();
    let mut inside = false;
    for c in body.chars() {
        match c {
            '<' => {
                inside = true;
                text.push(' ');
            }
            '>' => inside = false,
            _ if !inside => text.push(c),
            _ => {}
        }
    }
    let references = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    references
        .iter()
        .fold(text, |text, (reference, c)| text.replace(reference, c))
}

#[test]
fn the_checker_sees_what_is_wrong() {
    let passages = r#"{"passages":[{"id":"P1","text":"The default is 1 GB."}]}"#;
    let sentence =
        |citations: &str| format!(r#"{{"text":"It is 1 GB.","citations":[{citations}]}}"#);
    let good = r#"{"passage":"P1","quote":"default is 1 GB","start":4,"end":19,"url":"https://d.example/#a"}"#;
    let done = r#"{"outcome":"answered","sentences":1}"#;
    let check = |events: &[(&str, &str)], expected: &str| {
        let events: Vec<Sent> = events
            .iter()
            .map(|(name, data)| Sent {
                name: (*name).into(),
                data: serde_json::from_str(data).unwrap(),
            })
            .collect();
        let found = faults(&events).join("; ");
        assert!(
            if expected.is_empty() {
                found.is_empty()
            } else {
                found.contains(expected)
            },
            "{found:?}, not {expected:?}"
        );
    };
    check(
        &[
            ("passages", passages),
            ("sentence", &sentence(good)),
            ("done", done),
        ],
        "",
    );
    check(
        &[("passages", passages), ("sentence", &sentence(good))],
        "last events",
    );
    check(
        &[
            ("sentence", &sentence(good)),
            ("passages", passages),
            ("done", done),
        ],
        "unknown passage",
    );
    check(
        &[
            ("passages", passages),
            ("sentence", &sentence("")),
            ("done", done),
        ],
        "without citation",
    );
    for (from, to, expected) in [
        ("default is", "maximum is", "not in its passage"),
        ("\"start\":4", "\"start\":8", "offsets"),
        (
            "https://d.example/#a",
            "javascript:alert(1)",
            "without a source",
        ),
        ("\"P1\"", "\"P7\"", "unknown passage"),
    ] {
        check(
            &[
                ("passages", passages),
                ("sentence", &sentence(&good.replace(from, to))),
                ("done", done),
            ],
            expected,
        );
    }
    check(
        &[
            ("passages", passages),
            ("sentence", &sentence(good)),
            ("done", r#"{"outcome":"abstained","sentences":1}"#),
        ],
        "refusal",
    );
}

#[test]
fn the_checker_counts_a_fragments_matches() {
    for (fragment, page, count) in [
        ("one%20two", "one two, then One\n two", 2),
        ("then-,one%20two", "one two, then One\n two", 1),
        ("one,two", "one and two", 1),
        ("one,-two", "one two one three", 1),
        ("a%2Db%2Cc", "x a-b,c y", 1),
        ("one", "ones and phone", 0),
        ("absent", "one", 0),
    ] {
        assert_eq!(
            matches_of_fragment(
                &format!("https://d.example/p.html#x:~:text={fragment}"),
                page
            ),
            count,
            "{fragment}"
        );
    }
}

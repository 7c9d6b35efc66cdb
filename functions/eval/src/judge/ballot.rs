//! One ballot: which statements a judge was asked about, in which order, and what it said, word for word.

use serde::{Deserialize, Serialize};

/// What one number of a ballot stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Slot {
    /// The answer's sentence of this index.
    Statement(usize),
    /// Words of a cited passage: to be found supported.
    KnownGood,
    /// What no passage of the ballot says: to be found unsupported.
    KnownBad,
}

/// A ballot as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ballot {
    /// What was asked about; the first has number 1.
    pub(crate) slots: Vec<Slot>,
    /// What the judge replied, and after a faulty reply what it replied when it was told so.
    pub(crate) replies: Vec<String>,
    /// Why there is no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl Ballot {
    /// The last reply's verdicts, one a slot: whether it is supported.
    ///
    /// # Errors
    /// What is wrong with the ballot.
    pub(crate) fn verdicts(&self) -> Result<Vec<bool>, String> {
        match (&self.error, self.replies.last()) {
            (Some(error), _) => Err(error.clone()),
            (None, Some(reply)) => read(reply, self.slots.len()),
            (None, None) => Err("nothing was replied".to_owned()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    verdicts: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    statement: usize,
    verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Supported,
    Unsupported,
}

/// Reads a reply about so many statements. Nothing is guessed: one verdict for each number, or none at all.
///
/// # Errors
/// What is wrong with it, in words that a model can be told.
pub(crate) fn read(reply: &str, statements: usize) -> Result<Vec<bool>, String> {
    let Reply { verdicts } = serde_json::from_str(reply.trim())
        .map_err(|error| format!("it is not the JSON asked for: {error}"))?;
    let mut found = vec![None; statements];
    for Entry { statement, verdict } in verdicts {
        let place = statement.checked_sub(1).and_then(|n| found.get_mut(n));
        let place = place.ok_or_else(|| format!("there is no statement {statement}"))?;
        if place.replace(verdict == Verdict::Supported).is_some() {
            return Err(format!("statement {statement} has two verdicts"));
        }
    }
    let each = found.into_iter().zip(1..);
    each.map(|(verdict, n)| verdict.ok_or_else(|| format!("statement {n} has no verdict")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c280_a_reply_is_one_verdict_a_statement_or_nothing() {
        let check = |reply: &str, expected: Result<&[bool], &str>| {
            let found = read(reply, 2);
            match expected {
                Ok(verdicts) => assert_eq!(found.as_deref(), Ok(verdicts), "{reply}"),
                Err(says) => assert!(
                    found.as_ref().is_err_and(|fault| fault.contains(says)),
                    "{reply}: {found:?}"
                ),
            }
        };
        let entry =
            |n: usize, verdict: &str| format!(r#"{{"statement":{n},"verdict":"{verdict}"}}"#);
        let (first, second) = (entry(1, "supported"), entry(2, "unsupported"));
        let list = |entries: &[&str]| format!(r#"{{"verdicts":[{}]}}"#, entries.join(","));
        check(&list(&[&second, &first]), Ok(&[true, false]));
        check(&list(&[&first]), Err("statement 2 has no verdict"));
        check(
            &list(&[&first, &first]),
            Err("statement 1 has two verdicts"),
        );
        check(
            &list(&[&first, &entry(3, "supported")]),
            Err("there is no statement 3"),
        );
        check(
            &list(&[&first, &entry(0, "supported")]),
            Err("there is no statement 0"),
        );
        check(&list(&[&first, &entry(2, "mostly")]), Err("not the JSON"));
        check("[1]", Err("not the JSON"));
        check("All of them are supported.", Err("not the JSON"));
        check(r#"{"score":1.0}"#, Err("not the JSON"));
        check("", Err("not the JSON"));
    }
}

//! Reads a question's spelling against the corpus's own words.
//!
//! A word the corpus does not know but nearly knows is taken for that word: `forein` for `foreign`, also inside a name:
//! `maintenence_work_mem`. A word it knows is never touched, and neither are short words: `wal_size` and `wam_size` are two
//! names. A word that the language has is not taken for one the corpus happens to use: `mountain` is not `maintain`.

use std::collections::HashMap;

/// Below this many letters one edit joins too many different words.
const SHORTEST: usize = 5;

/// From this many letters on two edits are forgiven.
const LONG: usize = 8;

/// A question as it is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrected {
    /// The question with its misspellings replaced; otherwise as written.
    pub text: String,
    /// Words the corpus holds nothing like, lower-cased, in order. Candidates for what it does not cover.
    pub unknown: Vec<String>,
    /// Whether `text` differs from what was written.
    pub changed: bool,
}

/// Corrects `question` against `words` (lower-cased, with the number of chunks each stands in).
///
/// Distances are optimal string alignment (insertions, deletions, substitutions and swaps of neighbours); the first letter
/// must hold. Among equally near words the commonest wins. `is_word` says of a lower-cased word whether it is one; where nobody
/// knows, no word is.
#[must_use]
pub fn correct(
    question: &str,
    words: &HashMap<String, u32>,
    is_word: impl Fn(&str) -> bool,
) -> Corrected {
    let mut text = String::with_capacity(question.len());
    let mut unknown = Vec::new();
    let mut changed = false;
    for piece in pieces(question) {
        let lower = piece.to_lowercase();
        if !piece.chars().all(char::is_alphabetic) || known(&lower, words) {
            text.push_str(piece);
            continue;
        }
        let near = nearest(&lower, words, edits(&lower, is_word(&lower)));
        match near {
            Some(word) => {
                text.push_str(word);
                changed = true;
            }
            None => {
                text.push_str(piece);
                unknown.push(lower);
            }
        }
    }
    Corrected {
        text,
        unknown,
        changed,
    }
}

/// The question cut into runs of letters and what stands between them.
fn pieces(question: &str) -> impl Iterator<Item = &str> {
    let mut rest = question;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest
            .find(|c: char| c.is_alphabetic() != first.is_alphabetic())
            .unwrap_or(rest.len());
        let (piece, later) = rest.split_at(end);
        rest = later;
        Some(piece)
    })
}

/// Whether the corpus has the word, or a plain inflection of it.
fn known(word: &str, words: &HashMap<String, u32>) -> bool {
    if word.chars().count() < SHORTEST || words.contains_key(word) {
        return true;
    }
    ["s", "es", "ed", "d", "ing", "ly"].iter().any(|ending| {
        words.contains_key(&format!("{word}{ending}"))
            || word.strip_suffix(ending).is_some_and(|stem| {
                stem.len() >= SHORTEST - 1
                    && (words.contains_key(stem) || words.contains_key(&format!("{stem}e")))
            })
    })
}

/// How many edits are forgiven. A word that is one is not a misspelling of another, but a long one may be written in two
/// ways: `recognise`, `kilometer`.
fn edits(word: &str, is_word: bool) -> usize {
    let forgiven = if word.chars().count() < LONG { 1 } else { 2 };
    forgiven - usize::from(is_word)
}

fn nearest<'a>(word: &str, words: &'a HashMap<String, u32>, allowed: usize) -> Option<&'a str> {
    let letters: Vec<char> = word.chars().collect();
    words
        .iter()
        .filter(|(candidate, _)| {
            candidate.starts_with(letters[0]) && candidate.len().abs_diff(word.len()) <= 2 * allowed
        })
        .filter_map(|(candidate, &df)| {
            let distance = distance(&letters, &candidate.chars().collect::<Vec<_>>(), allowed)?;
            Some((distance, std::cmp::Reverse(df), candidate.as_str()))
        })
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Optimal string alignment distance, if it is at most `allowed`.
fn distance(a: &[char], b: &[char], allowed: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        if row.iter().all(|&d| d > allowed) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|&d| d <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, text: &str, unknown: &[&str]) {
        let of_the_language = ["mountain", "wish", "centralise"];
        let words = [
            ("foreign", 9),
            ("key", 40),
            ("delete", 20),
            ("child", 5),
            ("rows", 80),
            ("automatically", 12),
            ("parent", 9),
            ("with", 200),
            ("authentication", 30),
            ("failed", 7),
            ("autovacuum", 20),
            ("vacuum", 30),
            ("insert", 40),
            ("statement", 50),
            ("maintenance", 8),
            ("maintain", 9),
            ("which", 200),
            ("centralize", 2),
        ];
        let words = words
            .iter()
            .map(|&(word, df)| (word.to_owned(), df))
            .collect();
        let corrected = correct(question, &words, |word| of_the_language.contains(&word));
        assert_eq!(corrected.text, text);
        assert_eq!(corrected.unknown, unknown);
        assert_eq!(corrected.changed, question != text);
    }

    #[test]
    fn takes_a_near_word_for_the_word() {
        check(
            "forein key delte child rows automaticaly",
            "foreign key delete child rows automatically",
            &[],
        );
        check(
            "maintenence_work_mem and autovacum",
            "maintenance_work_mem and autovacuum",
            &[],
        );
        check("insret statments", "insert statement", &[]);
    }

    #[test]
    fn leaves_known_words_inflections_and_short_ones() {
        check(
            "Deleting rows, inserted statements: vacuums?",
            "Deleting rows, inserted statements: vacuums?",
            &[],
        );
        check("kye", "kye", &[]);
        check("", "", &[]);
    }

    #[test]
    fn a_word_of_the_language_is_not_another_one() {
        check("a mountain of rows", "a mountain of rows", &["mountain"]);
        // Nobody's word at the same distance.
        check("a maintein of rows", "a maintain of rows", &[]);
        check("a mointoin of rows", "a maintain of rows", &[]);
        // Another spelling of the same.
        check("centralise the rows", "centralize the rows", &[]);
    }

    #[test]
    fn names_what_the_corpus_has_nothing_like() {
        check(
            "Does Patroni vacuum Kubernetes?",
            "Does Patroni vacuum Kubernetes?",
            &["patroni", "kubernetes"],
        );
        check("数据库 naïveté", "数据库 naïveté", &["naïveté"]);
    }
}

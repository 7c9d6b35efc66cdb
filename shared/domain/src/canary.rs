//! Keeps a secret word of the prompt out of everything a model writes.
//!
//! The word stands in the system prompt alone, so that where it turns up, the model is reciting its instructions. It is
//! found whatever its case, whatever stands between its letters, and wherever the stream is cut; nothing of it passes, not
//! even its beginning. What is held back is bounded.

/// A filter for one stream of text.
#[derive(Debug, Clone)]
pub struct CanaryGuard {
    canary: Vec<char>,
    held: String,
    leaked: bool,
}

/// Signs between two letters of the word that still count as one word, as in `c-a-n` or `c a n`.
const MOST_BETWEEN: usize = 8;

impl CanaryGuard {
    /// A guard against `canary`, of which letters and digits count.
    #[must_use]
    pub fn new(canary: &str) -> Self {
        Self {
            canary: canary.chars().filter_map(folded).collect(),
            held: String::new(),
            leaked: false,
        }
    }

    /// The text that may pass now. After the word was seen nothing passes any more.
    pub fn push(&mut self, text: &str) -> String {
        if self.leaked {
            return String::new();
        }
        self.held.push_str(text);
        match self.progress() {
            Progress::Whole { start } => {
                self.leaked = true;
                self.held.truncate(start);
                std::mem::take(&mut self.held)
            }
            Progress::Begun { start } => {
                let held = self.held.split_off(start);
                std::mem::replace(&mut self.held, held)
            }
            Progress::None => std::mem::take(&mut self.held),
        }
    }

    /// What was held back when the stream ends: the beginning of the word alone is not the word.
    #[must_use]
    pub fn finish(&mut self) -> String {
        if self.leaked {
            return String::new();
        }
        std::mem::take(&mut self.held)
    }

    /// Whether the word was seen.
    #[must_use]
    pub fn leaked(&self) -> bool {
        self.leaked
    }

    /// The first place from which the held text is, or may become, the word.
    fn progress(&self) -> Progress {
        if self.canary.is_empty() {
            return Progress::None;
        }
        let mut begun = None;
        for (start, c) in self.held.char_indices() {
            if folded(c) != Some(self.canary[0]) {
                continue;
            }
            match self.matched_from(start) {
                Matched::Whole => return Progress::Whole { start },
                Matched::ToTheEnd if begun.is_none() => begun = Some(start),
                Matched::ToTheEnd | Matched::Not => {}
            }
        }
        begun.map_or(Progress::None, |start| Progress::Begun { start })
    }

    fn matched_from(&self, start: usize) -> Matched {
        let (mut met, mut between) = (0, 0);
        for c in self.held[start..].chars() {
            match folded(c) {
                Some(c) if c == self.canary[met] => {
                    met += 1;
                    between = 0;
                    if met == self.canary.len() {
                        return Matched::Whole;
                    }
                }
                Some(_) => return Matched::Not,
                None => {
                    between += 1;
                    if between > MOST_BETWEEN {
                        return Matched::Not;
                    }
                }
            }
        }
        Matched::ToTheEnd
    }
}

enum Progress {
    None,
    Begun { start: usize },
    Whole { start: usize },
}

enum Matched {
    Not,
    ToTheEnd,
    Whole,
}

/// A letter or digit in lower case; `None` for everything else.
fn folded(c: char) -> Option<char> {
    c.is_alphanumeric()
        .then(|| c.to_lowercase().next().unwrap_or(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CANARY: &str = "q7f3k9x2m5r8t1w4";

    /// What passes of `text` when it comes in these pieces, and whether the word was seen.
    fn passed<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, bool) {
        let mut guard = CanaryGuard::new(CANARY);
        let mut out: String = pieces.into_iter().map(|piece| guard.push(piece)).collect();
        out.push_str(&guard.finish());
        (out, guard.leaked())
    }

    #[test]
    fn c267_the_word_never_passes() {
        for (text, shown) in [
            ("My rules: q7f3k9x2m5r8t1w4 and more", "My rules: "),
            ("Q7F3K9X2M5R8T1W4", ""),
            ("q7f3-k9x2-m5r8-t1w4.", ""),
            ("a q 7 f 3 k 9 x 2 m 5 r 8 t 1 w 4", "a "),
            ("qq7f3k9x2m5r8t1w4", "q"),
            ("q7f3q7f3k9x2m5r8t1w4", "q7f3"),
        ] {
            assert_eq!(passed([text]), (shown.to_owned(), true), "{text}");
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let cut = passed(letters.iter().map(String::as_str));
            assert_eq!(cut, (shown.to_owned(), true), "{text}, letter by letter");
        }
    }

    #[test]
    fn other_text_passes_whole() {
        for text in [
            "",
            "q7f3",
            "The default is 1 GB. q7f3k9",
            "Ω q7f3k9x2m5r8t1w5 😀",
        ] {
            assert_eq!(passed([text]), (text.to_owned(), false));
        }
        assert_eq!(
            CanaryGuard::new("").push("anything"),
            "anything",
            "no word, no guard"
        );
    }

    #[test]
    fn what_is_held_back_is_bounded() {
        let mut guard = CanaryGuard::new(CANARY);
        for _ in 0..10_000 {
            guard.push("q \u{2003}\u{2003}\u{2003} \n");
            assert!(guard.held.len() < 1_000);
        }
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(
            before in "[a-z0-9 ]{0,30}", after in "[a-z0-9 ]{0,30}", leaks in any::<bool>(), size in 1_usize..7,
        ) {
            let text = format!("{before}{}{after}", if leaks { CANARY } else { "" });
            let letters: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
            let (out, leaked) = passed(pieces.iter().map(String::as_str));
            prop_assert_eq!((out.clone(), leaked), passed([text.as_str()]));
            prop_assert_eq!(leaked, leaks);
            let bare: String = out.chars().filter_map(folded).collect();
            prop_assert!(!bare.contains(CANARY));
        }
    }
}

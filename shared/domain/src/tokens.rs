//! Counts `o200k_base` tokens, exactly.
//!
//! Every budget of a chunk or a prompt is in these. Text is only ever text here: the spelling of a special token
//! (`<|endoftext|>`) is counted as the characters it is made of and never gains its meaning. Read [`crate::chunk`] next,
//! the main caller.

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

/// Building the encoder takes a tenth of a second, so it happens once, on first use.
static ENCODER: LazyLock<&'static CoreBPE> = LazyLock::new(tiktoken_rs::o200k_base_singleton);

/// How many bytes the encoder is given at a time. The longest run of letters or spaces it then sees is this long, which
/// bounds both its quadratic merge and its regular expression's backtracking on hostile input.
const WINDOW: usize = 16 * 1024;

/// The number of `o200k_base` tokens in `text`.
///
/// Exact for every text up to 16 KiB, and for longer ones that have a line break at least that often. Beyond, the text
/// is counted in pieces cut where a word begins, which is at most a token off at each cut.
#[must_use]
pub fn count(text: &str) -> usize {
    let mut rest = text;
    let mut tokens = 0;
    while rest.len() > WINDOW {
        let (piece, tail) = rest.split_at(cut_before(rest, WINDOW));
        tokens += ENCODER.count_ordinary(piece);
        rest = tail;
    }
    tokens + ENCODER.count_ordinary(rest)
}

/// The last place before `limit` where no token crosses: between a line break and the word after it, else before a
/// space, else any character bound.
fn cut_before(text: &str, limit: usize) -> usize {
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let after_line = head.char_indices().rev().find_map(|(at, c)| {
        let next = at + c.len_utf8();
        (c == '\n' && text[next..].starts_with(|n: char| !n.is_whitespace() && n != '/'))
            .then_some(next)
    });
    after_line
        .or_else(|| head.rfind(' ').filter(|&at| at > 0))
        .unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn known_counts() {
        for (text, expected) in [("", 0), ("hello world", 2), ("\n", 1), ("Checkpoints", 2)] {
            assert_eq!(count(text), expected, "{text:?}");
        }
    }

    #[test]
    fn c246_special_tokens_are_plain_text() {
        for text in [
            "<|endoftext|>",
            "<|im_start|>",
            "<|endofprompt|>",
            "before <|endoftext|> after",
        ] {
            assert!(count(text) > 3, "{text:?} was read as a special token");
        }
    }

    #[test]
    fn long_text_is_counted_piece_by_piece() {
        let line = "The write-ahead log is flushed at every checkpoint.\n";
        assert_eq!(count(&line.repeat(2_000)), 2_000 * count(line));
    }

    #[test]
    fn hostile_runs_are_counted_in_reasonable_time() {
        for run in ["a", " ", "\n", "é", "=", "\u{1F468}\u{200D}"] {
            assert!(count(&run.repeat(200_000)) > 0);
        }
    }
}

//! Shows how far an ingest is: a bar on a terminal, one line a page otherwise.
//!
//! It goes to standard error; what a run came to is its [`super::Report`].

use std::io::{IsTerminal, Write};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};

/// Told as things happen.
pub trait Progress: Send + Sync {
    /// So many texts are to be embedded.
    fn embedding(&self, texts: usize);
    /// So many more were.
    fn embedded(&self, texts: usize);
    /// A page has all its vectors; `new` of its texts were embedded for it.
    fn page(&self, document: &str, chunks: usize, new: usize);
    /// No more texts will be embedded.
    fn finished(&self);
    /// Something a person should know.
    fn note(&self, line: &str);
}

/// The kind that suits standard error.
#[must_use]
pub fn for_stderr() -> Arc<dyn Progress> {
    if std::io::stderr().is_terminal() {
        Arc::new(Bar(ProgressBar::hidden()))
    } else {
        Arc::new(Lines)
    }
}

/// One line a page.
#[derive(Debug, Clone, Copy)]
pub struct Lines;

impl Progress for Lines {
    fn embedding(&self, texts: usize) {
        say(&format!("embedding {texts} texts"));
    }

    fn embedded(&self, _texts: usize) {}

    fn page(&self, document: &str, chunks: usize, new: usize) {
        say(&format!(
            "{document}: {chunks} chunks, {new} texts embedded"
        ));
    }

    fn finished(&self) {}

    fn note(&self, line: &str) {
        say(line);
    }
}

/// A bar that counts texts.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn embedding(&self, texts: usize) {
        let style =
            ProgressStyle::with_template("{msg:28!} {wide_bar} {pos}/{len} texts, {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
        self.0.set_style(style);
        self.0.set_length(texts as u64);
        if texts > 0 {
            self.0
                .set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
    }

    fn embedded(&self, texts: usize) {
        self.0.inc(texts as u64);
    }

    fn page(&self, document: &str, _chunks: usize, _new: usize) {
        self.0.set_message(document.to_owned());
    }

    fn finished(&self) {
        self.0.finish_and_clear();
    }

    fn note(&self, line: &str) {
        self.0.suspend(|| say(line));
    }
}

/// A closed standard error must not end an ingest.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

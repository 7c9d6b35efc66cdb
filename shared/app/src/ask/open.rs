//! Opens what a question needs, all at once: the corpus item, the database at the version that answers, its words, and the
//! question's vector.
//!
//! The version is chosen here and nowhere else: every later statement names it. A version made with another model is
//! refused, for its vectors would compare without an error and rank without a meaning.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use adapters::dynamodb::corpus::Corpus;
use adapters::model::{Embedded, ModelError, checked_with_usage};
use adapters::postgres::Client;
use adapters::postgres::retrieve::{Served, served};
use anyhow::{Context as _, anyhow};
use domain::chunk::ChunkPolicy;
use domain::cost::Usage;
use domain::names::{Name, NameKind, question_names};
use domain::spelling::{Corrected, correct};
use tokio::time::{Instant, timeout};

use super::failure::{Failure, Stopped};
use super::question::Ask;
use super::run::Run;
use crate::config;
use crate::context::Context;
use crate::ingest::chunker;

/// Everything to search with.
#[derive(Debug)]
pub struct Opened {
    /// How the corpus speaks.
    pub corpus: Arc<Corpus>,
    /// The open connection.
    pub client: Arc<Client>,
    /// The version that answers.
    pub served: Served,
    /// The question with its spelling corrected.
    pub text: String,
    /// Its exact names.
    pub names: Vec<Name>,
    /// Capitalised words that the corpus has nothing like: names of other things.
    pub foreign: bool,
    /// Its vector; `None` when the model failed.
    pub vector: Option<Vec<f32>>,
}

/// Opens database and corpus beside the embedding.
pub(super) async fn open(ctx: &Context, ask: &Ask, run: &mut Run<'_>) -> Result<Opened, Stopped> {
    let started = Instant::now();
    let question = ask.question.as_str();
    let reaching = async { (reach(ctx, run).await, started.elapsed()) };
    let embedding = async { (embed(ctx, question).await, started.elapsed()) };
    let ((reached, reach_time), (embedded, mut embed_time)) = tokio::join!(reaching, embedding);
    // Before anything else can end the question: it is paid for.
    count(ctx, question, &embedded, run);
    let (corpus, client, served) = reached?;
    let reading = Instant::now();
    let words = ctx
        .words(&client, served.version)
        .await
        .context("read the corpus's words")
        .map_err(Failure::Unavailable)?;
    let corrected = correct(question, &words, |word| ctx.embedder.is_word(word));
    run.took("open", reach_time + reading.elapsed()).await?;
    let again = Instant::now();
    let embedded = if corrected.changed {
        let again = embed(ctx, &corrected.text).await;
        count(ctx, &corrected.text, &again, run);
        again
    } else {
        embedded
    };
    let vector = match embedded {
        Ok(mut embedded) => embedded.vectors.pop(),
        Err(error) => {
            run.without("vector", &error);
            None
        }
    };
    if corrected.changed {
        embed_time += again.elapsed();
    }
    run.took("embed", embed_time).await?;
    Ok(Opened {
        corpus,
        client,
        served,
        names: question_names(&corrected.text),
        foreign: foreign(question, &corrected),
        text: corrected.text,
        vector,
    })
}

async fn reach(
    ctx: &Context,
    run: &Run<'_>,
) -> Result<(Arc<Corpus>, Arc<Client>, Served), Stopped> {
    let (corpus, client) = tokio::join!(ctx.corpus(), dial(ctx, run));
    let (corpus, client) = (corpus.map_err(Failure::from)?, client?);
    let served = served(&client, &ctx.config.corpus)
        .await
        .context("read the corpus's version")
        .and_then(|served| {
            served.ok_or_else(|| anyhow!("no version of {} answers", ctx.config.corpus))
        })
        .map_err(Failure::Unavailable)?;
    let embedder = &*ctx.embedder;
    if served.embedding_model != embedder.model() || served.dimensions != embedder.dimensions() {
        return Err(Failure::Mismatch(format!(
            "the stored vectors are {}'s ({} dimensions), the configured model is {} ({}): run scripts/ingest",
            served.embedding_model,
            served.dimensions,
            embedder.model(),
            embedder.dimensions(),
        ))
        .into());
    }
    let chunker = chunker(ChunkPolicy::default());
    if served.chunker != chunker {
        return Err(Failure::Mismatch(format!(
            "the stored texts were cut by {}, this version cuts by {chunker}: run scripts/ingest",
            served.chunker
        ))
        .into());
    }
    Ok((corpus, client, served))
}

/// A connection, with word to the visitor when the database takes its time: it scales to zero, and resuming takes seconds.
async fn dial(ctx: &Context, run: &Run<'_>) -> Result<Arc<Client>, Stopped> {
    let mut dialling = pin!(ctx.database());
    let client = match timeout(WAKING_AFTER, &mut dialling).await {
        Ok(client) => client,
        Err(_) => {
            run.waking().await?;
            dialling.await
        }
    };
    Ok(client.map_err(Failure::from)?)
}

/// A database that is awake answers in milliseconds, across a region too.
const WAKING_AFTER: Duration = Duration::from_millis(700);

async fn embed(ctx: &Context, text: &str) -> Result<Embedded, ModelError> {
    checked_with_usage(&*ctx.embedder, &[text.to_owned()]).await
}

/// Counts an embedding that a provider made: as it counted, else by the text's length.
fn count(ctx: &Context, text: &str, embedded: &Result<Embedded, ModelError>, run: &mut Run<'_>) {
    if let (Ok(embedded), config::Embedder::OpenAi { remote, .. }) =
        (embedded, &ctx.config.models.embedder)
    {
        let usage = match embedded.usage {
            Some(counted) => Usage::embedding(counted.input),
            None => Usage::estimated_embedding(text.chars().count()),
        };
        run.spent(ctx, &remote.model, usage);
    }
}

/// Whether the question names something by a capitalised word that the corpus has nothing like. A sentence's first word is
/// capitalised for another reason, and a word in capitals may be emphasis.
fn foreign(question: &str, corrected: &Corrected) -> bool {
    let mut begins = true;
    for word in question.split_whitespace() {
        let first = begins;
        begins = word.ends_with(['.', '?', '!', ':']);
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.strip_suffix("'s").unwrap_or(bare);
        let mut letters = bare.chars();
        let capitalised = letters.next().is_some_and(char::is_uppercase)
            && letters.clone().next().is_some()
            && letters.all(char::is_lowercase);
        if capitalised && !first && corrected.unknown.contains(&bare.to_lowercase()) {
            return true;
        }
    }
    false
}

impl Opened {
    /// Names whose absence from the corpus says that it does not cover the question. Capitals may be emphasis, and a
    /// dotted name's parts are judged on their own.
    #[must_use]
    pub fn decisive_names(&self) -> Vec<&str> {
        self.names
            .iter()
            .filter(|name| {
                !matches!(
                    name.kind,
                    NameKind::Capitals
                        | NameKind::Qualified
                        | NameKind::Operator
                        | NameKind::Version
                )
            })
            .map(|name| name.text.as_str())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, unknown: &[&str], expected: bool) {
        let corrected = Corrected {
            text: question.to_owned(),
            unknown: unknown.iter().map(|&word| word.to_owned()).collect(),
            changed: false,
        };
        assert_eq!(foreign(question, &corrected), expected, "{question}");
    }

    #[test]
    fn a_capitalised_unknown_word_is_another_thing() {
        check(
            "What is the Patroni command for a switchover?",
            &["patroni", "switchover"],
            true,
        );
        check("Does Patroni's agent vacuum?", &["patroni"], true);
        check("Patroni: how do I switch over?", &["patroni"], false);
        check("Is a CHECKLIST run in Vacuum?", &["checklist"], false);
        check("What of it? Sourdough rises.", &["sourdough"], false);
    }
}

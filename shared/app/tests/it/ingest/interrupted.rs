//! Runs that are ended from outside, at every step that writes: the version before answers on, whole, and the next run
//! builds the new one and clears up.

use std::sync::Arc;
use std::time::Duration;

use adapters::model::ModelError;
use adapters::postgres::Client;
use app::ingest::{IngestError, Outcome, ingest};
use testing::HashEmbedder;

use crate::corpus::{TestCorpus, model};

const OLD: (&str, &str) = ("page.md", "# Page\n\nThe old text stands here.\n");
const NEW: &str =
    "# Page\n\nThe new text stands here.\n\n## More\n\nAnd there is more of it. Quite a lot.\n";

#[tokio::test]
async fn c252_a_failing_model_leaves_the_old_version_and_its_own_work() {
    let corpus = TestCorpus::new(&[OLD]).await;
    corpus.ingest().await;
    let before = corpus.read().await;
    for number in 0..6 {
        corpus.put(
            &format!("new-{number}.md"),
            &format!("# New {number}\n\nText of page {number}.\n"),
        );
    }
    let failing = HashEmbedder::new("hash", 16).failing_after(3);
    let error = corpus.try_ingest(failing).await.unwrap_err();
    assert!(
        matches!(error, IngestError::Model(ModelError::Unavailable(_))),
        "{error}"
    );
    assert_eq!(corpus.read().await, before);
    let report = corpus.ingest().await;
    assert_eq!(report.outcome, Outcome::Switched);
    // Six pages of two texts, a heading and a sentence; the four made before the failure are not made again.
    assert_eq!(report.embedded, 8);
    assert_eq!(corpus.read().await.chunks.len(), 7);
}

#[tokio::test]
async fn c252_a_killed_run_leaves_the_old_version_whole() {
    for (event, table) in [
        ("insert", "embeddings"),
        ("insert", "versions"),
        ("insert", "documents"),
        ("insert", "chunks"),
        ("insert", "words"),
        ("insert", "sentences"),
        ("insert", "postings"),
        ("insert", "terms"),
        ("update", "chunks"),
        ("update", "versions"),
        ("update", "corpora"),
    ] {
        killed_at(event, table).await;
    }
}

async fn killed_at(event: &str, table: &str) {
    let at = format!("{event} of {table}");
    let corpus = TestCorpus::new(&[OLD]).await;
    corpus.ingest().await;
    let before = corpus.read().await;
    corpus.put("page.md", NEW);

    let holder = corpus.database.connect().await;
    hold_up(&holder, event, table).await;
    let ctx = corpus.context(Arc::new(model())).await;
    let manifest = corpus.manifest.clone();
    let run = tokio::spawn(async move { ingest(&ctx, &manifest, None).await });
    until_held_up(&holder, &at).await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled(), "{at}");
    assert_eq!(corpus.read().await, before, "{at}");
    let_go(&holder, table).await;
    assert_eq!(corpus.read().await, before, "{at}");

    let report = corpus.ingest().await;
    assert_eq!(report.outcome, Outcome::Switched, "{at}");
    let after = corpus.read().await;
    assert_eq!(after.chunks.len(), 2, "{at}");
    assert!(after.chunks[0].1.contains("new text"), "{at}");
    let left = holder
        .query_one(
            "select (select count(*) from versions),
                    (select count(*) from pg_class where relkind = 'r' and relname ~ '_v[0-9]+$')",
            &[],
        )
        .await
        .unwrap();
    assert_eq!(
        (left.get::<_, i64>(0), left.get::<_, i64>(1)),
        (2, 12),
        "{at}"
    );
}

/// Lets the next such statement wait until [`let_go`].
async fn hold_up(holder: &Client, event: &str, table: &str) {
    holder
        .batch_execute(&format!(
            "create function hold_up() returns trigger language plpgsql as
             $$ begin perform pg_advisory_xact_lock(1); return null; end $$;
             create trigger hold_up before {event} on {table} for each statement execute function hold_up();
             select pg_advisory_lock(1)"
        ))
        .await
        .unwrap();
}

async fn until_held_up(holder: &Client, at: &str) {
    let waiting = "
        select exists (
            select from pg_locks
            where locktype = 'advisory' and not granted and objid = 1
              and database = (select oid from pg_database where datname = current_database())
        )";
    tokio::time::timeout(Duration::from_secs(60), async {
        while !holder
            .query_one(waiting, &[])
            .await
            .unwrap()
            .get::<_, bool>(0)
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap_or_else(|_| panic!("the run never came to the {at}"));
}

async fn let_go(holder: &Client, table: &str) {
    holder
        .batch_execute("select pg_advisory_unlock(1)")
        .await
        .unwrap();
    holder
        .batch_execute(&format!(
            "drop trigger hold_up on {table}; drop function hold_up()"
        ))
        .await
        .unwrap();
}

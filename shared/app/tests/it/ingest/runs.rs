//! Runs that come to an end of their own.

use std::sync::Arc;
use std::time::Duration;

use app::ingest::{IngestError, Outcome, ingest};
use testing::HashEmbedder;
use tokio::time::Instant;

use crate::corpus::{TestCorpus, model, read};

const NOTICE: (&str, &str) = (
    "notice.md",
    "# Notice\n\nNotice is 30 days. It is counted from submission.\n",
);
const EXPENSES: (&str, &str) = (
    "expenses.md",
    "# Expenses\n\nKeep every receipt. Claims are paid within two weeks.\n\n## Travel\n\nTrains before planes.\n",
);

/// A page of one section a word.
fn sections(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("# {word}\n\nAbout {word} there is this.\n\n"))
        .collect()
}

#[tokio::test]
async fn a_first_run_stores_switches_and_publishes() {
    let corpus = TestCorpus::new(&[NOTICE, EXPENSES]).await;
    let embedder = Arc::new(model());
    let ctx = corpus.context(embedder.clone()).await;
    let report = ingest(&ctx, &corpus.manifest, None).await.unwrap();
    assert_eq!((report.outcome, report.exit_code()), (Outcome::Switched, 0));
    assert_eq!((report.pages, report.chunks), (2, 3));
    assert_eq!(report.embedded, embedder.count());
    assert!(
        report
            .to_string()
            .ends_with(&format!("embedded {} texts", report.embedded))
    );
    let read = corpus.read().await;
    assert_eq!(Some(read.version), report.version);
    assert_eq!(read.chunks.len(), 3);
    let item = corpus.item().await.unwrap();
    assert_eq!(
        (item.version, item.pages, item.chunks),
        (read.version, 2, 3)
    );
    assert_eq!(
        (item.embedding_model.as_str(), item.dimensions),
        ("hash", 16)
    );
    assert_eq!(item.refusal, "Not found.");
    let texts = embedder.texts();
    assert!(
        texts.contains(&"Trains before planes.".to_owned()),
        "{texts:?}"
    );
    assert!(
        texts.iter().all(|text| !text.trim().is_empty()),
        "{texts:?}"
    );
}

#[tokio::test]
async fn c255_an_unchanged_corpus_is_left_alone() {
    let corpus = TestCorpus::new(&[NOTICE, EXPENSES]).await;
    corpus.ingest().await;
    let before = corpus.read().await;
    let embedder = Arc::new(model());
    let ctx = corpus.context(embedder.clone()).await;
    let report = ingest(&ctx, &corpus.manifest, None).await.unwrap();
    assert_eq!((report.outcome, report.embedded), (Outcome::Unchanged, 0));
    assert_eq!(embedder.count(), 0);
    assert_eq!(corpus.read().await, before);
}

#[tokio::test]
async fn c255_only_new_text_is_embedded_and_ids_stay() {
    let corpus = TestCorpus::new(&[NOTICE, EXPENSES]).await;
    corpus.ingest().await;
    let before = corpus.read().await;
    corpus.put(
        "expenses.md",
        &format!("{}\n## Meals\n\nLunch is on us.\n", EXPENSES.1),
    );
    let embedder = Arc::new(model());
    let ctx = corpus.context(embedder.clone()).await;
    let report = ingest(&ctx, &corpus.manifest, None).await.unwrap();
    assert_eq!(report.outcome, Outcome::Switched);
    assert_eq!(embedder.texts(), ["Lunch is on us.", "Expenses, Meals"]);
    let after = corpus.read().await;
    assert!(before.ids.iter().all(|id| after.ids.contains(id)));
    assert_eq!(after.ids.len(), before.ids.len() + 1);
}

#[tokio::test]
async fn c250_what_is_gone_leaves_nothing_behind() {
    let corpus = TestCorpus::new(&[
        (
            "shrinks.md",
            &sections(&["one", "two", "three", "four", "five"]),
        ),
        ("old-name.md", &sections(&["renamed"])),
        ("deleted.md", &sections(&["gone"])),
    ])
    .await;
    corpus.ingest().await;
    assert_eq!(corpus.read().await.chunks.len(), 7);
    corpus.put("shrinks.md", &sections(&["one", "two", "three"]));
    corpus.put("new-name.md", &sections(&["renamed"]));
    corpus.remove("old-name.md");
    corpus.remove("deleted.md");
    corpus.ingest().await;
    let read = corpus.read().await;
    let documents: Vec<_> = read
        .chunks
        .iter()
        .map(|(document, _)| document.as_str())
        .collect();
    assert_eq!(documents, ["new-name", "shrinks", "shrinks", "shrinks"]);
    let client = corpus.database.connect().await;
    for word in ["four", "five", "gone"] {
        let found: i64 = client
            .query_one(
                "select count(*) from postings where version = $1 and term = any (array[$2, '~' || $2, '=' || $2])",
                &[&read.version, &word],
            )
            .await
            .unwrap()
            .get(0);
        assert_eq!(found, 0, "{word}");
    }
    // A third version drops the first with everything in it.
    corpus.put("new-name.md", &sections(&["renamed", "again"]));
    corpus.ingest().await;
    let left: i64 = client
        .query_one("select count(*) from chunks where text like '%gone%'", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(left, 0);
}

#[tokio::test]
async fn c251_two_at_once_give_one_whole_version_after_the_other() {
    let corpus = TestCorpus::new(&[NOTICE, EXPENSES]).await;
    let (one, two) = (
        corpus.context(Arc::new(model())).await,
        corpus.context(Arc::new(model())).await,
    );
    let mut other = corpus.manifest.clone();
    other.pages = Some(vec!["notice.md".to_owned()]);
    let (one, two) = tokio::join!(
        ingest(&one, &corpus.manifest, None),
        ingest(&two, &other, None)
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(
        (one.outcome, two.outcome),
        (Outcome::Switched, Outcome::Switched)
    );
    let read = corpus.read().await;
    assert_eq!(Some(read.version), one.version.max(two.version));
    let expected = if one.version > two.version { 3 } else { 1 };
    assert_eq!(read.chunks.len(), expected);
    assert_eq!(corpus.item().await.unwrap().version, read.version);
}

#[tokio::test]
async fn c251_a_run_that_may_not_wait_says_so() {
    let corpus = TestCorpus::new(&[NOTICE]).await;
    let holder = corpus.database.connect().await;
    adapters::postgres::store::lock(&holder, "handbook", Duration::ZERO)
        .await
        .unwrap();
    let mut ctx = corpus.context(Arc::new(model())).await;
    ctx.limits.lock_wait = Duration::ZERO;
    let error = ingest(&ctx, &corpus.manifest, None).await.unwrap_err();
    assert_eq!(error.to_string(), "another ingest of handbook is running");
}

#[tokio::test]
async fn c256_readers_see_one_version_all_through_a_reingest() {
    let corpus = TestCorpus::new(&[
        ("a.md", &sections(&["alpha", "beta"])),
        ("b.md", &sections(&["alpha"])),
    ])
    .await;
    corpus.ingest().await;
    let client = corpus.database.connect().await;
    let (stop, mut stopped) = tokio::sync::oneshot::channel();
    let reading = tokio::spawn(async move {
        let mut reads = Vec::new();
        while stopped.try_recv().is_err() {
            reads.push(read(&client).await);
            // The tests' runtime has one thread.
            tokio::task::yield_now().await;
        }
        reads
    });
    let mut whole = vec![corpus.read().await];
    for words in [&["gamma", "delta"][..], &["alpha", "beta"], &["epsilon"]] {
        corpus.put("a.md", &sections(words));
        corpus.ingest().await;
        whole.push(corpus.read().await);
    }
    stop.send(()).unwrap();
    let reads = reading.await.unwrap();
    assert!(reads.len() > 10, "{} reads", reads.len());
    for read in reads {
        assert!(
            whole.contains(&read),
            "a mixed or partial version: {read:?}"
        );
    }
}

#[tokio::test]
async fn c013_another_model_builds_a_version_of_its_own() {
    let corpus = TestCorpus::new(&[NOTICE]).await;
    let first = corpus.ingest().await;
    for (model, dimensions) in [("other", 16), ("other", 8)] {
        let embedder = HashEmbedder::new(model, dimensions);
        let report = corpus.try_ingest(embedder).await.unwrap();
        assert_eq!(
            (report.outcome, report.embedded),
            (Outcome::Switched, first.embedded)
        );
        let item = corpus.item().await.unwrap();
        assert_eq!(
            (item.embedding_model.as_str(), item.dimensions),
            (model, dimensions)
        );
    }
}

#[tokio::test]
async fn an_unreadable_page_keeps_its_stored_chunks() {
    let corpus = TestCorpus::new(&[NOTICE, EXPENSES]).await;
    corpus.ingest().await;
    let before = corpus.read().await;
    std::fs::write(corpus.manifest.folder.join("notice.md"), b"\xff\xfe\xff").unwrap();

    let report = corpus.ingest().await;
    assert_eq!(
        (report.outcome, report.exit_code()),
        (Outcome::Unchanged, 3)
    );
    assert_eq!(report.unreadable.len(), 1);
    assert!(report.to_string().contains("notice.md"), "{report}");
    assert_eq!(corpus.read().await, before);

    corpus.put("expenses.md", &sections(&["changed"]));
    let report = corpus.ingest().await;
    assert_eq!((report.outcome, report.exit_code()), (Outcome::Switched, 3));
    assert!(
        corpus
            .notes
            .all()
            .iter()
            .any(|note| note.contains("notice.md"))
    );
    let after = corpus.read().await;
    let notice = |chunks: &[(String, String)]| {
        chunks
            .iter()
            .filter(|(document, _)| document == "notice")
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(notice(&after.chunks), notice(&before.chunks));
    assert_eq!(after.chunks.len(), 2);

    corpus.put("notice.md", NOTICE.1);
    let report = corpus.ingest().await;
    assert_eq!((report.exit_code(), report.embedded), (0, 0));
}

#[tokio::test]
async fn an_unreadable_page_blocks_another_model() {
    let corpus = TestCorpus::new(&[NOTICE, EXPENSES]).await;
    corpus.ingest().await;
    let before = corpus.read().await;
    std::fs::write(corpus.manifest.folder.join("notice.md"), b"\xff").unwrap();
    let error = corpus
        .try_ingest(HashEmbedder::new("other", 16))
        .await
        .unwrap_err();
    assert!(matches!(error, IngestError::Blocked { .. }), "{error}");
    assert!(error.to_string().contains("notice.md"), "{error}");
    assert_eq!(corpus.read().await, before);
}

#[tokio::test]
async fn a_new_page_that_cannot_be_read_stops_no_other() {
    let corpus = TestCorpus::new(&[NOTICE]).await;
    std::fs::write(corpus.manifest.folder.join("broken.md"), b"\xff").unwrap();
    let report = corpus.ingest().await;
    assert_eq!(
        (report.outcome, report.exit_code(), report.pages),
        (Outcome::Switched, 3, 1)
    );
}

#[tokio::test]
async fn a_folder_that_is_gone_loses_nothing() {
    let corpus = TestCorpus::new(&[NOTICE, EXPENSES]).await;
    corpus.ingest().await;
    let before = corpus.read().await;
    let mut moved = corpus.manifest.clone();
    moved.folder = "/nowhere".into();
    let ctx = corpus.context(Arc::new(model())).await;
    let report = ingest(&ctx, &moved, None).await.unwrap();
    assert_eq!(
        (report.outcome, report.exit_code()),
        (Outcome::Unchanged, 3)
    );
    assert_eq!(corpus.read().await, before);
}

#[tokio::test]
async fn a_corpus_without_a_page_is_refused() {
    let corpus = TestCorpus::new(&[]).await;
    let error = corpus.try_ingest(model()).await.unwrap_err();
    assert!(matches!(error, IngestError::Empty { .. }), "{error}");
    assert_eq!(corpus.item().await, None);
}

#[tokio::test]
async fn an_unknown_configuration_is_named_before_anything_is_embedded() {
    let mut corpus = TestCorpus::new(&[NOTICE]).await;
    corpus.manifest.text_search = "klingon".to_owned();
    let embedder = Arc::new(model());
    let ctx = corpus.context(embedder.clone()).await;
    let error = ingest(&ctx, &corpus.manifest, None).await.unwrap_err();
    assert!(error.to_string().contains("klingon"), "{error}");
    assert_eq!(embedder.count(), 0);
}

#[tokio::test]
async fn a_run_at_its_deadline_is_incomplete_and_the_next_goes_on() {
    let corpus = TestCorpus::new(&[NOTICE, EXPENSES]).await;
    corpus.ingest().await;
    let before = corpus.read().await;
    corpus.put("more.md", &sections(&["one", "two", "three", "four"]));
    let ctx = corpus.context(Arc::new(model())).await;
    let report = ingest(&ctx, &corpus.manifest, Some(Instant::now()))
        .await
        .unwrap();
    assert_eq!(
        (report.outcome, report.exit_code()),
        (Outcome::Incomplete { remaining: 8 }, 4)
    );
    assert_eq!(corpus.read().await, before);
    let later = Instant::now() + Duration::from_secs(600);
    let report = ingest(&ctx, &corpus.manifest, Some(later)).await.unwrap();
    assert_eq!((report.outcome, report.embedded), (Outcome::Switched, 8));
}

#[tokio::test]
async fn an_item_that_was_not_written_is_written_by_the_next_run() {
    let corpus = TestCorpus::new(&[NOTICE]).await;
    let mut ctx = corpus.context(Arc::new(model())).await;
    ctx.table = adapters::dynamodb::Table::connect("sourced", Some("http://127.0.0.1:1")).await;
    let error = ingest(&ctx, &corpus.manifest, None).await.unwrap_err();
    let version = corpus.read().await.version;
    assert!(
        matches!(error, IngestError::Publish { version: told, .. } if told == version),
        "{error}"
    );
    assert_eq!(corpus.item().await, None);
    let report = corpus.ingest().await;
    assert_eq!(report.outcome, Outcome::Unchanged);
    assert_eq!(corpus.item().await.unwrap().version, version);
}

#[tokio::test]
async fn what_only_the_item_says_is_written_without_a_new_version() {
    let mut corpus = TestCorpus::new(&[NOTICE]).await;
    corpus.ingest().await;
    corpus.manifest.refusal = "Ask HR.".to_owned();
    assert_eq!(corpus.ingest().await.outcome, Outcome::Unchanged);
    assert_eq!(corpus.item().await.unwrap().refusal, "Ask HR.");
}

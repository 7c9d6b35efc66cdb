//! Versions written, switched to and cleared away.

use std::collections::BTreeMap;
use std::time::Duration;

use adapters::postgres::Client;
use adapters::postgres::store::{
    Carried, ChunkRow, Content, Description, DocumentRow, Hash, StoreError, begin, cache_key,
    check_text_search, current, discard, index, keep_embeddings, known_embeddings, lock,
    prune_embeddings, switch, write,
};
use domain::chunk::Chunk;
use domain::document::Document;
use domain::sentence::{Sentence, SentenceKind};
use testing::TestDatabase;

const TEXT: [Hash; 2] = [[1; 32], [2; 32]];

fn description() -> Description {
    Description {
        corpus: "docs".to_owned(),
        title: "The Docs".to_owned(),
        label: "17".to_owned(),
        text_search: "english".to_owned(),
        embedding_model: "m".to_owned(),
        dimensions: 3,
        chunker: "c".to_owned(),
        fingerprint: "f".to_owned(),
    }
}

fn document(id: &str) -> Document {
    Document {
        id: id.to_owned(),
        title: "A title".to_owned(),
        url: format!("https://docs.example/{id}"),
        metadata: BTreeMap::from([("department".to_owned(), "hr".to_owned())]),
        page_text: "text".to_owned(),
        sections: Vec::new(),
    }
}

fn chunk(id: i64, document: &str, text: &str) -> ChunkRow {
    ChunkRow {
        id,
        document: document.to_owned(),
        metadata: BTreeMap::new(),
        chunk: Chunk {
            ordinal: 0,
            heading: vec!["19.5. Write Ahead Log".to_owned(), "Checkpoints".to_owned()],
            anchor: "WAL".to_owned(),
            text: text.to_owned(),
            page_offset: 0,
            tokens: 3,
            anchors: vec![(4, "GUC-X".to_owned())],
            torn_head: false,
            spans: Vec::new(),
        },
        sentences: [(0, 3), (4, 18)]
            .map(|(start, end)| Sentence {
                start,
                end,
                kind: SentenceKind::Prose,
            })
            .to_vec(),
        sentence_hashes: TEXT.to_vec(),
        heading_hash: TEXT[0],
        names: BTreeMap::from([("max_wal_size".to_owned(), 3)]),
    }
}

async fn embed(client: &Client) {
    let vectors = [vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]];
    keep_embeddings(client, &cache_key("m", 3), &TEXT, &vectors)
        .await
        .unwrap();
}

/// Builds a version of one document whose chunks have these texts, without switching.
async fn build(client: &mut Client, texts: &[&str]) -> i64 {
    embed(client).await;
    let page = document("a");
    let rows = [DocumentRow {
        document: &page,
        content_hash: [7; 32],
    }];
    let chunks: Vec<_> = (1..)
        .zip(texts)
        .map(|(id, text)| chunk(id, "a", text))
        .collect();
    let content = Content {
        documents: &rows,
        chunks: &chunks,
        carried: None,
    };
    let version = begin(client, &description()).await.unwrap();
    write(client, version, &description(), &content)
        .await
        .unwrap();
    version
}

async fn count(client: &Client, from: &str) -> i64 {
    let rows = client
        .query(&format!("select count(*) from {from}"), &[])
        .await
        .unwrap();
    rows[0].get(0)
}

#[tokio::test]
async fn stores_terms_as_the_keyword_arm_reads_them() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let version = build(&mut client, &["The HAVING clause logs the WAL", "nothing"]).await;
    let rows = client
        .query(
            "select term, tf from postings where version = $1 and chunk = 1 order by term collate \"C\"",
            &[&version],
        )
        .await
        .unwrap();
    let postings: Vec<(String, f32)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let expected = [
        ("=max_wal_size", 3.0),
        ("ahead", 2.0),
        ("checkpoint", 2.0),
        ("claus", 1.0),
        ("log", 3.0),
        ("wal", 1.0),
        ("write", 2.0),
        ("~having", 1.0),
        ("~the", 2.0),
    ]
    .map(|(term, tf)| (term.to_owned(), tf));
    assert_eq!(postings, expected);
    let row = client
        .query_one(
            "select string_agg(terms::text, ' ' order by ordinal) from sentences where version = $1 and chunk = 1",
            &[&version],
        )
        .await
        .unwrap();
    // Cut by scalars: `The` and `HAVING clause `.
    assert_eq!(row.get::<_, String>(0), "{} {claus}");
    let row = client
        .query_one(
            "select df from terms where version = $1 and term = 'log'",
            &[&version],
        )
        .await
        .unwrap();
    assert_eq!(row.get::<_, i32>(0), 2);
    let row = client
        .query_one(
            "select chunks, mean_length from versions where id = $1",
            &[&version],
        )
        .await
        .unwrap();
    // Eleven and nine lexeme occurrences.
    assert_eq!((row.get::<_, i32>(0), row.get::<_, f32>(1)), (2, 10.0));
}

#[tokio::test]
async fn c038_a_text_beyond_a_tsvector_is_bounded() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let words: Vec<_> = (0..150_000).map(|n| format!("word{n:x}und")).collect();
    let wide: Vec<_> = (0..150_000).map(|n| format!("語彙{n}")).collect();
    let version = build(
        &mut client,
        &[&words.join(" "), &wide.join(" "), "the rest"],
    )
    .await;
    assert_eq!(
        count(&client, &format!("chunks where version = {version}")).await,
        3
    );
    let kept = count(
        &client,
        &format!("postings where version = {version} and chunk = 1"),
    )
    .await;
    assert!(kept > 5_000, "{kept} terms");
    assert_eq!(
        count(
            &client,
            &format!("postings where version = {version} and term = 'rest'")
        )
        .await,
        1
    );
}

#[tokio::test]
async fn a_vector_missing_from_the_cache_stops_the_write() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let vectors = [vec![1.0, 0.0, 0.0]];
    keep_embeddings(&client, &cache_key("m", 3), &TEXT[..1], &vectors)
        .await
        .unwrap();
    let version = begin(&mut client, &description()).await.unwrap();
    let chunks = [chunk(1, "a", "text")];
    let content = Content {
        documents: &[],
        chunks: &chunks,
        carried: None,
    };
    let error = write(&mut client, version, &description(), &content)
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::MissingEmbeddings { missing: 1 }),
        "{error}"
    );
    assert_eq!(count(&client, "chunks").await, 0);
}

#[tokio::test]
async fn c013_vectors_of_another_model_or_length_are_not_known() {
    let database = TestDatabase::create().await;
    let client = database.connect().await;
    embed(&client).await;
    let known = |key: String| {
        let client = &client;
        async move { known_embeddings(client, &key, &TEXT).await.unwrap().len() }
    };
    assert_eq!(known(cache_key("m", 3)).await, 2);
    assert_eq!(known(cache_key("m", 4)).await, 0);
    assert_eq!(known(cache_key("n", 3)).await, 0);
}

#[tokio::test]
async fn a_version_is_read_back_as_described() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    assert_eq!(current(&client, "docs").await.unwrap(), None);
    let version = build(&mut client, &["one", "two"]).await;
    assert_eq!(current(&client, "docs").await.unwrap(), None);
    switch(&mut client, "docs", None, version).await.unwrap();
    let read = current(&client, "docs").await.unwrap().unwrap();
    assert_eq!((read.id, read.documents, read.chunks), (version, 1, 2));
    assert_eq!(read.description, description());
    assert!(
        read.built_at.ends_with('Z') && read.built_at.len() == 20,
        "{}",
        read.built_at
    );
}

#[tokio::test]
async fn c251_a_switch_from_another_version_is_refused() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let first = build(&mut client, &["one"]).await;
    let second = build(&mut client, &["two"]).await;
    switch(&mut client, "docs", None, first).await.unwrap();
    let error = switch(&mut client, "docs", None, second).await.unwrap_err();
    assert!(matches!(error, StoreError::Superseded { .. }), "{error}");
    assert_eq!(current(&client, "docs").await.unwrap().unwrap().id, first);
    let state: String = client
        .query_one("select state from versions where id = $1", &[&second])
        .await
        .unwrap()
        .get(0);
    assert_eq!(state, "building");
}

#[tokio::test]
async fn c251_a_corpus_is_locked_by_one_run() {
    let database = TestDatabase::create().await;
    let (one, two) = (database.connect().await, database.connect().await);
    lock(&one, "docs", Duration::ZERO).await.unwrap();
    let error = lock(&two, "docs", Duration::ZERO).await.unwrap_err();
    assert_eq!(error.to_string(), "another ingest of docs is running");
    lock(&two, "other", Duration::ZERO).await.unwrap();
    drop(one);
    lock(&two, "docs", Duration::from_secs(30)).await.unwrap();
}

#[tokio::test]
async fn only_the_current_and_the_previous_version_are_kept() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let mut last = None;
    let mut versions = Vec::new();
    for text in ["one", "two", "three"] {
        let version = build(&mut client, &[text]).await;
        switch(&mut client, "docs", last, version).await.unwrap();
        last = Some(version);
        versions.push(version);
    }
    let unfinished = build(&mut client, &["four"]).await;
    // A run that was killed in the midst of a detachment leaves a partition in between.
    client
        .batch_execute(&format!(
            "alter table chunks detach partition chunks_v{unfinished}"
        ))
        .await
        .unwrap();
    let dropped = discard(&client, "docs").await.unwrap();
    assert_eq!(dropped, [versions[0], unfinished]);
    assert!(discard(&client, "docs").await.unwrap().is_empty());
    assert_eq!(count(&client, "versions").await, 2);
    assert_eq!(count(&client, "chunks").await, 2);
    let left = count(
        &client,
        "pg_class where relkind = 'r' and relname ~ '_v[0-9]+$'",
    )
    .await;
    assert_eq!(left, 12);
}

#[tokio::test]
async fn c256_a_reader_is_never_in_the_way_of_a_new_version() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let first = build(&mut client, &["one"]).await;
    switch(&mut client, "docs", None, first).await.unwrap();
    let mut reader = database.connect().await;
    let reading = reader.transaction().await.unwrap();
    for table in [
        "documents",
        "chunks",
        "words",
        "sentences",
        "terms",
        "postings",
    ] {
        reading
            .query(&format!("select * from {table}"), &[])
            .await
            .unwrap();
    }
    let second = tokio::time::timeout(Duration::from_secs(30), async {
        let second = build(&mut client, &["two"]).await;
        index(&client, second, &description(), 0).await.unwrap();
        switch(&mut client, "docs", Some(first), second)
            .await
            .unwrap();
        second
    })
    .await
    .expect("a reader holds up the new version");
    let text: String = reading
        .query_one("select text from chunks where version = $1", &[&first])
        .await
        .unwrap()
        .get(0);
    assert_eq!(text, "one");
    drop(reading);
    assert_eq!(current(&client, "docs").await.unwrap().unwrap().id, second);
}

#[tokio::test]
async fn a_large_version_has_its_vectors_indexed() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    for (limit, expected) in [(2, 0), (1, 1)] {
        let version = build(&mut client, &["one"]).await;
        index(&client, version, &description(), limit)
            .await
            .unwrap();
        let hnsw = count(
            &client,
            &format!("pg_indexes where tablename = 'sentences_v{version}' and indexdef ~ 'hnsw.*halfvec\\(3\\)'"),
        )
        .await;
        assert_eq!(hnsw, expected);
    }
}

#[tokio::test]
async fn a_carried_document_is_copied_whole() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let old = build(&mut client, &["The WAL is written", "nothing"]).await;
    let page = document("b");
    let rows = [DocumentRow {
        document: &page,
        content_hash: [8; 32],
    }];
    let chunks = [chunk(9, "b", "another page")];
    let content = Content {
        documents: &rows,
        chunks: &chunks,
        carried: Some(Carried {
            from: old,
            documents: &["a".to_owned()],
        }),
    };
    let new = begin(&mut client, &description()).await.unwrap();
    write(&mut client, new, &description(), &content)
        .await
        .unwrap();
    for (what, expected) in [("documents", 2), ("chunks", 3), ("sentences", 6)] {
        assert_eq!(
            count(&client, &format!("{what} where version = {new}")).await,
            expected,
            "{what}"
        );
    }
    let same =
        "select term, chunk, tf from postings where version = {} and chunk in (1, 2) order by 1, 2";
    let mut postings = Vec::new();
    for version in [old, new] {
        let rows = client
            .query(&same.replace("{}", &version.to_string()), &[])
            .await
            .unwrap();
        postings.push(
            rows.iter()
                .map(|row| (row.get(0), row.get(1), row.get(2)))
                .collect::<Vec<(String, i64, f32)>>(),
        );
    }
    assert!(!postings[0].is_empty());
    assert_eq!(postings[0], postings[1]);
}

#[tokio::test]
async fn old_embeddings_go_when_no_version_has_their_text() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    build(&mut client, &["one"]).await;
    let vectors = [vec![0.0, 0.0, 1.0], vec![0.0, 0.0, 1.0]];
    keep_embeddings(&client, &cache_key("m", 3), &[[3; 32], [4; 32]], &vectors)
        .await
        .unwrap();
    client
        .batch_execute("update embeddings set made_at = now() - interval '8 days' where hash <> decode(repeat('04', 32), 'hex')")
        .await
        .unwrap();
    assert_eq!(prune_embeddings(&client).await.unwrap(), 1);
    assert_eq!(count(&client, "embeddings").await, 3);
}

#[tokio::test]
async fn an_unknown_text_search_configuration_is_named() {
    let database = TestDatabase::create().await;
    let client = database.connect().await;
    check_text_search(&client, "english").await.unwrap();
    let error = check_text_search(&client, "klingon").await.unwrap_err();
    assert!(error.to_string().contains("klingon"), "{error}");
}

//! What the two arms find, on the statements that production runs.

use std::collections::BTreeMap;

use adapters::postgres::Client;
use adapters::postgres::retrieve::{DEPTH, Found, Search, Served, evidence, retrieve, served};
use adapters::postgres::store::{
    ChunkRow, Content, Description, DocumentRow, Hash, begin, cache_key, index, keep_embeddings,
    switch, write,
};
use domain::chunk::Chunk;
use domain::document::Document;
use domain::names::{exact_names, question_names};
use domain::sentence::{Sentence, SentenceKind};
use testing::TestDatabase;

const DIMENSIONS: usize = 8;

fn description() -> Description {
    Description {
        corpus: "docs".to_owned(),
        title: "The Docs".to_owned(),
        label: "17".to_owned(),
        text_search: "english".to_owned(),
        embedding_model: "m".to_owned(),
        dimensions: DIMENSIONS,
        chunker: "c".to_owned(),
        fingerprint: "f".to_owned(),
    }
}

/// A direction of its own for every number, the same in every run.
fn direction(n: usize) -> Vec<f32> {
    let mut state = n as u64 + 1;
    let mut vector: Vec<f32> = (0..DIMENSIONS)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        })
        .collect();
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

fn hash(n: usize) -> Hash {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&(n as u64).to_be_bytes());
    hash
}

/// Serves a version whose nth chunk has the nth text and the nth direction; every tenth is the department `hr`'s.
async fn serve(client: &mut Client, texts: &[String], exact_vectors: i64) -> Served {
    serve_under(client, texts, exact_vectors, |n| n).await
}

/// The same with the nth chunk under a heading of the direction `heading(n)`.
async fn serve_under(
    client: &mut Client,
    texts: &[String],
    exact_vectors: i64,
    heading: impl Fn(usize) -> usize,
) -> Served {
    let previous = served(client, "docs").await.unwrap().map(|s| s.version);
    let vectors: Vec<Vec<f32>> = (0..texts.len()).map(direction).collect();
    let hashes: Vec<Hash> = (0..texts.len()).map(hash).collect();
    keep_embeddings(client, &cache_key("m", DIMENSIONS), &hashes, &vectors)
        .await
        .unwrap();
    let page = Document {
        id: "a".to_owned(),
        title: "A title".to_owned(),
        url: "https://docs.example/a".to_owned(),
        metadata: BTreeMap::new(),
        page_text: texts.join("\n"),
        sections: Vec::new(),
    };
    let chunks: Vec<ChunkRow> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| ChunkRow {
            id: n as i64,
            document: "a".to_owned(),
            metadata: if n % 10 == 0 {
                BTreeMap::from([("department".to_owned(), "hr".to_owned())])
            } else {
                BTreeMap::new()
            },
            chunk: Chunk {
                ordinal: n,
                heading: vec!["A title".to_owned()],
                anchor: String::new(),
                text: text.clone(),
                page_offset: 0,
                tokens: 3,
                anchors: Vec::new(),
                torn_head: false,
                spans: Vec::new(),
            },
            sentences: vec![Sentence {
                start: 0,
                end: text.chars().count(),
                kind: SentenceKind::Prose,
            }],
            sentence_hashes: vec![hash(n)],
            heading_hash: hash(heading(n)),
            names: exact_names(text)
                .into_iter()
                .map(|name| (name.text, 1))
                .collect(),
        })
        .collect();
    let content = Content {
        documents: &[DocumentRow {
            document: &page,
            content_hash: [7; 32],
        }],
        chunks: &chunks,
        carried: None,
    };
    let version = begin(client, &description()).await.unwrap();
    write(client, version, &description(), &content)
        .await
        .unwrap();
    index(client, version, &description(), exact_vectors)
        .await
        .unwrap();
    switch(client, "docs", previous, version).await.unwrap();
    served(client, "docs").await.unwrap().unwrap()
}

fn plain(n: usize) -> Vec<String> {
    (0..n)
        .map(|n| format!("Plain text of number {n}."))
        .collect()
}

async fn find(client: &Client, served: &Served, question: &str, vector: Option<&[f32]>) -> Found {
    let names: Vec<String> = question_names(question)
        .into_iter()
        .map(|n| n.text)
        .collect();
    let search = Search {
        served,
        text: question,
        names: &names,
        vector,
        filter: &BTreeMap::new(),
        without: &[],
    };
    retrieve(client, search).await
}

/// The chunks that `question` finds by its words among `texts`, best first.
async fn by_words(texts: &[&str], question: &str) -> Vec<i64> {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    let served = serve(&mut client, &texts, i64::MAX).await;
    find(&client, &served, question, None)
        .await
        .keyword
        .unwrap()
}

const F1: &str = "max_wal_size (integer) Maximum size to let the WAL grow during automatic checkpoints. The default is 1 GB.";

#[tokio::test]
async fn c001_c003_c006_the_index_returns_as_many_as_asked_in_order() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let served = serve(&mut client, &plain(3_000), 1).await;
    assert!(served.indexed);
    let question = direction(7_777);
    let found = find(&client, &served, "anything", Some(&question)).await;
    let found = found.vector.unwrap().unwrap();
    assert_eq!(found.len(), DEPTH);
    let mut exact: Vec<i64> = (0..3_000).collect();
    let distance = |n: i64| {
        let other = direction(n as usize);
        1.0 - question.iter().zip(&other).map(|(a, b)| a * b).sum::<f32>()
    };
    assert!(
        found
            .windows(2)
            .all(|pair| distance(pair[0]) <= distance(pair[1]) + 1e-3),
        "not in order"
    );
    exact.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    let hit = found
        .iter()
        .filter(|id| exact[..DEPTH].contains(id))
        .count();
    assert!(hit >= DEPTH - 2, "{hit} of {DEPTH}");
    // A filter that one chunk in ten passes takes nothing from the number of rows.
    let filter = BTreeMap::from([("department".to_owned(), "hr".to_owned())]);
    let search = Search {
        served: &served,
        text: "number",
        names: &[],
        vector: Some(&question),
        filter: &filter,
        without: &[],
    };
    let found = retrieve(&client, search).await;
    for arm in [found.vector.unwrap().unwrap(), found.keyword.unwrap()] {
        assert_eq!(arm.len(), DEPTH);
        assert!(arm.iter().all(|id| id % 10 == 0), "{arm:?}");
    }
}

#[tokio::test]
async fn a_heading_gives_a_quarter_of_its_chunks_place() {
    const N: usize = 60;
    let under = |n: usize| (n + 1) % N;
    let question = direction(7_777);
    let distance = |n: usize| {
        let other = direction(n);
        1.0 - question.iter().zip(&other).map(|(a, b)| a * b).sum::<f32>()
    };
    let place = |id: &i64| {
        let n = usize::try_from(*id).unwrap();
        0.75 * distance(n) + 0.25 * distance(under(n))
    };
    for exact_vectors in [1, i64::MAX] {
        let database = TestDatabase::create().await;
        let mut client = database.connect().await;
        let served = serve_under(&mut client, &plain(N), exact_vectors, under).await;
        let found = find(&client, &served, "anything", Some(&question)).await;
        let found = found.vector.unwrap().unwrap();
        let in_order = |place: &dyn Fn(&i64) -> f32| {
            found
                .windows(2)
                .all(|pair| place(&pair[0]) <= place(&pair[1]) + 1e-3)
        };
        assert!(in_order(&place), "{found:?}");
        let by_sentence = |id: &i64| distance(usize::try_from(*id).unwrap());
        assert!(!in_order(&by_sentence), "{found:?}");
    }
}

#[tokio::test]
async fn c002_a_replaced_version_leaves_no_rows_in_the_way() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    serve(&mut client, &plain(500), 1).await;
    let served = serve(&mut client, &plain(500), 1).await;
    let found = find(&client, &served, "anything", Some(&direction(3))).await;
    assert_eq!(found.vector.unwrap().unwrap().len(), DEPTH);
}

#[tokio::test]
async fn fewer_chunks_than_asked_are_all_returned_with_and_without_an_index() {
    for exact_vectors in [1, i64::MAX] {
        let database = TestDatabase::create().await;
        let mut client = database.connect().await;
        let served = serve(&mut client, &plain(7), exact_vectors).await;
        let found = find(&client, &served, "anything", Some(&direction(3))).await;
        assert_eq!(found.vector.unwrap().unwrap().len(), 7);
    }
}

#[tokio::test]
async fn c005_the_production_statement_uses_the_index() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let served = serve(&mut client, &plain(3_000), 1).await;
    let before = scans(&client, served.version).await;
    // At this size a scan would do; the statement must be one that the index can serve at all.
    client
        .batch_execute(
            "set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off",
        )
        .await
        .unwrap();
    find(&client, &served, "anything", Some(&direction(3)))
        .await
        .vector
        .unwrap()
        .unwrap();
    // A session's statistics are seen by others once it has ended.
    drop(client);
    let client = database.connect().await;
    for _ in 0..100 {
        if scans(&client, served.version).await > before {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the HNSW index was not read");
}

async fn scans(client: &Client, version: i64) -> i64 {
    client
        .query_one(
            "select coalesce(sum(s.idx_scan), 0)::bigint from pg_stat_all_indexes s
             join pg_indexes i on i.indexname = s.indexrelname
             where s.relname = 'sentences_v' || $1::bigint and i.indexdef like '%USING hnsw%'",
            &[&version],
        )
        .await
        .unwrap()
        .get(0)
}

#[tokio::test]
async fn c017_one_shared_word_is_enough() {
    let found = by_words(
        &[F1, "nothing of it"],
        "How do I change the maximum size of max_wal_size in my cluster?",
    )
    .await;
    assert_eq!(found, [0]);
}

#[tokio::test]
async fn c018_c023_c024_c036_nothing_in_a_question_is_syntax() {
    let texts = [
        "Use the ->> operator to get text.",
        "Some page on x.org about casts.",
    ];
    for question in [
        "what is http://x.org/?a=1&b=2",
        "How do I do this?",
        "->>",
        "@>",
        "::",
        "=>",
        "'\"\\ & | ! <-> :*",
        "(((",
        "100%",
        "数据库如何备份",
        "¿Cómo hago una copia de seguridad?",
    ] {
        let _ = by_words(&texts, question).await;
    }
    assert_eq!(by_words(&texts, "->>").await, [0]);
    assert_eq!(by_words(&texts, "what is x.org").await, [1]);
}

#[tokio::test]
async fn c019_an_option_is_found_and_never_excludes() {
    let texts = [
        "pg_dump -Fc writes the custom format.",
        "Nothing about dumps here.",
    ];
    assert_eq!(by_words(&texts, "pg_dump -Fc").await.first(), Some(&0));
}

#[tokio::test]
async fn c022_stop_words_that_are_sql_words_are_found() {
    let texts = [
        "HAVING filters groups after grouping.",
        "x BETWEEN a AND b tests a range.",
        "Queries WITH a name are CTEs.",
        "x = ANY (array) compares elements.",
    ];
    for (question, expected) in [
        ("What does HAVING do?", 0),
        ("between", 1),
        ("What does WITH do?", 2),
        ("any", 3),
    ] {
        assert_eq!(
            by_words(&texts, question).await.first(),
            Some(&expected),
            "{question}"
        );
    }
}

#[tokio::test]
async fn c025_an_operator_is_told_from_its_neighbours() {
    let texts = [
        "The -> operator gets an element as jsonb.",
        "The #> operator gets a path as jsonb.",
        "The ->> operator gets an element as text.",
        "The #>> operator gets a path as text.",
        "The @> operator tests containment.",
    ];
    assert_eq!(
        by_words(&texts, "What does the ->> operator do?")
            .await
            .first(),
        Some(&2)
    );
}

#[tokio::test]
async fn c026_an_exact_name_beats_its_parts() {
    let spread = "The wal has a size. Its max is a size of wal. Every wal has one max and one size, the max size of wal.";
    assert_eq!(
        by_words(&[spread, F1], "max_wal_size").await.first(),
        Some(&1)
    );
}

#[tokio::test]
async fn c029_c032_versions_and_codes_match_exactly() {
    let texts = [
        "Release 17 brings much.",
        "Release 17.2 fixes errors.",
        "SQLSTATE 23505 is unique_violation.",
        "Error 42P01 is undefined_table.",
    ];
    for (question, expected) in [
        ("PostgreSQL v17.2 changes", 1),
        ("SQLSTATE 23505", 2),
        ("error 42P01", 3),
    ] {
        assert_eq!(
            by_words(&texts, question).await.first(),
            Some(&expected),
            "{question}"
        );
    }
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let texts: Vec<String> = texts.iter().map(|&t| t.to_owned()).collect();
    let served = serve(&mut client, &texts, i64::MAX).await;
    let terms = find(&client, &served, "What is ERR_4521?", None)
        .await
        .terms
        .unwrap()
        .terms;
    assert!(terms.contains(&("=err_4521".to_owned(), 0)), "{terms:?}");
}

#[tokio::test]
async fn terms_are_counted_in_what_is_searched() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let mut texts = plain(20);
    texts[3].push_str(" Sourdough rises.");
    let served = serve(&mut client, &texts, i64::MAX).await;
    let (anything, hr) = (
        BTreeMap::new(),
        BTreeMap::from([("department".to_owned(), "hr".to_owned())]),
    );
    let page = ["a".to_owned()];
    for (filter, without, chunks, expected) in [
        (&anything, &[][..], 20, 1),
        (&hr, &[][..], 2, 0),
        (&anything, &page[..], 0, 0),
    ] {
        let search = Search {
            served: &served,
            text: "sourdough",
            names: &[],
            vector: None,
            filter,
            without,
        };
        let found = retrieve(&client, search).await.terms.unwrap();
        assert_eq!(found.chunks, chunks);
        assert_eq!(found.terms, [("sourdough".to_owned(), expected)]);
    }
}

#[tokio::test]
async fn c035_an_error_in_one_arm_leaves_the_other() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    for exact_vectors in [1, i64::MAX] {
        let good = serve(&mut client, &plain(100), exact_vectors).await;
        let broken_text = Served {
            text_search: "klingon".to_owned(),
            ..good.clone()
        };
        let found = find(&client, &broken_text, "number", Some(&direction(3))).await;
        assert!(found.keyword.is_err());
        assert_eq!(found.vector.unwrap().unwrap().len(), DEPTH);
        let found = find(&client, &good, "number", Some(&[0.5; 3])).await;
        assert!(
            found.vector.unwrap().is_err(),
            "c014: another model's dimensions are refused"
        );
        assert_eq!(found.keyword.unwrap().len(), DEPTH);
        // The connection is as good as before.
        assert_eq!(
            find(&client, &good, "number", None)
                .await
                .keyword
                .unwrap()
                .len(),
            DEPTH
        );
    }
}

#[tokio::test]
async fn evidence_tells_each_sentence_from_the_next() {
    let database = TestDatabase::create().await;
    let mut client = database.connect().await;
    let served = serve(
        &mut client,
        &["The WAL grows.".to_owned(), F1.to_owned()],
        i64::MAX,
    )
    .await;
    let vector = direction(1);
    let search = Search {
        served: &served,
        text: "wal",
        names: &[],
        vector: Some(&vector),
        filter: &BTreeMap::new(),
        without: &[],
    };
    let terms = ["wal", "checkpoint", "titl"].map(str::to_owned);
    let found = evidence(&client, search, &terms, &[1, 0, 99])
        .await
        .unwrap();
    let ids: Vec<i64> = found.iter().map(|e| e.chunk).collect();
    assert_eq!(ids, [1, 0], "in the order asked, unknown ones left out");
    assert_eq!(found[0].terms, [0b011]);
    assert_eq!(found[1].terms, [0b001]);
    assert_eq!(found[0].heading_terms, 0b100);
    assert!((found[0].similarities[0] - 1.0).abs() < 0.01 && found[1].similarities[0] < 0.9);
    // Of three asked terms both hold two, the heading's among them, and the first one more.
    assert!(found[0].keyword_weight > found[1].keyword_weight && found[1].keyword_weight > 0.0);
}

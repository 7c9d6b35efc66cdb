//! Writes corpus versions: each is built aside in partitions of its own, and nobody reads it before [`switch`].
//!
//! Functions stand in the order an ingest calls them. A reader selects `corpora.current` first and then reads that one
//! version, so nothing here may change a version that was switched to. What a killed run leaves behind is a `building`
//! version, which the next run [`discard`]s.

use std::collections::{BTreeMap, HashSet};
use std::pin::pin;
use std::time::Duration;

use domain::chunk::Chunk;
use domain::document::Document;
use domain::sentence::Sentence;
use pgvector::HalfVector;
use thiserror::Error;
use tokio::time::Instant;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{Json, Type};
use tokio_postgres::{Client, Transaction};

/// SHA-256 of an embedded text or of a document.
pub type Hash = [u8; 32];

/// Number of this storage layout: what is derived from the text in the database (terms, weights) is part of it. A
/// version written with another one is rebuilt by the next ingest.
pub const LAYOUT: u32 = 2;

/// From this many vectors on an HNSW index is built. Below it an exact scan takes a few milliseconds and misses nothing.
pub const EXACT_VECTORS: i64 = 20_000;

/// What a version is built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The manifest's name.
    pub corpus: String,
    /// The corpus as people call it.
    pub title: String,
    /// The documentation's own version.
    pub label: String,
    /// Name of the text-search configuration.
    pub text_search: String,
    /// [`crate::model::Embedder::model`].
    pub embedding_model: String,
    /// Length of its vectors.
    pub dimensions: usize,
    /// Fingerprint of how text is cut.
    pub chunker: String,
    /// Of everything a version depends on.
    pub fingerprint: String,
}

/// A version that questions are answered from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number; later versions have higher ones.
    pub id: i64,
    /// What it was built from.
    pub description: Description,
    /// Number of documents.
    pub documents: u64,
    /// Number of chunks.
    pub chunks: u64,
    /// When it was switched to, RFC 3339 in UTC.
    pub built_at: String,
}

/// A document to store.
#[derive(Debug, Clone, Copy)]
pub struct DocumentRow<'a> {
    /// As parsed.
    pub document: &'a Document,
    /// Of the parsed document.
    pub content_hash: Hash,
}

/// A chunk to store. Its vectors are named by their texts' hashes and taken from the cache.
#[derive(Debug, Clone)]
pub struct ChunkRow {
    /// Unique in the version, the same for the same text at the same place.
    pub id: i64,
    /// The document it is part of.
    pub document: String,
    /// The document's metadata, repeated so that filters need no join.
    pub metadata: BTreeMap<String, String>,
    /// As cut.
    pub chunk: Chunk,
    /// As split, in reading order.
    pub sentences: Vec<Sentence>,
    /// Hashes of the embedded texts, one per sentence.
    pub sentence_hashes: Vec<Hash>,
    /// Hash of the embedded heading path.
    pub heading_hash: Hash,
    /// Exact names with how often they occur.
    pub names: BTreeMap<String, u32>,
}

/// Everything a version holds.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// Documents read in this run.
    pub documents: &'a [DocumentRow<'a>],
    /// Their chunks.
    pub chunks: &'a [ChunkRow],
    /// Documents to copy from another version.
    pub carried: Option<Carried<'a>>,
}

/// Documents that could not be read this time and stay as they were.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a> {
    /// The version that has them.
    pub from: i64,
    /// Their ids.
    pub documents: &'a [String],
}

/// Why a version was not written or not switched to.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Another run holds the corpus.
    #[error("another ingest of {corpus} is running")]
    Busy {
        /// Which corpus.
        corpus: String,
    },
    /// Another run switched the corpus meanwhile.
    #[error("{corpus} was switched by another ingest meanwhile; nothing was changed")]
    Superseded {
        /// Which corpus.
        corpus: String,
    },
    /// The manifest names a text-search configuration this server does not have.
    #[error("the database has no text-search configuration {name:?} (the manifest's text_search)")]
    UnknownTextSearch {
        /// What the manifest says.
        name: String,
    },
    /// A text's vector is not in the cache.
    #[error("{missing} embeddings are missing from the cache; run the ingest again")]
    MissingEmbeddings {
        /// How many.
        missing: u64,
    },
    /// The server refused or the connection failed.
    #[error("store the corpus")]
    Database(#[from] tokio_postgres::Error),
}

const TRY_LOCK: &str = "select pg_try_advisory_lock(hashtextextended($1, 7022310187115202))";

/// How often a held lock is tried again.
const LOCK_POLL: Duration = Duration::from_millis(200);

/// Takes the corpus for this connection, waiting up to `wait` for another run to end. Ends with the connection.
///
/// # Errors
/// [`StoreError::Busy`] when the other run takes longer.
pub async fn lock(client: &Client, corpus: &str, wait: Duration) -> Result<(), StoreError> {
    let until = Instant::now() + wait;
    loop {
        if client.query_one(TRY_LOCK, &[&corpus]).await?.get(0) {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(StoreError::Busy {
                corpus: corpus.to_owned(),
            });
        }
        tokio::time::sleep(LOCK_POLL).await;
    }
}

const TEXT_SEARCH: &str = "
    select exists (
        select from pg_ts_config where cfgname = $1 and pg_ts_config_is_visible(oid)
    )";

/// Says early that a text-search configuration is missing, before anything is embedded.
///
/// # Errors
/// [`StoreError::UnknownTextSearch`].
pub async fn check_text_search(client: &Client, name: &str) -> Result<(), StoreError> {
    if client.query_one(TEXT_SEARCH, &[&name]).await?.get(0) {
        Ok(())
    } else {
        Err(StoreError::UnknownTextSearch {
            name: name.to_owned(),
        })
    }
}

const CURRENT: &str = r#"
    select v.id, v.corpus, v.title, v.label, v.ts_config::text, v.embedding_model, v.dimensions, v.chunker,
           v.fingerprint, v.documents, v.chunks,
           to_char(v.built_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    from corpora c join versions v on v.id = c.current
    where c.name = $1"#;

/// The version that questions are answered from, if there is one.
///
/// # Errors
/// When the database cannot be read.
pub async fn current(client: &Client, corpus: &str) -> Result<Option<Version>, StoreError> {
    let row = client.query_opt(CURRENT, &[&corpus]).await?;
    Ok(row.map(|row| Version {
        id: row.get(0),
        description: Description {
            corpus: row.get(1),
            title: row.get(2),
            label: row.get(3),
            text_search: row.get(4),
            embedding_model: row.get(5),
            dimensions: count(row.get(6)),
            chunker: row.get(7),
            fingerprint: row.get(8),
        },
        documents: u64::from(row.get::<_, i32>(9).unsigned_abs()),
        chunks: u64::from(row.get::<_, i32>(10).unsigned_abs()),
        built_at: row.get(11),
    }))
}

const DOCUMENT_HASHES: &str = "select id, content_hash from documents where version = $1";

/// The documents `version` holds, with their content hashes.
///
/// # Errors
/// When the database cannot be read.
pub async fn document_hashes(
    client: &Client,
    version: i64,
) -> Result<BTreeMap<String, Vec<u8>>, StoreError> {
    let rows = client.query(DOCUMENT_HASHES, &[&version]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// The cache's key: vectors of one model in two lengths are not the same.
#[must_use]
pub fn cache_key(model: &str, dimensions: usize) -> String {
    format!("{model}/{dimensions}")
}

const KNOWN: &str = "select hash from embeddings where model = $1 and hash = any ($2)";

/// One statement's worth of hashes.
const KNOWN_BATCH: usize = 10_000;

/// Which of `hashes` need no embedding.
///
/// # Errors
/// When the database cannot be read.
pub async fn known_embeddings(
    client: &Client,
    key: &str,
    hashes: &[Hash],
) -> Result<HashSet<Hash>, StoreError> {
    let mut known = HashSet::new();
    for batch in hashes.chunks(KNOWN_BATCH) {
        let batch: Vec<&[u8]> = batch.iter().map(<[u8; 32]>::as_slice).collect();
        for row in client.query(KNOWN, &[&key, &batch]).await? {
            known.extend(Hash::try_from(row.get::<_, &[u8]>(0)));
        }
    }
    Ok(known)
}

const KEEP: &str = "
    insert into embeddings (model, hash, embedding)
    select $1, hash, embedding from unnest($2::bytea[], $3::halfvec[]) as made (hash, embedding)
    on conflict (model, hash) do nothing";

/// Keeps vectors as they are made. They are safe once this returns, whatever becomes of the run.
///
/// # Errors
/// When the database cannot be written.
pub async fn keep_embeddings(
    client: &Client,
    key: &str,
    hashes: &[Hash],
    vectors: &[Vec<f32>],
) -> Result<(), StoreError> {
    let hashes: Vec<&[u8]> = hashes.iter().map(<[u8; 32]>::as_slice).collect();
    let vectors: Vec<HalfVector> = vectors
        .iter()
        .map(|vector| HalfVector::from_f32_slice(vector))
        .collect();
    client.execute(KEEP, &[&key, &hashes, &vectors]).await?;
    Ok(())
}

/// The tables that hold versions, each partitioned by it.
const VERSIONED: [&str; 6] = [
    "documents",
    "chunks",
    "words",
    "sentences",
    "terms",
    "postings",
];

const ENSURE_CORPUS: &str = "insert into corpora (name) values ($1) on conflict (name) do nothing";

const BEGIN: &str = "
    insert into versions (corpus, state, title, label, ts_config, embedding_model, dimensions, chunker, fingerprint)
    values ($1, 'building', $2, $3, $4::text::regconfig, $5, $6, $7, $8)
    returning id";

/// Makes room for a new version and answers its number.
///
/// # Errors
/// When the database cannot be written.
pub async fn begin(client: &mut Client, description: &Description) -> Result<i64, StoreError> {
    let transaction = client.transaction().await?;
    transaction
        .execute(ENSURE_CORPUS, &[&description.corpus])
        .await?;
    let version: i64 = transaction
        .query_one(
            BEGIN,
            &[
                &description.corpus,
                &description.title,
                &description.label,
                &description.text_search,
                &description.embedding_model,
                &int4(description.dimensions),
                &description.chunker,
                &description.fingerprint,
            ],
        )
        .await?
        .get(0);
    for table in VERSIONED {
        // Created first and attached then: unlike `partition of`, this takes no lock that a reader would wait for.
        let partition = partition(table, version);
        transaction
            .batch_execute(&format!(
                "create table {partition} (like {table} including all);
                 alter table {table} attach partition {partition} for values in ({version})"
            ))
            .await?;
    }
    transaction.commit().await?;
    Ok(version)
}

/// Writes a version's whole content, in one transaction.
///
/// # Errors
/// [`StoreError::MissingEmbeddings`] when the cache lacks a text, or the database's own; nothing is written then.
pub async fn write(
    client: &mut Client,
    version: i64,
    description: &Description,
    content: &Content<'_>,
) -> Result<(), StoreError> {
    let transaction = client.transaction().await?;
    copy_documents(&transaction, version, content.documents).await?;
    copy_chunks(&transaction, version, content.chunks).await?;
    let key = cache_key(&description.embedding_model, description.dimensions);
    place_vectors(
        &transaction,
        version,
        &key,
        &description.text_search,
        content.chunks,
    )
    .await?;
    stage_names(&transaction, content.chunks).await?;
    if let Some(carried) = &content.carried {
        carry(&transaction, version, carried).await?;
    }
    count_terms(&transaction, version, &description.text_search).await?;
    transaction.commit().await?;
    Ok(())
}

const COPY_DOCUMENTS: &str = "
    copy documents (version, id, title, url, metadata, page_text, sections, content_hash)
    from stdin (format binary)";

async fn copy_documents(
    transaction: &Transaction<'_>,
    version: i64,
    documents: &[DocumentRow<'_>],
) -> Result<(), StoreError> {
    let types = [
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::JSONB,
        Type::TEXT,
        Type::JSONB,
        Type::BYTEA,
    ];
    let sink = transaction.copy_in(COPY_DOCUMENTS).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    for DocumentRow {
        document,
        content_hash,
    } in documents
    {
        writer
            .as_mut()
            .write(&[
                &version,
                &document.id,
                &document.title,
                &document.url,
                &Json(&document.metadata),
                &document.page_text,
                &Json(&document.sections),
                &content_hash.as_slice(),
            ])
            .await?;
    }
    writer.finish().await?;
    Ok(())
}

const COPY_CHUNKS: &str = "
    copy chunks (version, id, document, ordinal, heading, anchor, anchors, text, page_offset, tokens, metadata, sentences,
                 heading_hash)
    from stdin (format binary)";

async fn copy_chunks(
    transaction: &Transaction<'_>,
    version: i64,
    chunks: &[ChunkRow],
) -> Result<(), StoreError> {
    let types = [
        Type::INT8,
        Type::INT8,
        Type::TEXT,
        Type::INT4,
        Type::TEXT_ARRAY,
        Type::TEXT,
        Type::JSONB,
        Type::TEXT,
        Type::INT4,
        Type::INT4,
        Type::JSONB,
        Type::JSONB,
        Type::BYTEA,
    ];
    let sink = transaction.copy_in(COPY_CHUNKS).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    for row in chunks {
        let chunk = &row.chunk;
        writer
            .as_mut()
            .write(&[
                &version,
                &row.id,
                &row.document,
                &int4(chunk.ordinal),
                &chunk.heading,
                &chunk.anchor,
                &Json(&chunk.anchors),
                &chunk.text,
                &int4(chunk.page_offset),
                &int4(chunk.tokens),
                &Json(&row.metadata),
                &Json(&row.sentences),
                &row.heading_hash.as_slice(),
            ])
            .await?;
    }
    writer.finish().await?;
    Ok(())
}

const STAGE_VECTORS: &str = "
    create temporary table staged_sentences (chunk bigint, ordinal integer, text_hash bytea) on commit drop";

const PLACE_SENTENCES: &str = "
    insert into sentences (version, chunk, ordinal, text_hash, embedding, terms)
    select $1, s.chunk, s.ordinal, s.text_hash, e.embedding, tsvector_to_array(to_tsvector($3::text::regconfig, left(
        substr(c.text, (c.sentences -> s.ordinal ->> 'start')::integer + 1,
               (c.sentences -> s.ordinal ->> 'end')::integer - (c.sentences -> s.ordinal ->> 'start')::integer), 100000)))
    from staged_sentences s
    join embeddings e on e.model = $2 and e.hash = s.text_hash
    join chunks c on c.version = $1 and c.id = s.chunk";

const PLACE_HEADINGS: &str = "
    update chunks c set heading_embedding = e.embedding
    from embeddings e
    where c.version = $1 and c.heading_embedding is null and e.model = $2 and e.hash = c.heading_hash";

const HEADINGS_WITHOUT: &str =
    "select count(*) from chunks where version = $1 and heading_embedding is null";

/// Vectors go from the cache to their places inside the database.
async fn place_vectors(
    transaction: &Transaction<'_>,
    version: i64,
    key: &str,
    text_search: &str,
    chunks: &[ChunkRow],
) -> Result<(), StoreError> {
    transaction.batch_execute(STAGE_VECTORS).await?;
    let sentences = stage_hashes(
        transaction,
        "copy staged_sentences from stdin (format binary)",
        chunks.iter().map(|row| (row.id, &row.sentence_hashes)),
    )
    .await?;
    transaction
        .batch_execute("analyze staged_sentences")
        .await?;
    let placed = transaction
        .execute(PLACE_SENTENCES, &[&version, &key, &text_search])
        .await?;
    transaction
        .execute(PLACE_HEADINGS, &[&version, &key])
        .await?;
    let headings: i64 = transaction
        .query_one(HEADINGS_WITHOUT, &[&version])
        .await?
        .get(0);
    match sentences.saturating_sub(placed) + headings.unsigned_abs() {
        0 => Ok(()),
        missing => Err(StoreError::MissingEmbeddings { missing }),
    }
}

async fn stage_hashes<'a>(
    transaction: &Transaction<'_>,
    statement: &str,
    rows: impl Iterator<Item = (i64, &'a Vec<Hash>)>,
) -> Result<u64, StoreError> {
    let sink = transaction.copy_in(statement).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(
        sink,
        &[Type::INT8, Type::INT4, Type::BYTEA]
    ));
    for (chunk, hashes) in rows {
        for (ordinal, hash) in hashes.iter().enumerate() {
            writer
                .as_mut()
                .write(&[&chunk, &int4(ordinal), &hash.as_slice()])
                .await?;
        }
    }
    Ok(writer.finish().await?)
}

const STAGE_NAMES: &str = "
    create temporary table staged_names (chunk bigint, name text, tf real) on commit drop";

async fn stage_names(transaction: &Transaction<'_>, chunks: &[ChunkRow]) -> Result<(), StoreError> {
    transaction.batch_execute(STAGE_NAMES).await?;
    let sink = transaction
        .copy_in("copy staged_names from stdin (format binary)")
        .await?;
    let mut writer = pin!(BinaryCopyInWriter::new(
        sink,
        &[Type::INT8, Type::TEXT, Type::FLOAT4]
    ));
    for row in chunks {
        for (name, occurrences) in &row.names {
            #[expect(clippy::cast_precision_loss, reason = "a chunk has few of a name")]
            let tf = *occurrences as f32;
            writer.as_mut().write(&[&row.id, name, &tf]).await?;
        }
    }
    writer.finish().await?;
    Ok(())
}

const CARRY: [&str; 4] = [
    "insert into documents (version, id, title, url, metadata, page_text, sections, content_hash)
     select $1, id, title, url, metadata, page_text, sections, content_hash
     from documents where version = $2 and id = any ($3)",
    "insert into chunks (version, id, document, ordinal, heading, anchor, anchors, text, page_offset, tokens, metadata,
                         sentences, heading_hash, heading_embedding)
     select $1, id, document, ordinal, heading, anchor, anchors, text, page_offset, tokens, metadata, sentences,
            heading_hash, heading_embedding
     from chunks where version = $2 and document = any ($3)",
    "insert into sentences (version, chunk, ordinal, text_hash, embedding, terms)
     select $1, s.chunk, s.ordinal, s.text_hash, s.embedding, s.terms
     from sentences s join chunks c on c.version = s.version and c.id = s.chunk
     where s.version = $2 and c.document = any ($3)",
    // Names are found outside the database, so the old version's are taken over.
    "insert into staged_names (chunk, name, tf)
     select p.chunk, substr(p.term, 2), p.tf
     from postings p join chunks c on c.version = p.version and c.id = p.chunk
     where $1::bigint is not null and p.version = $2 and c.document = any ($3) and left(p.term, 1) = '='",
];

async fn carry(
    transaction: &Transaction<'_>,
    version: i64,
    carried: &Carried<'_>,
) -> Result<(), StoreError> {
    for statement in CARRY {
        transaction
            .execute(statement, &[&version, &carried.from, &carried.documents])
            .await?;
    }
    Ok(())
}

/// Terms of chunk texts and of their headings, which count twice and lose their numbering ("19.5. Write Ahead Log").
///
/// A text is cut at 100,000 characters: a tsvector holds one megabyte, and one strange page must not stop a run. Words
/// the configuration drops (`having`, `where`, `all`) are kept as they stand, since in many corpora they are names too.
const POSTINGS: &str = r"
    with field as materialized (
        select id as chunk, left(text, 100000) as body, 1::real as weight from chunks where version = $1
        union all
        select id, left(array_to_string(array(
            select regexp_replace(title, '^\s*((chapter|appendix|part)\s+)?([0-9]+|[a-z]|[ivx]+)(\.[0-9]+)*\.\s+', '', 'i')
            from unnest(heading) title), ' . '), 100000), 2 from chunks where version = $1
    ),
    lexeme as (
        select field.chunk, found.lexeme as term, sum(field.weight * cardinality(found.positions)) as tf
        from field, unnest(to_tsvector($2::text::regconfig, field.body)) found
        group by 1, 2
    ),
    word as materialized (
        select field.chunk, found.lexeme as word, sum(field.weight * cardinality(found.positions)) as tf
        from field, unnest(to_tsvector('simple', field.body)) found
        group by 1, 2
    ),
    dropped as materialized (
        select word from (select distinct word from word) words
        where to_tsvector($2::text::regconfig, word) = ''
    )
    insert into postings (version, term, chunk, tf)
    select $1, term, chunk, tf from lexeme
    union all
    select $1, '~' || word, chunk, tf from word join dropped using (word)
    union all
    select $1, '=' || name, chunk, sum(tf) from staged_names group by name, chunk";

const TERMS: &str = "
    insert into terms (version, term, df)
    select version, term, count(*) from postings where version = $1 group by version, term";

/// The corpus's own words as they stand, against which a question's spelling is read.
const WORDS: &str = r"
    insert into words (version, word, df)
    select $1, found.lexeme, count(distinct chunks.id)
    from chunks,
         unnest(to_tsvector('simple', left(array_to_string(heading, ' . ') || ' . ' || text, 100000))) found
    where version = $1 and found.lexeme ~ '^[[:alpha:]]{2,40}$'
    group by found.lexeme";

const LENGTHS: &str = "
    update chunks c set length = counted.length
    from (
        select chunk, ceil(sum(tf))::integer as length
        from postings where version = $1 and left(term, 1) not in ('~', '=')
        group by chunk
    ) counted
    where c.version = $1 and c.id = counted.chunk";

const STATISTICS: &str = "
    update versions v set
        documents = (select count(*) from documents d where d.version = v.id),
        chunks = counted.chunks,
        mean_length = counted.mean_length
    from (
        select count(*) as chunks, coalesce(avg(length), 0) as mean_length from chunks where version = $1
    ) counted
    where v.id = $1";

async fn count_terms(
    transaction: &Transaction<'_>,
    version: i64,
    text_search: &str,
) -> Result<(), StoreError> {
    transaction
        .execute(POSTINGS, &[&version, &text_search])
        .await?;
    transaction.execute(TERMS, &[&version]).await?;
    transaction.execute(WORDS, &[&version]).await?;
    transaction.execute(LENGTHS, &[&version]).await?;
    transaction.execute(STATISTICS, &[&version]).await?;
    Ok(())
}

const VECTORS: &str = "select count(*) from sentences where version = $1";

/// Indexes a written version where it is large, and leaves the planner fresh statistics and visibility.
///
/// # Errors
/// When the database refuses.
pub async fn index(
    client: &Client,
    version: i64,
    description: &Description,
    exact_vectors: i64,
) -> Result<(), StoreError> {
    let vectors: i64 = client.query_one(VECTORS, &[&version]).await?.get(0);
    if vectors > exact_vectors {
        client
            .batch_execute(&format!(
                "create index on {} using hnsw ((embedding::halfvec({})) halfvec_cosine_ops)",
                partition("sentences", version),
                description.dimensions,
            ))
            .await?;
    }
    for table in VERSIONED {
        client
            .batch_execute(&format!("vacuum (analyze) {}", partition(table, version)))
            .await?;
    }
    Ok(())
}

const SWITCH: &str = "
    with ready as (
        update versions set state = 'ready', built_at = now()
        where id = $3 and corpus = $1 and state = 'building'
        returning id
    )
    update corpora set previous = current, current = ready.id
    from ready
    where name = $1 and current is not distinct from $2";

/// Lets questions be answered from `version`, if the corpus still stands at `expected`: the guard that holds where a
/// lock might not. A version not switched to stays invisible.
///
/// # Errors
/// [`StoreError::Superseded`] when another run was quicker.
pub async fn switch(
    client: &mut Client,
    corpus: &str,
    expected: Option<i64>,
    version: i64,
) -> Result<(), StoreError> {
    let transaction = client.transaction().await?;
    let switched = transaction
        .execute(SWITCH, &[&corpus, &expected, &version])
        .await?;
    if switched != 1 {
        return Err(StoreError::Superseded {
            corpus: corpus.to_owned(),
        });
    }
    transaction.commit().await?;
    Ok(())
}

const OUTDATED: &str = "
    select v.id from versions v join corpora c on c.name = v.corpus
    where c.name = $1 and v.id is distinct from c.current and v.id is distinct from c.previous
    order by v.id";

const ATTACHED: &str = "
    select i.inhdetachpending from pg_inherits i
    where i.inhrelid = to_regclass($1::text) and i.inhparent = to_regclass($2::text)";

/// Drops the versions that are neither current nor previous, unfinished ones included, and answers their numbers.
///
/// # Errors
/// When the database refuses, for instance because a reader has held an old version for longer than ten seconds. What
/// is left is dropped by the next run.
pub async fn discard(client: &Client, corpus: &str) -> Result<Vec<i64>, StoreError> {
    client.batch_execute("set lock_timeout = '10s'").await?;
    let dropped = drop_outdated(client, corpus).await;
    client.batch_execute("reset lock_timeout").await?;
    dropped
}

async fn drop_outdated(client: &Client, corpus: &str) -> Result<Vec<i64>, StoreError> {
    let mut dropped = Vec::new();
    for row in client.query(OUTDATED, &[&corpus]).await? {
        let version: i64 = row.get(0);
        for table in VERSIONED {
            drop_partition(client, table, version).await?;
        }
        client
            .execute("delete from versions where id = $1", &[&version])
            .await?;
        dropped.push(version);
    }
    Ok(dropped)
}

/// Detaches before it drops: dropping an attached partition would lock its parent against every reader.
async fn drop_partition(client: &Client, table: &str, version: i64) -> Result<(), StoreError> {
    let partition = partition(table, version);
    let attached = client.query_opt(ATTACHED, &[&partition, &table]).await?;
    let detach = match attached.map(|row| row.get::<_, bool>(0)) {
        None => None,
        // Left by a run that was killed while it detached.
        Some(true) => Some("finalize"),
        Some(false) => Some("concurrently"),
    };
    if let Some(how) = detach {
        client
            .batch_execute(&format!(
                "alter table {table} detach partition {partition} {how}"
            ))
            .await?;
    }
    client
        .batch_execute(&format!("drop table if exists {partition}"))
        .await?;
    Ok(())
}

const PRUNE: &str = "
    delete from embeddings e
    where e.made_at < now() - interval '7 days'
      and not (exists (select from versions v where v.embedding_model || '/' || v.dimensions = e.model)
               and (exists (select from sentences s where s.text_hash = e.hash)
                    or exists (select from chunks c where c.heading_hash = e.hash)))";

/// Forgets embeddings of texts no version holds any more. Young ones stay: an interrupted run will want them.
///
/// # Errors
/// When the database cannot be written.
pub async fn prune_embeddings(client: &Client) -> Result<u64, StoreError> {
    Ok(client.execute(PRUNE, &[]).await?)
}

fn partition(table: &str, version: i64) -> String {
    format!("{table}_v{version}")
}

fn int4(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

fn count(value: i32) -> usize {
    usize::try_from(value).unwrap_or_default()
}

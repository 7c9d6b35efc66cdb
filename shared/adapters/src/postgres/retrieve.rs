//! Reads what a question is answered from: the two arms of the search, and the evidence in what they found.
//!
//! Every statement is typed, unnamed and a transaction of its own, so it passes any pooler, and an error in one arm leaves
//! the other. A question names the version it reads; nothing here chooses one behind its back. Fusing and scoring are
//! `domain`'s.

use std::collections::{BTreeMap, HashMap};

use domain::sentence::Sentence;
use futures_util::future;
use tokio_postgres::types::{Json, ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// Distinct chunks an arm returns.
pub const DEPTH: usize = 40;

/// Vectors the index is asked for at first: several belong to one chunk.
const INDEX_VECTORS: usize = 4 * DEPTH;

/// pgvector's bound of `hnsw.ef_search`.
const MOST_INDEX_VECTORS: usize = 1_000;

/// BM25's saturation of term frequency and its share of length normalisation, at the values of Robertson and Zaragoza
/// (2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Part of a chunk's meaning that its heading path gives in the vector arm. What a passage is about often stands in its
/// heading alone. From 0.1 to 0.4 the first twenty fused hold the same answers, on either public set of questions.
const HEADING_SHARE: f64 = 0.25;

/// A corpus version that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// Its number.
    pub version: i64,
    /// Text-search configuration of its terms.
    pub text_search: String,
    /// Identity of the model its vectors were made with.
    pub embedding_model: String,
    /// Length of its vectors.
    pub dimensions: usize,
    /// Number of chunks.
    pub chunks: u64,
    /// How its texts were cut and indexed.
    pub chunker: String,
    /// Whether its vectors are indexed.
    pub indexed: bool,
}

/// What is searched for.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The version that is read.
    pub served: &'a Served,
    /// The question, its spelling corrected.
    pub text: &'a str,
    /// Exact names in it, in their canonical form.
    pub names: &'a [String],
    /// The question's vector; `None` when there is none to search with.
    pub vector: Option<&'a [f32]>,
    /// Only chunks whose metadata has all these values.
    pub filter: &'a BTreeMap<String, String>,
    /// Documents that are not searched.
    pub without: &'a [String],
}

impl Search<'_> {
    fn is_narrowed(&self) -> bool {
        !self.filter.is_empty() || !self.without.is_empty()
    }
}

/// What the arms found, best first, and the terms they searched for.
#[derive(Debug)]
pub struct Found {
    /// Chunks by their best sentence's cosine and their heading's. `None`: not searched, for want of a vector.
    pub vector: Option<Result<Vec<i64>, Error>>,
    /// Chunks by BM25.
    pub keyword: Result<Vec<i64>, Error>,
    /// The question's terms.
    pub terms: Result<Counted, Error>,
}

/// The question's terms, counted in what is searched: what a filter shuts out is not held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Lexemes, and names prefixed `=`, with the number of chunks that hold each.
    pub terms: Vec<(String, u64)>,
    /// Number of chunks.
    pub chunks: u64,
}

/// A found chunk with everything an answer needs of it.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The chunk.
    pub chunk: i64,
    /// Its document's id.
    pub document: String,
    /// Its document's title.
    pub title: String,
    /// Its document's address.
    pub url: String,
    /// Heading path, the title first.
    pub heading: Vec<String>,
    /// The section's anchor; may be empty.
    pub anchor: String,
    /// Anchors inside the text, by scalar offset.
    pub anchors: Vec<(usize, String)>,
    /// The passage.
    pub text: String,
    /// Where it begins in the document's `page_text`.
    pub page_offset: usize,
    /// The document's metadata.
    pub metadata: BTreeMap<String, String>,
    /// Its sentences.
    pub sentences: Vec<Sentence>,
    /// Each sentence's cosine with the question; 0 without a vector.
    pub similarities: Vec<f32>,
    /// For each sentence, which of the asked terms it holds: bit n for the nth.
    pub terms: Vec<i64>,
    /// The heading path's cosine with the question; 0 without a vector.
    pub heading_similarity: f32,
    /// Which of the asked terms the heading holds.
    pub heading_terms: i64,
    /// What the whole chunk, its heading counted in, holds of the asked terms: each gives its idf, less what BM25's
    /// saturation and length take from it.
    pub keyword_weight: f64,
}

const SERVED: &str = "
    select v.id, v.ts_config::text, v.embedding_model, v.dimensions, v.chunks, v.chunker,
           exists (select from pg_indexes i where i.tablename = 'sentences_v' || v.id and i.indexdef like '%USING hnsw%')
    from corpora c join versions v on v.id = c.current
    where c.name = $1";

/// The version of `corpus` that answers now.
///
/// # Errors
/// When the database refuses or the connection fails.
pub async fn served(client: &Client, corpus: &str) -> Result<Option<Served>, Error> {
    let rows = client.query_typed(SERVED, &[(&corpus, Type::TEXT)]).await?;
    rows.first()
        .map(|row| {
            Ok(Served {
                version: row.try_get(0)?,
                text_search: row.try_get(1)?,
                embedding_model: row.try_get(2)?,
                dimensions: unsigned(row.try_get(3)?),
                chunks: u64::from(row.try_get::<_, i32>(4)?.unsigned_abs()),
                chunker: row.try_get(5)?,
                indexed: row.try_get(6)?,
            })
        })
        .transpose()
}

const WORDS: &str = "select word, df from words where version = $1";

/// Every word of a version and the number of chunks that hold it.
///
/// # Errors
/// When the database refuses or the connection fails.
pub async fn words(client: &Client, version: i64) -> Result<HashMap<String, u32>, Error> {
    let rows = client.query_typed(WORDS, &[(&version, Type::INT8)]).await?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get::<_, i32>(1)?.unsigned_abs())))
        .collect()
}

/// Searches both arms and counts the question's terms, all on their way before the first answer.
pub async fn retrieve(client: &Client, search: Search<'_>) -> Found {
    let vector = async {
        match search.vector {
            Some(vector) => Some(nearest(client, search, vector).await),
            None => None,
        }
    };
    let (vector, keyword, terms) =
        future::join3(vector, keyword(client, search), terms(client, search)).await;
    Found {
        vector,
        keyword,
        terms,
    }
}

async fn nearest(client: &Client, search: Search<'_>, vector: &[f32]) -> Result<Vec<i64>, Error> {
    let vector = literal(vector);
    if !search.served.indexed {
        let sql = exact_sql(search.served.dimensions, search.is_narrowed());
        return ranked(client, &sql, search, &vector).await;
    }
    let mut vectors = INDEX_VECTORS;
    loop {
        let sql = indexed_sql(search.served.dimensions, vectors, search.is_narrowed());
        // Sent in one go: the settings hold for this transaction alone, so no pooler can lose or keep them.
        let settings = format!(
            "begin; set local hnsw.ef_search = {vectors}; set local hnsw.iterative_scan = strict_order; \
             set local hnsw.max_scan_tuples = 200000"
        );
        let (begun, found, ended) = future::join3(
            client.batch_execute(&settings),
            ranked(client, &sql, search, &vector),
            client.batch_execute("commit"),
        )
        .await;
        begun?;
        let found = found?;
        ended?;
        if found.len() >= DEPTH || vectors >= MOST_INDEX_VECTORS {
            return Ok(found);
        }
        vectors = (4 * vectors).min(MOST_INDEX_VECTORS);
    }
}

async fn ranked(
    client: &Client,
    sql: &str,
    search: Search<'_>,
    vector: &str,
) -> Result<Vec<i64>, Error> {
    let filter = Json(search.filter);
    let mut parameters: Vec<(&(dyn ToSql + Sync), Type)> =
        vec![(&search.served.version, Type::INT8), (&vector, Type::TEXT)];
    if search.is_narrowed() {
        parameters.push((&filter, Type::JSONB));
        parameters.push((&search.without, Type::TEXT_ARRAY));
    }
    let rows = client.query_typed(sql, &parameters).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// A chunk's place is its best sentence's and its heading's; exact, and fast while a version has some ten thousand
/// sentences.
fn exact_sql(dimensions: usize, narrowed: bool) -> String {
    let filter = filter_sql(narrowed, "sentences.chunk", 3);
    by_distance_sql(
        dimensions,
        &format!(
            "select sentences.chunk,
                    embedding::halfvec({dimensions}) <=> $2::text::halfvec({dimensions}) as distance
             from sentences
             where sentences.version = $1 {filter}"
        ),
    )
}

/// The same by the HNSW index, over-searched. The order of arrival is not relied on: chunks are ranked by distance. A
/// heading orders what its chunk's sentences brought, and brings none itself.
fn indexed_sql(dimensions: usize, vectors: usize, narrowed: bool) -> String {
    let filter = filter_sql(narrowed, "sentences.chunk", 3);
    by_distance_sql(
        dimensions,
        &format!(
            "select sentences.chunk,
                    embedding::halfvec({dimensions}) <=> $2::text::halfvec({dimensions}) as distance
             from sentences
             where sentences.version = $1 {filter}
             order by embedding::halfvec({dimensions}) <=> $2::text::halfvec({dimensions})
             limit {vectors}"
        ),
    )
}

/// The chunks of `sentences`, nearest first. Where a version has no heading vectors, the sentence alone counts.
fn by_distance_sql(dimensions: usize, sentences: &str) -> String {
    format!(
        "select best.chunk
         from (select chunk, min(distance) as distance from ({sentences}) near group by chunk) best
         join chunks c on c.version = $1 and c.id = best.chunk
         order by (1 - {HEADING_SHARE}) * best.distance + {HEADING_SHARE} * coalesce(
                      c.heading_embedding::halfvec({dimensions}) <=> $2::text::halfvec({dimensions}), best.distance),
                  best.chunk
         limit {DEPTH}"
    )
}

/// Metadata that a chunk must have and documents it may not be of are parameters `parameter` and the next one.
fn filter_sql(narrowed: bool, chunk: &str, parameter: usize) -> String {
    if narrowed {
        let without = parameter + 1;
        format!(
            "and exists (select from chunks f where f.version = $1 and f.id = {chunk}
                         and f.metadata @> ${parameter} and f.document <> all (${without}))"
        )
    } else {
        String::new()
    }
}

/// The question's terms: its lexemes, its exact names, and those of them the configuration drops as they stand (`having`).
/// Never a parsed query, so nothing in a question is syntax.
const ASKED: &str = "
    with asked as (
        select lexeme as term from unnest(to_tsvector($2::text::regconfig, $3::text))
        union
        select '=' || name from unnest($4::text[]) name
        union
        select '~' || lower(name) from unnest($4::text[]) name
        where name ~ '^[[:alpha:]]+$' and to_tsvector($2::text::regconfig, name) = ''
    )";

async fn terms(client: &Client, search: Search<'_>) -> Result<Counted, Error> {
    let served = search.served;
    let json = Json(search.filter);
    let mut parameters: Vec<(&(dyn ToSql + Sync), Type)> = vec![
        (&served.version, Type::INT8),
        (&served.text_search, Type::TEXT),
        (&search.text, Type::TEXT),
        (&search.names, Type::TEXT_ARRAY),
    ];
    if search.is_narrowed() {
        parameters.push((&json, Type::JSONB));
        parameters.push((&search.without, Type::TEXT_ARRAY));
    }
    let rows = client
        .query_typed(&terms_sql(search.is_narrowed()), &parameters)
        .await?;
    let mut counted = Counted {
        terms: Vec::with_capacity(rows.len()),
        chunks: served.chunks,
    };
    for row in &rows {
        let df: i32 = row.try_get(1)?;
        counted
            .terms
            .push((row.try_get(0)?, u64::from(df.unsigned_abs())));
        if let Some(chunks) = row.try_get::<_, Option<i32>>(2)? {
            counted.chunks = u64::from(chunks.unsigned_abs());
        }
    }
    Ok(counted)
}

/// Terms are counted at ingest; what is narrowed has to be counted anew.
fn terms_sql(narrowed: bool) -> String {
    if narrowed {
        format!(
            "{ASKED},
             searched as materialized (
                 select f.id from chunks f
                 where f.version = $1 and f.metadata @> $5 and f.document <> all ($6)
             )
             select asked.term,
                    (select count(*) from postings p join searched on searched.id = p.chunk
                     where p.version = $1 and p.term = asked.term)::integer,
                    (select count(*) from searched)::integer
             from asked
             order by asked.term
             limit {MOST_TERMS}"
        )
    } else {
        format!(
            "{ASKED}
             select asked.term, coalesce(t.df, 0), null::integer
             from asked left join terms t on t.version = $1 and t.term = asked.term
             order by asked.term
             limit {MOST_TERMS}"
        )
    }
}

/// The terms of `asked` that the version holds, with their idf.
const WEIGHTED: &str = "
    corpus as materialized (
        select chunks::float8 as n, greatest(mean_length, 1)::float8 as mean from versions where id = $1
    ),
    weighted as materialized (
        select t.term, ln(1 + (corpus.n - t.df + 0.5) / (t.df + 0.5)) as idf
        from asked join terms t on t.version = $1 and t.term = asked.term, corpus
    )";

/// What chunk `c` holds of the `weighted` terms by its postings `p`: BM25 without its constant factor of k1 + 1, so that a
/// term gives at most its idf.
fn weight_sql() -> String {
    format!("sum(weighted.idf * p.tf / (p.tf + {K1} * (1 - {B} + {B} * c.length / corpus.mean)))")
}

/// As many as a bit mask holds. A question of 1,000 characters has fewer distinct terms worth telling apart.
const MOST_TERMS: usize = 62;

async fn keyword(client: &Client, search: Search<'_>) -> Result<Vec<i64>, Error> {
    let filter = filter_sql(search.is_narrowed(), "p.chunk", 6);
    let weight = weight_sql();
    // The lengths are joined once per chunk found, the statistics once per term.
    let sql = format!(
        "{ASKED}, {WEIGHTED}
         select p.chunk
         from weighted
         join postings p on p.version = $1 and p.term = weighted.term
         join chunks c on c.version = $1 and c.id = p.chunk, corpus
         where true {filter}
         group by p.chunk
         order by {weight} desc, p.chunk
         limit $5"
    );
    let served = search.served;
    let depth = i64::try_from(DEPTH).unwrap_or(i64::MAX);
    let json = Json(search.filter);
    let mut parameters: Vec<(&(dyn ToSql + Sync), Type)> = vec![
        (&served.version, Type::INT8),
        (&served.text_search, Type::TEXT),
        (&search.text, Type::TEXT),
        (&search.names, Type::TEXT_ARRAY),
        (&depth, Type::INT8),
    ];
    if search.is_narrowed() {
        parameters.push((&json, Type::JSONB));
        parameters.push((&search.without, Type::TEXT_ARRAY));
    }
    let rows = client.query_typed(&sql, &parameters).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// The evidence in `chunks`, in their order. A chunk of another version is left out.
///
/// # Errors
/// When the database refuses or the connection fails.
pub async fn evidence(
    client: &Client,
    search: Search<'_>,
    terms: &[String],
    chunks: &[i64],
) -> Result<Vec<Evidence>, Error> {
    let dimensions = search.served.dimensions;
    let similarity = |embedding: &str| {
        if search.vector.is_some() {
            format!("1 - ({embedding}::halfvec({dimensions}) <=> $5::text::halfvec({dimensions}))")
        } else {
            "0 * length($5)".to_owned()
        }
    };
    let (of_heading, of_sentence) = (similarity("c.heading_embedding"), similarity("s.embedding"));
    let weight = weight_sql();
    // A limit keeps the look-up of one posting a look-up: joined as a whole, all postings were read for each chunk.
    let sql = format!(
        "with asked as materialized (
             select term, 1::bigint << (n - 1)::integer as bit from unnest($3::text[]) with ordinality a(term, n)
         ), {WEIGHTED}
         select c.id, c.document, d.title, d.url, c.heading, c.anchor, c.anchors, c.text, c.page_offset, c.metadata,
                c.sentences, found.similarities, found.terms,
                (select coalesce(bit_or(bit), 0) from asked
                 where asked.term = any (tsvector_to_array(
                     to_tsvector($4::text::regconfig, array_to_string(c.heading, ' . '))))),
                coalesce({of_heading}, 0)::real,
                (select coalesce({weight}, 0)
                 from weighted, corpus,
                 lateral (select tf from postings where version = $1 and term = weighted.term and chunk = c.id limit 1) p)
         from unnest($2::bigint[]) with ordinality wanted(id, place)
         join chunks c on c.version = $1 and c.id = wanted.id
         join documents d on d.version = $1 and d.id = c.document,
         lateral (
             select array_agg(({of_sentence})::real order by s.ordinal) as similarities,
                    array_agg((select coalesce(bit_or(bit), 0) from asked where asked.term = any (s.terms))
                              order by s.ordinal) as terms
             from sentences s where s.version = $1 and s.chunk = c.id
         ) found
         order by wanted.place"
    );
    let vector = search.vector.map(literal).unwrap_or_default();
    let rows = client
        .query_typed(
            &sql,
            &[
                (&search.served.version, Type::INT8),
                (&chunks, Type::INT8_ARRAY),
                (&terms, Type::TEXT_ARRAY),
                (&search.served.text_search, Type::TEXT),
                (&vector, Type::TEXT),
            ],
        )
        .await?;
    rows.iter().map(read_evidence).collect()
}

fn read_evidence(row: &Row) -> Result<Evidence, Error> {
    Ok(Evidence {
        chunk: row.try_get(0)?,
        document: row.try_get(1)?,
        title: row.try_get(2)?,
        url: row.try_get(3)?,
        heading: row.try_get(4)?,
        anchor: row.try_get(5)?,
        anchors: row.try_get::<_, Json<_>>(6)?.0,
        text: row.try_get(7)?,
        page_offset: unsigned(row.try_get(8)?),
        metadata: row.try_get::<_, Json<_>>(9)?.0,
        sentences: row.try_get::<_, Json<_>>(10)?.0,
        similarities: row.try_get::<_, Option<_>>(11)?.unwrap_or_default(),
        terms: row.try_get::<_, Option<_>>(12)?.unwrap_or_default(),
        heading_terms: row.try_get(13)?,
        heading_similarity: row.try_get(14)?,
        keyword_weight: row.try_get(15)?,
    })
}

const PAGES: &str = "select id, page_text from documents where version = $1 and id = any ($2)";

/// The page texts of `documents`, by id.
///
/// # Errors
/// When the database refuses or the connection fails.
pub async fn page_texts(
    client: &Client,
    version: i64,
    documents: &[String],
) -> Result<HashMap<String, String>, Error> {
    let rows = client
        .query_typed(
            PAGES,
            &[(&version, Type::INT8), (&documents, Type::TEXT_ARRAY)],
        )
        .await?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

/// A chunk as it is cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its id.
    pub id: i64,
    /// Its document's id.
    pub document: String,
    /// Its text.
    pub text: String,
    /// The anchors in it, its section's first.
    pub anchors: Vec<String>,
}

const CHUNKS: &str = "
    select id, document, text, array_prepend(anchor, array(select value ->> 1 from jsonb_array_elements(anchors)))
    from chunks where version = $1 order by id";

/// Every chunk of a version, for measuring a search against known quotes.
///
/// # Errors
/// When the database refuses or the connection fails.
pub async fn all_chunks(client: &Client, version: i64) -> Result<Vec<Chunk>, Error> {
    let rows = client
        .query_typed(CHUNKS, &[(&version, Type::INT8)])
        .await?;
    rows.iter()
        .map(|row| {
            Ok(Chunk {
                id: row.try_get(0)?,
                document: row.try_get(1)?,
                text: row.try_get(2)?,
                anchors: row.try_get(3)?,
            })
        })
        .collect()
}

/// pgvector's text form. As text no type has to be looked up by name first, which would need a named statement.
fn literal(vector: &[f32]) -> String {
    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn unsigned(value: i32) -> usize {
    usize::try_from(value).unwrap_or_default()
}

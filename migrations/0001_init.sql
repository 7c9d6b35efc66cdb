-- One corpus version is built aside, in partitions of its own, and then switched to in one statement (corpora.current).
-- Everything that belongs to a version is dropped with its partitions.
create extension if not exists vector;

create table corpora (
    name text primary key,
    current bigint,
    previous bigint
);

create table versions (
    id bigint generated always as identity primary key,
    corpus text not null references corpora (name),
    state text not null check (state in ('building', 'ready')),
    title text not null,
    label text not null,                  -- the documentation's own version, '17'
    ts_config regconfig not null,         -- text-search configuration of the keyword arm
    embedding_model text not null,
    dimensions integer not null,
    chunker text not null,                -- fingerprint of the chunking policy
    fingerprint text not null,            -- of manifest, documents, model and chunker: equal means nothing to do
    documents integer not null default 0,
    chunks integer not null default 0,    -- N of BM25
    mean_length real not null default 0,  -- mean number of terms of a chunk, for BM25
    created_at timestamptz not null default now(),
    built_at timestamptz
);

create table documents (
    version bigint not null,
    id text not null,
    title text not null,
    url text not null,
    metadata jsonb not null,
    page_text text not null,
    sections jsonb not null,
    content_hash bytea not null,
    primary key (version, id)
) partition by list (version);

create table chunks (
    version bigint not null,
    id bigint not null,
    document text not null,
    ordinal integer not null,
    heading text[] not null,
    anchor text not null,
    anchors jsonb not null,               -- [[offset, id], …]
    text text not null,
    page_offset integer not null,
    tokens integer not null,
    metadata jsonb not null,
    sentences jsonb not null,             -- [{"start":0,"end":10,"kind":"prose"}, …], same order as the vectors
    length integer not null default 0,    -- number of terms, for BM25
    primary key (version, id)
) partition by list (version);

-- Vectors of a chunk's sentences: the vector arm takes a chunk's best one. A vector is read with its row or not at all,
-- so it stays in the row as far as a page holds it.
create table sentences (
    version bigint not null,
    chunk bigint not null,
    ordinal integer not null,
    text_hash bytea not null,             -- the embedded text's, as in embeddings
    embedding halfvec not null,
    terms text[] not null,                -- lexemes, as in postings
    primary key (version, chunk, ordinal)
) partition by list (version);
alter table sentences alter column embedding set storage main;

-- The keyword arm's inverted index with its statistics. A term is a lexeme of the corpus's configuration ('wal'), a word
-- as it stands prefixed '~' ('~having', only words the configuration drops), or an exact name prefixed '='
-- ('=max_wal_size', '=->>').
create table terms (
    version bigint not null,
    term text not null,
    df integer not null,
    primary key (version, term)
) partition by list (version);

create table postings (
    version bigint not null,
    term text not null,
    chunk bigint not null,
    tf real not null,                     -- occurrences, those in headings weighted
    primary key (version, term, chunk) include (tf)
) partition by list (version);

-- Words as they stand in the corpus, lower-cased: what a question's spelling is read against.
create table words (
    version bigint not null,
    word text not null,
    df integer not null,
    primary key (version, word)
) partition by list (version);

-- Embeddings as they are made: they outlive a killed run and every version.
create table embeddings (
    model text not null,                  -- with its dimensions: 'all-MiniLM-L6-v2/384'
    hash bytea not null,                  -- sha-256 of the text
    embedding halfvec not null,
    made_at timestamptz not null default now(),
    primary key (model, hash)
);

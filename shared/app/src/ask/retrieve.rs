//! Searches both arms, fuses what they found, and fetches the evidence in the best of it.
//!
//! One arm may fail or find nothing: the other's order then stands, and the answer says what it did without.

use std::sync::Arc;

use adapters::dynamodb::corpus::Corpus;
use adapters::postgres::Client;
use adapters::postgres::retrieve::{
    Counted, Evidence, Found, Search, Served, evidence, retrieve as search,
};
use anyhow::{Context as _, anyhow};
use domain::fuse::reciprocal_rank_fusion;
use domain::names::NameKind;
use domain::relevance::AskedTerm;
use tokio::time::Instant;

use super::failure::{Failure, Stopped};
use super::open::Opened;
use super::question::Ask;
use super::run::Run;

/// Damping of reciprocal rank fusion, at the value of its paper.
pub const RRF_K: u32 = 60;

/// Fused chunks that are looked at closely.
pub const CANDIDATES: usize = 20;

/// What was found, best first.
#[derive(Debug)]
pub struct Candidates {
    /// How the corpus speaks.
    pub corpus: Arc<Corpus>,
    /// The open connection.
    pub client: Arc<Client>,
    /// The version that answers.
    pub served: Served,
    /// The question's terms.
    pub asked: Vec<AskedTerm>,
    /// Whether the question turns on a name the corpus does not hold.
    pub unknown_name: bool,
    /// Operators the question asks about.
    pub operators: Vec<String>,
    /// Whether sentences were compared by vector.
    pub by_vector: bool,
    /// At most [`CANDIDATES`] chunks in fused order.
    pub evidence: Vec<Evidence>,
    /// The arms' own orders, for measuring them.
    pub arms: Arms,
}

/// Each arm's chunks, best first.
#[derive(Debug, Clone)]
pub struct Arms {
    /// By vector.
    pub vector: Vec<i64>,
    /// By terms.
    pub keyword: Vec<i64>,
    /// Fused.
    pub fused: Vec<i64>,
}

/// Searches for `opened`'s question.
pub(super) async fn retrieve(
    opened: Opened,
    ask: &Ask,
    run: &mut Run<'_>,
) -> Result<Candidates, Stopped> {
    let started = Instant::now();
    let names: Vec<String> = opened.names.iter().map(|name| name.text.clone()).collect();
    let query = Search {
        served: &opened.served,
        text: &opened.text,
        names: &names,
        vector: opened.vector.as_deref(),
        filter: &ask.filter,
        without: &ask.without,
    };
    let found = search(&opened.client, query).await;
    let (arms, counted) = settle_arms(found, run)?;
    let asked: Vec<AskedTerm> = counted
        .terms
        .into_iter()
        .map(|(term, df)| AskedTerm::new(term, df, counted.chunks))
        .collect();
    // Terms that could not be counted say nothing about what the corpus holds.
    let unknown_name = opened.foreign
        || !asked.is_empty() && {
            let held = |name: &str| {
                asked
                    .iter()
                    .any(|term| term.df > 0 && term.term.strip_prefix('=') == Some(name))
            };
            opened.decisive_names().into_iter().any(|name| !held(name))
        };
    let terms: Vec<String> = asked.iter().map(|term| term.term.clone()).collect();
    let best = &arms.fused[..arms.fused.len().min(CANDIDATES)];
    let evidence = evidence(&opened.client, query, &terms, best)
        .await
        .context("read the evidence")
        .map_err(Failure::Unavailable)?;
    run.ended("retrieve", started).await?;
    let by_vector = opened.vector.is_some();
    Ok(Candidates {
        corpus: opened.corpus,
        client: opened.client,
        served: opened.served,
        asked,
        unknown_name,
        operators: opened
            .names
            .iter()
            .filter(|name| name.kind == NameKind::Operator)
            .map(|name| name.text.clone())
            .collect(),
        by_vector,
        evidence,
        arms,
    })
}

/// The arms' orders and the question's terms, as far as they came.
fn settle_arms(found: Found, run: &mut Run<'_>) -> Result<(Arms, Counted), Failure> {
    let vector = match found.vector {
        Some(Ok(vector)) => Some(vector),
        Some(Err(error)) => {
            run.without("vector", &error);
            None
        }
        None => None,
    };
    let keyword = match (found.keyword, &vector) {
        (Ok(keyword), _) => keyword,
        (Err(error), Some(_)) => {
            run.without("keyword", &error);
            Vec::new()
        }
        (Err(error), None) => {
            return Err(Failure::Unavailable(
                anyhow::Error::from(error).context("search"),
            ));
        }
    };
    let counted = match found.terms {
        Ok(counted) => counted,
        Err(error) => {
            if vector.is_none() {
                return Err(Failure::Unavailable(
                    anyhow!(error).context("count the question's terms"),
                ));
            }
            run.without("keyword", &error);
            Counted::default()
        }
    };
    let vector = vector.unwrap_or_default();
    let fused = reciprocal_rank_fusion(&[&vector, &keyword], RRF_K)
        .into_iter()
        .map(|(chunk, _)| chunk)
        .collect();
    Ok((
        Arms {
            vector,
            keyword,
            fused,
        },
        counted,
    ))
}

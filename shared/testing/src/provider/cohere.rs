//! What a rerank server says.

use serde_json::{Value, json};

/// A reply that places these passages, named by their index in the list as sent.
#[must_use]
pub fn reranked(scores: &[(usize, f32)]) -> Value {
    let results: Vec<Value> = scores
        .iter()
        .map(|(index, score)| json!({ "index": index, "relevance_score": score }))
        .collect();
    json!({
        "results": results,
        "meta": { "billed_units": { "search_units": 1 } },
    })
}

//! Rerankers behind HTTP: a chat model asked for an order, and servers made for reranking.
//!
//! Both may answer with passages twice, not at all, or with some that were never sent. `place` makes an order of it that
//! has every passage once; a passage without a usable score keeps none.

mod chat;
mod cohere;

use std::cmp::Ordering;

pub use chat::{ChatReranker, MOST_JUDGED, most_output_tokens};
pub use cohere::CohereReranker;

use super::error::ProviderError;
use crate::model::Placed;

/// Orders `count` passages by the scores a reranker gave, as pairs of an index into the list as sent and a score. The
/// first mention of a passage counts; indices that were not sent are passed over; a score that is not a number is none.
fn place(
    scored: impl IntoIterator<Item = (Option<usize>, Option<f32>)>,
    count: usize,
) -> Result<Vec<Placed>, ProviderError> {
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    for (index, score) in scored {
        let (Some(index), Some(score)) = (index, score.filter(|score| score.is_finite())) else {
            continue;
        };
        if seen.get(index) == Some(&false) {
            seen[index] = true;
            order.push(Placed {
                index,
                score: Some(score),
            });
        }
    }
    if order.is_empty() && count > 0 {
        return Err(ProviderError::invalid("it scores none of the passages"));
    }
    // Stable: passages of one score stay in the order the reranker named them.
    order.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    let left_out = seen.iter().enumerate().filter(|(_, seen)| !**seen);
    order.extend(left_out.map(|(index, _)| Placed { index, score: None }));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_every_passage_once() {
        let placed = |index, score| Placed { index, score };
        let given = [
            (Some(1), Some(0.2)),
            (Some(7), Some(0.9)),
            (Some(3), Some(0.8)),
            (Some(1), Some(0.9)),
            (Some(0), Some(f32::NAN)),
            (None, Some(0.5)),
            (Some(2), None),
        ];
        assert_eq!(
            place(given, 4),
            Ok(vec![
                placed(3, Some(0.8)),
                placed(1, Some(0.2)),
                placed(0, None),
                placed(2, None),
            ])
        );
        assert!(place([(Some(7), Some(0.9))], 2).is_err());
        assert_eq!(place([], 0), Ok(Vec::new()));
    }
}

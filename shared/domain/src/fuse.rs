//! Merges ranked lists into one by the places items hold in them.
//!
//! Scores of different arms are never compared: only ranks count, so a fused score says nothing about relevance (a first
//! place is worth 1/61 whatever it is). Whether to answer at all is decided on the reranker's score.

use std::collections::HashMap;

/// Reciprocal rank fusion, best first: each list adds `1 / (k + rank)` to the items it holds, ranks counted from 1; an item
/// missing from a list gets nothing from it. An item repeated within a list counts once, at its best rank.
///
/// Equal scores keep the order in which the lists, read one after the other, first name the items, so the result is the
/// same on every run.
///
/// Cormack, Clarke, Büttcher: "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
/// SIGIR 2009, where k = 60 was found to do well.
#[must_use]
pub fn reciprocal_rank_fusion(lists: &[&[i64]], k: u32) -> Vec<(i64, f64)> {
    let mut ids = Vec::new();
    let mut ranks: HashMap<i64, Vec<usize>> = HashMap::new();
    for list in lists {
        let mut rank = 0;
        let mut seen = std::collections::HashSet::new();
        for &id in *list {
            if !seen.insert(id) {
                continue;
            }
            rank += 1;
            ranks
                .entry(id)
                .or_insert_with(|| {
                    ids.push(id);
                    Vec::with_capacity(lists.len())
                })
                .push(rank);
        }
    }
    let mut fused: Vec<(i64, f64)> = ids
        .into_iter()
        .map(|id| {
            // Summed in one order: addition of floats is not associative, and items with the same ranks in other lists
            // must tie exactly.
            let mut held = ranks.remove(&id).unwrap_or_default();
            held.sort_unstable();
            let score = held
                .iter()
                .map(|&rank| 1.0 / (f64::from(k) + rank as f64))
                .sum();
            (id, score)
        })
        .collect();
    fused.sort_by(|left, right| right.1.total_cmp(&left.1));
    fused
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(lists: &[&[i64]]) -> Vec<i64> {
        reciprocal_rank_fusion(lists, 60)
            .into_iter()
            .map(|(id, _)| id)
            .collect()
    }

    #[test]
    fn c041_rewards_agreement_and_breaks_ties_by_first_naming() {
        const X: i64 = 9;
        const A: i64 = 7;
        const Y: i64 = 5;
        const B: i64 = 3;
        const C: i64 = 1;
        let fused = reciprocal_rank_fusion(&[&[X, A, Y], &[B, C, Y]], 60);
        let order: Vec<i64> = fused.iter().map(|&(id, _)| id).collect();
        assert_eq!(order, [Y, X, B, A, C]);
        let expected = [2.0 / 63.0, 1.0 / 61.0, 1.0 / 61.0, 1.0 / 62.0, 1.0 / 62.0];
        for ((_, score), expected) in fused.into_iter().zip(expected) {
            assert!(
                (score - expected).abs() < 1e-12,
                "{score} is not {expected}"
            );
        }
    }

    #[test]
    fn c046_keeps_the_order_of_a_single_list() {
        assert_eq!(ids(&[&[4, 2, 8], &[]]), [4, 2, 8]);
        assert_eq!(ids(&[&[4, 2, 8]]), [4, 2, 8]);
        assert_eq!(ids(&[&[], &[]]), [] as [i64; 0]);
        assert_eq!(ids(&[]), [] as [i64; 0]);
    }

    #[test]
    fn counts_a_repeated_item_once() {
        let fused = reciprocal_rank_fusion(&[&[1, 1, 2]], 60);
        assert_eq!(fused, [(1, 1.0 / 61.0), (2, 1.0 / 62.0)]);
    }

    #[test]
    fn ties_exactly_whatever_lists_the_ranks_come_from() {
        let fused = reciprocal_rank_fusion(&[&[1, 2, 3], &[2, 3, 1], &[3, 1, 2]], 60);
        assert_eq!(
            fused.iter().map(|&(id, _)| id).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert!(
            fused
                .iter()
                .all(|&(_, score)| score.to_bits() == fused[0].1.to_bits())
        );
    }

    fn list() -> impl Strategy<Value = Vec<i64>> {
        proptest::collection::hash_set(0..100_i64, 0..=40)
            .prop_map(|set| set.into_iter().collect::<Vec<_>>())
            .prop_shuffle()
    }

    proptest! {
        #[test]
        fn c042_an_item_of_both_lists_beats_an_item_of_one(left in list(), right in list()) {
            let fused = reciprocal_rank_fusion(&[&left, &right], 60);
            let both = |id: &i64| left.contains(id) && right.contains(id);
            let worst_of_both = fused.iter().filter(|(id, _)| both(id)).map(|f| f.1).fold(f64::MAX, f64::min);
            let best_of_one = fused.iter().filter(|(id, _)| !both(id)).map(|f| f.1).fold(0.0, f64::max);
            prop_assert!(worst_of_both > best_of_one);

            let place = |id: &i64| fused.iter().position(|f| f.0 == *id);
            let only_left: Vec<_> = left.iter().filter(|id| !both(id)).map(place).collect();
            prop_assert!(only_left.is_sorted(), "one list's own order is kept");

            let known: std::collections::HashSet<_> = left.iter().chain(&right).collect();
            prop_assert_eq!(fused.len(), known.len());
        }
    }
}

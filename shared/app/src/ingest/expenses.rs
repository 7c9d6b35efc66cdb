//! What the embeddings of an ingest may cost: each batch is taken from the operator's ledger before it is made.

use adapters::dynamodb::ledger::Ledger;
use adapters::model::{Embedder, checked_with_usage};
use domain::cost::{Money, Prices, Usage, cost};

use super::IngestError;
use crate::clock;

/// The ledger, and what providers charge.
#[derive(Debug)]
pub struct Expenses {
    /// Holds the day's ceiling.
    pub ledger: Ledger,
    /// A model without a price, as one in this process, costs nothing here.
    pub prices: Prices,
}

impl Expenses {
    /// Embeds `texts`, if the ledger covers the most that can cost.
    pub(super) async fn embed(
        &self,
        embedder: &dyn Embedder,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, IngestError> {
        // A ledger with a ceiling does not start with a model that has no price: see `context::prices`.
        let price = |usage: Usage| -> Money {
            let cost = cost(&self.prices, embedder.model(), &usage);
            cost.known().unwrap_or_default()
        };
        // No tokenizer makes more tokens than there are bytes.
        let bytes: usize = texts.iter().map(String::len).sum();
        let worst = price(Usage::embedding(bytes as u64));
        let day = clock::today();
        self.ledger.take(day, worst).await?;
        let embedded = checked_with_usage(embedder, texts).await;
        let spent = match &embedded {
            Ok(embedded) => embedded
                .usage
                .map_or(worst, |counted| price(Usage::embedding(counted.input))),
            // What a failed batch cost nobody says.
            Err(_) => worst,
        };
        if let Err(error) = self.ledger.correct(day, worst, spent).await {
            tracing::warn!("the ledger keeps more than was spent: {error}");
        }
        Ok(embedded?.vectors)
    }
}

//! What calls to models cost, exactly, or that it is not known.
//!
//! A model without a price costs [`Cost::Unknown`], never nothing: a budget must not be blind to it. Amounts are whole
//! picodollars (a millionth of a millionth of a dollar), in which a price per million tokens is whole as well, so that sums are
//! exact and their order does not matter. Nothing here reads the file of prices; that is the caller's.
//!
//! Prices are one table per model, in US dollars, from TOML or JSON:
//!
//! ```toml
//! [models."chat-large"]
//! input = 2.50            # per million tokens
//! cached_input = 1.25     # per million; as input if it is left out
//! output = 10.00          # per million, reasoning included
//!
//! [models."embed-small"]
//! embedding = 0.02        # per million tokens
//!
//! [models."rerank-v3"]
//! rerank_call = 0.002     # per call
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use serde::Deserialize;

/// An amount of money in picodollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(u128);

const PICODOLLARS: u128 = 1_000_000_000_000;

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// `picodollars` of them.
    #[must_use]
    pub const fn from_picodollars(picodollars: u128) -> Self {
        Self(picodollars)
    }

    /// The amount `usd`, rounded to the nearest picodollar; `None` if it is negative, no number, or beyond counting.
    #[must_use]
    pub fn from_usd(usd: f64) -> Option<Self> {
        to_units(usd, PICODOLLARS as f64).map(|units| Self(u128::from(units)))
    }

    /// Exactly.
    #[must_use]
    pub fn picodollars(self) -> u128 {
        self.0
    }

    /// What is left when `other` is taken away; nothing when that is more.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// For showing only; sums are made of [`Money`].
    #[must_use]
    pub fn as_usd(self) -> f64 {
        self.0 as f64 / PICODOLLARS as f64
    }
}

impl Add for Money {
    type Output = Self;

    /// Stays at the largest amount rather than starting anew.
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    /// Dollars with as many decimals as the amount has, two at least: `0.0325`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CENTS: usize = 2;
        let decimals = format!("{:012}", self.0 % PICODOLLARS);
        let kept = decimals.trim_end_matches('0').len().max(CENTS);
        write!(f, "{}.{}", self.0 / PICODOLLARS, &decimals[..kept])
    }
}

/// What one model's calls cost. What a model is not priced for it cannot be charged for: see [`cost`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Price {
    input: Option<Money>,
    cached_input: Option<Money>,
    output: Option<Money>,
    embedding: Option<Money>,
    rerank_call: Option<Money>,
}

/// The price of each model, checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "PriceFile")]
pub struct Prices {
    models: BTreeMap<String, Price>,
}

/// What is wrong with a table of prices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceFault {
    /// It is below nothing.
    #[error("price of {model}: {field} is negative")]
    Negative {
        /// Whose price.
        model: String,
        /// Which of its fields.
        field: &'static str,
    },
    /// It is NaN, infinite or beyond counting.
    #[error("price of {model}: {field} is not a number of dollars")]
    NotANumber {
        /// Whose price.
        model: String,
        /// Which of its fields.
        field: &'static str,
    },
    /// A token price finer than a picodollar would be rounded, and sums with it.
    #[error("price of {model}: {field} has more than six decimals per million tokens")]
    TooFine {
        /// Whose price.
        model: String,
        /// Which of its fields.
        field: &'static str,
    },
    /// Another field makes no sense without it.
    #[error("price of {model}: {field} is missing")]
    Missing {
        /// Whose price.
        model: String,
        /// Which of its fields.
        field: &'static str,
    },
}

/// The file as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    models: BTreeMap<String, WrittenPrice>,
}

/// A model's price as written, in dollars.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrice {
    input: Option<f64>,
    cached_input: Option<f64>,
    output: Option<f64>,
    embedding: Option<f64>,
    rerank_call: Option<f64>,
}

impl TryFrom<PriceFile> for Prices {
    type Error = PriceFault;

    fn try_from(file: PriceFile) -> Result<Self, PriceFault> {
        let checked = file.models.into_iter().map(|(model, written)| {
            let price = check_price(&model, &written)?;
            Ok((model, price))
        });
        Ok(Self {
            models: checked.collect::<Result<_, _>>()?,
        })
    }
}

fn check_price(model: &str, written: &WrittenPrice) -> Result<Price, PriceFault> {
    let token = |field, usd| per_token(model, field, usd);
    let price = Price {
        input: token("input", written.input)?,
        cached_input: token("cached_input", written.cached_input)?
            .or(token("input", written.input)?),
        output: token("output", written.output)?,
        embedding: token("embedding", written.embedding)?,
        rerank_call: per_call(model, "rerank_call", written.rerank_call)?,
    };
    let missing = |field| PriceFault::Missing {
        model: model.to_owned(),
        field,
    };
    let chats = price.input.is_some() || price.output.is_some() || price.cached_input.is_some();
    if chats && price.input.is_none() {
        return Err(missing("input"));
    }
    if chats && price.output.is_none() {
        return Err(missing("output"));
    }
    if !chats && price.embedding.is_none() && price.rerank_call.is_none() {
        return Err(missing("input"));
    }
    Ok(price)
}

/// Dollars per million tokens are millionths of a dollar a token: as many picodollars as there are millionths of a dollar.
fn per_token(
    model: &str,
    field: &'static str,
    usd_per_million: Option<f64>,
) -> Result<Option<Money>, PriceFault> {
    const PICODOLLARS_A_TOKEN: f64 = 1_000_000.0;
    let Some(usd) = usd_per_million else {
        return Ok(None);
    };
    let units = checked_units(model, field, usd, PICODOLLARS_A_TOKEN)?;
    let error = (usd * PICODOLLARS_A_TOKEN - units as f64).abs();
    // What binary fractions cannot write exactly is far below this.
    const NOISE: f64 = 1e-3;
    if error > NOISE {
        return Err(PriceFault::TooFine {
            model: model.to_owned(),
            field,
        });
    }
    Ok(Some(Money(u128::from(units))))
}

fn per_call(
    model: &str,
    field: &'static str,
    usd: Option<f64>,
) -> Result<Option<Money>, PriceFault> {
    usd.map(|usd| {
        checked_units(model, field, usd, PICODOLLARS as f64).map(|units| Money(u128::from(units)))
    })
    .transpose()
}

fn checked_units(
    model: &str,
    field: &'static str,
    usd: f64,
    per_dollar: f64,
) -> Result<u64, PriceFault> {
    let model = model.to_owned();
    if usd < 0.0 {
        return Err(PriceFault::Negative { model, field });
    }
    to_units(usd, per_dollar).ok_or(PriceFault::NotANumber { model, field })
}

/// `usd` in whole units, rounded to the nearest.
fn to_units(usd: f64, per_dollar: f64) -> Option<u64> {
    let units = (usd * per_dollar).round();
    (units.is_finite() && units >= 0.0 && units < u64::MAX as f64).then_some(units as u64)
}

/// What a call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens read, those from a cache among them.
    pub input: u64,
    /// How many of `input` came from a cache. Never more than that.
    pub cached_input: u64,
    /// Tokens written, reasoning among them.
    pub output: u64,
    /// Tokens embedded.
    pub embedding: u64,
    /// Calls or searches of a reranker.
    pub rerank_calls: u64,
    /// It was not reported and is reckoned from lengths.
    pub estimated: bool,
}

impl Usage {
    /// Of a chat call, as providers report it: `cached` is part of `input`, and `output` holds the reasoning tokens already.
    #[must_use]
    pub fn chat(input: u64, cached: u64, output: u64) -> Self {
        Self {
            input,
            cached_input: cached.min(input),
            output,
            ..Self::default()
        }
    }

    /// Of a chat call of a provider that counts reasoning beside its output.
    #[must_use]
    pub fn chat_with_reasoning(input: u64, cached: u64, output: u64, reasoning: u64) -> Self {
        Self::chat(input, cached, output.saturating_add(reasoning))
    }

    /// Of a chat call that reported nothing, reckoned from the characters sent and received.
    #[must_use]
    pub fn estimated_chat(sent_chars: usize, received_chars: usize) -> Self {
        Self {
            input: tokens_in(sent_chars),
            output: tokens_in(received_chars),
            estimated: true,
            ..Self::default()
        }
    }

    /// Of an embedding call.
    #[must_use]
    pub fn embedding(tokens: u64) -> Self {
        Self {
            embedding: tokens,
            ..Self::default()
        }
    }

    /// Of an embedding call that reported nothing.
    #[must_use]
    pub fn estimated_embedding(chars: usize) -> Self {
        Self {
            estimated: true,
            ..Self::embedding(tokens_in(chars))
        }
    }

    /// Of calls to a reranker that is paid by the call.
    #[must_use]
    pub fn rerank(calls: u64) -> Self {
        Self {
            rerank_calls: calls,
            ..Self::default()
        }
    }
}

impl Add for Usage {
    type Output = Self;

    /// Both together; estimated if either is.
    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            output: self.output.saturating_add(other.output),
            embedding: self.embedding.saturating_add(other.embedding),
            rerank_calls: self.rerank_calls.saturating_add(other.rerank_calls),
            estimated: self.estimated || other.estimated,
        }
    }
}

/// About how many tokens so many characters are, rounded up: four characters make one.
#[must_use]
pub fn tokens_in(chars: usize) -> u64 {
    const CHARS_A_TOKEN: u64 = 4;
    u64::try_from(chars)
        .unwrap_or(u64::MAX)
        .div_ceil(CHARS_A_TOKEN)
}

/// What something cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cost {
    /// This much.
    Known(Money),
    /// Nobody said what it costs. It is not free.
    Unknown {
        /// The model without a price, or without one for what it was used for.
        model: String,
    },
}

impl Default for Cost {
    /// Nothing was used yet.
    fn default() -> Self {
        Self::Known(Money::default())
    }
}

impl Cost {
    /// The amount, if it is known.
    #[must_use]
    pub fn known(&self) -> Option<Money> {
        match self {
            Self::Known(amount) => Some(*amount),
            Self::Unknown { .. } => None,
        }
    }
}

impl Add for Cost {
    type Output = Self;

    /// A sum with something unknown in it is unknown.
    fn add(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => Self::Known(one + other),
            (unknown @ Self::Unknown { .. }, _) | (_, unknown @ Self::Unknown { .. }) => unknown,
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::Known(Money::ZERO), Add::add)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(amount) => write!(f, "${amount}"),
            Self::Unknown { model } => write!(f, "unknown price of {model}"),
        }
    }
}

/// What `usage` of `model` costs. A model without a price is unknown even if nothing was used, and so is one that was used
/// for what it has no price for. Cached tokens are paid at their own price, and not as input too.
#[must_use]
pub fn cost(prices: &Prices, model: &str, usage: &Usage) -> Cost {
    let unknown = || Cost::Unknown {
        model: model.to_owned(),
    };
    let Some(price) = prices.models.get(model) else {
        return unknown();
    };
    let cached = usage.cached_input.min(usage.input);
    [
        (usage.input - cached, price.input),
        (cached, price.cached_input),
        (usage.output, price.output),
        (usage.embedding, price.embedding),
        (usage.rerank_calls, price.rerank_call),
    ]
    .into_iter()
    .filter(|(units, _)| *units > 0)
    .map(|(units, price)| {
        price.map_or_else(unknown, |price| {
            Cost::Known(Money(price.0.saturating_mul(u128::from(units))))
        })
    })
    .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = r#"
        [models."chat-large"]
        input = 2.50
        cached_input = 1.25
        output = 10

        [models."chat-small"]
        input = 0.15
        output = 0.6

        [models.free]
        input = 0
        output = 0.0

        [models."embed-small"]
        embedding = 0.02

        [models.reranker]
        rerank_call = 0.002
    "#;

    fn prices() -> Prices {
        toml::from_str(FILE).expect("the prices are sound")
    }

    #[track_caller]
    fn check(cases: &[(&str, Usage, &str)]) {
        for (model, usage, expected) in cases {
            assert_eq!(
                cost(&prices(), model, usage).to_string(),
                *expected,
                "{model} {usage:?}"
            );
        }
    }

    #[test]
    fn each_kind_of_use_has_its_price() {
        check(&[
            ("chat-large", Usage::chat(1_000_000, 0, 0), "$2.50"),
            ("chat-large", Usage::chat(0, 0, 1_000_000), "$10.00"),
            ("chat-large", Usage::chat(1, 0, 0), "$0.0000025"),
            ("chat-small", Usage::chat(1_000, 0, 200), "$0.00027"),
            ("embed-small", Usage::embedding(7), "$0.00000014"),
            ("reranker", Usage::rerank(3), "$0.006"),
            ("free", Usage::chat(5, 0, 5), "$0.00"),
            ("chat-large", Usage::default(), "$0.00"),
        ]);
    }

    #[test]
    fn cached_tokens_are_paid_once_and_at_their_price() {
        check(&[
            ("chat-large", Usage::chat(1_000_000, 1_000_000, 0), "$1.25"),
            ("chat-large", Usage::chat(1_000_000, 400_000, 0), "$2.00"),
            // Without a price of their own they are input like any other.
            ("chat-small", Usage::chat(1_000_000, 400_000, 0), "$0.15"),
            // More cached than read is a misreport.
            ("chat-large", Usage::chat(1_000_000, 2_000_000, 0), "$1.25"),
        ]);
        let misread = Usage {
            input: 10,
            cached_input: 99,
            ..Usage::default()
        };
        check(&[("chat-large", misread, "$0.0000125")]);
    }

    #[test]
    fn c224_an_unknown_price_is_not_nothing_and_reasoning_is_output() {
        check(&[
            (
                "nobody-knows",
                Usage::chat(10, 0, 10),
                "unknown price of nobody-knows",
            ),
            (
                "nobody-knows",
                Usage::default(),
                "unknown price of nobody-knows",
            ),
            (
                "Chat-Large",
                Usage::chat(1, 0, 1),
                "unknown price of Chat-Large",
            ),
            // Priced, but not for this.
            (
                "embed-small",
                Usage::chat(1, 0, 0),
                "unknown price of embed-small",
            ),
            (
                "chat-large",
                Usage::rerank(1),
                "unknown price of chat-large",
            ),
            (
                "chat-large",
                Usage::chat_with_reasoning(0, 0, 1, 199),
                "$0.002",
            ),
            ("chat-large", Usage::chat(0, 0, 200), "$0.002"),
        ]);
        let sum: Cost = ["chat-large", "nobody-knows", "chat-small"]
            .into_iter()
            .map(|model| cost(&prices(), model, &Usage::chat(9, 0, 9)))
            .sum();
        assert_eq!(sum.known(), None, "{sum}");
    }

    #[test]
    fn usage_that_is_missing_is_estimated_and_says_so() {
        let usage = Usage::estimated_chat(4_001, 8);
        assert_eq!(
            (usage.input, usage.output, usage.estimated),
            (1_001, 2, true)
        );
        assert!(!Usage::chat(1, 0, 1).estimated && (usage + Usage::chat(1, 0, 1)).estimated);
        assert_eq!(Usage::estimated_embedding(9).embedding, 3);
        assert_eq!(
            (tokens_in(0), tokens_in(1), tokens_in(usize::MAX)),
            (0, 1, 1 << 62)
        );
    }

    #[test]
    fn wrong_prices_are_named() {
        for (file, expected) in [
            (
                "[models.m]\ninput = -1\noutput = 1",
                "price of m: input is negative",
            ),
            (
                "[models.m]\ninput = 1\noutput = nan",
                "price of m: output is not a number of dollars",
            ),
            (
                "[models.m]\ninput = inf\noutput = 1",
                "price of m: input is not a number of dollars",
            ),
            ("[models.m]\ninput = 1", "price of m: output is missing"),
            ("[models.m]\noutput = 1", "price of m: input is missing"),
            (
                "[models.m]\ncached_input = 1\noutput = 1",
                "price of m: input is missing",
            ),
            ("[models.m]", "price of m: input is missing"),
            (
                "[models.m]\nrerank_call = -0.1",
                "price of m: rerank_call is negative",
            ),
            (
                "[models.m]\nembedding = 0.0000001",
                "price of m: embedding has more than six decimals per million tokens",
            ),
            (
                "[models.m]\ninput = 1\noutput = 1\ncached = 1",
                "unknown field `cached`",
            ),
            ("[models.m]\ninput = \"1\"\noutput = 1", "invalid type"),
            ("", "missing field `models`"),
        ] {
            let error = toml::from_str::<Prices>(file).expect_err(file).to_string();
            assert!(error.contains(expected), "{file:?}: {error}");
        }
    }

    #[test]
    fn the_same_prices_read_from_json() {
        let json = r#"{"models": {"m": {"input": 0.1, "output": 3}}}"#;
        let read: Prices = serde_json::from_str(json).expect("sound");
        assert_eq!(
            cost(&read, "m", &Usage::chat(30, 0, 1)).to_string(),
            "$0.000006"
        );
    }

    #[test]
    fn money_is_exact_and_shown_as_written() {
        let tenth = Money::from_usd(0.1).expect("an amount");
        assert_eq!((tenth + tenth + tenth).to_string(), "0.30");
        assert_eq!(Money::from_picodollars(1).to_string(), "0.000000000001");
        let (one, two) = (Money::from_picodollars(1), Money::from_picodollars(2));
        assert_eq!(two.saturating_sub(one), one);
        assert_eq!(one.saturating_sub(two), Money::ZERO);
        assert_eq!(Money::from_usd(1.5).map(Money::as_usd), Some(1.5));
        for wrong in [-0.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Money::from_usd(wrong), None, "{wrong}");
        }
        let most = Money::from_picodollars(u128::MAX);
        assert_eq!(most + tenth, most);
    }

    proptest! {
        #[test]
        fn parts_cost_what_the_whole_costs(input in 0..1u64 << 40, cached in 0..1u64 << 40, output in 0..1u64 << 40, at in 0.0..1.0f64) {
            let usage = Usage::chat(input, cached, output);
            let part = |n: u64| (n as f64 * at) as u64;
            let one = Usage { input: part(usage.input).max(part(usage.cached_input)), cached_input: part(usage.cached_input), output: part(output), ..usage };
            let other = Usage { input: usage.input - one.input, cached_input: usage.cached_input - one.cached_input, output: output - one.output, ..usage };
            prop_assume!(other.cached_input <= other.input);
            let prices = prices();
            let of = |usage: &Usage| cost(&prices, "chat-large", usage);
            prop_assert_eq!(of(&one) + of(&other), of(&usage));
        }
    }
}

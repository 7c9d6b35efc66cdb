//! Items as maps of attributes: the few conversions that every kind of item needs.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::cost::Money;

use super::{PK, SK};

/// An item, or its key.
pub(super) type Item = HashMap<String, AttributeValue>;

pub(super) fn key(pk: &str, sk: &str) -> Item {
    item([(PK, text(pk)), (SK, text(sk))])
}

pub(super) fn item<'a>(pairs: impl IntoIterator<Item = (&'a str, AttributeValue)>) -> Item {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

pub(super) fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

pub(super) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(super) fn numbers<N: ToString>(values: &BTreeMap<String, N>) -> AttributeValue {
    AttributeValue::M(
        values
            .iter()
            .map(|(name, value)| (name.clone(), number(value.to_string())))
            .collect(),
    )
}

/// What a sum of money changes by when `spent` takes the place of what was `reserved`.
pub(super) fn difference(reserved: Money, spent: Money) -> AttributeValue {
    let (reserved, spent) = (reserved.picodollars(), spent.picodollars());
    if spent >= reserved {
        number(spent - reserved)
    } else {
        AttributeValue::N(format!("-{}", reserved - spent))
    }
}

/// What a sum of money changes by when `amount` is taken away.
pub(super) fn less(amount: Money) -> AttributeValue {
    difference(amount, Money::ZERO)
}

/// A text of an item.
pub(super) fn words(item: &Item, name: &str) -> Option<String> {
    item.get(name)?.as_s().ok().cloned()
}

/// A number of an item.
pub(super) fn count<N: FromStr>(item: &Item, name: &str) -> Option<N> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

/// A map of numbers of an item; what is no number in it is left out.
pub(super) fn counts<N: FromStr>(item: &Item, name: &str) -> BTreeMap<String, N> {
    let map = item.get(name).and_then(|value| value.as_m().ok());
    map.into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_n().ok()?.parse().ok()?)))
        .collect()
}

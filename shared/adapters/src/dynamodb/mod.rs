//! DynamoDB: one table of small items, keyed by `pk` and `sk`, for what must be known while Postgres sleeps.
//!
//! Each kind of item has a module of its own. The local emulator is reached by the SDK's own
//! `AWS_ENDPOINT_URL_DYNAMODB`; a loopback endpoint needs no credentials.

pub mod corpus;
mod item;
pub mod ledger;
pub mod mode;
pub mod prepared;
pub mod quota;
pub mod record;

use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use aws_smithy_http_client::tls;
use thiserror::Error;

/// The partition key's attribute.
pub const PK: &str = "pk";
/// The sort key's attribute.
pub const SK: &str = "sk";
/// The attribute after whose time, in seconds since 1970, DynamoDB removes an item some day.
pub const TTL: &str = "ttl";

/// The service's one table.
#[derive(Debug, Clone)]
pub struct Table {
    client: aws_sdk_dynamodb::Client,
    name: String,
}

/// Why DynamoDB gave nothing.
#[derive(Debug, Error)]
pub enum DynamoError {
    /// An item is not of the form this build writes.
    #[error("the item {key} is not readable: {reason}")]
    Malformed {
        /// Its partition key.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// Not reachable, refused, or throttled beyond the SDK's own retries.
    #[error("DynamoDB is not available: {0}")]
    Unavailable(String),
}

impl<E> From<aws_sdk_dynamodb::error::SdkError<E>> for DynamoError
where
    E: std::error::Error + 'static,
{
    fn from(error: aws_sdk_dynamodb::error::SdkError<E>) -> Self {
        Self::Unavailable(cause(&error))
    }
}

/// An error and what caused it, in words alone: the SDK's own rendering adds the items that a failed condition met, and
/// those hold keys that stand for visitors.
fn cause(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        words += &format!(": {cause}");
        next = cause.source();
    }
    words
}

/// DynamoDB answers in milliseconds or not at all; a request waits for it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
const OPERATION_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends a call once, for what is not the same when it is done twice.
fn once() -> aws_sdk_dynamodb::config::Builder {
    aws_sdk_dynamodb::config::Builder::new().retry_config(RetryConfig::disabled())
}

impl Table {
    /// The table `name`, reached as the environment says: region and credentials from the SDK's chain, or, for an
    /// `endpoint` on this machine, placeholders that the emulator takes.
    pub async fn connect(name: &str, endpoint: Option<&str>) -> Self {
        let http = aws_smithy_http_client::Builder::new()
            .tls_provider(tls::Provider::Rustls(
                tls::rustls_provider::CryptoMode::Ring,
            ))
            .build_https();
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .operation_attempt_timeout(ATTEMPT_TIMEOUT)
            .operation_timeout(OPERATION_TIMEOUT)
            .build();
        let mut loader = aws_config::defaults(aws_config::BehaviorVersion::latest())
            .http_client(http)
            .timeout_config(timeouts);
        if let Some(endpoint) = endpoint {
            loader = loader.endpoint_url(endpoint);
            if is_loopback(endpoint) {
                loader = loader
                    .region(Region::new("us-east-1"))
                    .credentials_provider(Credentials::new("local", "local", None, None, "local"));
            }
        }
        let config = loader.load().await;
        Self::new(aws_sdk_dynamodb::Client::new(&config), name)
    }

    /// The table `name`, by a client at hand.
    #[must_use]
    pub fn new(client: aws_sdk_dynamodb::Client, name: &str) -> Self {
        Self {
            client,
            name: name.to_owned(),
        }
    }

    /// The SDK's client.
    #[must_use]
    pub fn client(&self) -> &aws_sdk_dynamodb::Client {
        &self.client
    }

    /// The table's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Whether an endpoint URL leads to this machine.
pub(crate) fn is_loopback(endpoint: &str) -> bool {
    let host = endpoint
        .split_once("://")
        .map_or(endpoint, |(_, rest)| rest)
        .split('/')
        .next()
        .unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "localhost"
        || name
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Creates the table if it is missing. For local use: a deployment's table comes with its stack.
///
/// # Errors
/// When DynamoDB refuses or is away.
pub async fn ensure_table(table: &Table) -> Result<(), DynamoError> {
    let mut request = table
        .client
        .create_table()
        .table_name(&table.name)
        .billing_mode(BillingMode::PayPerRequest);
    for (name, kind) in [(PK, KeyType::Hash), (SK, KeyType::Range)] {
        request = request
            .key_schema(
                KeySchemaElement::builder()
                    .attribute_name(name)
                    .key_type(kind)
                    .build()
                    .map_err(|error| DynamoError::Unavailable(error.to_string()))?,
            )
            .attribute_definitions(
                AttributeDefinition::builder()
                    .attribute_name(name)
                    .attribute_type(ScalarAttributeType::S)
                    .build()
                    .map_err(|error| DynamoError::Unavailable(error.to_string()))?,
            );
    }
    match request.send().await {
        Ok(_) => Ok(()),
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|error| error.is_resource_in_use_exception()) =>
        {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_goes_without_credentials() {
        for (endpoint, expected) in [
            ("http://127.0.0.1:8000", true),
            ("http://localhost:8000/", true),
            ("http://[::1]:8000", true),
            ("https://dynamodb.eu-west-1.amazonaws.com", false),
            ("http://localhost.example:8000", false),
            ("http://10.0.0.1:8000", false),
        ] {
            assert_eq!(is_loopback(endpoint), expected, "{endpoint}");
        }
    }
}

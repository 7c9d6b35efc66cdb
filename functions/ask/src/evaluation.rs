//! Serves what evaluations have recorded, as it was written: the runs, and of each its questions and plots.
//!
//! Nothing is computed, joined or read here, so that what is shown is what was measured. Names come from the router, which
//! lets through few characters and no way up. Needs neither Postgres nor DynamoDB.

use anyhow::anyhow;
use app::context::Context;
use app::error::ApiError;
use lambda_http::http::Response;

use crate::respond::{self, Body, JSON};
use crate::route::Part;

/// All runs that are shown, without their questions; written last, so that what it names is there.
const LATEST: &str = "latest.json";
/// Lambda takes 6 MB of a reply in one piece; what is larger would be cut off, or the invocation fail.
const MOST_BYTES: usize = 5_500_000;

/// The runs; none before any is recorded.
///
/// # Errors
/// [`ApiError::NoResults`] when the store is away or holds what cannot be sent.
pub(crate) async fn latest(context: &Context) -> Result<Response<Body>, ApiError> {
    Ok(match read(context, LATEST).await? {
        Some(runs) => respond::kept(JSON, runs),
        None => respond::json(&serde_json::json!({ "runs": [] })),
    })
}

/// A part of a run.
///
/// # Errors
/// [`ApiError::NotFound`], or as of [`latest`].
pub(crate) async fn part(context: &Context, part: &Part) -> Result<Response<Body>, ApiError> {
    let content_type = match part {
        Part::Rows(..) => JSON,
        Part::Plot(..) => "image/svg+xml",
    };
    let bytes = read(context, &part.object())
        .await?
        .ok_or(ApiError::NotFound)?;
    Ok(respond::kept(content_type, bytes))
}

async fn read(context: &Context, object: &str) -> Result<Option<Vec<u8>>, ApiError> {
    let unavailable =
        |error: anyhow::Error| ApiError::NoResults(error.context("read evaluation results"));
    let results = context.results().map_err(unavailable)?;
    let found = results
        .get(object)
        .await
        .map_err(|error| unavailable(error.into()))?;
    match found {
        Some(bytes) if bytes.len() > MOST_BYTES => Err(unavailable(anyhow!(
            "{object} has {} bytes, more than a reply may",
            bytes.len()
        ))),
        found => Ok(found),
    }
}

//! Answers one request: route it, read it, respond. The only function outside callers need is [`handle`].
//!
//! Every failure is an [`ApiError`] that is logged here, once, and every response leaves through [`respond::finish`]. A
//! preflight and the page touch nothing, evaluation results are read where they are kept; everything else reads items in DynamoDB; Postgres is reached by a question that was
//! let in and by a stored document, and by nothing else.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use adapters::dynamodb::prepared::Prepared;
use anyhow::anyhow;
use app::ask::question::Ask;
use app::context::Context;
use app::error::ApiError;
use domain::mode::Mode;
use domain::visitor::Address;
use futures_util::FutureExt;
use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpRequestContext;
use lambda_http::http::{HeaderMap, Method, Response, StatusCode, header};
use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt};
use tokio::time::Instant;

use crate::respond::{self, Body};
use crate::route::{Route, route};
use crate::stream::{self, Answering};
use crate::{evaluation, read, source_page, status};

/// Time kept between the end of a stream and the invocation's, for its last event to reach the visitor.
const STREAM_MARGIN: Duration = Duration::from_secs(3);
/// Time kept between the end of the pipeline's work and the stream's, for the pipeline to end it itself.
const WORK_MARGIN: Duration = Duration::from_secs(2);
/// The longest an answer may take when the invocation's end is further away, as it is locally.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);

/// Answers one request. Whatever goes wrong is a response.
///
/// # Errors
/// None.
pub async fn handle(context: Arc<Context>, request: Request) -> Result<Response<Body>, Infallible> {
    let request = Received::new(request, context.config.limits.trusted_hops.into());
    let http = &context.config.http;
    if request.method == Method::OPTIONS {
        return Ok(respond::finish(respond::preflight(http), http));
    }
    let route = route(&request.method, &request.path);
    let name = route.as_ref().map_or("none", Route::name);
    let responded = match route {
        Ok(route) => AssertUnwindSafe(respond(&context, &request, route))
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Err(ApiError::Internal(anyhow!("panicked")))),
        Err(error) => Err(error),
    };
    let streams = matches!(&responded, Ok(Responded::Stream(_)));
    let code = responded.as_ref().err().map(ApiError::code);
    let response = match responded {
        Ok(Responded::Whole(response) | Responded::Stream(response)) => response,
        Err(error) => {
            if let Some(cause) = error.cause() {
                tracing::error!(
                    request.id = request.id,
                    request.route = name,
                    "failed to respond: {cause:#}"
                );
            }
            respond::error(&error, &request.id)
        }
    };
    // A stream writes its own summary, when it ends.
    if !streams {
        tracing::info!(
            request.id = request.id,
            request.method = request.method.as_str(),
            request.route = name,
            response.status = response.status().as_u16(),
            error.code = code,
            duration_ms = request.started.elapsed().as_millis(),
            "responded"
        );
    }
    let response = if request.method == Method::HEAD {
        respond::without_body(response)
    } else {
        response
    };
    Ok(respond::finish(response, http))
}

/// A response, by who writes its summary.
enum Responded {
    Whole(Response<Body>),
    Stream(Response<Body>),
}

async fn respond(
    context: &Arc<Context>,
    request: &Received,
    route: Route,
) -> Result<Responded, ApiError> {
    let answering = request.answering(context, route.name());
    Ok(Responded::Whole(match route {
        Route::Asset(asset) => asset.respond(request.header(header::IF_NONE_MATCH)),
        Route::Moved(to) => respond::moved(&to),
        Route::Source(id) => source(context, &id).await?,
        Route::Status => respond::json(&status::status(context, request.address).await?),
        Route::Suggestions => suggestions(context).await?,
        Route::Suggestion(id) => {
            refuse_off(context).await?;
            let prepared = app::suggest::prepared(context, &id).await?;
            return Ok(Responded::Stream(replay(context, answering, prepared)));
        }
        Route::Evaluation => evaluation::latest(context).await?,
        Route::EvaluationPart(part) => evaluation::part(context, &part).await?,
        Route::Ask => {
            return ask(context, request, answering)
                .await
                .map(Responded::Stream);
        }
    }))
}

async fn source(context: &Context, id: &str) -> Result<Response<Body>, ApiError> {
    match context.mode().await? {
        Mode::Off => return Err(ApiError::Off),
        // A document is in Postgres, which sleeps.
        Mode::ReadOnly => return Err(ApiError::ReadOnly),
        Mode::Live => {}
    }
    Ok(match app::documents::document(context, id).await? {
        Some(document) => respond::html(StatusCode::OK, source_page::render(&document)),
        None => respond::html(StatusCode::NOT_FOUND, source_page::missing(id)),
    })
}

async fn suggestions(context: &Context) -> Result<Response<Body>, ApiError> {
    refuse_off(context).await?;
    let suggestions = app::suggest::suggestions(context).await?;
    Ok(respond::json(&suggestions.prepared))
}

async fn refuse_off(context: &Context) -> Result<(), ApiError> {
    match context.mode().await? {
        Mode::Off => Err(ApiError::Off),
        Mode::Live | Mode::ReadOnly => Ok(()),
    }
}

/// Refuses what costs nothing to refuse, answers what is prepared, lets the rest in and starts the stream.
async fn ask(
    context: &Arc<Context>,
    request: &Received,
    answering: Answering,
) -> Result<Response<Body>, ApiError> {
    let asked = read::asked(request.header(header::CONTENT_TYPE), &request.body)?;
    let mode = context.mode().await?;
    if mode == Mode::Off {
        return Err(ApiError::Off);
    }
    if asked.filter.is_empty()
        && !asked.draft
        && let Some(prepared) = app::suggest::recall(context, &asked.question).await?
    {
        return Ok(replay(context, answering, prepared));
    }
    if mode == Mode::ReadOnly {
        return Err(ApiError::ReadOnly);
    }
    // Without a corpus there is nothing to stream, and a status code still can say so.
    context.corpus().await?;
    let payer = app::admit::admit(context, request.address, &asked.question, &request.id).await?;
    let deadline = answering.deadline;
    let ask = Ask {
        question: asked.question,
        filter: asked.filter,
        without: Vec::new(),
        draft: asked.draft,
        request_id: request.id.clone(),
        deadline: deadline.checked_sub(WORK_MARGIN).unwrap_or(deadline),
    };
    let context = Arc::clone(context);
    Ok(respond::events(stream::events(
        answering,
        |sink| async move { app::ask::ask(&context, ask, payer, &sink).await },
    )))
}

/// Streams a prepared answer.
fn replay(context: &Arc<Context>, answering: Answering, prepared: Arc<Prepared>) -> Response<Body> {
    let (context, id) = (Arc::clone(context), answering.request_id.clone());
    let started = answering.started;
    respond::events(stream::events(answering, move |sink| async move {
        app::suggest::replay(&context, &prepared, &id, started, &sink).await
    }))
}

/// What of a request is used, taken apart once.
struct Received {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: lambda_http::Body,
    /// Lambda's request id.
    id: String,
    /// When the invocation ends, as Lambda says it.
    invocation_end: Option<SystemTime>,
    /// The service's root as the visitor sees it, if the request tells it.
    root: Option<String>,
    /// Where it comes from.
    address: Address,
    started: Instant,
}

impl Received {
    fn new(request: Request, trusted_hops: usize) -> Self {
        let lambda = request.lambda_context_ref();
        let id = lambda
            .map(|lambda| lambda.request_id.clone())
            .unwrap_or_default();
        let invocation_end = lambda
            .filter(|lambda| lambda.deadline > 0)
            .map(lambda_http::Context::deadline);
        let gateway = request.request_context_ref().and_then(gateway);
        let root = gateway.and_then(function_url);
        let forwarded: Vec<&str> = request
            .headers()
            .get_all(FORWARDED_FOR)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .collect();
        let seen = gateway.and_then(|gateway| gateway.http.source_ip.as_deref());
        let address = Address::of(seen, &forwarded, trusted_hops);
        let path = request.raw_http_path().to_owned();
        let (parts, body) = request.into_parts();
        Self {
            method: parts.method,
            path,
            headers: parts.headers,
            body,
            id,
            invocation_end,
            root,
            address,
            started: Instant::now(),
        }
    }

    fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// What a stream that answers it needs to know.
    fn answering(&self, context: &Context, route: &'static str) -> Answering {
        let configured = context.config.http.public_url.clone();
        Answering {
            request_id: self.id.clone(),
            route,
            deadline: self.stream_deadline(),
            started: self.started,
            root: configured.or_else(|| self.root.clone()),
        }
    }

    /// `cargo lambda` names an end in 1970; an end that is past when the request comes says nothing.
    fn stream_deadline(&self) -> Instant {
        let left = self
            .invocation_end
            .and_then(|end| end.duration_since(SystemTime::now()).ok())
            .map_or(LONGEST_ANSWER, |left| left.saturating_sub(STREAM_MARGIN));
        self.started + left.min(LONGEST_ANSWER)
    }
}

/// Proxies append to it what they saw; believed only of our own.
const FORWARDED_FOR: &str = "x-forwarded-for";

fn gateway(request: &RequestContext) -> Option<&ApiGatewayV2httpRequestContext> {
    match request {
        RequestContext::ApiGatewayV2(gateway) => Some(gateway),
        _ => None,
    }
}

/// The root of a Function URL. Its host name is Lambda's word, unlike a `Host` header, and has a form of its own; a local
/// server's has not, and its links stay relative.
fn function_url(gateway: &ApiGatewayV2httpRequestContext) -> Option<String> {
    gateway
        .domain_name
        .as_deref()
        .filter(|name| name.contains(".lambda-url.") && name.ends_with(".on.aws"))
        .map(|name| format!("https://{name}/"))
}

//! Builds responses: every one has the security headers, the CORS header at most once, and a body that is a stream.
//!
//! No `content-length` is set, for the runner streams; no header holds anything a visitor wrote.

use std::convert::Infallible;

use app::config::HttpConfig;
use app::error::ApiError;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use lambda_http::http::header::{self, HeaderName, HeaderValue};
use lambda_http::http::{Response, StatusCode};
use serde::Serialize;

/// A response's body.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The page loads nothing but its own scripts and styles, talks to its own service, and is shown in nobody's frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The type of what programs read.
pub(crate) const JSON: &str = "application/json; charset=utf-8";

const SECURITY: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

/// A body of the given type.
pub(crate) fn content(content_type: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    with_type(content_type, Full::new(body.into()).boxed_unsync())
}

/// A page of ours built for this request.
pub(crate) fn html(status: StatusCode, page: String) -> Response<Body> {
    let mut response = no_store(content("text/html; charset=utf-8", page));
    *response.status_mut() = status;
    response
}

/// A value as JSON. Never stored: it is true now only.
pub(crate) fn json(value: &impl Serialize) -> Response<Body> {
    match serde_json::to_vec(value) {
        Ok(body) => no_store(content(JSON, body)),
        Err(error) => {
            tracing::error!("failed to respond: write JSON: {error}");
            let mut response = empty(StatusCode::INTERNAL_SERVER_ERROR);
            *response.body_mut() = Full::from("{}").boxed_unsync();
            response
        }
    }
}

/// What changes with the next evaluation only, so that it may be kept for a few minutes.
pub(crate) fn kept(content_type: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = content(content_type, body);
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("max-age=300"),
    );
    response
}

/// An error as JSON.
pub(crate) fn error(error: &ApiError, request_id: &str) -> Response<Body> {
    let mut response = json(&error.body(request_id));
    *response.status_mut() =
        StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let ApiError::MethodNotAllowed { allow } = error {
        response
            .headers_mut()
            .insert(header::ALLOW, HeaderValue::from_static(allow));
    }
    if let Some(seconds) = error.retry_after_s() {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An answer's events.
pub(crate) fn events(body: Body) -> Response<Body> {
    let mut response = no_store(with_type("text/event-stream; charset=utf-8", body));
    response.headers_mut().insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// No body at all.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().boxed_unsync());
    *response.status_mut() = status;
    response
}

/// Another address, relative to the visitor's.
pub(crate) fn moved(to: &str) -> Response<Body> {
    let mut response = empty(StatusCode::PERMANENT_REDIRECT);
    // Percent-encoded by the router, so it is always a valid header.
    if let Ok(location) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// The answer to a preflight, which asks before a foreign page's request is sent.
pub(crate) fn preflight(http: &HttpConfig) -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    if http.allowed_origin.is_some() {
        for (name, value) in [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, OPTIONS"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
            (header::ACCESS_CONTROL_MAX_AGE, "86400"),
        ] {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// Adds what every response has. `insert` and not `append`: a second CORS header makes browsers refuse the reply.
pub(crate) fn finish(mut response: Response<Body>, http: &HttpConfig) -> Response<Body> {
    let headers = response.headers_mut();
    for (name, value) in SECURITY {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // The runner would otherwise declare every empty reply a download.
    headers
        .entry(header::CONTENT_TYPE)
        .or_insert(HeaderValue::from_static("text/plain; charset=utf-8"));
    if let Some(origin) = http
        .allowed_origin
        .as_deref()
        .and_then(|origin| HeaderValue::from_str(origin).ok())
    {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

/// The same headers without the body, for `HEAD`.
pub(crate) fn without_body(response: Response<Body>) -> Response<Body> {
    response.map(|_| Empty::new().boxed_unsync())
}

fn with_type(content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn no_store(mut response: Response<Body>) -> Response<Body> {
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

//! Reads a question out of a request's body, within limits that are checked before anything is built from it.
//!
//! Pure. Size first, then the declared type, then JSON with known fields only; the parser's own depth limit stands. What is
//! refused has cost at most one pass over [`MAX_BODY_BYTES`].

use std::collections::BTreeMap;

use app::ask::question::Question;
use app::error::ApiError;
use serde::Deserialize;

/// A question of 1,000 characters is at most 12,000 bytes of JSON escapes; the rest is room for filters.
const MAX_BODY_BYTES: usize = 16 * 1024;
/// More pairs narrow nothing further.
const MAX_FILTERS: usize = 8;
/// Longer than any key or value a manifest would hold.
const MAX_FILTER_CHARS: usize = 200;

/// What was asked.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The question, cleaned.
    pub(crate) question: Question,
    /// Metadata that documents must have.
    pub(crate) filter: BTreeMap<String, String>,
    /// Whether provisional text is wanted.
    pub(crate) draft: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    question: String,
    #[serde(default)]
    filter: Option<BTreeMap<String, String>>,
    #[serde(default)]
    draft: Option<bool>,
}

const SHAPE: &str =
    "Send a JSON object with \"question\", and nothing but \"filter\" and \"draft\" beside it.";
const FILTER: &str =
    "Send at most 8 filters of a non-empty name and a value, each of at most 200 characters.";

/// Reads the body of `POST /api/ask`.
pub(crate) fn asked(content_type: Option<&str>, body: &[u8]) -> Result<Asked, ApiError> {
    if body.len() > MAX_BODY_BYTES {
        return Err(ApiError::TooLarge);
    }
    if !content_type.is_some_and(is_json) {
        return Err(ApiError::UnsupportedMediaType);
    }
    let wire: Wire = serde_json::from_slice(body).map_err(|_| ApiError::InvalidRequest(SHAPE))?;
    let filter = wire.filter.unwrap_or_default();
    let fits = |text: &str| !text.contains('\0') && text.chars().count() <= MAX_FILTER_CHARS;
    if filter.len() > MAX_FILTERS
        || !filter
            .iter()
            .all(|(name, value)| !name.is_empty() && fits(name) && fits(value))
    {
        return Err(ApiError::InvalidRequest(FILTER));
    }
    Ok(Asked {
        question: Question::parse(&wire.question)?,
        filter,
        draft: wire.draft.unwrap_or(false),
    })
}

/// `application/json`, whatever its parameters.
fn is_json(content_type: &str) -> bool {
    content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: Option<&str> = Some("application/json; charset=utf-8");

    fn check(content_type: Option<&str>, body: &str, code: &str) {
        let found =
            asked(content_type, body.as_bytes()).map_or_else(|error| error.code(), |_| "asked");
        assert_eq!(found, code, "{content_type:?} {:.80}", body);
    }

    #[test]
    fn reads_a_question() {
        let body = r#"{"question":"  why\u0000? ","filter":{"department":"HR"},"draft":true}"#;
        let read = asked(JSON, body.as_bytes()).expect("a valid request");
        assert_eq!(
            (
                read.question.as_str(),
                read.filter["department"].as_str(),
                read.draft
            ),
            ("why?", "HR", true)
        );
        check(
            JSON,
            r#"{"question":"why","filter":null,"draft":null}"#,
            "asked",
        );
        check(Some("APPLICATION/JSON"), r#"{"question":"why"}"#, "asked");
    }

    #[test]
    fn refuses_other_types() {
        for content_type in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
            Some("application/jsonx"),
            Some(""),
        ] {
            check(
                content_type,
                r#"{"question":"why"}"#,
                "unsupported_media_type",
            );
        }
    }

    #[test]
    fn c033_c036_refuses_what_cannot_be_asked() {
        for question in ["", "  ", "\\u0000", "\\u200b\\u202e", "\\u0007 \\u001b"] {
            check(
                JSON,
                &format!(r#"{{"question":"{question}"}}"#),
                "invalid_question",
            );
        }
        check(
            JSON,
            &format!(r#"{{"question":"{}"}}"#, "a".repeat(1_001)),
            "invalid_question",
        );
        check(
            JSON,
            &format!(r#"{{"question":"{}"}}"#, "vacuum ".repeat(200_000)),
            "too_large",
        );
    }

    #[test]
    fn c274_refuses_other_shapes() {
        let deep = format!(
            r#"{{"question":{}1{}}}"#,
            "[".repeat(5_000),
            "]".repeat(5_000)
        );
        let history = format!(
            r#"{{"question":"why","history":[{}0]}}"#,
            "0,".repeat(7_000)
        );
        let filters: Vec<String> = (0..9).map(|n| format!(r#""k{n}":"v""#)).collect();
        for body in [
            "",
            "null",
            "[]",
            "\"why\"",
            "{}",
            "{\"question\":1}",
            "{\"question\":null}",
            "{\"question\":\"\\ud800\"}",
            "{\"question\":\"why\",\"question\":\"how\"}",
            "{\"question\":\"why\",\"k\":1}",
            "{\"question\":\"why\",\"draft\":\"yes\"}",
            "{\"question\":\"why\",\"filter\":[\"a\"]}",
            "{\"question\":\"why\",\"filter\":{\"a\":1}}",
            "{\"question\":\"why\",\"filter\":{\"\":\"v\"}}",
            "{\"question\":\"why\",\"filter\":{\"a\":\"\\u0000\"}}",
            "{\"question\":\"why\"} trailing",
            &deep,
            &history,
            &format!(r#"{{"question":"why","filter":{{{}}}}}"#, filters.join(",")),
            &format!(
                r#"{{"question":"why","filter":{{"a":"{}"}}}}"#,
                "v".repeat(201)
            ),
        ] {
            check(JSON, body, "invalid_request");
        }
        assert_eq!(
            asked(JSON, b"{\"question\":\"\xff\"}")
                .map_err(|error| error.code())
                .err(),
            Some("invalid_request")
        );
    }
}

//! Says what a path means. Pure: no request, no context.
//!
//! Paths are relative to the Function URL's root and come percent-encoded or not, depending on what stands before the
//! service. A final slash is ignored, except that a page redirects it away: its relative links would miss.

use app::error::ApiError;
use domain::prepared::is_id;
use lambda_http::http::Method;

use crate::assets::{self, Asset};

/// What is at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A page, script, style or picture of ours.
    Asset(&'static Asset),
    /// A stored document, by its id.
    Source(String),
    /// The same page without the final slash, relative to where the visitor is.
    Moved(String),
    /// `GET /api/status`.
    Status,
    /// `GET /api/suggestions`.
    Suggestions,
    /// `GET /api/suggestions/ID`: a prepared answer, by its id.
    Suggestion(String),
    /// `GET /api/evaluation`.
    Evaluation,
    /// `GET /api/evaluation/RUN/…`: a part of a run.
    EvaluationPart(Part),
    /// `POST /api/ask`.
    Ask,
}

/// A part of a run's results, by the run's name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `RUN/rows/N.json`: questions with their answers, page N of them.
    Rows(String, u16),
    /// `RUN/plots/NAME.svg`.
    Plot(String, String),
}

impl Part {
    /// The name of the object that is served.
    pub(crate) fn object(&self) -> String {
        match self {
            Self::Rows(run, page) => format!("{run}/rows/{page}.json"),
            Self::Plot(run, name) => format!("{run}/plots/{name}.svg"),
        }
    }

    fn parse(path: &str) -> Option<Self> {
        let mut parts = path.split('/');
        let (run, kind, file) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || !is_name(run) {
            return None;
        }
        match kind {
            "rows" => Some(Self::Rows(
                run.to_owned(),
                page_number(file.strip_suffix(".json")?)?,
            )),
            "plots" => {
                let name = file.strip_suffix(".svg").filter(|name| is_name(name))?;
                Some(Self::Plot(run.to_owned(), name.to_owned()))
            }
            _ => None,
        }
    }
}

/// Longer than any run or plot is named.
const MOST_NAME_BYTES: usize = 100;

fn is_name(name: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'.' | b'-');
    (1..=MOST_NAME_BYTES).contains(&name.len())
        && name.bytes().all(allowed)
        && !name.starts_with('.')
        && !name.contains("..")
}

/// 1 to 9999, written in one way.
fn page_number(digits: &str) -> Option<u16> {
    let plain = (1..=4).contains(&digits.len())
        && digits.bytes().all(|c| c.is_ascii_digit())
        && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

impl Route {
    /// A name for the log, without anything a visitor wrote.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Asset(asset) => asset.path,
            Self::Source(_) => "sources",
            Self::Moved(_) => "moved",
            Self::Status => "api/status",
            Self::Suggestions => "api/suggestions",
            Self::Suggestion(_) => "api/suggestions/ID",
            Self::Evaluation => "api/evaluation",
            Self::EvaluationPart(Part::Rows(..)) => "api/evaluation/RUN/rows",
            Self::EvaluationPart(Part::Plot(..)) => "api/evaluation/RUN/plots",
            Self::Ask => "api/ask",
        }
    }
}

/// Finds what is at `raw_path`.
pub(crate) fn route(method: &Method, raw_path: &str) -> Result<Route, ApiError> {
    let path = decode(raw_path).ok_or(ApiError::NotFound)?;
    let path = path.strip_prefix('/').unwrap_or(&path);
    let bare = path.trim_end_matches('/');
    let found = match bare {
        "api/status" => Route::Status,
        "api/suggestions" => Route::Suggestions,
        "api/evaluation" => Route::Evaluation,
        "api/ask" => Route::Ask,
        _ => {
            if let Some(id) = bare.strip_prefix("api/suggestions/") {
                let id = Some(id).filter(|id| is_id(id)).ok_or(ApiError::NotFound)?;
                Route::Suggestion(id.to_owned())
            } else if let Some(part) = bare.strip_prefix("api/evaluation/") {
                Route::EvaluationPart(Part::parse(part).ok_or(ApiError::NotFound)?)
            } else {
                page(path, bare)?
            }
        }
    };
    let allow = if found == Route::Ask {
        "POST, OPTIONS"
    } else {
        "GET, HEAD, OPTIONS"
    };
    if allow.split(", ").any(|allowed| allowed == method.as_str()) {
        Ok(found)
    } else {
        Err(ApiError::MethodNotAllowed { allow })
    }
}

fn page(path: &str, bare: &str) -> Result<Route, ApiError> {
    let found = match bare.strip_prefix("sources/") {
        Some(document) if !document.is_empty() => Route::Source(document.to_owned()),
        _ => Route::Asset(assets::find(bare).ok_or(ApiError::NotFound)?),
    };
    // One step up from `a/b/` stands `a/b`'s folder; more slashes than one are nobody's link.
    match path.strip_prefix(bare) {
        Some("/") if !bare.is_empty() => {
            let last = bare.rsplit('/').next().unwrap_or(bare);
            Ok(Route::Moved(format!("../{}", encode(last))))
        }
        _ => Ok(found),
    }
}

/// Undoes percent-encoding once; `None` when the bytes are not text or hold what no id holds.
fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = |at: usize| {
            tail.get(at)
                .and_then(|digit| char::from(*digit).to_digit(16))
        };
        match (first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).ok()?);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains(char::is_control))
}

/// Percent-encodes one segment of a path.
fn encode(segment: &str) -> String {
    segment
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: Method, path: &str, expected: &str) {
        let shown = match route(&method, path) {
            Ok(Route::Source(id)) => format!("source {id}"),
            Ok(Route::Moved(to)) => format!("moved {to}"),
            Ok(Route::Asset(asset)) => format!("asset {}", asset.path),
            Ok(Route::EvaluationPart(part)) => format!("object {}", part.object()),
            Ok(found) => found.name().to_owned(),
            Err(ApiError::MethodNotAllowed { allow }) => format!("405 {allow}"),
            Err(error) => error.status().to_string(),
        };
        assert_eq!(shown, expected, "{method} {path}");
    }

    #[test]
    fn finds_what_is_at_a_path() {
        for (path, expected) in [
            ("", "asset "),
            ("/", "asset "),
            ("/how-it-works", "asset how-it-works"),
            ("/how-it-works/", "moved ../how-it-works"),
            ("/favicon.svg", "asset favicon.svg"),
            ("/assets/style.css", "asset assets/style.css"),
            ("/assets/%73tyle.css", "asset assets/style.css"),
            ("/assets/../Cargo.toml", "404"),
            ("/assets/", "404"),
            ("/api/status", "api/status"),
            ("/api/status/", "api/status"),
            ("/api/suggestions", "api/suggestions"),
            ("/api/suggestions/0123456789abcdef", "api/suggestions/ID"),
            ("/api/evaluation", "api/evaluation"),
            ("/api/evaluation/", "api/evaluation"),
            (
                "/api/evaluation/pg-17.1/rows/1.json",
                "object pg-17.1/rows/1.json",
            ),
            (
                "/api/evaluation/pg/rows/9999.json",
                "object pg/rows/9999.json",
            ),
            (
                "/api/evaluation/pg/plots/recall-6.svg",
                "object pg/plots/recall-6.svg",
            ),
            (
                "/api/evaluation/%70g/plots/mrr.svg",
                "object pg/plots/mrr.svg",
            ),
            ("/api/evaluation/pg", "404"),
            ("/api/evaluation/pg/rows", "404"),
            ("/api/evaluation/pg/rows/0.json", "404"),
            ("/api/evaluation/pg/rows/01.json", "404"),
            ("/api/evaluation/pg/rows/+1.json", "404"),
            ("/api/evaluation/pg/rows/10000.json", "404"),
            ("/api/evaluation/pg/rows/1.svg", "404"),
            ("/api/evaluation/pg/rows/1.json/2.json", "404"),
            ("/api/evaluation/pg/plots/.svg", "404"),
            ("/api/evaluation/pg/plots/.x.svg", "404"),
            ("/api/evaluation/pg/plots/a..b.svg", "404"),
            ("/api/evaluation/pg/plots/A.svg", "404"),
            ("/api/evaluation/pg/other/a.svg", "404"),
            ("/api/evaluation/PG/plots/a.svg", "404"),
            ("/api/evaluation/../plots/a.svg", "404"),
            ("/api/evaluation/..%2Fpg/plots/a.svg", "404"),
            ("/api/evaluation/pg%2F../plots/a.svg", "404"),
            ("/api/evaluation//plots/a.svg", "404"),
            ("/api/evaluation/latest.json", "404"),
            ("/api", "404"),
            ("/sources/policies/notice", "source policies/notice"),
            ("/sources/policies%2Fnotice", "source policies/notice"),
            ("/sources/a%20b%C3%A9", "source a bé"),
            ("/sources/100%", "source 100%"),
            ("/sources/a%20b/", "moved ../a%20b"),
            ("/sources/%FF", "404"),
            ("/sources/a%00b", "404"),
            ("/sources/", "404"),
            ("/sources", "404"),
            ("/nothing", "404"),
        ] {
            check(Method::GET, path, expected);
            check(Method::HEAD, path, expected);
        }
    }

    #[test]
    fn says_which_methods_a_path_takes() {
        check(Method::POST, "/api/ask", "api/ask");
        check(Method::POST, "/api/ask/", "api/ask");
        check(Method::GET, "/api/ask", "405 POST, OPTIONS");
        check(Method::HEAD, "/api/ask", "405 POST, OPTIONS");
        check(Method::POST, "/", "405 GET, HEAD, OPTIONS");
        check(Method::DELETE, "/api/status", "405 GET, HEAD, OPTIONS");
        check(
            Method::POST,
            "/api/evaluation/pg/rows/1.json",
            "405 GET, HEAD, OPTIONS",
        );
        check(Method::POST, "/nothing", "404");
    }
}

//! The page's files, compiled into the program: nothing is read from disk, and no path leads anywhere else.
//!
//! Each has a tag of its content, so that a browser asks again after a deployment and is told in no bytes when nothing
//! changed.

use std::hash::{DefaultHasher, Hasher};

use lambda_http::http::header::{self, HeaderValue};
use lambda_http::http::{Response, StatusCode};

use crate::respond::{self, Body};

/// A file of ours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asset {
    /// Relative to the service's root, without slashes around it.
    pub(crate) path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($path:literal => $file:literal as $content_type:ident,)*) => {
        &[$(Asset { path: $path, content_type: $content_type, bytes: include_bytes!(concat!("../assets/", $file)) }),*]
    };
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";
const TEXT: &str = "text/plain; charset=utf-8";

const ASSETS: &[Asset] = assets! {
    "" => "page.html" as HTML,
    "how-it-works" => "how-it-works.html" as HTML,
    "evaluation" => "evaluation.html" as HTML,
    "privacy" => "privacy.html" as HTML,
    "robots.txt" => "robots.txt" as TEXT,
    "favicon.svg" => "favicon.svg" as SVG,
    "assets/style.css" => "style.css" as CSS,
    "assets/answer.js" => "answer.js" as SCRIPT,
    "assets/ask.js" => "ask.js" as SCRIPT,
    "assets/evaluation.css" => "evaluation.css" as CSS,
    "assets/evaluation.js" => "evaluation.js" as SCRIPT,
    "assets/dom.js" => "dom.js" as SCRIPT,
    "assets/figures.js" => "figures.js" as SCRIPT,
    "assets/links.js" => "links.js" as SCRIPT,
    "assets/offsets.js" => "offsets.js" as SCRIPT,
    "assets/page.js" => "page.js" as SCRIPT,
    "assets/preview.js" => "preview.js" as SCRIPT,
    "assets/run.js" => "run.js" as SCRIPT,
    "assets/sse.js" => "sse.js" as SCRIPT,
    "assets/words.js" => "words.js" as SCRIPT,
};

/// The file at a path.
pub(crate) fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

impl Asset {
    /// The file, or only word that the visitor's copy (`if_none_match`) is still right.
    pub(crate) fn respond(&self, if_none_match: Option<&str>) -> Response<Body> {
        let tag = self.tag();
        let known = if_none_match.is_some_and(|tags| {
            tags.split(',')
                .any(|known| known.trim().trim_start_matches("W/") == tag)
        });
        let mut response = if known {
            respond::empty(StatusCode::NOT_MODIFIED)
        } else {
            respond::content(self.content_type, self.bytes)
        };
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }

    fn tag(&self) -> String {
        let mut hasher = DefaultHasher::new();
        hasher.write(self.bytes);
        format!("\"{:016x}\"", hasher.finish())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_file_the_page_needs_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap();
            // Node's own file and the tests are the only ones that are not the page's.
            if file.file_type().unwrap().is_dir() || file.file_name() == "package.json" {
                continue;
            }
            let bytes = std::fs::read(file.path()).unwrap();
            assert!(
                ASSETS.iter().any(|asset| asset.bytes == bytes),
                "{} is not served",
                file.path().display()
            );
        }
    }

    #[test]
    fn what_a_page_refers_to_exists() {
        for asset in ASSETS.iter().filter(|asset| asset.content_type == HTML) {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            for attribute in ["src=\"", "href=\""] {
                for (start, _) in text.match_indices(attribute) {
                    let target = text[start + attribute.len()..].split('"').next().unwrap();
                    let path = target
                        .split(['#', '?'])
                        .next()
                        .unwrap()
                        .trim_start_matches("./");
                    let ours = !target.contains(':');
                    assert!(
                        !ours || find(path).is_some() || path.starts_with("api/"),
                        "{:?} refers to {target}",
                        asset.path
                    );
                }
            }
            assert!(
                !text.contains("<style")
                    && !text.contains(" style=")
                    && !text.contains(" onclick="),
                "{:?}",
                asset.path
            );
        }
    }
}

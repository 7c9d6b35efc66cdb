//! The service as its visitors meet it: by request, by HTTP through `cargo lambda watch`, and by browser.
//!
//! `requests`, `evaluation`, `limits` and `privacy` call the function with Lambda's own events and need no service. `answers` and `browser` need a whole one on
//! the real corpus: `scripts/test` starts it and names it in `SOURCED_TEST_URL`; `written` needs a second one, whose model it
//! plays. Without them they fail; they never skip.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod answers;
mod browser;
mod check;
mod client;
mod evaluation;
mod limits;
mod privacy;
mod requests;
mod small;
mod written;

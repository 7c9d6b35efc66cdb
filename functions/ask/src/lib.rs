//! The HTTP interface: the page, the JSON routes and the streamed answers, behind one Function URL.
//!
//! A request is routed, read within its limits, and answered; everything goes out as a stream with the same headers. What an
//! answer is made of is `app::ask`. Nothing here knows SQL or a model, and no visitor's text enters a header or the log.

mod assets;
mod evaluation;
mod handler;
mod read;
mod respond;
mod route;
mod source_page;
mod status;
mod stream;

pub use handler::handle;
pub use respond::Body;

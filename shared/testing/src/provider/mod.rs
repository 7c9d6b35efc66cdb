//! A model provider that follows a script: a real HTTP server on the loopback interface that answers each request with
//! the next [`Reply`], byte for byte, and remembers what it was asked.
//!
//! It knows nothing of models. What goes wrong on a real network (bytes cut anywhere, silence, connections that end or
//! are reset) goes wrong here as written, and nowhere else. [`Reply`] builds scripts, [`openai`] and [`cohere`] the JSON
//! in them.

pub mod cohere;
pub mod openai;
mod reply;
mod server;

pub use reply::Reply;
pub use server::{Recorded, ScriptedProvider};

//! What an OpenAI-compatible server says, as frames of an event stream and as bodies.

use serde_json::{Value, json};

/// An event with this JSON.
#[must_use]
pub fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// An event that adds `content` to the text.
#[must_use]
pub fn chunk(content: &str) -> String {
    delta(&json!({ "content": content }))
}

/// An event with this delta.
#[must_use]
pub fn delta(delta: &Value) -> String {
    event(&json!({
        "object": "chat.completion.chunk",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": null }],
    }))
}

/// The event that says why the text ends.
#[must_use]
pub fn finish(reason: &str) -> String {
    event(&json!({
        "object": "chat.completion.chunk",
        "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }],
    }))
}

/// The event that counts tokens and has no choices.
#[must_use]
pub fn usage(prompt: u64, completion: u64) -> String {
    event(&json!({
        "object": "chat.completion.chunk",
        "choices": [],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
    }))
}

/// An error where text should be.
#[must_use]
pub fn error(error: &Value) -> String {
    event(&json!({ "error": error }))
}

/// A line that only keeps the connection alive.
#[must_use]
pub fn comment(text: &str) -> String {
    format!(": {text}\n\n")
}

/// The end of every stream.
#[must_use]
pub fn done() -> String {
    "data: [DONE]\n\n".to_owned()
}

/// A whole stream that writes `texts` and ends as it should.
#[must_use]
pub fn answer(texts: &[&str]) -> Vec<String> {
    let mut frames = vec![delta(&json!({ "role": "assistant", "content": "" }))];
    frames.extend(texts.iter().map(|text| chunk(text)));
    frames.extend([finish("stop"), usage(100, 20), done()]);
    frames
}

/// An embeddings reply with these vectors, in order.
#[must_use]
pub fn embeddings(vectors: &[Vec<f32>]) -> Value {
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .map(
            |(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }),
        )
        .collect();
    json!({
        "object": "list",
        "data": data,
        "usage": { "prompt_tokens": vectors.len(), "total_tokens": vectors.len() },
    })
}

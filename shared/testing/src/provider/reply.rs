//! One reply of a script: what is sent, in which pieces, with which pauses, and how it ends.

use std::time::Duration;

use serde_json::Value;

/// What the server does with one request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// None leaves the request without a reply.
    pub(super) status: Option<u16>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
    pub(super) ending: Ending,
    pub(super) refuses: Vec<String>,
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Sent as a chunk of its own, which a client reads as one piece.
    Send(Vec<u8>),
    /// Nothing for so long.
    Wait(Duration),
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// As HTTP has it; the connection stays open for another request.
    Complete,
    /// The connection is closed inside the body.
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing more comes and the connection stays open.
    Hang,
}

impl Reply {
    /// A status with a body.
    #[must_use]
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: Some(status),
            headers: Vec::new(),
            steps: vec![Step::Send(body.into())],
            ending: Ending::Complete,
            refuses: Vec::new(),
        }
    }

    /// A success with JSON.
    #[must_use]
    pub fn json(body: &Value) -> Self {
        Self::status(200, body.to_string()).header("content-type", "application/json")
    }

    /// A success with an event stream, each frame a piece of its own.
    #[must_use]
    pub fn sse<F: Into<Vec<u8>>>(frames: impl IntoIterator<Item = F>) -> Self {
        let mut reply =
            Self::status(200, "").header("content-type", "text/event-stream; charset=utf-8");
        reply.steps = frames
            .into_iter()
            .map(|frame| Step::Send(frame.into()))
            .collect();
        reply
    }

    /// No reply to the request at all.
    #[must_use]
    pub fn hang() -> Self {
        let mut reply = Self::status(200, "").hanging();
        reply.status = None;
        reply
    }

    /// A connection reset in place of a reply.
    #[must_use]
    pub fn reset() -> Self {
        let mut reply = Self::status(200, "").resetting();
        reply.status = None;
        reply
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With the whole body in two pieces, cut after `at` bytes.
    #[must_use]
    pub fn cut_at(self, at: usize) -> Self {
        self.cut_at_each(&[at])
    }

    /// With the whole body in pieces, cut after each of these numbers of bytes, which ascend.
    #[must_use]
    pub fn cut_at_each(mut self, cuts: &[usize]) -> Self {
        let body = self.body();
        let bounds = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([body.len()]);
        self.steps = bounds
            .zip(ends)
            .map(|(from, to)| Step::Send(body[from.min(body.len())..to.min(body.len())].to_vec()))
            .collect();
        self
    }

    /// With a pause after what was said so far.
    #[must_use]
    pub fn wait(mut self, pause: Duration) -> Self {
        self.steps.push(Step::Wait(pause));
        self
    }

    /// With a pause before each piece.
    #[must_use]
    pub fn every(mut self, pause: Duration) -> Self {
        self.steps = self
            .steps
            .into_iter()
            .flat_map(|step| [Step::Wait(pause), step])
            .collect();
        self
    }

    /// With another piece.
    #[must_use]
    pub fn then(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push(Step::Send(bytes.into()));
        self
    }

    /// With the connection closed in the end, and the body left unfinished.
    #[must_use]
    pub fn closing(mut self) -> Self {
        self.ending = Ending::Close;
        self
    }

    /// With the connection reset in the end.
    #[must_use]
    pub fn resetting(mut self) -> Self {
        self.ending = Ending::Reset;
        self
    }

    /// With silence in the end.
    #[must_use]
    pub fn hanging(mut self) -> Self {
        self.ending = Ending::Hang;
        self
    }

    /// Given only to a request without these fields in its JSON; one that has any of them is answered with status 400, as
    /// by a model that does not know the parameter.
    #[must_use]
    pub fn refusing(mut self, fields: &[&str]) -> Self {
        self.refuses = fields.iter().map(|&field| field.to_owned()).collect();
        self
    }

    /// The body in one piece.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.steps
            .iter()
            .filter_map(|step| match step {
                Step::Send(bytes) => Some(bytes.as_slice()),
                Step::Wait(_) => None,
            })
            .flatten()
            .copied()
            .collect()
    }
}

//! The server that follows a script.
//!
//! It understands as much HTTP as clients in tests send: a head, and a body of a stated length.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::openai;
use super::reply::{Ending, Reply, Step};
use crate::HashEmbedder;

/// A request as it was received.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its JSON; null if it has none.
    pub body: Value,
}

impl Recorded {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value.as_str())
    }
}

/// A running server. It stops when it is dropped.
pub struct ScriptedProvider {
    address: SocketAddr,
    script: Arc<Script>,
    serving: JoinHandle<()>,
}

/// Makes a reply out of a request's JSON.
type Behaviour = Box<dyn Fn(&Value) -> Reply + Send + Sync>;

struct Script {
    replies: Mutex<VecDeque<Reply>>,
    behaviour: Option<Behaviour>,
    embedder: Option<HashEmbedder>,
    requests: Mutex<Vec<Recorded>>,
    abandoned: AtomicUsize,
}

impl fmt::Debug for ScriptedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedProvider")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl ScriptedProvider {
    /// Serves `replies`, one for each request in the order they arrive. A request beyond them is answered with status 418,
    /// which no client tries again, and is recorded.
    ///
    /// # Panics
    /// When no port is to be had.
    pub async fn start(replies: Vec<Reply>) -> Self {
        Self::serve(0, replies, None, None).await
    }

    /// Serves what `behaviour` makes of each request's JSON, for a model whose replies depend on what it is asked.
    ///
    /// # Panics
    /// When no port is to be had.
    pub async fn start_behaving(
        behaviour: impl Fn(&Value) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::serve(0, Vec::new(), None, Some(Box::new(behaviour))).await
    }

    /// The same at a port of the caller's, for a client that was told of it before. A server that stood there and was just
    /// dropped is given time to leave.
    ///
    /// # Panics
    /// When the port stays in use.
    pub async fn start_at(port: u16, replies: Vec<Reply>) -> Self {
        Self::serve(port, replies, None, None).await
    }

    /// The same, but embeds whatever it is asked to embed, with [`HashEmbedder`]'s vectors of as many `dimensions`; the
    /// script is for the other requests.
    ///
    /// # Panics
    /// When no port is to be had.
    pub async fn start_embedding(dimensions: usize, replies: Vec<Reply>) -> Self {
        let embedder = HashEmbedder::new("hash", dimensions);
        Self::serve(0, replies, Some(embedder), None).await
    }

    async fn serve(
        port: u16,
        replies: Vec<Reply>,
        embedder: Option<HashEmbedder>,
        behaviour: Option<Behaviour>,
    ) -> Self {
        let listener = bind(port).await;
        let address = listener.local_addr().expect("read the bound address");
        let script = Arc::new(Script {
            replies: Mutex::new(replies.into()),
            behaviour,
            embedder,
            requests: Mutex::default(),
            abandoned: AtomicUsize::new(0),
        });
        let serving = tokio::spawn(accept(listener, Arc::clone(&script)));
        Self {
            address,
            script,
            serving,
        }
    }

    /// Its root, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its base URL as `OPENAI_BASE_URL` takes it.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// The requests received so far.
    ///
    /// # Panics
    /// When a connection panicked.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.script
            .requests
            .lock()
            .expect("no connection panicked")
            .clone()
    }

    /// How many replies of the script were not asked for.
    ///
    /// # Panics
    /// When a connection panicked.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.script
            .replies
            .lock()
            .expect("no connection panicked")
            .len()
    }

    /// Waits until `count` clients left before their reply was at its end.
    ///
    /// # Panics
    /// When they have not after five seconds.
    pub async fn abandoned(&self, count: usize) {
        for _ in 0..500 {
            if self.script.abandoned.load(Ordering::Relaxed) >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(self.script.abandoned.load(Ordering::Relaxed), count);
    }
}

impl Drop for ScriptedProvider {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// How often, and how long apart, a port in use is asked for again: for five seconds.
const BINDS: u32 = 500;
const BIND_PAUSE: Duration = Duration::from_millis(10);

async fn bind(port: u16) -> TcpListener {
    let mut attempts = 0;
    loop {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && attempts < BINDS => {
                attempts += 1;
                tokio::time::sleep(BIND_PAUSE).await;
            }
            bound => return bound.expect("bind the port"),
        }
    }
}

async fn accept(listener: TcpListener, script: Arc<Script>) {
    // Connections end with the server: the set is dropped with this task.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let script = Arc::clone(&script);
        connections.spawn(async move {
            // A client that left is a client's choice; tests see it by what they were not told.
            let _ = serve(stream, &script).await;
        });
    }
}

/// Answers the requests of one connection.
async fn serve(mut stream: TcpStream, script: &Script) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        let reply = script.next(request);
        let ending = reply.ending;
        let sent = match (send(&mut stream, &reply).await, ending) {
            (Ok(()), Ending::Hang) => gone(&mut stream).await,
            (sent, _) => sent,
        };
        if let Err(error) = sent {
            script.abandoned.fetch_add(1, Ordering::Relaxed);
            return Err(error);
        }
        match ending {
            Ending::Complete => {}
            Ending::Reset => return stream.set_zero_linger(),
            Ending::Close | Ending::Hang => return Ok(()),
        }
    }
    Ok(())
}

impl Script {
    /// The reply to `request`, which is recorded.
    fn next(&self, request: Recorded) -> Reply {
        let reply = self
            .embedded(&request)
            .unwrap_or_else(|| self.scripted(&request));
        self.requests
            .lock()
            .expect("no connection panicked")
            .push(request);
        reply
    }

    fn embedded(&self, request: &Recorded) -> Option<Reply> {
        let embedder = self.embedder.as_ref()?;
        let texts = request.body.get("input")?.as_array()?;
        let vectors: Vec<Vec<f32>> = texts
            .iter()
            .map(|text| embedder.vector(text.as_str().unwrap_or_default()))
            .collect();
        Some(Reply::json(&openai::embeddings(&vectors)))
    }

    fn scripted(&self, request: &Recorded) -> Reply {
        if let Some(behaviour) = &self.behaviour {
            return behaviour(&request.body);
        }
        let reply = self
            .replies
            .lock()
            .expect("no connection panicked")
            .pop_front()
            .unwrap_or_else(|| Reply::status(418, "no reply is left in the script"));
        let refused = reply
            .refuses
            .iter()
            .find(|field| request.body.get(field).is_some());
        match refused {
            Some(field) => Reply::status(
                400,
                json!({
                    "error": {
                        "message": format!("Unsupported parameter: '{field}'"),
                        "type": "invalid_request_error",
                        "code": "unsupported_parameter",
                    },
                })
                .to_string(),
            ),
            None => reply,
        }
    }
}

async fn send(stream: &mut TcpStream, reply: &Reply) -> io::Result<()> {
    let Some(status) = reply.status else {
        return Ok(());
    };
    let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for step in &reply.steps {
        match step {
            // An empty chunk would end the body.
            Step::Send(bytes) if bytes.is_empty() => {}
            Step::Send(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(bytes);
                chunk.extend_from_slice(b"\r\n");
                stream.write_all(&chunk).await?;
            }
            Step::Wait(pause) => {
                tokio::select! {
                    left = gone(stream) => left?,
                    () = tokio::time::sleep(*pause) => {}
                }
            }
        }
    }
    if reply.ending == Ending::Complete {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

/// Resolves, with an error, when the client has left.
async fn gone(stream: &mut TcpStream) -> io::Result<()> {
    let mut byte = [0];
    match stream.peek(&mut byte).await? {
        0 => Err(io::ErrorKind::BrokenPipe.into()),
        // A client that sends more before the reply is at its end is not one of ours.
        _ => std::future::pending().await,
    }
}

/// The next request, or `None` when the client has no more.
async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Recorded>> {
    let head_end = loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let method = first.next().unwrap_or_default().to_owned();
    let path = first.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, value)| value.parse::<usize>().ok())
        .unwrap_or(0);
    let end = head_end + 4 + length;
    while buffer.len() < end {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = serde_json::from_slice(&buffer[head_end + 4..end]).unwrap_or(Value::Null);
    buffer.drain(..end);
    Ok(Some(Recorded {
        method,
        path,
        headers,
        body,
    }))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

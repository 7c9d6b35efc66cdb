//! The way to one server: where it is, what opens it, and how long to wait for it.
//!
//! A key and an address never print. There is no limit on a whole reply but the caller's deadline: a healthy stream may
//! take as long as it keeps coming. [`super::retry`] decides about further tries, `reply` reads streams.

use std::fmt;
use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use super::error::{Cause, Phase, ProviderError, Told, of_status};
use super::retry::{Attempts, RetryPolicy};
use crate::tls;

/// A Lambda process may be frozen for minutes between two calls; what it kept open is then dead without its knowing. A
/// connection is worth keeping only from one call of a question to the next.
const KEEP_IDLE: Duration = Duration::from_secs(10);

/// A connection that died unnoticed takes what is sent and never says so. After this long without the other side's
/// acknowledgement it is given up, early enough for another try.
#[cfg(target_os = "linux")]
const LOST_AFTER: Duration = Duration::from_secs(5);

/// An error's body is read for its code alone, and not waited for long: the status already says enough.
const ERROR_BODY_BYTES: usize = 64 * 1024;
const ERROR_BODY_WAIT: Duration = Duration::from_secs(2);

/// A server and how calls to it are made. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Provider {
    http: Client,
    base: BaseUrl,
    key: Option<ApiKey>,
    pub(super) timeouts: Timeouts,
    pub(super) retry: RetryPolicy,
}

/// How long each part of a call may take. The caller's deadline bounds them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until a connection stands, TLS included.
    pub connect: Duration,
    /// Until the first text of a stream, from the call on; for a reply that is no stream, until its first byte. Models that
    /// reason first need the most of it.
    pub first_token: Duration,
    /// Without a single byte inside a reply. Comments that only keep a stream alive count.
    pub idle: Duration,
}

impl Default for Timeouts {
    /// A visitor is waiting, and there is an answer without a model to fall back on.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            first_token: Duration::from_secs(20),
            idle: Duration::from_secs(10),
        }
    }
}

/// A key that never prints.
#[derive(Clone)]
pub struct ApiKey(HeaderValue);

/// The address that paths such as `/chat/completions` are put after. It never prints, for hosts are not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// A setting no call could be made with. It never repeats the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SettingError {
    /// Not something that can stand in a header.
    #[error("a key is made of visible ASCII characters")]
    Key,
    /// Not an address.
    #[error("a base URL begins with http:// or https:// and has neither user, query nor fragment")]
    BaseUrl,
    /// The TLS library did not start.
    #[error("the HTTP client cannot be set up")]
    Client,
}

impl ApiKey {
    /// Wraps a key.
    ///
    /// # Errors
    /// [`SettingError::Key`].
    pub fn new(key: &str) -> Result<Self, SettingError> {
        let visible = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
            .ok()
            .filter(|_| visible)
            .ok_or(SettingError::Key)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl BaseUrl {
    /// Reads an address, with its `/v1` where the server has one.
    ///
    /// # Errors
    /// [`SettingError::BaseUrl`].
    pub fn parse(url: &str) -> Result<Self, SettingError> {
        Url::parse(url.trim_end_matches('/'))
            .ok()
            .filter(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.has_host()
                    && url.username().is_empty()
                    && url.password().is_none()
                    && url.query().is_none()
                    && url.fragment().is_none()
            })
            .map(Self)
            .ok_or(SettingError::BaseUrl)
    }

    /// Its path's last part, empty if there is none.
    pub(super) fn last_segment(&self) -> &str {
        self.0
            .path_segments()
            .and_then(|mut segments| segments.next_back())
            .unwrap_or_default()
    }

    /// The address of `path`, which begins with a slash or is empty.
    fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Provider {
    /// A client for the server at `base`. No connection is made yet.
    ///
    /// # Errors
    /// [`SettingError::Client`].
    pub fn new(
        base: BaseUrl,
        key: Option<ApiKey>,
        timeouts: Timeouts,
        retry: RetryPolicy,
    ) -> Result<Self, SettingError> {
        let tls = tls::public_roots().map_err(|_| SettingError::Client)?;
        let http = Client::builder()
            .tls_backend_preconfigured(tls)
            // All that is configured is read in one place, and a proxy named elsewhere would see prompts.
            .no_proxy()
            // A redirect would carry the key and the prompt to another host.
            .redirect(Policy::none())
            .connect_timeout(timeouts.connect)
            .pool_idle_timeout(KEEP_IDLE)
            .user_agent(concat!("sourced/", env!("CARGO_PKG_VERSION")));
        #[cfg(target_os = "linux")]
        let http = http.tcp_user_timeout(LOST_AFTER);
        let http = http.build().map_err(|_| SettingError::Client)?;
        Ok(Self {
            http,
            base,
            key,
            timeouts,
            retry,
        })
    }

    pub(super) fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Posts `body` until it succeeds or no further try is due, and reads the JSON that comes back, of at most `max_bytes`.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<T, ProviderError> {
        let body = encoded(body)?;
        let mut attempts = Attempts::new(&self.retry, deadline);
        loop {
            let reply = async {
                let first_by = Instant::now() + self.timeouts.first_token;
                let mut response = self.post(path, body.clone(), first_by, deadline).await?;
                self.read_all(&mut response, max_bytes, deadline).await
            };
            match reply.await {
                Ok(bytes) => return decoded(&bytes),
                Err(error) => attempts.again_after(error).await?,
            }
        }
    }

    /// Makes one call and gives back a reply whose status is a success and whose body is still to come.
    pub(super) async fn post(
        &self,
        path: &str,
        body: Vec<u8>,
        first_by: Instant,
        deadline: Instant,
    ) -> Result<Response, ProviderError> {
        let mut request = self
            .http
            .post(self.base.join(path))
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(ApiKey(bearer)) = &self.key {
            request = request.header(AUTHORIZATION, bearer.clone());
        }
        let response = within(first_by, Phase::FirstToken, deadline, request.send())
            .await?
            .map_err(|error| broken(&error))?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(self.rejected(response, deadline).await)
        }
    }

    /// Reads a whole body.
    pub(super) async fn read_all(
        &self,
        response: &mut Response,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<Vec<u8>, ProviderError> {
        let mut bytes = Vec::new();
        loop {
            let idle_by = Instant::now() + self.timeouts.idle;
            let piece = within(idle_by, Phase::Idle, deadline, response.chunk()).await?;
            match piece {
                Ok(Some(piece)) if bytes.len() + piece.len() <= max_bytes => bytes.extend(piece),
                Ok(Some(_)) => return Err(ProviderError::invalid("it is too long")),
                Ok(None) => return Ok(bytes),
                Err(_) => return Err(ProviderError::transient("the reply broke off")),
            }
        }
    }

    /// Sorts a reply whose status is no success.
    async fn rejected(&self, mut response: Response, deadline: Instant) -> ProviderError {
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).cloned();
        let told_by = deadline.min(Instant::now() + ERROR_BODY_WAIT);
        let told = self
            .read_all(&mut response, ERROR_BODY_BYTES, told_by)
            .await
            .map(|body| Told::read(&body))
            .unwrap_or_default();
        let retry_after = retry_after.as_ref().and_then(|value| value.to_str().ok());
        of_status(status, told, retry_after, SystemTime::now(), self.retry.cap)
    }
}

/// `body` as it is sent.
pub(super) fn encoded(body: &impl Serialize) -> Result<Vec<u8>, ProviderError> {
    serde_json::to_vec(body).map_err(|_| ProviderError::Permanent(Cause::of("it cannot be sent")))
}

/// Reads JSON. What is wrong is told by place, for the reply's words are not repeated.
pub(super) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ProviderError> {
    serde_json::from_slice(bytes).map_err(|error| {
        ProviderError::invalid(format!(
            "it is not JSON of the agreed form at line {} column {}",
            error.line(),
            error.column()
        ))
    })
}

/// Waits until `by`, the limit of `phase`, or the deadline, whichever is first.
pub(super) async fn within<T>(
    by: Instant,
    phase: Phase,
    deadline: Instant,
    work: impl Future<Output = T>,
) -> Result<T, ProviderError> {
    timeout_at(by.min(deadline), work).await.map_err(|_| {
        ProviderError::Timeout(if deadline <= by {
            Phase::Deadline
        } else {
            phase
        })
    })
}

/// Sorts a call that came back without a status. The library's own text names the host, so that none of it is kept.
fn broken(error: &reqwest::Error) -> ProviderError {
    if error.is_connect() && error.is_timeout() {
        ProviderError::Timeout(Phase::Connect)
    } else if error.is_connect() {
        ProviderError::transient("no connection could be made")
    } else if error.is_builder() {
        ProviderError::Permanent(Cause::of("it cannot be sent"))
    } else {
        ProviderError::transient("the connection broke before a reply")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_base_urls() {
        for (url, joined) in [
            (
                "https://api.example/v1",
                Some("https://api.example/v1/chat"),
            ),
            (
                "https://api.example/v1/",
                Some("https://api.example/v1/chat"),
            ),
            (
                "http://127.0.0.1:11434",
                Some("http://127.0.0.1:11434/chat"),
            ),
            ("api.example/v1", None),
            ("ftp://api.example/v1", None),
            ("https://user:word@api.example/v1", None),
            ("https://api.example/v1?key=1", None),
            ("https://", None),
            ("", None),
        ] {
            let actual = BaseUrl::parse(url).map(|base| base.join("/chat").to_string());
            let expected = joined.map(str::to_owned).ok_or(SettingError::BaseUrl);
            assert_eq!(actual, expected, "{url}");
        }
    }

    #[test]
    fn neither_key_nor_host_prints() {
        let provider = Provider::new(
            BaseUrl::parse("https://api.example/v1").expect("an address"),
            Some(ApiKey::new("sk-tell-no-one").expect("a key")),
            Timeouts::default(),
            RetryPolicy::default(),
        )
        .expect("a client");
        let printed = format!("{provider:?}");
        assert!(!printed.contains("sk-"), "{printed}");
        assert!(!printed.contains("api.example"), "{printed}");
        for key in ["", "sk spaced", "sk\nnext", "clé"] {
            assert_eq!(ApiKey::new(key).err(), Some(SettingError::Key), "{key:?}");
        }
    }
}

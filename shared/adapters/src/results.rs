//! Where evaluation results are kept: a folder, or a bucket of anything that speaks S3's protocol.
//!
//! A thin layer over `object_store`, which knows signing, retries and writing a file aside. What is added: an absent folder
//! holds nothing, rather than being an error; an object's name can lead nowhere else; a bucket that does not exist is not
//! mistaken for an empty one; and no error names a host, for errors are logged. What the objects mean is not known here.

use std::error::Error as _;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{HttpClient, HttpConnector, HttpError};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use thiserror::Error;

use crate::dynamodb::is_loopback;
use crate::tls;

/// A store in the same region answers within milliseconds; who waits for it is a visitor, or an evaluation that can be run
/// again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Enough for some megabytes on a poor line.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);
/// Tries after the first one, and how long they may begin.
const RETRIES: usize = 3;
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);
/// A frozen process finds connections dead that it kept open.
const KEEP_IDLE: Duration = Duration::from_secs(10);

/// The longest name of an object, its slashes counted.
const MOST_NAME_BYTES: usize = 256;

/// A store that is open. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Results(Store);

#[derive(Debug, Clone)]
enum Store {
    /// Made by the first `put`.
    Folder(PathBuf),
    /// A bucket, and what stands before every name in it.
    Bucket {
        store: AmazonS3,
        bucket: String,
        prefix: String,
    },
}

/// Where results are kept, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Location {
    Folder(PathBuf),
    Bucket { bucket: String, prefix: String },
}

/// Why a store gave or took nothing.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// Neither a folder nor a bucket.
    #[error("{0:?} is no place for results: name a folder, or s3://BUCKET or s3://BUCKET/PREFIX")]
    Location(String),
    /// Not a name that an object may have.
    #[error(
        "{0:?} is no name of a result: a to z, A to Z, 0 to 9, ., _ and - between single slashes, and no part begins with ."
    )]
    Name(String),
    /// The bucket is not there.
    #[error("the bucket {0} does not exist: create it, or name another in EVAL_RESULTS")]
    NoBucket(String),
    /// The store is there and refuses.
    #[error(
        "the results may not be read or written ({0}): allow it, and for a bucket set AWS_ACCESS_KEY_ID, \
         AWS_SECRET_ACCESS_KEY and AWS_REGION to those of an account that may"
    )]
    Denied(String),
    /// The store cannot be reached, or cannot do what was asked.
    #[error(
        "the results cannot be reached ({0}): see that EVAL_RESULTS and AWS_ENDPOINT_URL_S3 are right and try again"
    )]
    Unavailable(String),
}

impl Results {
    /// The store at `location`: a folder, or `s3://BUCKET/PREFIX`. Reaches nothing and creates nothing.
    ///
    /// A bucket is Amazon's, or at `endpoint` another server's. Credentials and region are the environment's
    /// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, as a Lambda function has them), else
    /// the container's or the machine's role; profiles are not read. A server on this machine gets placeholders where the
    /// environment has none.
    ///
    /// # Errors
    /// [`ResultsError::Location`], or settings in the environment that no client can be made of.
    pub fn open(location: &str, endpoint: Option<&str>) -> Result<Self, ResultsError> {
        let store = match Location::parse(location) {
            None => return Err(ResultsError::Location(location.to_owned())),
            Some(Location::Folder(folder)) => Store::Folder(
                // From here on it does not matter where the process stands.
                std::path::absolute(&folder)
                    .map_err(|error| ResultsError::Unavailable(error.to_string()))?,
            ),
            Some(Location::Bucket { bucket, prefix }) => Store::Bucket {
                store: open_bucket(&bucket, endpoint)?,
                bucket,
                prefix,
            },
        };
        Ok(Self(store))
    }

    /// An object's bytes; `None` when there is no such object.
    ///
    /// # Errors
    /// [`ResultsError`]; a store that is away is no absent object.
    pub async fn get(&self, object: &str) -> Result<Option<Vec<u8>>, ResultsError> {
        let path = self.path(object)?;
        let Some(store) = self.existing()? else {
            return Ok(None);
        };
        let read = async { store.get(&path).await?.bytes().await };
        self.unless_absent(read.await.map(Vec::from))
    }

    /// Writes an object, or writes it anew. Whoever reads meanwhile sees the old one or the new one, whole.
    ///
    /// # Errors
    /// [`ResultsError`].
    pub async fn put(&self, object: &str, bytes: impl Into<Vec<u8>>) -> Result<(), ResultsError> {
        let path = self.path(object)?;
        if let Store::Folder(folder) = &self.0 {
            std::fs::create_dir_all(folder).map_err(|error| of_io(&error))?;
        }
        let store = self
            .existing()?
            .ok_or_else(|| ResultsError::Unavailable("the folder is gone".into()))?;
        match store.put(&path, bytes.into().into()).await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.told(&error)),
        }
    }

    /// Removes an object; one that is absent is removed already.
    ///
    /// # Errors
    /// [`ResultsError`].
    pub async fn delete(&self, object: &str) -> Result<(), ResultsError> {
        let path = self.path(object)?;
        let Some(store) = self.existing()? else {
            return Ok(());
        };
        self.unless_absent(store.delete(&path).await).map(|_| ())
    }

    /// Where an object lies, if it is one's name.
    fn path(&self, object: &str) -> Result<Path, ResultsError> {
        let misnamed = || ResultsError::Name(object.to_owned());
        if object.len() > MOST_NAME_BYTES || !is_path(object) {
            return Err(misnamed());
        }
        let path = match &self.0 {
            Store::Bucket { prefix, .. } if !prefix.is_empty() => format!("{prefix}/{object}"),
            Store::Bucket { .. } | Store::Folder(_) => object.to_owned(),
        };
        Path::parse(path).map_err(|_| misnamed())
    }

    /// The store, unless it is a folder that nobody has made yet.
    fn existing(&self) -> Result<Option<Box<dyn ObjectStore>>, ResultsError> {
        match &self.0 {
            Store::Bucket { store, .. } => Ok(Some(Box::new(store.clone()))),
            Store::Folder(folder) => match LocalFileSystem::new_with_prefix(folder) {
                Ok(store) => Ok(Some(Box::new(store))),
                Err(error) if is_absent(&error) => Ok(None),
                Err(error) => Err(self.told(&error)),
            },
        }
    }

    fn unless_absent<T>(&self, result: object_store::Result<T>) -> Result<Option<T>, ResultsError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if is_absent(&error) && !self.lacks_bucket(&error) => Ok(None),
            Err(error) => Err(self.told(&error)),
        }
    }

    /// S3 says of a bucket that is not there what it says of an object, but for one word.
    fn lacks_bucket(&self, error: &object_store::Error) -> bool {
        matches!(self.0, Store::Bucket { .. })
            && innermost(error).to_string().contains("NoSuchBucket")
    }

    fn told(&self, error: &object_store::Error) -> ResultsError {
        use object_store::Error::{PermissionDenied, Unauthenticated};
        if let Store::Bucket { bucket, .. } = &self.0
            && self.lacks_bucket(error)
        {
            return ResultsError::NoBucket(bucket.clone());
        }
        if matches!(error, PermissionDenied { .. } | Unauthenticated { .. }) {
            return ResultsError::Denied(reason(error));
        }
        match io(error) {
            Some(error) => of_io(error),
            None => ResultsError::Unavailable(reason(error)),
        }
    }
}

/// Whether `location` is a folder's or a bucket's name, as [`Results::open`] takes it.
#[must_use]
pub fn is_location(location: &str) -> bool {
    Location::parse(location).is_some()
}

impl Location {
    fn parse(location: &str) -> Option<Self> {
        match location.strip_prefix("s3://") {
            Some(rest) => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
                (is_bucket(bucket) && (prefix.is_empty() || is_path(prefix))).then(|| {
                    Self::Bucket {
                        bucket: bucket.to_owned(),
                        prefix: prefix.to_owned(),
                    }
                })
            }
            // Another store's address, or a slip in this one's, must not become a folder of that name.
            None if location.contains("://") || location.starts_with("s3:") => None,
            None if location.trim().is_empty() || location.contains('\0') => None,
            None => Some(Self::Folder(PathBuf::from(location))),
        }
    }
}

/// By Amazon's rules for the names of buckets.
fn is_bucket(name: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'.' | b'-');
    let edge = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    (3..=63).contains(&name.len())
        && name.bytes().all(allowed)
        && edge(name.bytes().next())
        && edge(name.bytes().next_back())
        && !name.contains("..")
}

/// Names between single slashes. None begins with a dot, so that none is hidden, the folder itself, or the one above.
fn is_path(path: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
    path.split('/')
        .all(|part| !part.is_empty() && !part.starts_with('.') && part.bytes().all(allowed))
}

fn open_bucket(bucket: &str, endpoint: Option<&str>) -> Result<AmazonS3, ResultsError> {
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_http_connector(Connector)
        .with_retry(RetryConfig {
            max_retries: RETRIES,
            retry_timeout: RETRY_TIMEOUT,
            ..RetryConfig::default()
        })
        // Deleting in bulk is Amazon's own; one by one every server can.
        .with_disable_bulk_delete(true);
    if let Some(endpoint) = endpoint {
        builder = builder
            .with_config(AmazonS3ConfigKey::S3Endpoint, endpoint)
            .with_allow_http(endpoint.starts_with("http://"));
        let key = AmazonS3ConfigKey::AccessKeyId;
        if is_loopback(endpoint) && builder.get_config_value(&key).is_none() {
            builder = builder
                .with_access_key_id("local")
                .with_secret_access_key("local");
        }
    }
    builder
        .build()
        .map_err(|error| ResultsError::Unavailable(error.to_string()))
}

/// Makes HTTP clients as this process makes all others: by its own roots, past no proxy, following nobody elsewhere.
#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed =
            |error: Box<dyn std::error::Error + Send + Sync>| object_store::Error::Generic {
                store: "S3",
                source: error,
            };
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::public_roots().map_err(|error| failed(error.into()))?)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(CALL_TIMEOUT)
            .pool_idle_timeout(KEEP_IDLE)
            .user_agent(concat!("sourced/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(error.into()))?;
        Ok(HttpClient::new(client))
    }
}

/// No such object, or no such folder, or a file where its folder would be.
fn is_absent(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotFound { .. })
        || io(error).is_some_and(|error| {
            matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        })
}

fn of_io(error: &std::io::Error) -> ResultsError {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            ResultsError::Denied(error.kind().to_string())
        }
        kind => ResultsError::Unavailable(kind.to_string()),
    }
}

/// Why, without the address that was called and the words of the server.
fn reason(error: &object_store::Error) -> String {
    if let Some(http) = causes(error).find_map(|cause| cause.downcast_ref::<HttpError>()) {
        return format!("the call failed: {:?}", http.kind());
    }
    let words = innermost(error).to_string();
    let status = words
        .split_once("status code: ")
        .map(|(_, rest)| rest.split(':').next().unwrap_or_default().trim());
    match status {
        Some(status) => format!("status {status}"),
        None => "no readable reply".into(),
    }
}

fn io(error: &object_store::Error) -> Option<&std::io::Error> {
    let of_network = causes(error).any(|cause| cause.is::<HttpError>());
    causes(error)
        .find_map(|cause| cause.downcast_ref())
        .filter(|_| !of_network)
}

fn innermost(error: &object_store::Error) -> &(dyn std::error::Error + 'static) {
    causes(error).last().unwrap_or(error)
}

fn causes(error: &object_store::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(location: &str, expected: Option<Location>) {
        assert_eq!(Location::parse(location), expected, "{location:?}");
        assert_eq!(is_location(location), expected.is_some());
    }

    #[test]
    fn a_location_is_a_folder_or_a_bucket() {
        let bucket = |bucket: &str, prefix: &str| {
            Some(Location::Bucket {
                bucket: bucket.into(),
                prefix: prefix.into(),
            })
        };
        check("s3://results-1", bucket("results-1", ""));
        check("s3://results-1/", bucket("results-1", ""));
        check(
            "s3://results.example/eval/pg",
            bucket("results.example", "eval/pg"),
        );
        check(
            "s3://results.example/eval/",
            bucket("results.example", "eval"),
        );
        for folder in [
            "eval/results",
            "/var/results",
            "../results",
            "c:results",
            ".",
        ] {
            check(folder, Some(Location::Folder(folder.into())));
        }
        for wrong in [
            "",
            " ",
            "s3://",
            "s3:/results",
            "s3:results",
            "s3://Results",
            "s3://ab",
            "s3://-ab",
            "s3://ab..cd",
            "s3://results/../other",
            "s3://results//a",
            "s3://results/a b",
            "s3://results?x=1",
            "gs://results",
            "https://results.example",
            "file:///var",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        for name in ["latest.json", "a-run.2/rows/1.json", "a/b_c/D.svg"] {
            assert!(is_path(name), "{name}");
        }
        for name in [
            "",
            "/",
            "/etc/passwd",
            "../latest.json",
            "a/../../b",
            "a/./b",
            "a//b",
            "a/",
            ".hidden",
            "a\\b",
            "a b",
            "a%2Fb",
            "ä",
            "a#1",
            "a\0b",
        ] {
            assert!(!is_path(name), "{name}");
        }
    }
}

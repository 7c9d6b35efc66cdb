//! Opens a connection to the database a URL names, with a verified certificate wherever the way leads out of this machine.
//!
//! There is no mode that encrypts without verifying, and none that falls back to plain text: `sslmode=disable` has to be
//! asked for. A password never appears in an error or in `Debug`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use thiserror::Error;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Where a database is and how it is reached.
#[derive(Clone)]
pub struct DatabaseUrl {
    config: Config,
    tls: Option<Roots>,
}

/// Whom to believe about the server's certificate.
#[derive(Clone, Debug, PartialEq)]
enum Roots {
    /// Mozilla's list.
    Public,
    /// A file of PEM certificates and nobody else.
    File(PathBuf),
}

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The URL or the certificate file is wrong; trying again would not help.
    #[error("{0}")]
    Configuration(String),
    /// The server did not answer, or not as asked. A database that sleeps may be waking.
    #[error("connect to the database")]
    Unavailable(#[source] tokio_postgres::Error),
    /// It did not come to an end in time.
    #[error("connect to the database: no reply in time")]
    Silent,
}

/// A database that scaled to zero takes seconds to answer; longer than this it is away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

impl DatabaseUrl {
    /// Reads a `postgres://` URL (or a `key=value` string). `sslmode` may be `disable`, `allow`, `prefer`, `require`,
    /// `verify-ca` or `verify-full`; the last three, and a host outside this machine without `disable`, mean TLS with the
    /// certificate verified in full, against `ca_file` where there is one.
    ///
    /// # Errors
    /// [`ConnectError::Configuration`] when the URL cannot be read, without repeating it.
    pub fn parse(url: &str, ca_file: Option<&Path>) -> Result<Self, ConnectError> {
        let (url, mode) = split_sslmode(url);
        let mut config: Config = url.parse().map_err(|_| {
            configuration("it is not a URL of the form postgres://user:password@host/database")
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(configuration("the database URL names no host"));
        }
        let encrypted = match mode.as_deref() {
            Some("disable") => false,
            Some("require" | "verify-ca" | "verify-full") => true,
            None | Some("allow" | "prefer") => !is_local(&config),
            Some(_) => {
                return Err(configuration(
                    "sslmode accepts disable, allow, prefer, require, verify-ca and verify-full",
                ));
            }
        };
        config.ssl_mode(if encrypted {
            SslMode::Require
        } else {
            SslMode::Disable
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        // A link that died without a word is noticed in seconds, not in a quarter of an hour.
        config
            .keepalives_idle(Duration::from_secs(10))
            .tcp_user_timeout(Duration::from_secs(10));
        if config.get_application_name().is_none() {
            config.application_name("sourced");
        }
        let tls =
            encrypted.then(|| ca_file.map_or(Roots::Public, |file| Roots::File(file.to_owned())));
        Ok(Self { config, tls })
    }

    /// The same server and login with another database's name.
    #[must_use]
    pub fn with_database(&self, name: &str) -> Self {
        let mut other = self.clone();
        other.config.dbname(name);
        other
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseUrl")
            .field("hosts", &self.config.get_hosts())
            .field("database", &self.config.get_dbname())
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

/// Opens one connection. It ends when the client is dropped.
///
/// # Errors
/// [`ConnectError`], by what to do about it.
pub async fn connect(url: &DatabaseUrl) -> Result<Client, ConnectError> {
    // The driver's own limit is for the TCP connection alone; TLS and the login of a waking server may hang as well.
    let limit = url.config.get_connect_timeout().copied();
    timeout(limit.unwrap_or(CONNECT_TIMEOUT), dial(url))
        .await
        .unwrap_or(Err(ConnectError::Silent))
}

async fn dial(url: &DatabaseUrl) -> Result<Client, ConnectError> {
    match &url.tls {
        None => {
            let (client, connection) = url
                .config
                .connect(NoTls)
                .await
                .map_err(ConnectError::Unavailable)?;
            tokio::spawn(drive(connection));
            Ok(client)
        }
        Some(roots) => {
            let (client, connection) = url
                .config
                .connect(MakeRustlsConnect::new(tls_config(roots)?))
                .await
                .map_err(ConnectError::Unavailable)?;
            tokio::spawn(drive(connection));
            Ok(client)
        }
    }
}

/// Moves bytes until the connection ends. A failure also reaches whoever waits for a reply, so here it is only noted.
/// Notices from the server are not errors and stop here.
async fn drive<F>(connection: F)
where
    F: Future<Output = Result<(), tokio_postgres::Error>>,
{
    if let Err(error) = connection.await {
        tracing::debug!(%error, "the database connection ended");
    }
}

fn tls_config(roots: &Roots) -> Result<rustls::ClientConfig, ConnectError> {
    let mut store = rustls::RootCertStore::empty();
    match roots {
        Roots::Public => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Roots::File(path) => {
            let unreadable = |error: &dyn fmt::Display| {
                configuration(&format!(
                    "DATABASE_CA_FILE {} is not a file of PEM certificates: {error}",
                    path.display()
                ))
            };
            for certificate in
                CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))?
            {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                store.add(certificate).map_err(|error| unreadable(&error))?;
            }
            if store.is_empty() {
                return Err(unreadable(&"it holds no certificate"));
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| configuration(&format!("TLS is not usable: {error}")))?
        .with_root_certificates(store)
        .with_no_client_auth())
}

/// Takes `sslmode` out of a URL's query or a `key=value` string: the driver knows three of its six values.
fn split_sslmode(url: &str) -> (String, Option<String>) {
    if let Some((base, query)) = url.split_once('?') {
        let (modes, rest): (Vec<_>, Vec<_>) = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .partition(|pair| pair.starts_with("sslmode="));
        let mode = modes.last().map(|pair| pair["sslmode=".len()..].to_owned());
        let url = if rest.is_empty() {
            base.to_owned()
        } else {
            format!("{base}?{}", rest.join("&"))
        };
        return (url, mode);
    }
    if url.contains("://") {
        return (url.to_owned(), None);
    }
    let (modes, rest): (Vec<_>, Vec<_>) = url
        .split_whitespace()
        .partition(|pair| pair.starts_with("sslmode="));
    let mode = modes.last().map(|pair| pair["sslmode=".len()..].to_owned());
    // Quoted values may hold spaces that must stay, so the string is only rebuilt when there is something to take out.
    match mode {
        None => (url.to_owned(), None),
        mode => (rest.join(" "), mode),
    }
}

/// Whether every host is this machine: a socket or a loopback address.
fn is_local(config: &Config) -> bool {
    let addresses_local = config
        .get_hostaddrs()
        .iter()
        .all(std::net::IpAddr::is_loopback);
    let hosts_local = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .trim_matches(['[', ']'])
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    addresses_local && hosts_local
}

fn configuration(message: &str) -> ConnectError {
    ConnectError::Configuration(message.to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn encrypted(url: &str) -> bool {
        DatabaseUrl::parse(url, None).unwrap().tls.is_some()
    }

    #[test]
    fn verifies_wherever_the_way_leads_out() {
        for (url, expected) in [
            ("postgres://u:p@127.0.0.1:5432/d", false),
            ("postgres://u:p@[::1]/d", false),
            ("postgres://u:p@localhost/d?sslmode=prefer", false),
            ("postgres://u@/d?host=/run/postgres", false),
            ("postgres://u:p@localhost/d?sslmode=verify-full", true),
            ("postgres://u:p@db.example/d", true),
            ("postgres://u:p@db.example/d?sslmode=prefer", true),
            ("postgres://u:p@db.example/d?sslmode=allow", true),
            ("postgres://u:p@db.example/d?sslmode=require", true),
            ("postgres://u:p@db.example/d?sslmode=verify-ca", true),
            (
                "postgres://u:p@db.example/d?sslmode=verify-full&channel_binding=require",
                true,
            ),
            ("postgres://u:p@db.example/d?sslmode=disable", false),
            ("host=db.example user=u sslmode=verify-full", true),
            ("host=127.0.0.1 user=u", false),
        ] {
            assert_eq!(encrypted(url), expected, "{url}");
        }
    }

    #[test]
    fn keeps_the_other_parameters() {
        let url = DatabaseUrl::parse(
            "postgres://u:p@db.example/d?application_name=x&sslmode=verify-full&connect_timeout=3",
            None,
        )
        .unwrap();
        assert_eq!(url.config.get_application_name(), Some("x"));
        assert_eq!(
            url.config.get_connect_timeout(),
            Some(&Duration::from_secs(3))
        );
    }

    #[test]
    fn never_shows_the_password() {
        let url = DatabaseUrl::parse("postgres://u:hunter2@db.example/d", None).unwrap();
        assert!(!format!("{url:?}").contains("hunter2"));
        for wrong in [
            "postgres://u:hunter2@db.example:port/d",
            "postgres://u:hunter2@db.example/d?sslmode=hunter2",
            "hunter2",
        ] {
            let error = DatabaseUrl::parse(wrong, None).unwrap_err();
            assert!(!format!("{error:?} {error}").contains("hunter2"), "{wrong}");
        }
    }

    #[test]
    fn a_wrong_certificate_file_is_named() {
        let url = "postgres://u@db.example/d";
        let file = Path::new("/nowhere/ca.pem");
        let url = DatabaseUrl::parse(url, Some(file)).unwrap();
        let error = tls_config(&url.tls.unwrap()).unwrap_err().to_string();
        assert!(
            error.starts_with("DATABASE_CA_FILE /nowhere/ca.pem"),
            "{error}"
        );
    }
}

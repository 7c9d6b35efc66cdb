//! The DynamoDB emulator inside this process, on a free port of the loopback interface.
//!
//! Its transactions, conditions and cancellation reasons behave as the service's do; latency, throttling and IAM do not
//! exist.

use std::future::Future;
use std::net::Ipv4Addr;

use dynoxide::Database;
use tokio::net::TcpListener;

/// An emulator that ends with the runtime it was started on.
#[derive(Debug, Clone)]
pub struct DynamoDb {
    endpoint: String,
}

impl DynamoDb {
    /// For `AWS_ENDPOINT_URL_DYNAMODB` or an endpoint override.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

/// Starts an empty emulator that keeps its items in memory.
///
/// # Panics
/// When no port is to be had.
pub async fn dynamodb() -> DynamoDb {
    let database = Database::memory().expect("open an in-memory emulator");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("bind a free port");
    let address = listener.local_addr().expect("read the bound address");
    tokio::spawn(serve_dynamodb(listener, database, std::future::pending()));
    DynamoDb {
        endpoint: format!("http://{address}"),
    }
}

/// Serves `database` on `listener` until `shutdown` resolves.
///
/// # Errors
/// When the listener fails.
pub async fn serve_dynamodb(
    listener: TcpListener,
    database: Database,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    dynoxide::server::serve_with_shutdown(listener, database, shutdown)
        .await
        .map_err(anyhow::Error::msg)
}

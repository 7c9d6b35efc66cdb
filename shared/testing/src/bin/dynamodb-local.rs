//! The DynamoDB emulator as a program, for local runs: `dynamodb-local --port N --file PATH`.
//!
//! Items are kept in the file. It says when it is ready and ends on SIGTERM or SIGINT, after the requests it has begun.

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use anyhow::{Context, bail};
use dynoxide::Database;
use testing::serve_dynamodb;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

struct Arguments {
    port: u16,
    file: PathBuf,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { port, file } = arguments(std::env::args().skip(1))?;
    let path = file.to_str().context("the path is not UTF-8")?;
    let database = Database::new(path).with_context(|| format!("open {path}"))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .with_context(|| format!("listen on port {port}"))?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    writeln!(
        std::io::stdout(),
        "DynamoDB emulator ready: http://{}",
        listener.local_addr()?
    )?;
    serve_dynamodb(listener, database, async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
    .await
}

fn arguments(mut given: impl Iterator<Item = String>) -> anyhow::Result<Arguments> {
    const USAGE: &str = "usage: dynamodb-local --port N --file PATH";
    let (mut port, mut file) = (None, None);
    while let Some(option) = given.next() {
        match option.as_str() {
            "--port" => {
                let value = given.next().context(USAGE)?;
                port = Some(value.parse().context("--port accepts 0 to 65535")?);
            }
            "--file" => file = Some(given.next().context(USAGE)?.into()),
            _ => bail!(USAGE),
        }
    }
    Ok(Arguments {
        port: port.context(USAGE)?,
        file: file.context(USAGE)?,
    })
}

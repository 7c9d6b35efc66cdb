//! A client of the emulator whose calls go wrong as they are told to. The emulator itself knows no throttling, no conflict and
//! no network.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use adapters::dynamodb::Table;
use aws_sdk_dynamodb::config::http::HttpRequest;
use aws_sdk_dynamodb::config::{HttpClient, RuntimeComponents, SharedHttpClient};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;

/// What becomes of one call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// Nothing: it arrives and is answered.
    None,
    /// It arrives, and its reply is lost.
    ReplyLost,
    /// It never arrives.
    CallLost,
    /// It is refused with this error type and these reasons, if any.
    Refused(&'static str, &'static [&'static str]),
    /// A read of several items is answered with none of them, to be asked for again.
    Unread,
}

/// The calls that were made, and the faults of those to come. Calls beyond them meet no fault.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    of_writes: VecDeque<Fault>,
    of_reads: VecDeque<Fault>,
    calls: Vec<String>,
}

impl Faults {
    /// The next transactions go wrong like this, one by one; reads do not.
    pub(crate) fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.0.lock().unwrap().of_writes.extend(faults);
    }

    /// The next reads of several items go wrong like this, one by one.
    pub(crate) fn next_reads(&self, faults: impl IntoIterator<Item = Fault>) {
        self.0.lock().unwrap().of_reads.extend(faults);
    }

    /// How often `operation` was called since the last time it was asked for.
    pub(crate) fn take(&self, operation: &str) -> usize {
        let calls = &mut self.0.lock().unwrap().calls;
        let before = calls.len();
        calls.retain(|call| call != operation);
        before - calls.len()
    }

    fn of(&self, operation: &str) -> Fault {
        let state = &mut self.0.lock().unwrap();
        state.calls.push(operation.to_owned());
        match operation {
            "TransactWriteItems" => state.of_writes.pop_front().unwrap_or(Fault::None),
            "BatchGetItem" => state.of_reads.pop_front().unwrap_or(Fault::None),
            _ => Fault::None,
        }
    }
}

/// The table `name` of the emulator at `endpoint`, with its faults.
pub(crate) async fn table(endpoint: &str, name: &str) -> (Table, Faults) {
    let plain = Table::connect(name, Some(endpoint)).await;
    let config = plain.client().config();
    let faults = Faults::default();
    let http = Faulty {
        inner: config.http_client().unwrap(),
        faults: faults.clone(),
    };
    let client = aws_sdk_dynamodb::Client::from_conf(config.to_builder().http_client(http).build());
    (Table::new(client, name), faults)
}

#[derive(Debug)]
struct Faulty {
    inner: SharedHttpClient,
    faults: Faults,
}

impl HttpClient for Faulty {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(FaultyConnector {
            inner: self.inner.http_connector(settings, components),
            faults: self.faults.clone(),
        })
    }
}

#[derive(Debug)]
struct FaultyConnector {
    inner: SharedHttpConnector,
    faults: Faults,
}

impl HttpConnector for FaultyConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default();
        match self.faults.of(operation) {
            Fault::None => self.inner.call(request),
            Fault::CallLost => HttpConnectorFuture::ready(Err(lost())),
            Fault::ReplyLost => {
                let call = self.inner.call(request);
                HttpConnectorFuture::new(async move {
                    call.await?;
                    Err(lost())
                })
            }
            Fault::Refused(kind, reasons) => HttpConnectorFuture::ready(Ok(refused(kind, reasons))),
            Fault::Unread => HttpConnectorFuture::ready(Ok(unread(&request))),
        }
    }
}

fn lost() -> ConnectorError {
    ConnectorError::io("the connection was reset".into())
}

/// Gives the keys of a request back.
fn unread(request: &HttpRequest) -> HttpResponse {
    let asked: serde_json::Value = serde_json::from_slice(request.body().bytes().unwrap()).unwrap();
    let body = serde_json::json!({ "Responses": {}, "UnprocessedKeys": asked["RequestItems"] });
    HttpResponse::new(StatusCode::try_from(200).unwrap(), body.to_string().into())
}

fn refused(kind: &str, reasons: &[&str]) -> HttpResponse {
    let reasons: Vec<String> = reasons
        .iter()
        .map(|code| match *code {
            // As the service does where the old item is asked for.
            "ConditionalCheckFailed" => {
                format!(r#"{{"Code":"{code}","Item":{{"pk":{{"S":"visitor#planted-key"}}}}}}"#)
            }
            _ => format!(r#"{{"Code":"{code}"}}"#),
        })
        .collect();
    let body = format!(
        r#"{{"__type":"com.amazonaws.dynamodb.v20120810#{kind}","Message":"","CancellationReasons":[{}]}}"#,
        reasons.join(",")
    );
    HttpResponse::new(StatusCode::try_from(400).unwrap(), body.into())
}

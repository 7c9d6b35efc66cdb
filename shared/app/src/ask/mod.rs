//! Answers one question: admit → open → embed → retrieve → rerank → judge → generate → verify → conclude → settle.
//!
//! [`crate::admit`] lets a visitor's question in, before the stream starts. A newcomer reads `answer` first: its body names
//! each stage once, in order. A stage takes what the one before it made, by value. No sentence reaches the sink that
//! verification did not pass, and the last event is one `done` or `error`.

mod conclude;
pub mod event;
mod failure;
pub mod generate;
pub mod judge;
pub mod open;
pub mod prompt;
pub mod question;
pub mod rerank;
pub mod retrieve;
mod run;
pub mod settle;
pub mod thresholds;
pub mod verify;
pub mod worst_case;

use std::panic::AssertUnwindSafe;

use domain::relevance::Signals;
use futures_util::FutureExt;
use tokio::time::timeout_at;

use self::event::{Closed, Done, Event, Sink};
use self::failure::{Failure, Stopped};
use self::judge::Judged;
use self::question::Ask;
use self::rerank::Ranked;
use self::retrieve::Arms;
use self::run::Run;
use self::settle::{Payer, settle};
use crate::context::Context;

/// Number of the way in which answers are found, chosen and verified. Raise it with a change that is meant to change them:
/// prepared answers are then prepared anew.
pub const ANSWERS_VERSION: u32 = 3;

/// Answers `ask` into `sink`, at the cost of `payer`.
///
/// # Errors
/// [`Closed`] when nobody reads the answer any more. Every other failure is an event.
pub async fn ask(ctx: &Context, ask: Ask, payer: Payer, sink: &Sink) -> Result<(), Closed> {
    let mut run = Run::start(&ask.request_id, sink);
    conduct(ctx, &ask, payer, &mut run).await
}

/// An answer that was kept rather than shown.
#[derive(Debug)]
pub struct Recorded {
    /// Every event, in order.
    pub events: Vec<Event>,
    /// What the answer was made of, if it came to that.
    pub found: Option<Found>,
}

/// What a search found, for measuring it.
#[derive(Debug, Clone)]
pub struct Found {
    /// Chunks of each arm and of the fusion, best first.
    pub arms: Arms,
    /// Chunks of the passages, best first.
    pub passages: Vec<i64>,
    /// The relevance that was judged, 0 to 1: of the sentences, or a remote reranker's best score.
    pub relevance: f32,
    /// What the sentences' is made of.
    pub signals: Signals,
}

/// The same for those who keep an answer rather than show it.
pub async fn recorded(ctx: &Context, ask: Ask, payer: Payer) -> Recorded {
    let (sink, mut receiver) = Sink::channel(1);
    let record = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        events
    };
    let answer = async {
        let sink = sink;
        let mut run = Run::start(&ask.request_id, &sink);
        // The reader outlives the answer, so that it cannot be closed.
        let _ = conduct(ctx, &ask, payer, &mut run).await;
        run.found()
    };
    let (found, events) = tokio::join!(answer, record);
    Recorded { events, found }
}

async fn conduct(ctx: &Context, ask: &Ask, payer: Payer, run: &mut Run<'_>) -> Result<(), Closed> {
    let sink = run.sink();
    let ended = tokio::select! {
        biased;
        () = sink.closed() => Err(Stopped::Closed),
        ended = in_time(ctx, ask, run) => ended,
    };
    let quota = settle(ctx, payer, &ended, ask, run).await;
    match ended {
        Ok(done) => {
            let done = Box::new(Done { quota, ..done });
            sink.send(Event::Done(done)).await
        }
        Err(Stopped::Closed) => Err(Closed),
        Err(Stopped::Failed(failure)) => {
            if matches!(failure, Failure::Deadline | Failure::Unavailable(_)) {
                ctx.forget_database().await;
            }
            run.fail(&failure).await
        }
    }
}

/// Answers until the deadline; a panic is a failure like others, whose charge is given back.
async fn in_time(ctx: &Context, ask: &Ask, run: &mut Run<'_>) -> Result<Done, Stopped> {
    let answered = AssertUnwindSafe(timeout_at(ask.deadline, answer(ctx, ask, run)));
    match answered.catch_unwind().await {
        Ok(Ok(ended)) => ended,
        Ok(Err(_)) => Err(Failure::Deadline.into()),
        Err(_) => Err(Failure::Internal.into()),
    }
}

async fn answer(ctx: &Context, ask: &Ask, run: &mut Run<'_>) -> Result<Done, Stopped> {
    let ranked = search(ctx, ask, run).await?;
    run.send(rerank::passages(&ranked)).await?;
    let relevant = match judge::judge(ranked, judge::Thresholds::of(ctx)) {
        Judged::Relevant(relevant) => relevant,
        Judged::Abstained(abstained) => return Ok(conclude::abstain(abstained, run)),
    };
    let draft = generate::generate(ctx, relevant, ask, run).await?;
    let verified = verify::verify(ctx, draft, ask, run).await?;
    conclude::conclude(verified, run)
}

async fn search(ctx: &Context, ask: &Ask, run: &mut Run<'_>) -> Result<Ranked, Stopped> {
    let opened = open::open(ctx, ask, run).await?;
    let candidates = retrieve::retrieve(opened, ask, run).await?;
    let ranked = rerank::rerank(ctx, candidates, ask, run).await?;
    run.found_by(&ranked);
    Ok(ranked)
}

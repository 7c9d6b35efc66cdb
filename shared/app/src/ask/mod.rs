//! Answers one question: admit → open → embed → retrieve → rerank → judge → generate → verify → settle.
//!
//! A newcomer reads `answer` first: its body names each stage once, in order. A stage takes what the one before it made,
//! by value. No sentence reaches the sink that verification did not pass, and the last event is one `done` or `error`.

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
mod settle;
pub mod verify;

use tokio::time::timeout_at;

use self::event::{Closed, Event, Sink};
use self::failure::{Failure, Stopped};
use self::judge::Judged;
use self::question::Ask;
use self::rerank::Ranked;
use self::run::Run;
use crate::context::Context;

/// Answers `ask` into `sink`.
///
/// # Errors
/// [`Closed`] when nobody reads the answer any more. Every other failure is an event.
pub async fn ask(ctx: &Context, ask: Ask, sink: &Sink) -> Result<(), Closed> {
    let mut run = Run::start(&ask.request_id, sink);
    let answered = timeout_at(ask.deadline, answer(ctx, &ask, &mut run))
        .await
        .unwrap_or(Err(Stopped::Failed(Failure::Deadline)));
    match answered {
        Ok(done) => sink.send(Event::Done(Box::new(done))).await,
        Err(Stopped::Closed) => Err(Closed),
        Err(Stopped::Failed(failure)) => {
            if matches!(failure, Failure::Deadline | Failure::Unavailable(_)) {
                ctx.forget_database().await;
            }
            run.fail(&failure).await
        }
    }
}

async fn answer(ctx: &Context, ask: &Ask, run: &mut Run<'_>) -> Result<event::Done, Stopped> {
    let ranked = search(ctx, ask, run).await?;
    run.send(rerank::passages(&ranked)).await?;
    let relevant = match judge::judge(ranked, judge::Thresholds::of(ctx)) {
        Judged::Relevant(relevant) => relevant,
        Judged::Abstained(abstained) => return Ok(settle::abstain(abstained, run)),
    };
    let draft = generate::generate(ctx, relevant, ask, run).await?;
    let verified = verify::verify(ctx, draft, ask, run).await?;
    settle::settle(verified, run)
}

async fn search(ctx: &Context, ask: &Ask, run: &mut Run<'_>) -> Result<Ranked, Stopped> {
    let opened = open::open(ctx, ask, run).await?;
    let candidates = retrieve::retrieve(opened, ask, run).await?;
    rerank::rerank(ctx, candidates, ask, run).await
}

/// The first half of an answer, for measuring it: what was found and in which order, by the very same stages.
///
/// # Errors
/// Why it could not be searched.
pub async fn inspect(ctx: &Context, ask: &Ask) -> anyhow::Result<Ranked> {
    // Nobody watches the stages, so their events are dropped as they come.
    let (sink, mut events) = Sink::channel(64);
    let mut run = Run::start(&ask.request_id, &sink);
    let searched = search(ctx, ask, &mut run).await;
    events.close();
    searched.map_err(|stopped| match stopped {
        Stopped::Failed(failure) => anyhow::Error::new(failure),
        Stopped::Closed => anyhow::anyhow!("nobody reads the answer"),
    })
}

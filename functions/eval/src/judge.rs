//! The faithfulness judge: a model that says of every shown sentence whether the passages it cites support it.
//!
//! Three ballots an answer, of which the majority counts. Each ballot holds two planted sentences, one that must be found
//! supported and one that must not: a judge that misses them, or does not reply as asked, voids its run, so that a lazy, biased
//! or broken judge yields no figure at all. What it said is stored word for word; [`crate::metrics`] counts it.

mod ballot;
mod material;

use std::time::Duration;

use adapters::dynamodb::ledger::Ledger;
use adapters::provider::{ChatModel, ChatRequest, Finish, ProviderError};
use anyhow::{Context as _, bail};
use app::config::JudgeConfig;
use domain::cost::{Money, Prices, Usage, cost};
use domain::quota::Day;
use futures_util::future::join_all;
use tokio::time::Instant;

pub(crate) use self::ballot::{Ballot, Slot};
use self::material::Material;
use crate::record::{Head, Judge, Run};

/// Raised when the prompt or the ballots change: verdicts under other rules do not compare.
const RULES: u32 = 1;

const PROMPT: &str = include_str!("judge/prompt.txt");

/// Ballots an answer: the least that have a majority and show a flip.
const BALLOTS: u64 = 3;

/// Of all ballots, those that may fail before a run says nothing any more.
pub(crate) const FAILED_AT_MOST: f64 = 0.05;

/// Longer than a ballot takes, reasoning included.
const PATIENCE: Duration = Duration::from_secs(90);

/// An entry of the reply takes some 14 tokens; more leaves room for models that write it over several lines.
const TOKENS_A_VERDICT: u32 = 32;

/// Who judges, and who pays.
pub(crate) struct Bench {
    /// The judge.
    pub(crate) model: ChatModel,
    /// What it may cost is taken from here.
    pub(crate) ledger: Ledger,
    /// At these prices.
    pub(crate) prices: Prices,
}

/// Refuses a judge of its own answers, and says so of one that is of the same family.
///
/// # Errors
/// The judge wrote the answers, and nobody said that this is meant.
pub(crate) fn independence(config: &JudgeConfig, head: &Head) -> anyhow::Result<Option<String>> {
    let (judge, writer) = (config.remote.model.as_str(), head.generator.as_str());
    if judge == writer && !config.own_answers {
        bail!(
            "JUDGE_MODEL {judge} wrote these answers, and models favour their own: name another one, or set JUDGE_OWN_ANSWERS=yes"
        );
    }
    Ok((!writer.is_empty() && family(judge) == family(writer)).then(|| {
        format!("the judge {judge} is of the family of {writer}, which wrote the answers: its verdicts may favour them")
    }))
}

/// The letters that a model's name begins with: `gpt` of `openai/gpt-4.1-mini`.
fn family(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.chars()
        .take_while(|c| c.is_ascii_alphabetic())
        .collect::<String>()
        .to_ascii_lowercase()
}

/// Judges every answer of a run, and forgets what was said of them before. It ends early once too many ballots have failed.
///
/// # Errors
/// When what a ballot may cost cannot be paid.
pub(crate) async fn judge(
    bench: &Bench,
    run: &mut Run,
    remark: Option<String>,
) -> anyhow::Result<()> {
    let answers: Vec<(usize, Vec<Asking>)> = run
        .questions
        .iter()
        .enumerate()
        .filter_map(|(n, asked)| {
            let foreign: Vec<&str> = run
                .questions
                .iter()
                .cycle()
                .skip(n + 1)
                .take(run.questions.len().saturating_sub(1))
                .filter_map(|other| other.events("sentence").next()?["text"].as_str())
                .collect();
            let material = Material::of(asked, &foreign)?;
            Some((
                n,
                (0..BALLOTS).map(|number| material.ballot(number)).collect(),
            ))
        })
        .collect();
    for asked in &mut run.questions {
        asked.ballots.clear();
    }
    let planned = answers.len() as f64 * BALLOTS as f64;
    let mut failed = 0;
    for (n, ballots) in answers {
        let cast = ballots
            .into_iter()
            .map(|(slots, task)| cast(bench, slots, task));
        let cast: Vec<Ballot> = join_all(cast)
            .await
            .into_iter()
            .collect::<anyhow::Result<_>>()?;
        for fault in cast.iter().filter_map(|ballot| ballot.verdicts().err()) {
            tracing::warn!(
                question.id = run.questions[n].row.id,
                error = fault,
                "a ballot failed"
            );
            failed += 1;
        }
        run.questions[n].ballots = cast;
        if f64::from(failed) > FAILED_AT_MOST * planned {
            break;
        }
    }
    run.head.judge = Some(Judge {
        model: bench.model.name().to_owned(),
        rules: RULES,
        remark,
    });
    Ok(())
}

/// What a ballot's numbers stand for, and the task as it is written to the judge.
type Asking = (Vec<Slot>, String);

/// One ballot, with one more call for a reply that cannot be read.
async fn cast(bench: &Bench, slots: Vec<Slot>, task: String) -> anyhow::Result<Ballot> {
    let mut ballot = Ballot {
        slots,
        replies: Vec::new(),
        error: None,
    };
    let mut request = ChatRequest {
        system: PROMPT.to_owned(),
        user: task,
        max_output_tokens: u32::try_from(ballot.slots.len() + 1)
            .unwrap_or(u32::MAX)
            .saturating_mul(TOKENS_A_VERDICT),
        json: true,
    };
    loop {
        match call(bench, &request).await? {
            Ok(reply) => ballot.replies.push(reply),
            Err(error) => {
                ballot.error = Some(error.to_string());
                return Ok(ballot);
            }
        }
        match ballot.verdicts() {
            Err(fault) if ballot.replies.len() == 1 => {
                request.user += &format!(
                    "\n\nYour last reply could not be used: {fault}. Reply again, in exactly the form asked for."
                );
            }
            _ => return Ok(ballot),
        }
    }
}

/// One call, paid for.
async fn call(
    bench: &Bench,
    request: &ChatRequest,
) -> anyhow::Result<Result<String, ProviderError>> {
    let model = bench.model.name();
    let price = |usage: Usage| cost(&bench.prices, model, &usage).known();
    // No tokenizer makes more tokens than there are bytes.
    let bytes = request.system.len() + request.user.len();
    let reasoning = adapters::provider::Parameters::of(model).reasoning_tokens;
    let most = Usage::chat(
        bytes as u64,
        0,
        u64::from(request.max_output_tokens + reasoning),
    );
    let (day, taken) = (app::clock::today(), price(most));
    take(bench, day, taken).await?;
    let completed = bench
        .model
        .complete(request, Instant::now() + PATIENCE)
        .await;
    let usage = match &completed {
        Ok(completed) => Some(match completed.spent.usage {
            Some(counted) => Usage::chat(counted.input, counted.cached_input, counted.output),
            None => Usage::estimated_chat(completed.spent.prompt_chars, completed.spent.text_chars),
        }),
        // What a call that failed has cost is known from the provider alone; what was taken stays taken otherwise.
        Err(error) => error
            .usage()
            .map(|counted| Usage::chat(counted.input, counted.cached_input, counted.output)),
    };
    if let (Some(taken), Some(spent)) = (taken, usage.and_then(price)) {
        bench
            .ledger
            .correct(day, taken, spent)
            .await
            .context("correct the ledger")?;
    }
    Ok(completed.map(|completed| match completed.finish {
        Finish::Stop => completed.text,
        Finish::Length => String::new(),
    }))
}

async fn take(bench: &Bench, day: Day, amount: Option<Money>) -> anyhow::Result<()> {
    let amount = amount.unwrap_or(Money::ZERO);
    bench
        .ledger
        .take(day, amount)
        .await
        .context("pay the judge")
}

#[cfg(test)]
mod tests;

//! Asks the rows of a run, in as many slices as it takes: a function ends after a quarter of an hour, a provider fails in the
//! middle of a night. What was asked is kept beside the results, and the next slice goes on from there.
//!
//! A checkpoint belongs to one build, one state of the corpus, one way of answering and one list of questions, for a day. Under
//! any other the questions are asked anew: half of a run says nothing of the other half.

use std::collections::{BTreeMap, HashSet};

use adapters::results::Results;
use anyhow::{Context as _, bail};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::dataset::Row;
use crate::record::{Asked, Head, Run};

/// Of all rows, those that may be left out before a run says nothing any more.
const LEFT_OUT_AT_MOST: f64 = 0.05;

/// Where checkpoints are; a bucket may empty it after a while.
const FOLDER: &str = "checkpoints";

/// Questions asked between two checkpoints.
const KEPT_EVERY: usize = 20;

/// For so long a checkpoint may be resumed, in seconds.
const FRESH: u64 = 86_400;

/// What came of a question.
pub(crate) enum One {
    /// It was asked.
    Asked(Box<Asked>),
    /// It says nothing, for this reason.
    LeftOut(String),
    /// It was answered without a part of the pipeline and says nothing of the whole; asked again, it may.
    Degraded(String),
}

/// What came of a slice.
#[derive(Debug, PartialEq)]
pub(crate) enum Slice {
    /// All rows are asked.
    Whole(Box<Run>),
    /// So many of so many are; the next slice goes on.
    Part { done: usize, of: usize },
}

/// Where a run is kept while it is asked.
pub(crate) struct Checkpoint {
    results: Results,
    object: String,
}

impl Checkpoint {
    /// That of a run with this head on these rows, by the program that runs.
    ///
    /// # Errors
    /// When the program cannot be read.
    pub(crate) fn of(results: Results, head: &Head, rows: &[Row]) -> anyhow::Result<Self> {
        let program = std::env::current_exe().and_then(std::fs::read);
        let mut digest = Sha256::new();
        digest.update(Sha256::digest(program.context("read the program")?));
        // The same questions of the same corpus, answered in the same way; when that was is not part of it.
        let mut same = head.clone();
        same.asked_at = 0;
        digest.update(serde_json::to_string(&same)?);
        digest.update(serde_json::to_string(rows)?);
        let hash = digest.finalize();
        let identity: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            results,
            object: format!("{FOLDER}/{}-{}.jsonl", head.slug(), &identity[..16]),
        })
    }

    async fn resumed(&self, now: u64) -> anyhow::Result<Option<Run>> {
        let Some(bytes) = self.results.get(&self.object).await? else {
            return Ok(None);
        };
        let parsed = String::from_utf8(bytes)
            .map_err(anyhow::Error::from)
            .and_then(|text| Run::parse(&text));
        let run = match parsed {
            Ok(run) => run,
            Err(error) => {
                tracing::warn!("{} is not resumed: {error:#}", self.object);
                return Ok(None);
            }
        };
        let is_fresh = now.saturating_sub(run.head.asked_at) <= FRESH;
        Ok(is_fresh.then_some(run))
    }

    async fn keep(&self, run: &Run) -> anyhow::Result<()> {
        Ok(self.results.put(&self.object, run.text()?).await?)
    }

    /// Forgets what was kept, once the run is recorded.
    ///
    /// # Errors
    /// When the results cannot be written.
    pub(crate) async fn forget(&self) -> anyhow::Result<()> {
        Ok(self.results.delete(&self.object).await?)
    }
}

/// Asks what is not asked yet, one row at a time, until all are or the time is up; one at the least.
///
/// # Errors
/// When a question fails, or too many rows are left out; what was asked before is kept.
pub(crate) async fn ask(
    checkpoint: &Checkpoint,
    head: Head,
    rows: Vec<Row>,
    until: Option<Instant>,
    mut one: impl AsyncFnMut(Row) -> anyhow::Result<One>,
) -> anyhow::Result<Slice> {
    let of = rows.len();
    let resumed = checkpoint.resumed(head.asked_at).await?;
    if let Some(run) = &resumed {
        tracing::info!(questions.n = run.questions.len(), "resumed");
    }
    let mut run = resumed.unwrap_or(Run {
        head,
        questions: Vec::new(),
    });
    let ids = run.questions.iter().map(|asked| asked.row.id.clone());
    let done: HashSet<String> = ids.chain(run.head.left_out.keys().cloned()).collect();
    // Not kept: the next slice asks them again.
    let mut degraded = BTreeMap::new();
    let rows = rows.into_iter().filter(|row| !done.contains(&row.id));
    for (n, row) in rows.enumerate() {
        if n > 0 && until.is_some_and(|until| Instant::now() >= until) {
            checkpoint.keep(&run).await?;
            let done = run.questions.len() + run.head.left_out.len();
            return Ok(Slice::Part { done, of });
        }
        let id = row.id.clone();
        match one(row).await {
            Ok(One::Asked(asked)) => run.questions.push(*asked),
            Ok(One::LeftOut(reason)) => {
                run.head.left_out.insert(id, reason);
            }
            Ok(One::Degraded(reason)) => {
                degraded.insert(id, reason);
            }
            Err(error) => {
                let kept = match checkpoint.keep(&run).await {
                    Ok(()) => format!(
                        "{} answers are kept, and the same command goes on from there",
                        run.questions.len()
                    ),
                    Err(unkept) => format!("what was asked before could not be kept ({unkept:#})"),
                };
                return Err(error.context(format!("{id} failed; {kept}")));
            }
        }
        let left_out: BTreeMap<&String, &String> =
            run.head.left_out.iter().chain(&degraded).collect();
        if left_out.len() as f64 > LEFT_OUT_AT_MOST * of as f64 {
            checkpoint.keep(&run).await?;
            let reasons: Vec<String> = left_out
                .iter()
                .map(|(id, why)| format!("  {id}: {why}"))
                .collect();
            bail!(
                "{} of {of} rows say nothing, too many for the rest to say anything:\n{}",
                left_out.len(),
                reasons.join("\n")
            );
        }
        if n % KEPT_EVERY == KEPT_EVERY - 1 {
            checkpoint.keep(&run).await?;
        }
    }
    // Until it is recorded, nothing is lost.
    checkpoint.keep(&run).await?;
    run.head.left_out.extend(degraded);
    Ok(Slice::Whole(Box::new(run)))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::verdict::tests::asked;

    /// A folder of results that is taken away with the test.
    pub(crate) struct Folder(std::path::PathBuf);

    impl Folder {
        pub(crate) fn of(name: &str) -> Self {
            let folder =
                std::env::temp_dir().join(format!("sourced-slice-{name}-{}", std::process::id()));
            Self(folder)
        }

        pub(crate) fn open(&self) -> Results {
            Results::open(&self.0.display().to_string(), None).expect("a folder")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn head(hash: &str, asked_at: u64) -> Head {
        let mut head = Head::new("docs", hash.into(), "local".into());
        head.asked_at = asked_at;
        head
    }

    fn rows(n: usize) -> Vec<Row> {
        let row = |n: usize| json!({"id": format!("q{n:02}"), "type": "answerable", "question": format!("What is {n}?")});
        (0..n)
            .map(|n| serde_json::from_value(row(n)).expect("a row"))
            .collect()
    }

    fn answer(row: &Row) -> One {
        let row = serde_json::to_value(row).expect("a row");
        One::Asked(Box::new(asked(row, &["Trains run."])))
    }

    /// A slice of `head` on 60 rows, answered by `one`, with the ids that were asked.
    async fn slice(
        folder: &Folder,
        head: Head,
        until: Option<Instant>,
        one: impl Fn(&Row) -> anyhow::Result<One>,
    ) -> (anyhow::Result<Slice>, Vec<String>) {
        let rows = rows(60);
        let checkpoint = Checkpoint::of(folder.open(), &head, &rows).expect("a checkpoint");
        let said = RefCell::new(Vec::new());
        let ended = ask(&checkpoint, head, rows, until, async |row| {
            said.borrow_mut().push(row.id.clone());
            one(&row)
        })
        .await;
        (ended, said.into_inner())
    }

    fn fails_at(id: &str) -> impl Fn(&Row) -> anyhow::Result<One> {
        move |row| {
            if row.id == id {
                bail!("the provider is away");
            }
            Ok(answer(row))
        }
    }

    #[tokio::test]
    async fn a_run_that_failed_goes_on_where_it_was_and_is_the_same_run() {
        let folder = Folder::of("resume");
        let (ended, _) = slice(&folder, head("h", 1_000), None, fails_at("q47")).await;
        let error = format!("{:#}", ended.expect_err("no run"));
        assert!(
            error.contains("47 answers are kept") && error.contains("the provider is away"),
            "{error}"
        );
        // Its hour is that of its first question.
        let (ended, said) = slice(&folder, head("h", 2_000), None, |row| Ok(answer(row))).await;
        assert_eq!(said.len(), 13, "{said:?}");
        let whole = Folder::of("whole");
        let (at_once, _) = slice(&whole, head("h", 1_000), None, |row| Ok(answer(row))).await;
        assert_eq!(ended.expect("a run"), at_once.expect("a run"));
    }

    #[tokio::test]
    async fn a_slice_ends_in_time_and_another_build_corpus_or_day_begins_anew() {
        let folder = Folder::of("time");
        let now = Some(Instant::now());
        for done in 1..3 {
            let (ended, said) = slice(&folder, head("h", 1_000), now, |row| Ok(answer(row))).await;
            assert_eq!(ended.expect("a slice"), Slice::Part { done, of: 60 });
            assert_eq!(said.len(), 1, "{said:?}");
        }
        let later = Some(Instant::now() + Duration::from_secs(600));
        for (head, anew) in [
            (head("h", 1_000 + 86_400), false),
            (head("h", 1_001 + 86_400), true),
            (head("other", 1_000), true),
        ] {
            let (ended, _) = slice(&folder, self::head("h", 1_000), later, fails_at("q30")).await;
            assert!(ended.is_err());
            let (_, said) = slice(&folder, head, later, fails_at("q59")).await;
            assert_eq!(said[0] == "q00", anew, "{said:?}");
            let _ = std::fs::remove_dir_all(&folder.0);
        }
    }

    #[tokio::test]
    async fn c295_c296_what_says_nothing_is_left_out_and_more_than_a_twentieth_of_it_voids_the_run()
    {
        let left_out = |most: usize| {
            move |row: &Row| {
                let n: usize = row.id[1..].parse().expect("a number");
                Ok(match n {
                    0 => One::Degraded("answered without the vector".into()),
                    n if n < most => One::LeftOut("stale: there is no page x.html".into()),
                    _ => answer(row),
                })
            }
        };
        let folder = Folder::of("few");
        let (ended, _) = slice(&folder, head("h", 1), None, left_out(3)).await;
        let Slice::Whole(run) = ended.expect("a run") else {
            panic!("a part")
        };
        assert_eq!((run.questions.len(), run.head.left_out.len()), (57, 3));
        let folder = Folder::of("many");
        let (ended, said) = slice(&folder, head("h", 1), None, left_out(4)).await;
        let error = format!("{:#}", ended.expect_err("no run"));
        assert!(
            error.contains("4 of 60 rows say nothing") && error.contains("q03: stale"),
            "{error}"
        );
        assert_eq!(said.len(), 4, "no more is asked in vain");
        // Once the pipeline is whole again, what was answered without a part of it is asked again.
        let (ended, said) = slice(&folder, head("h", 1), None, |row| Ok(answer(row))).await;
        assert_eq!((said.len(), said[0].as_str()), (57, "q00"));
        assert!(matches!(ended.expect("a run"), Slice::Whole(run) if run.head.left_out.len() == 3));
    }
}

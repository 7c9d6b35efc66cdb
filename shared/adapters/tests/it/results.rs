//! Results in a folder, and in a bucket of a server that speaks S3's protocol: `TEST_S3_URL`, which `scripts/test` starts.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use adapters::results::{Results, ResultsError};

/// A path where nothing is yet, removed with what came there.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("sourced-results-{}", unique())))
    }

    fn results(&self) -> Results {
        Results::open(self.0.to_str().unwrap(), None).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn unique() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

fn s3_url() -> String {
    std::env::var("TEST_S3_URL").unwrap_or_else(|_| {
        panic!("TEST_S3_URL is not set: run scripts/test, which starts a server")
    })
}

/// A bucket of the test's own.
async fn bucket() -> String {
    let name = format!("results-{}", unique());
    // This client alone takes the process's provider of TLS, though it speaks none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let made = reqwest::Client::new()
        .put(format!("{}/{name}", s3_url()))
        .send()
        .await
        .unwrap();
    assert!(made.status().is_success(), "{}", made.status());
    name
}

/// What holds of either kind of store.
async fn check(results: &Results) {
    assert_eq!(results.get("latest.json").await.unwrap(), None);
    results.delete("latest.json").await.unwrap();
    results.put("latest.json", "{\"runs\":[]}").await.unwrap();
    let rows: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    results
        .put("a-run/rows/1.json", rows.clone())
        .await
        .unwrap();
    assert_eq!(
        results.get("latest.json").await.unwrap().unwrap(),
        b"{\"runs\":[]}"
    );
    assert_eq!(results.get("a-run/rows/1.json").await.unwrap(), Some(rows));
    results.put("latest.json", "{}").await.unwrap();
    assert_eq!(results.get("latest.json").await.unwrap().unwrap(), b"{}");
    for absent in [
        "a-run",
        "a-run/rows",
        "a-run/rows/2.json",
        "latest.json/rows/1.json",
    ] {
        assert_eq!(results.get(absent).await.unwrap(), None, "{absent}");
    }
    results.delete("latest.json").await.unwrap();
    results.delete("latest.json").await.unwrap();
    assert_eq!(results.get("latest.json").await.unwrap(), None);
    for name in [
        "",
        "..",
        "../latest.json",
        "a-run/../../x",
        "/latest.json",
        "a//b",
        ".x",
        "a b",
    ] {
        for refused in [
            results.get(name).await.map(|_| ()),
            results.put(name, "x").await,
            results.delete(name).await,
        ] {
            assert!(
                matches!(refused, Err(ResultsError::Name(_))),
                "{name}: {refused:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_folder_keeps_results() {
    let scratch = Scratch::new();
    check(&scratch.results()).await;
}

#[tokio::test]
async fn a_bucket_keeps_results() {
    let bucket = bucket().await;
    for prefix in ["", "/eval", "/eval/postgresql-17/"] {
        let location = format!("s3://{bucket}{prefix}");
        check(&Results::open(&location, Some(&s3_url())).unwrap()).await;
    }
}

#[tokio::test]
async fn what_has_another_prefix_is_apart() {
    let bucket = bucket().await;
    let open = |prefix| Results::open(&format!("s3://{bucket}/{prefix}"), Some(&s3_url())).unwrap();
    open("one").put("latest.json", "1").await.unwrap();
    assert_eq!(open("two").get("latest.json").await.unwrap(), None);
    let whole = Results::open(&format!("s3://{bucket}"), Some(&s3_url())).unwrap();
    assert!(whole.get("one/latest.json").await.unwrap().is_some());
}

#[tokio::test]
async fn a_folder_is_made_by_the_first_put_alone() {
    let scratch = Scratch::new();
    let results = scratch.results();
    assert_eq!(results.get("latest.json").await.unwrap(), None);
    results.delete("latest.json").await.unwrap();
    assert!(!scratch.0.exists());
    results.put("latest.json", "{}").await.unwrap();
    assert!(scratch.0.join("latest.json").is_file());
}

/// A bucket that is not there holds nothing, but saying so would hide a wrong setting.
#[tokio::test]
async fn a_bucket_that_is_not_there_is_no_empty_one() {
    let results = Results::open("s3://nobody-made-this", Some(&s3_url())).unwrap();
    for refused in [
        results.get("latest.json").await.map(|_| ()),
        results.put("latest.json", "{}").await,
        results.delete("latest.json").await,
    ] {
        let told = refused.unwrap_err().to_string();
        assert!(told.contains("nobody-made-this does not exist"), "{told}");
    }
}

#[tokio::test]
async fn a_store_that_is_away_is_not_empty_and_not_named() {
    // Port 9 discards: nothing listens there.
    let away = Results::open("s3://results/eval", Some("http://127.0.0.1:9")).unwrap();
    let error = away.get("latest.json").await.unwrap_err();
    assert!(matches!(error, ResultsError::Unavailable(_)), "{error:?}");
    assert!(!error.to_string().contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn a_file_in_the_folders_place_takes_nothing() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, "a file").unwrap();
    let told = scratch.results().put("latest.json", "{}").await;
    assert!(
        matches!(told, Err(ResultsError::Unavailable(_))),
        "{told:?}"
    );
    std::fs::remove_file(&scratch.0).unwrap();
    assert!(!Path::new(&scratch.0).exists());
}

#[test]
fn what_is_neither_folder_nor_bucket_is_told() {
    let told = Results::open("gs://results", None).unwrap_err().to_string();
    assert!(told.contains("s3://BUCKET"), "{told}");
}

//! The page in a real browser: asking, following a mark to its words, and following a link to the words in their page.
//!
//! Chromium and its driver are Debian's; each test has a driver of its own, on a port the driver chooses.

use std::process::Stdio;
use std::time::Duration;

use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::client::{answer, service};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than a page takes to be laid out and scrolled.
const SCROLLING: Duration = Duration::from_secs(5);

/// How often a page is opened at its words.
const TRIES: usize = 4;

/// How often a driver is started until it has a port.
const STARTS: usize = 5;

pub(crate) struct Browser {
    pub(crate) client: Client,
    _driver: Child,
}

impl Browser {
    pub(crate) async fn open() -> Self {
        let (driver, port) = driver().await;
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--window-size=1000,700",
        ];
        let capabilities = json!({ "goog:chromeOptions": { "args": arguments } });
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.as_object().unwrap().clone())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a browser");
        Self {
            client,
            _driver: driver,
        }
    }

    pub(crate) async fn script(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// Types a question into the page that is open, sends it, and waits until its answer is over.
    pub(crate) async fn ask(&self, question: &str) {
        let page = &self.client;
        let field = page.find(Locator::Css("#question")).await.unwrap();
        field.clear().await.unwrap();
        field.send_keys(question).await.unwrap();
        let send = page.find(Locator::Css("#send")).await.unwrap();
        send.click().await.unwrap();
        self.answered().await;
    }

    /// Waits until the answer on the page is over.
    async fn answered(&self) {
        self.client
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::Css(".result[aria-busy=false]"))
            .await
            .expect("the answer's end");
    }

    /// How far below the window's top the words come to rest: within `height`, or wherever they are when time is up.
    async fn comes_to(&self, quote: &str, height: f64) -> f64 {
        let deadline = tokio::time::Instant::now() + SCROLLING;
        loop {
            let place = words_at(self, quote).await;
            if (-1.0..height).contains(&place) || tokio::time::Instant::now() > deadline {
                return place;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Opens an address anew, also when only its fragment differs from the one before.
    async fn open_page(&self, url: &str) {
        self.client.goto("about:blank").await.unwrap();
        self.client.goto(url).await.unwrap();
    }
}

/// A driver and its port. It takes any free port of 127.0.0.1 and then wants the same one of ::1, where another program
/// may have it; it ends then, and the next try gets another port.
async fn driver() -> (Child, String) {
    for _ in 0..STARTS {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .expect("chromedriver: apt-get install chromium chromium-driver");
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some((_, port)) = line.split_once("successfully on port ") {
                return (driver, port.trim_end_matches('.').to_owned());
            }
            eprintln!("chromedriver: {line}");
        }
    }
    panic!("chromedriver named no port in {STARTS} starts");
}

#[tokio::test]
async fn a_suggested_question_is_asked_with_a_click() {
    let browser = Browser::open().await;
    let page = &browser.client;
    page.goto(&service()).await.unwrap();
    let suggestion = page
        .wait()
        .at_most(PATIENCE)
        .for_element(Locator::Css("#suggestions li button"))
        .await
        .expect("a suggestion");
    let question = suggestion.text().await.unwrap();
    suggestion.click().await.unwrap();
    browser.answered().await;
    let marks = page
        .find_all(Locator::Css(".sentence .mark"))
        .await
        .unwrap();
    assert!(!marks.is_empty(), "{question}");
    let state = "const box = document.querySelector('#question');
        return {asked: box.value, focused: document.activeElement === box, hidden: document.querySelector('#suggestions').hidden};";
    let state = browser.script(state).await;
    assert_eq!(
        state,
        serde_json::json!({"asked": question, "focused": true, "hidden": true})
    );
    browser.client.clone().close().await.unwrap();
}

#[tokio::test]
async fn a_visitor_asks_and_follows_a_mark_to_its_words() {
    let browser = Browser::open().await;
    let page = &browser.client;
    page.goto(&service()).await.unwrap();
    browser
        .ask("What is the default value of max_wal_size?")
        .await;
    // Not `text()`: it leaves out what is still fading in.
    let text = browser
        .script("return document.querySelector('.answer .text').textContent")
        .await;
    assert!(text.as_str().unwrap().contains("1 GB"), "{text}");
    page.find(Locator::Css(".sentence .mark"))
        .await
        .unwrap()
        .click()
        .await
        .unwrap();
    let words = page
        .wait()
        .at_most(PATIENCE)
        .for_element(Locator::Css(".passage-text mark"))
        .await
        .expect("the quote, marked");
    assert!(!words.text().await.unwrap().trim().is_empty());
    let link = page
        .find(Locator::Css("details[open] .tools a"))
        .await
        .expect("the source's link");
    let href = link.attr("href").await.unwrap().unwrap();
    assert!(
        href.starts_with("http") && href.contains(":~:text="),
        "{href}"
    );
    browser.client.clone().close().await.unwrap();
}

#[tokio::test]
async fn a_link_scrolls_to_the_quoted_words() {
    let mut tried = 0;
    let browser = Browser::open().await;
    for question in [
        "What is the default value of max_wal_size?",
        "How does wal_compression affect performance?",
        "What does checkpoint_timeout do?",
    ] {
        let (_, events) = answer(question).await;
        for event in events.iter().filter(|event| event.name == "sentence") {
            let citation = &event.data["citations"][0];
            let url = citation["url"].as_str().unwrap();
            let (page, fragment) = url.split_once('#').unwrap();
            let document = page.rsplit('/').next().unwrap();
            let (_, directive) = fragment.split_once(":~:").expect("a text fragment");
            // The same page from this service, so that no other machine is asked; without the anchor, so that only the
            // words can have moved it.
            let local = format!("{}sources/{document}", service());
            browser.open_page(&local).await;
            let measure = "return [window.scrollY, window.innerHeight]";
            let (top, height) =
                serde_json::from_value::<(f64, f64)>(browser.script(measure).await).unwrap();
            assert_eq!(top, 0.0, "{local} scrolls without a fragment");
            let quote = citation["quote"].as_str().unwrap();
            let mut place = f64::MAX;
            // A browser looks for the words only while a page loads, and gives up early on a busy machine.
            for _ in 0..TRIES {
                browser.open_page(&format!("{local}#:~:{directive}")).await;
                place = browser.comes_to(quote, height).await;
                if (-1.0..height).contains(&place) {
                    break;
                }
            }
            assert!(
                (-1.0..height).contains(&place),
                "{url}: the words are {place} below the window's top of {height}"
            );
            let scrolled = browser
                .script("return window.scrollY")
                .await
                .as_f64()
                .unwrap();
            tried += usize::from(scrolled > 0.0);
        }
    }
    assert!(tried > 0, "no words were far enough down to scroll to");
    browser.client.clone().close().await.unwrap();
}

/// How far below the window's top the nearest element that holds the quote's words is.
async fn words_at(browser: &Browser, quote: &str) -> f64 {
    let script = "
        const letters = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}]/gu, '');
        const wanted = letters(arguments[0]);
        const holding = [...document.querySelectorAll('main *')].filter((e) => letters(e.textContent).includes(wanted));
        const tops = holding.filter((e) => !holding.some((inner) => inner !== e && e.contains(inner)))
            .map((e) => e.getBoundingClientRect()).map((box) => box.bottom < 0 ? box.bottom : Math.max(0, box.top));
        return tops.sort((a, b) => Math.abs(a) - Math.abs(b))[0] ?? null;";
    let place = browser
        .client
        .execute(script, vec![json!(quote)])
        .await
        .unwrap();
    place
        .as_f64()
        .unwrap_or_else(|| panic!("the page does not hold {quote:?}"))
}

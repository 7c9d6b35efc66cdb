//! Streams as servers write them, from whole to barely legible.

use adapters::model::TokenUsage;
use adapters::provider::{Finish, Parameters, TokenLimit};
use serde_json::json;
use testing::provider::openai::{answer, chunk, comment, delta, done, event, finish, usage};
use testing::{Reply, ScriptedProvider};

use super::{KEY, Told, model, provider, request, told, told_of};

fn counted(input: u64, output: u64) -> Option<TokenUsage> {
    Some(TokenUsage {
        input,
        output,
        ..TokenUsage::default()
    })
}

async fn check(frames: Vec<String>, text: &str) -> Told {
    let told = told_of(Reply::sse(frames)).await;
    assert_eq!((told.text.as_str(), &told.end), (text, &Ok(Finish::Stop)));
    told
}

#[tokio::test]
async fn asks_as_the_interface_has_it() {
    let server = ScriptedProvider::start(vec![Reply::sse(answer(&["Yes", "."]))]).await;
    let told = told(&model(&server)).await;
    assert_eq!(told.text, "Yes.");
    assert_eq!(told.end, Ok(Finish::Stop));
    assert_eq!(told.spent.usage, counted(100, 20));
    assert_eq!(told.spent.prompt_chars, request().chars());
    let requests = server.requests();
    let [sent] = requests.as_slice() else {
        unreachable!("one call")
    };
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(
        sent.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(
        sent.body,
        json!({
            "model": "some-model",
            "messages": [
                { "role": "system", "content": "Answer from the passages." },
                { "role": "user", "content": "What is WAL?" },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
            "max_tokens": 500,
            "temperature": 0.0,
        })
    );
}

#[tokio::test]
async fn c060_a_cut_at_any_byte_changes_nothing() {
    let text = "na\u{ef}ve \u{2192} \u{1f600}";
    let whole = Reply::sse([chunk(text), done()]);
    let length = whole.body().len();
    let replies = (0..=length).map(|at| whole.clone().cut_at(at)).collect();
    let server = ScriptedProvider::start(replies).await;
    let model = model(&server);
    for at in 0..=length {
        let told = told(&model).await;
        assert_eq!(
            (told.text.as_str(), told.end),
            (text, Ok(Finish::Stop)),
            "{at}"
        );
    }
    assert_eq!(server.remaining(), 0);
}

#[tokio::test]
async fn c060_every_byte_may_come_alone() {
    let text = "na\u{ef}ve \u{2192} \u{1f600}";
    let whole = Reply::sse([chunk(text), finish("stop"), done()]);
    let cuts: Vec<usize> = (1..whole.body().len()).collect();
    let told = told_of(whole.cut_at_each(&cuts)).await;
    assert_eq!((told.text.as_str(), told.end), (text, Ok(Finish::Stop)));
}

#[tokio::test]
async fn c061_any_line_ending_ends_a_line_wherever_it_is_cut() {
    let frames = [chunk("one "), chunk("two"), finish("stop"), done()].concat();
    for ending in ["\n", "\r\n", "\r"] {
        let whole = Reply::sse([frames.replace('\n', ending)]);
        let length = whole.body().len();
        let replies = (0..=length).map(|at| whole.clone().cut_at(at)).collect();
        let server = ScriptedProvider::start(replies).await;
        let model = model(&server);
        for at in 0..=length {
            let told = told(&model).await;
            assert_eq!(
                (told.text.as_str(), told.end),
                ("one two", Ok(Finish::Stop)),
                "{ending:?} {at}"
            );
        }
    }
}

#[tokio::test]
async fn c065_events_without_choices_are_read_and_passed_over() {
    let preamble =
        event(&json!({ "choices": [], "prompt_filter_results": [{ "prompt_index": 0 }] }));
    let told = check(
        vec![
            preamble,
            chunk("Yes"),
            chunk("."),
            finish("stop"),
            usage(7, 2),
            done(),
        ],
        "Yes.",
    )
    .await;
    assert_eq!(told.spent.usage, counted(7, 2));
}

#[tokio::test]
async fn c066_of_cumulative_usage_the_last_counts() {
    let with_usage = |text: &str, output: u64| {
        event(&json!({
            "choices": [{ "index": 0, "delta": { "content": text } }],
            "usage": { "prompt_tokens": 5, "completion_tokens": output },
        }))
    };
    let frames = vec![
        with_usage("a", 10),
        with_usage("b", 50),
        with_usage("c", 100),
        finish("stop"),
        event(&json!({ "choices": [], "usage": null })),
        event(&json!({ "choices": [], "usage": { "prompt_tokens": 0, "completion_tokens": 0 } })),
        done(),
    ];
    assert_eq!(check(frames, "abc").await.spent.usage, counted(5, 100));
}

#[tokio::test]
async fn usage_tells_cached_and_reasoning_tokens() {
    let counts = json!({
        "prompt_tokens": 90,
        "completion_tokens": 40,
        "prompt_tokens_details": { "cached_tokens": 64, "audio_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": 30 },
    });
    let frames = vec![
        chunk("Yes."),
        finish("stop"),
        event(&json!({ "choices": [], "usage": counts })),
        done(),
    ];
    let expected = TokenUsage {
        input: 90,
        cached_input: 64,
        output: 40,
        reasoning: 30,
    };
    assert_eq!(check(frames, "Yes.").await.spent.usage, Some(expected));
}

#[tokio::test]
async fn c067_empty_deltas_are_no_text() {
    let frames = vec![
        delta(&json!({ "role": "assistant", "content": null })),
        delta(&json!({ "content": "" })),
        delta(&json!({})),
        delta(&json!(null)),
        event(&json!({ "choices": [{ "index": 0, "finish_reason": null }] })),
        event(&json!({ "choices": null })),
        event(&json!({})),
        "event: ping\n\n".to_owned(),
        "data:\n\n".to_owned(),
        delta(&json!({ "reasoning_content": "Let me think." })),
        chunk("Yes."),
        finish("stop"),
        done(),
    ];
    check(frames, "Yes.").await;
}

#[tokio::test]
async fn c073_a_finish_reason_or_done_completes_a_text() {
    check(vec![chunk("Yes."), finish("stop")], "Yes.").await;
    check(vec![chunk("Yes."), done()], "Yes.").await;
    let unended = finish("stop").trim_end().to_owned();
    check(vec![chunk("Yes."), unended], "Yes.").await;
    check(vec![chunk("Yes."), finish("eos_token"), done()], "Yes.").await;
    // The connection may break once the text is whole.
    for reply in [
        Reply::sse([chunk("Yes."), finish("stop")]).closing(),
        Reply::sse([chunk("Yes."), finish("stop")])
            .wait(std::time::Duration::from_millis(20))
            .resetting(),
    ] {
        let told = told_of(reply).await;
        assert_eq!((told.text.as_str(), told.end), ("Yes.", Ok(Finish::Stop)));
    }
}

#[tokio::test]
async fn text_may_come_in_parts_between_reasoning() {
    let frames = vec![
        delta(
            &json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }] }),
        ),
        delta(
            &json!({ "content": [{ "type": "text", "text": "Yes" }, { "type": "text", "text": "." }] }),
        ),
        finish("stop"),
        done(),
    ];
    check(frames, "Yes.").await;
}

#[tokio::test]
async fn what_follows_done_is_not_read() {
    check(vec![chunk("Yes."), done(), chunk(" No.")], "Yes.").await;
}

#[tokio::test]
async fn c077_a_text_cut_short_says_so() {
    let frames = [chunk("The default is 1 GB [P"), finish("length"), done()];
    let told = told_of(Reply::sse(frames)).await;
    assert_eq!(told.text, "The default is 1 GB [P");
    assert_eq!(told.end, Ok(Finish::Length));
}

#[tokio::test]
async fn only_the_first_text_is_read() {
    let second = event(&json!({ "choices": [{ "index": 1, "delta": { "content": "Other." } }] }));
    check(vec![chunk("Yes"), second, chunk("."), done()], "Yes.").await;
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_whole() {
    let whole = json!({
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "Yes." }, "finish_reason": "length" }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 2 },
    });
    let told = told_of(Reply::json(&whole)).await;
    assert_eq!((told.text.as_str(), told.end), ("Yes.", Ok(Finish::Length)));
    assert_eq!(told.spent.usage, counted(7, 2));
}

#[tokio::test]
async fn c079_a_model_gets_the_parameters_it_takes() {
    let picky = || Reply::sse(answer(&["Yes."])).refusing(&["max_tokens", "temperature"]);
    let server = ScriptedProvider::start(vec![picky(), picky(), picky()]).await;

    let known = adapters::provider::ChatModel::new(provider(&server), "o4-mini");
    assert_eq!(told(&known).await.end, Ok(Finish::Stop));

    let configured = model(&server).with_parameters(Parameters {
        token_limit: TokenLimit::MaxCompletionTokens,
        temperature: None,
        ..Parameters::of("some-model")
    });
    assert_eq!(told(&configured).await.end, Ok(Finish::Stop));

    // Without them the call is rejected, once.
    let told = told(&model(&server)).await;
    assert_eq!(
        told.end.map_err(|error| error.to_string()),
        Err("the provider rejected the call: it answered with an error, status 400, unsupported_parameter".to_owned())
    );
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    // Reasoning is paid out of the same limit, so that it is raised by what reasoning may take.
    assert_eq!(requests[0].body["max_completion_tokens"], 500 + 4_096);
    assert_eq!(requests[1].body["max_completion_tokens"], 500);
}

#[tokio::test]
async fn c087_who_leaves_early_knows_what_was_used() {
    let reply = Reply::sse([chunk("one "), chunk("two "), chunk("dr\u{e9}i ")])
        .wait(super::LONG)
        .then(usage(9, 9));
    let server = ScriptedProvider::start(vec![reply]).await;
    let mut stream = model(&server)
        .start(&request(), super::soon())
        .await
        .unwrap();
    for _ in 0..3 {
        stream.next().await.unwrap().unwrap();
    }
    let spent = stream.spent();
    assert_eq!(spent.prompt_chars, request().chars());
    assert_eq!(spent.text_chars, "one two dr\u{e9}i ".chars().count());
    assert_eq!(spent.usage, None);
    drop(stream);
    // The provider is told to stop writing: its connection is closed.
    server.abandoned(1).await;
}

#[tokio::test]
async fn a_comment_between_events_is_passed_over() {
    check(
        vec![
            comment("hello"),
            chunk("Yes"),
            comment("keep-alive"),
            chunk("."),
            done(),
        ],
        "Yes.",
    )
    .await;
}

//! Pages of every format, read from folders of their own; the real manual is read too.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::chunk::{ChunkPolicy, chunk_document};
use domain::document::BlockKind::{self, Code, ListItem, Prose, TableHeader, TableRow, Term};
use domain::document::{Document, Section};
use domain::sentence;

use super::{Manifest, SourceError, SourceProblem, html, load};

/// An empty folder that no other test uses.
pub(super) fn temporary_folder(name: &str) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let unique = format!(
        "sourced-{name}-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let folder = std::env::temp_dir().join(unique);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn corpus(files: &[(&str, &[u8])]) -> Manifest {
    let folder = temporary_folder("corpus");
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    Manifest {
        name: "own".into(),
        title: "Own".into(),
        version: "1".into(),
        base_url: None,
        licence: "MIT".into(),
        text_search: "english".into(),
        refusal: "It is not here.".into(),
        folder,
        pages: None,
        suggestions: Vec::new(),
    }
}

fn load_one(name: &str, content: &str) -> Document {
    let mut documents = load(&corpus(&[(name, content.as_bytes())]));
    assert_eq!(documents.len(), 1);
    let document = documents.remove(0).unwrap();
    assert_blocks_are_page_text(&document);
    document
}

/// The promise all links to the words of a page rest on.
fn assert_blocks_are_page_text(document: &Document) {
    let page: Vec<char> = document.page_text.chars().collect();
    let mut end = 0;
    for block in document.sections.iter().flat_map(|section| &section.blocks) {
        assert!(
            block.page_offset >= end,
            "{}: blocks overlap or go back at {:?}",
            document.id,
            block.text
        );
        end = block.page_offset + block.text.chars().count();
        let on_page: String = page[block.page_offset..end].iter().collect();
        assert_eq!(block.text, on_page, "{}", document.id);
        assert!(
            !block.text.trim().is_empty(),
            "{}: a block without text",
            document.id
        );
    }
}

fn blocks(document: &Document) -> Vec<(BlockKind, &str)> {
    document
        .sections
        .iter()
        .flat_map(|s| &s.blocks)
        .map(|block| (block.kind, block.text.as_str()))
        .collect()
}

#[track_caller]
fn check(body: &str, expected: &[(BlockKind, &str)]) {
    let document = load_one(
        "page.html",
        &format!("<html><head><title>Page</title></head><body>{body}</body></html>"),
    );
    assert_eq!(blocks(&document), expected);
}

fn section<'a>(document: &'a Document, anchor: &str) -> &'a Section {
    document
        .sections
        .iter()
        .find(|section| section.anchor == anchor)
        .unwrap()
}

#[test]
fn c230_keeps_code_whitespace() {
    check(
        "<pre class=\"programlisting\">\nCREATE TABLE t (\n    a int,\n\n    b text\n);</pre>",
        &[(Code, "CREATE TABLE t (\n    a int,\n\n    b text\n);")],
    );
    check(
        "<pre><code>  x\n  <em>y</em>\n\n</code></pre>",
        &[(Code, "  x\n  y")],
    );
    check(
        "<p>See</p><pre>\n\n   first<br>second\t1\r\n</pre>",
        &[(Prose, "See"), (Code, "   first\nsecond\t1")],
    );
}

#[test]
fn c232_blocks_break_and_inline_tags_do_not() {
    check(
        "<p>first</p><p>second</p>",
        &[(Prose, "first"), (Prose, "second")],
    );
    check("<p>foo<br/>bar</p>", &[(Prose, "foo\nbar")]);
    check("<p><code>a</code><code>b</code></p>", &[(Prose, "ab")]);
    check(
        "<p><em class=\"replaceable\"><code>n</code></em>'th</p>",
        &[(Prose, "n'th")],
    );
    check("<p> a\n   <b> b </b> c</p>", &[(Prose, "a b c")]);
    check(
        "<div>loose<p>par</p>after</div>",
        &[(Prose, "loose"), (Prose, "par"), (Prose, "after")],
    );
    let document = load_one("page.html", "<body><p>first</p><p>second</p></body>");
    assert_eq!(document.page_text, "first\nsecond");
}

const DOCBOOK: &str = r##"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>7.2. Tides</title></head><body id="docContent">
<div class="navheader"><table summary="Navigation header"><tr><th colspan="5">7.2. Tides</th></tr>
<tr><td><a href="p.html">Prev</a> </td><td><a href="u.html">Up</a></td><th>Chapter 7. Seas</th><td><a href="i.html">Home</a></td>
<td> <a href="n.html">Next</a></td></tr></table><hr /></div>
<div class="sect1" id="TIDES"><div class="titlepage"><div><div><h2 class="title">7.2. Tides <a href="#TIDES" class="id_link">#</a></h2></div></div></div>
<div class="toc"><dl class="toc"><dt><span class="sect2"><a href="#TIDES-HIGH">7.2.1. High Tide</a></span></dt></dl></div>
<a id="id-1.2.3" class="indexterm"></a><p>Tides come twice.</p>
<div class="sect2" id="TIDES-HIGH"><div class="titlepage"><div><div><h3 class="title">7.2.1. High Tide <a href="#TIDES-HIGH" class="id_link">#</a></h3></div></div></div>
<div class="variablelist"><dl class="variablelist"><dt id="TIDE-MAX-LEVEL"><span class="term"><code class="varname">max_level</code> (<code class="type">integer</code>)
  <a id="id-1.6.7.1.2" class="indexterm"></a>
  </span> <a href="#TIDE-MAX-LEVEL" class="id_link">#</a></dt><dd><p>
    The highest   level.<a href="#ftn.id-1.9" class="footnote"><sup class="footnote" id="id-1.9">[5]</sup></a>
    </p><div class="note"><h3 class="title">Note</h3><p>Seen in spring.</p></div></dd>
<dt><span class="term"><code>a</code><br /></span><span class="term"><code>b</code></span></dt><dd><p>Two names.</p></dd></dl></div>
<div class="sect3" id="id-1.2.3.4"><div class="titlepage"><div><div><h4 class="title">7.2.1.1. Spring</h4></div></div></div><p>Deep.</p></div>
</div></div>
<div class="footnotes"><br /><hr /><div id="ftn.id-1.9" class="footnote"><p><a href="#id-1.9" class="para"><sup class="para">[5] </sup></a> A footnote.</p></div></div>
<div class="navfooter"><hr /><table summary="Navigation footer"><tr><td><a href="p.html">Prev</a> </td><td>Up</td><td><a href="n.html">Next</a></td></tr></table></div>
</body></html>"##;

#[test]
fn c231_a_sentence_belongs_to_one_section() {
    let document = load_one("tides.html", DOCBOOK);
    let headings: Vec<_> = document
        .sections
        .iter()
        .map(|s| (s.heading.join(" > "), s.anchor.as_str()))
        .collect();
    assert_eq!(
        headings,
        [
            ("7.2. Tides".to_owned(), "TIDES"),
            ("7.2. Tides > 7.2.1. High Tide".to_owned(), "TIDES-HIGH"),
            (
                "7.2. Tides > 7.2.1. High Tide > 7.2.1.1. Spring".to_owned(),
                ""
            ),
        ]
    );
    assert_eq!(document.sections[0].blocks.len(), 1);
}

#[test]
fn c234_anchors_are_stable_ids_in_their_own_case() {
    let document = load_one("tides.html", DOCBOOK);
    let blocks = &section(&document, "TIDES-HIGH").blocks;
    assert_eq!(
        (blocks[0].kind, blocks[0].text.as_str()),
        (Term, "max_level (integer)")
    );
    assert_eq!(blocks[0].anchor.as_deref(), Some("TIDE-MAX-LEVEL"));
    assert!(blocks[1..].iter().all(|block| block.anchor.is_none()));
    assert_eq!((blocks[4].kind, blocks[4].text.as_str()), (Term, "a\nb"));
    let stored = serde_json::to_string(&document.sections).unwrap();
    assert!(!stored.contains("id-1"), "{stored}");
}

#[test]
fn c235_navigation_is_on_the_page_but_in_no_block() {
    let document = load_one("tides.html", DOCBOOK);
    assert!(document.page_text.starts_with(
        "7.2. Tides\nPrev\tUp\tChapter 7. Seas\tHome\tNext\n7.2. Tides\n7.2.1. High Tide\n"
    ));
    for (_, text) in blocks(&document) {
        for junk in [
            "Prev",
            "Next",
            "Home",
            "7.2.1. High Tide",
            "footnote",
            "[5]",
            "#",
        ] {
            assert!(!text.contains(junk), "{text:?} has {junk:?}");
        }
    }
    assert!(
        document
            .page_text
            .contains("The highest level.\nNote\nSeen in spring.")
    );
}

#[test]
fn c237_admonitions_do_not_start_sections() {
    let document = load_one("tides.html", DOCBOOK);
    let texts: Vec<_> = section(&document, "TIDES-HIGH")
        .blocks
        .iter()
        .map(|b| (b.kind, b.text.as_str()))
        .collect();
    assert_eq!(
        texts[1..4],
        [
            (Prose, "The highest level."),
            (Prose, "Note"),
            (Prose, "Seen in spring.")
        ]
    );
}

#[test]
fn reference_pages_begin_with_their_purpose_and_synopsis() {
    let page = r##"<body><div class="refentry" id="CMD-ROW"><div class="titlepage"></div><a id="id-1.9" class="indexterm"></a>
        <div class="refnamediv"><h2><span class="refentrytitle">ROW</span></h2><p>ROW — pull the oars</p></div>
        <div class="refsynopsisdiv"><h2>Synopsis</h2><pre class="synopsis">
ROW [ FAST ]
</pre></div><div class="refsect1" id="id-1.9.5"><h2>Description</h2><p>It pulls.</p>
        <div class="refsect2" id="CMD-ROW-FAST"><h3>Fast Rowing <a href="#CMD-ROW-FAST" class="id_link">#</a></h3><p>Twice.</p></div></div></div></body>"##;
    let document = load_one("row.html", page);
    assert_eq!(document.title, "ROW");
    let sections: Vec<_> = document
        .sections
        .iter()
        .map(|s| (s.heading.join(" > "), s.anchor.as_str(), s.blocks.len()))
        .collect();
    assert_eq!(
        sections,
        [
            ("ROW".to_owned(), "CMD-ROW", 2),
            ("ROW > Description".to_owned(), "", 1),
            (
                "ROW > Description > Fast Rowing".to_owned(),
                "CMD-ROW-FAST",
                1
            ),
        ]
    );
    assert_eq!(
        blocks(&document)[..2],
        [(Prose, "ROW — pull the oars"), (Code, "ROW [ FAST ]")]
    );
}

#[test]
fn c242_a_section_of_sections_is_heading_only() {
    let document = load_one(
        "p.html",
        r#"<body><div class="sect1" id="A"><div class="titlepage"><h2 class="title">A</h2></div>
        <div class="sect2" id="B"><div class="titlepage"><h3 class="title">B</h3></div><p>Text.</p></div></div></body>"#,
    );
    assert_eq!(document.sections.len(), 1);
    assert_eq!(document.sections[0].heading, ["A", "B"]);
}

#[test]
fn tables_give_a_header_and_rows() {
    check(
        r#"<table><caption>Sizes</caption><thead><tr><th>Name</th><th>Size</th></tr></thead>
        <tbody><tr><td>log</td><td></td><td>1</td></tr><tr><td><p>a</p><p>b</p></td><td>2</td></tr></tbody></table><p>End.</p>"#,
        &[
            (Prose, "Sizes"),
            (TableHeader, "Name\tSize"),
            (TableRow, "log\t\t1"),
            (TableRow, "a\nb\t2"),
            (Prose, "End."),
        ],
    );
    check(
        "<table><tr><th>k</th><th>v</th></tr><tr><th>x</th><td>1<pre>\n  two\n   lines</pre>end</td></tr></table>",
        &[
            (TableHeader, "k\tv"),
            (TableRow, "x\t1\n  two\n   lines\nend"),
        ],
    );
    check(
        r#"<table class="simplelist"><tr><td>ONE</td><td>TWO</td></tr></table>"#,
        &[(ListItem, "ONE"), (ListItem, "TWO")],
    );
    check(
        r#"<table><tr><td><h2 id="s">Layout</h2><p>Text.</p></td><td><p>More.</p></td></tr></table>"#,
        &[(Prose, "Text."), (Prose, "More.")],
    );
}

#[test]
fn c248_entities_are_decoded_once() {
    check(
        "<p>a&nbsp;b &mdash; it&#8217;s &#x2192; &amp;lt; &hellip; &foo; c&shy;d</p>",
        &[(Prose, "a b — it’s → &lt; … &foo; cd")],
    );
}

#[test]
fn c249_nested_lists_keep_order_and_bounds() {
    check(
        "<ol><li>one<ul><li><p>one a</p><p>more</p><dl><dt>t</dt><dd>d<ol><li>deep</li></ol></dd></dl></li></ul>rest</li><li>two</li></ol>",
        &[
            (ListItem, "one"),
            (ListItem, "one a"),
            (Prose, "more"),
            (Term, "t"),
            (Prose, "d"),
            (ListItem, "deep"),
            (Prose, "rest"),
            (ListItem, "two"),
        ],
    );
    let document = load_one(
        "steps.md",
        "# Steps\n\n1. Stop it.\n2. Copy it:\n   - all\n   - of it\n3. Start it.\n",
    );
    assert_eq!(
        blocks(&document),
        [
            (ListItem, "1. Stop it."),
            (ListItem, "2. Copy it:"),
            (ListItem, "all"),
            (ListItem, "of it"),
            (ListItem, "3. Start it."),
        ]
    );
}

#[test]
fn ordinary_html_has_sections_by_heading() {
    let page = r##"<html><head><title>Hours | Harbour</title><style>p { color: red }</style></head><body>
        <header>Harbour</header><nav><a href="/">Home</a></nav>
        <main><h1>Opening Hours</h1><p>Every day.</p>
        <section id="summer"><h2>Summer <a class="headerlink" href="#summer">¶</a></h2><p>From six.</p><h3 id="Night">Night</h3><p>Until two.</p></section>
        <h2><a name="winter"></a>Winter</h2><p hidden>Secret.</p><p style="display: none">Gone.</p><p>From eight.</p>
        <script>alert(1)</script><aside>Bring a coat.</aside></main><footer>Imprint</footer></body></html>"##;
    let document = load_one("hours.html", page);
    assert_eq!(document.title, "Opening Hours");
    let sections: Vec<_> = document
        .sections
        .iter()
        .map(|s| (s.heading.join(" > "), s.anchor.as_str(), s.blocks.len()))
        .collect();
    assert_eq!(
        sections,
        [
            ("Opening Hours".to_owned(), "", 1),
            ("Opening Hours > Summer".to_owned(), "summer", 1),
            ("Opening Hours > Summer > Night".to_owned(), "Night", 1),
            ("Opening Hours > Winter".to_owned(), "winter", 2),
        ]
    );
    assert!(
        document
            .page_text
            .starts_with("Harbour\nHome\nOpening Hours\n")
    );
    assert!(document.page_text.ends_with("Bring a coat.\nImprint"));
    assert!(
        !document.page_text.contains("Secret")
            && !document.page_text.contains("Gone")
            && !document.page_text.contains("alert")
    );
}

#[test]
fn markdown_has_front_matter_sections_and_anchors() {
    let text = "---\ntitle: \"Notice\"\ndepartment: HR\ntags:\n  - leaving\n  - staff\n# a comment\n---\n\nIntro *with* `code`\nand more.\n\n## How long?\n\n30 days.\n\n```sql\nSELECT 1;\n\n  -- two\n```\n\n## How long?\n\n| Grade | Days |\n|---|---|\n| A | 30 |\n| B | 60 |\n\n<!-- hidden -->\n\n### Own {#own-id}\n\nText.\n";
    let document = load_one("policies/notice.md", text);
    assert_eq!(
        (
            document.id.as_str(),
            document.title.as_str(),
            document.url.as_str()
        ),
        ("policies/notice", "Notice", "sources/policies/notice")
    );
    assert_eq!(
        document.metadata.get("department").map(String::as_str),
        Some("HR")
    );
    assert_eq!(
        document.metadata.get("tags").map(String::as_str),
        Some("leaving, staff")
    );
    let sections: Vec<_> = document
        .sections
        .iter()
        .map(|s| (s.heading.join(" > "), s.anchor.as_str()))
        .collect();
    assert_eq!(
        sections,
        [
            ("Notice".to_owned(), ""),
            ("Notice > How long?".to_owned(), "how-long"),
            ("Notice > How long?".to_owned(), "how-long-1"),
            ("Notice > How long? > Own".to_owned(), "own-id"),
        ]
    );
    assert_eq!(
        blocks(&document),
        [
            (Prose, "Intro with code and more."),
            (Prose, "30 days."),
            (Code, "SELECT 1;\n\n  -- two"),
            (TableHeader, "Grade\tDays"),
            (TableRow, "A\t30"),
            (TableRow, "B\t60"),
            (Prose, "Text."),
        ]
    );
}

#[test]
fn jsonl_gives_a_document_a_line() {
    let lines = "{\"id\":\"a\",\"title\":\"First\",\"text\":\"One.\\n\\nTwo.\",\"url\":\"https://example.org/a\",\"metadata\":{\"team\":\"ops\",\"year\":2024,\"old\":null}}\n\nnot json\n{\"id\":\"b\",\"text\":\"Three.\"}\n{\"id\":\"a\",\"text\":\"Again.\"}\n{\"id\":\"c\",\"text\":\" \"}\n";
    let documents = load(&corpus(&[("all.jsonl", lines.as_bytes())]));
    assert_eq!(documents.len(), 5);
    let first = documents[0].as_ref().unwrap();
    assert_eq!(
        (first.title.as_str(), first.url.as_str()),
        ("First", "https://example.org/a")
    );
    assert_eq!(
        first
            .metadata
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect::<Vec<_>>(),
        ["team=ops", "year=2024"]
    );
    assert_eq!(blocks(first), [(Prose, "One."), (Prose, "Two.")]);
    assert_eq!(documents[1].as_ref().unwrap_err().page, "all.jsonl:3");
    assert_eq!(documents[2].as_ref().unwrap().url, "sources/b");
    assert!(matches!(
        documents[3].as_ref().unwrap_err().problem,
        SourceProblem::DuplicateId(_)
    ));
    assert!(matches!(
        documents[4].as_ref().unwrap_err().problem,
        SourceProblem::Empty
    ));
}

#[test]
fn c036_nul_characters_are_stripped() {
    for (name, content) in [
        ("a.html", "<p>max\0wal</p>"),
        ("a.md", "max\0wal"),
        ("a.txt", "max\0wal"),
        ("a.jsonl", "{\"id\":\"a\",\"text\":\"max\\u0000wal\"}"),
    ] {
        let document = load_one(name, content);
        assert_eq!(blocks(&document), [(Prose, "maxwal")], "{name}");
        assert!(!document.page_text.contains('\0'));
    }
}

#[test]
fn an_unreadable_page_is_named_and_stops_no_other() {
    let mut manifest = corpus(&[
        ("good.txt", b"Good."),
        ("latin.html", b"<p>caf\xe9</p>"),
        ("empty.md", b""),
        ("x.docx", b"PK"),
        ("last.html", b"<p>Last.</p>"),
    ]);
    let pages = [
        "good.txt",
        "missing.html",
        "latin.html",
        "empty.md",
        "x.docx",
        "last.html",
    ];
    manifest.pages = Some(pages.map(str::to_owned).to_vec());
    let loaded = load(&manifest);
    let outcomes: Vec<String> = loaded
        .iter()
        .map(|entry| match entry {
            Ok(document) => document.id.clone(),
            Err(SourceError {
                page,
                document,
                problem,
            }) => {
                let kind = match problem {
                    SourceProblem::Unreadable(_) => "unreadable",
                    SourceProblem::NotUtf8(at) => &format!("not UTF-8 at {at}"),
                    SourceProblem::Empty => "empty",
                    SourceProblem::UnknownFormat => "unknown",
                    _ => "other",
                };
                format!(
                    "{page} ({}): {kind}",
                    document.as_deref().unwrap_or_default()
                )
            }
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            "good",
            "missing.html (missing.html): unreadable",
            "latin.html (latin.html): not UTF-8 at 6",
            "empty.md (empty): empty",
            "x.docx (x): unknown",
            "last.html",
        ]
    );
}

#[test]
fn without_a_list_every_readable_file_is_a_page() {
    let manifest = corpus(&[
        ("b.md", b"B."),
        ("a/c.txt", b"C."),
        ("a/.hidden.md", b"No."),
        ("logo.png", b"\x89"),
        ("a.html", b"<p>A.</p>"),
    ]);
    let ids: Vec<_> = load(&manifest)
        .into_iter()
        .map(|entry| entry.unwrap().id)
        .collect();
    assert_eq!(ids, ["a.html", "a/c", "b"]);
    let gone = Manifest {
        folder: manifest.folder.join("gone"),
        ..manifest
    };
    assert!(matches!(
        load(&gone)[0].as_ref().unwrap_err().problem,
        SourceProblem::Unreadable(_)
    ));
}

#[test]
fn public_pages_link_to_their_base_url() {
    let mut manifest = corpus(&[("a b.html", b"<p>A.</p>")]);
    manifest.base_url = Some("https://example.org/docs/".to_owned());
    assert_eq!(
        load(&manifest)[0].as_ref().unwrap().url,
        "https://example.org/docs/a%20b.html"
    );
}

/// The 35 pages of the manual as this checkout holds them.
fn manual() -> Vec<Document> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = Manifest::resolve("postgresql-17", &root.join("corpus")).unwrap();
    assert!(
        manifest.folder.is_dir(),
        "{} is missing: the PostgreSQL pages are fetched by scripts/test",
        manifest.folder.display()
    );
    let documents: Vec<Document> = load(&manifest)
        .into_iter()
        .map(|entry| entry.unwrap())
        .collect();
    assert_eq!(documents.len(), 35);
    documents
}

#[test]
fn the_manual_s_blocks_are_its_page_text() {
    for document in manual() {
        assert_blocks_are_page_text(&document);
        assert_eq!(
            document.url,
            format!("https://www.postgresql.org/docs/17/{}", document.id)
        );
        let stored = serde_json::to_string(&document.sections).unwrap();
        assert!(
            !stored.contains("\"anchor\":\"id-1"),
            "{}: a generated anchor",
            document.id
        );
        for block in document.sections.iter().flat_map(|section| &section.blocks) {
            assert!(
                !block.text.contains("PrevUp") && !block.text.starts_with("Prev\t"),
                "{}: navigation",
                document.id
            );
            assert!(block.kind == Code || !block.text.contains('\u{a0}'));
        }
    }
}

#[test]
fn the_manual_s_chunks_are_within_the_budget_and_whole() {
    let policy = ChunkPolicy::default();
    let mut count = 0;
    for document in manual() {
        let chunks = chunk_document(&document, &policy);
        count += chunks.len();
        for block in document.sections.iter().flat_map(|section| &section.blocks) {
            let whole = chunks.iter().any(|chunk| chunk.text.contains(&block.text));
            assert!(
                whole || domain::tokens::count(&block.text) > 700,
                "{}: {:?} was cut",
                document.id,
                block.text
            );
        }
        for chunk in &chunks {
            assert!(chunk.tokens <= 800);
            assert_eq!(chunk.heading[0], document.title);
            let scalars: Vec<char> = chunk.text.chars().collect();
            let sentences = sentence::split(chunk);
            assert!(!sentences.is_empty());
            for found in sentences {
                let text: String = scalars[found.start..found.end].iter().collect();
                assert_eq!(text, text.trim());
                assert!(
                    found.kind != sentence::SentenceKind::Prose || !text.contains("\n"),
                    "{text:?}"
                );
            }
        }
    }
    assert!((400..700).contains(&count), "{count} chunks");
}

#[test]
fn the_manual_s_parameters_are_terms_with_their_anchor() {
    let manual = manual();
    let wal = manual
        .iter()
        .find(|document| document.id == "runtime-config-wal.html")
        .unwrap();
    assert_eq!(wal.title, "19.5. Write Ahead Log");
    let term = wal
        .sections
        .iter()
        .flat_map(|s| s.blocks.iter().map(move |b| (s, b)))
        .find(|(_, b)| b.text == "max_wal_size (integer)");
    let (section, block) = term.unwrap();
    assert_eq!(
        (block.kind, block.anchor.as_deref()),
        (Term, Some("GUC-MAX-WAL-SIZE"))
    );
    assert_eq!(
        section.heading,
        ["19.5. Write Ahead Log", "19.5.2. Checkpoints"]
    );
    assert_eq!(section.anchor, "RUNTIME-CONFIG-WAL-CHECKPOINTS");

    let select = manual
        .iter()
        .find(|document| document.id == "sql-select.html")
        .unwrap();
    let first = &select.sections[0];
    assert_eq!(
        (first.heading.as_slice(), first.anchor.as_str()),
        (["SELECT".to_owned()].as_slice(), "SQL-SELECT")
    );
    assert!(first.blocks[1].kind == Code && first.blocks[1].text.contains("\n    [ FROM "));
}

proptest::proptest! {
    #[test]
    fn any_html_keeps_blocks_and_page_text_together(pieces in proptest::collection::vec(proptest::sample::select(vec![
        "<p>", "</p>", "<div>", "</div>", "<pre>", "</pre>", "<table>", "<tr>", "<td>", "<th>", "</td>", "</table>", "<ul>", "<li>",
        "</ul>", "<br>", "<h2 id=x>", "</h2>", "<nav>", "</nav>", "<main>", "</main>", "<b>", "</b>", "<dl>", "<dt id=\"id-1.2\">", "<dd>", "</dl>",
        "word ", " two  words", "\n", "\t", "&nbsp;", "é", "&lt;", "<div class=\"toc\">", "<div class=\"sect1\"><h2>T</h2>", "<div class=\"titlepage\">",
    ]), 0..60)) {
        let (title, page) = html::parse(&pieces.concat(), "fallback");
        let document = Document {
            id: "any".into(), title, url: String::new(), metadata: std::collections::BTreeMap::new(),
            page_text: page.page_text, sections: page.sections,
        };
        assert_blocks_are_page_text(&document);
        for section in &document.sections {
            proptest::prop_assert_eq!(&section.heading[0], &document.title);
        }
    }
}

//! Reads a corpus manifest: what a corpus is called, where its files are and how it is searched.
//!
//! A manifest is a small TOML file written by a person, so every mistake is answered with the key it is about and what
//! that key accepts. Reading one touches no page; [`super::load`] does.

use std::path::{Component, Path, PathBuf};

use thiserror::Error;
use toml::{Table, Value};

/// One corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Names the corpus in the database and in `CORPUS`: `postgresql-17`.
    pub name: String,
    /// As shown to people: `PostgreSQL 17 Documentation`.
    pub title: String,
    /// The documentation's own version: `17`.
    pub version: String,
    /// Where the pages are public, with its last slash; `None` for a corpus that this service shows itself.
    pub base_url: Option<String>,
    /// One line: whose text it is and under which terms.
    pub licence: String,
    /// The Postgres text-search configuration of its language: `english`.
    pub text_search: String,
    /// What is said when the corpus has no answer.
    pub refusal: String,
    /// The folder that holds the files.
    pub folder: PathBuf,
    /// The files, as paths below the folder with `/`; `None` for every readable one.
    pub pages: Option<Vec<String>>,
    /// Questions that visitors are shown, whose answers are prepared beforehand.
    pub suggestions: Vec<String>,
}

/// Suggested questions a corpus may have: each is asked anew for every version.
const MOST_SUGGESTIONS: usize = 24;

/// Why a manifest cannot be used.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// There is no such file, or it may not be read.
    #[error("cannot read the manifest {}", path.display())]
    Unreadable {
        /// The manifest asked for.
        path: PathBuf,
        /// What the file system said.
        source: std::io::Error,
    },
    /// It is not TOML.
    #[error("{}: {source}", path.display())]
    Syntax {
        /// The manifest.
        path: PathBuf,
        /// Where it stops making sense.
        source: Box<toml::de::Error>,
    },
    /// A key is missing, unknown, or holds something it does not accept.
    #[error("{}: `{key}` {problem}", path.display())]
    Key {
        /// The manifest.
        path: PathBuf,
        /// The key.
        key: String,
        /// What is wrong, and what the key accepts.
        problem: String,
    },
}

/// Every key, whether it is required, and what it accepts.
const KEYS: [(&str, bool, &str); 10] = [
    (
        "name",
        true,
        "a short name of letters, digits, `-`, `_` and `.`, such as \"postgresql-17\"",
    ),
    ("title", true, "the corpus's name as shown to people"),
    (
        "version",
        true,
        "the documentation's version as a string, such as \"17\"",
    ),
    (
        "base_url",
        false,
        "an http or https URL under which the pages are public",
    ),
    (
        "licence",
        true,
        "one line naming the licence and its holder",
    ),
    (
        "text_search",
        true,
        "the name of a Postgres text-search configuration, such as \"english\"",
    ),
    (
        "refusal",
        true,
        "the sentence shown when the corpus has no answer",
    ),
    (
        "folder",
        true,
        "the folder of the files, relative to the manifest's own folder or absolute",
    ),
    (
        "pages",
        false,
        "a list of file names below `folder`, such as [\"index.html\"]; leave it out for every file",
    ),
    (
        "suggestions",
        false,
        "a list of at most 24 questions whose answers are prepared, each of at most 1,000 characters",
    ),
];

impl Manifest {
    /// Reads the manifest called `name_or_path`: a bare name stands for `NAME.toml` in `corpus_dir`, anything with a
    /// slash or ending in `.toml` for a file.
    ///
    /// # Errors
    ///
    /// The file that cannot be read, or the key that cannot be used.
    pub fn resolve(name_or_path: &str, corpus_dir: &Path) -> Result<Self, ManifestError> {
        let is_path = name_or_path.contains(['/', '\\']) || name_or_path.ends_with(".toml");
        if is_path {
            Self::read(Path::new(name_or_path))
        } else {
            Self::read(&corpus_dir.join(format!("{name_or_path}.toml")))
        }
    }

    /// Reads the manifest in the file `path`.
    ///
    /// # Errors
    ///
    /// The file that cannot be read, or the key that cannot be used.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let text = std::fs::read_to_string(path).map_err(|source| ManifestError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let table: Table = text.parse().map_err(|source| ManifestError::Syntax {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        Reader {
            path,
            table: &table,
        }
        .manifest()
    }
}

struct Reader<'a> {
    path: &'a Path,
    table: &'a Table,
}

impl Reader<'_> {
    fn manifest(&self) -> Result<Manifest, ManifestError> {
        if let Some(key) = self
            .table
            .keys()
            .find(|key| !KEYS.iter().any(|(known, ..)| known == key))
        {
            let known = KEYS.map(|(known, ..)| format!("`{known}`")).join(", ");
            return Err(self.wrong(
                key,
                format!("is not a key of a manifest; there are {known}"),
            ));
        }
        let folder = PathBuf::from(self.text("folder")?);
        Ok(Manifest {
            // As `CORPUS` takes it.
            name: self.checked("name", |name| {
                name.len() <= 64
                    && name
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            })?,
            title: self.text("title")?,
            version: self.text("version")?,
            base_url: self.base_url()?,
            licence: self.checked("licence", |licence| !licence.contains('\n'))?,
            text_search: self.checked("text_search", |name| {
                name.chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            })?,
            refusal: self.text("refusal")?,
            folder: self.path.parent().unwrap_or(Path::new("")).join(folder),
            pages: self.pages()?,
            suggestions: self.suggestions()?,
        })
    }

    fn base_url(&self) -> Result<Option<String>, ManifestError> {
        if !self.table.contains_key("base_url") {
            return Ok(None);
        }
        let url = self.checked("base_url", |url| {
            (url.starts_with("https://") || url.starts_with("http://"))
                && !url.contains(char::is_whitespace)
        })?;
        Ok(Some(if url.ends_with('/') {
            url
        } else {
            format!("{url}/")
        }))
    }

    fn pages(&self) -> Result<Option<Vec<String>>, ManifestError> {
        let Some(value) = self.table.get("pages") else {
            return Ok(None);
        };
        let pages: Option<Vec<String>> = value
            .as_array()
            .and_then(|pages| pages.iter().map(page_name).collect());
        let pages = pages
            .filter(|pages| !pages.is_empty())
            .ok_or_else(|| self.unacceptable("pages"))?;
        self.each_once("pages", pages).map(Some)
    }

    fn suggestions(&self) -> Result<Vec<String>, ManifestError> {
        let Some(value) = self.table.get("suggestions") else {
            return Ok(Vec::new());
        };
        let questions: Option<Vec<String>> = value
            .as_array()
            .filter(|questions| questions.len() <= MOST_SUGGESTIONS)
            .and_then(|questions| questions.iter().map(question).collect());
        let questions = questions.ok_or_else(|| self.unacceptable("suggestions"))?;
        self.each_once("suggestions", questions)
    }

    fn each_once(&self, key: &str, values: Vec<String>) -> Result<Vec<String>, ManifestError> {
        let mut seen = std::collections::HashSet::new();
        match values.iter().find(|value| !seen.insert(value.as_str())) {
            Some(twice) => Err(self.wrong(key, format!("lists {twice:?} twice"))),
            None => Ok(values),
        }
    }

    fn text(&self, key: &str) -> Result<String, ManifestError> {
        self.checked(key, |_| true)
    }

    fn checked(&self, key: &str, accepts: impl Fn(&str) -> bool) -> Result<String, ManifestError> {
        let value = self
            .table
            .get(key)
            .ok_or_else(|| self.wrong(key, format!("is missing; it takes {}", accepted(key))))?;
        value
            .as_str()
            .map(str::trim)
            .filter(|text| !text.is_empty() && accepts(text))
            .map(str::to_owned)
            .ok_or_else(|| self.unacceptable(key))
    }

    fn unacceptable(&self, key: &str) -> ManifestError {
        self.wrong(key, format!("takes {}", accepted(key)))
    }

    fn wrong(&self, key: &str, problem: String) -> ManifestError {
        ManifestError::Key {
            path: self.path.to_owned(),
            key: key.to_owned(),
            problem,
        }
    }
}

fn accepted(key: &str) -> &'static str {
    KEYS.iter()
        .find(|(known, ..)| *known == key)
        .map_or("", |(_, _, accepts)| accepts)
}

/// A listed page's name, if it stays below the folder.
fn page_name(value: &Value) -> Option<String> {
    let name = value.as_str()?;
    let below = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    (below && !name.is_empty()).then(|| name.to_owned())
}

/// A suggested question, no longer than a visitor's may be.
fn question(value: &Value) -> Option<String> {
    let question = value.as_str()?.trim();
    let fits = !question.is_empty() && question.chars().count() <= 1_000;
    fits.then(|| question.to_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Manifest;

    const WHOLE: &str = r#"
        name = "manual"
        title = "The Manual"
        version = "3"
        licence = "MIT"
        text_search = "english"
        refusal = "It is not in the manual."
        folder = "pages"
    "#;

    fn read(toml: &str) -> Result<Manifest, String> {
        let folder = tempfile(toml);
        Manifest::resolve("manual", &folder).map_err(|error| error.to_string())
    }

    fn tempfile(toml: &str) -> PathBuf {
        let folder = super::super::tests::temporary_folder("manifest");
        std::fs::write(folder.join("manual.toml"), toml).unwrap();
        folder
    }

    #[test]
    fn reads_a_whole_manifest() {
        let manifest = read(WHOLE).unwrap();
        assert_eq!(manifest.name, "manual");
        assert!(manifest.folder.ends_with("pages") && manifest.folder.is_absolute());
        assert_eq!((manifest.base_url, manifest.pages), (None, None));
        assert_eq!(manifest.suggestions, Vec::<String>::new());
        let asking = format!("{WHOLE}\nsuggestions = [\" How long? \", \"Why?\"]");
        assert_eq!(read(&asking).unwrap().suggestions, ["How long?", "Why?"]);
    }

    #[test]
    fn a_base_url_ends_in_a_slash() {
        let manifest = read(&format!(
            "{WHOLE}\nbase_url = \"https://example.org/manual\""
        ))
        .unwrap();
        assert_eq!(
            manifest.base_url.as_deref(),
            Some("https://example.org/manual/")
        );
    }

    #[test]
    fn mistakes_name_the_key_and_what_it_takes() {
        for (toml, expected) in [
            (
                WHOLE.replace("refusal", "refusl"),
                "`refusl` is not a key of a manifest; there are `name`, `title`",
            ),
            (
                WHOLE.replace("version = \"3\"", ""),
                "`version` is missing; it takes the documentation's version as a string",
            ),
            (
                WHOLE.replace("\"3\"", "3"),
                "`version` takes the documentation's version as a string",
            ),
            (
                WHOLE.replace("english", "english; drop"),
                "`text_search` takes the name of a Postgres text-search",
            ),
            (
                format!("{WHOLE}\npages = []"),
                "`pages` takes a list of file names",
            ),
            (
                format!("{WHOLE}\npages = [\"../secret.md\"]"),
                "`pages` takes a list of file names",
            ),
            (
                format!("{WHOLE}\npages = [\"/etc/passwd\"]"),
                "`pages` takes a list of file names",
            ),
            (
                format!("{WHOLE}\npages = [\"a.md\", \"a.md\"]"),
                "`pages` lists \"a.md\" twice",
            ),
            (
                format!("{WHOLE}\nsuggestions = \"Why?\""),
                "`suggestions` takes a list of at most 24 questions",
            ),
            (
                format!("{WHOLE}\nsuggestions = [\" \"]"),
                "`suggestions` takes a list of at most 24 questions",
            ),
            (
                format!("{WHOLE}\nsuggestions = [\"Why?\", \"Why?\"]"),
                "`suggestions` lists \"Why?\" twice",
            ),
            (
                format!("{WHOLE}\nbase_url = \"ftp://x\""),
                "`base_url` takes an http or https URL",
            ),
            ("name = ".to_owned(), "manual.toml: TOML parse error"),
        ] {
            let error = read(&toml).unwrap_err();
            assert!(
                error.contains(expected),
                "{error}\nshould contain\n{expected}"
            );
        }
    }

    #[test]
    fn a_missing_manifest_is_named() {
        let error = Manifest::resolve("nowhere", Path::new("/nonexistent")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read the manifest /nonexistent/nowhere.toml"
        );
    }
}

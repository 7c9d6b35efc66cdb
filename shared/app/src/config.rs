//! Everything a deployment can set, read once at start into typed structs.
//!
//! Precedence: the environment, then a `.env` file in the working directory, then local defaults; an empty value counts as
//! unset. A wrong or missing value is one [`ConfigError`] that names the variable and what it accepts, so that a start fails
//! at once rather than a question later. A [`Secret`] never prints. Nothing here opens a connection; see
//! [`crate::context`] for that.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use adapters::results::is_location;
use domain::cost::Money;
use domain::mode::Mode;
use domain::visitor::HashKey;

/// The model the local embedder runs, and the width of its vectors.
const LOCAL_MODEL: (&str, usize) = ("all-MiniLM-L6-v2", 384);

/// What is asked of a provider when no model is named.
const CHAT_MODEL: &str = "gpt-4.1-mini";
const EMBEDDING_MODEL: &str = "text-embedding-3-small";
/// Of another family than `CHAT_MODEL`: models favour their own answers.
const JUDGE_MODEL: &str = "o4-mini";
const COHERE_RERANK_MODEL: &str = "rerank-v3.5";

/// Widths of the vectors of known embedding models; of others `EMBEDDING_DIMENSIONS` has to say it.
const KNOWN_DIMENSIONS: [(&str, usize); 3] = [
    ("text-embedding-3-small", 1536),
    ("text-embedding-3-large", 3072),
    ("text-embedding-ada-002", 1536),
];

/// The widest vector the database can index (pgvector's limit for `halfvec`).
const MOST_DIMENSIONS: usize = 4_000;

/// What a deployment is set to.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the corpus is stored.
    pub database: DatabaseConfig,
    /// `CORPUS`: the manifest's name; one corpus a deployment.
    pub corpus: String,
    /// Which models answer.
    pub models: ModelsConfig,
    /// Which model judges answers, if one does.
    pub judge: Option<JudgeConfig>,
    /// What visitors may do, and how it is counted.
    pub limits: LimitsConfig,
    /// Where evaluation results are kept.
    pub results: ResultsConfig,
    /// How the service presents itself over HTTP.
    pub http: HttpConfig,
    /// `LOG_LEVEL`: the least severe level that is written.
    pub log_level: LogLevel,
}

/// The database and how it is reached.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// `DATABASE_URL`: used to answer questions; may be a transaction-mode pooler.
    pub url: Secret,
    /// `DATABASE_DIRECT_URL`: used by migrations and ingest, which hold locks; the same as `url` when unset.
    pub direct_url: Secret,
    /// `DATABASE_CA_FILE`: PEM roots to trust instead of the public ones.
    pub ca_file: Option<PathBuf>,
}

/// Which implementation stands behind each model port.
#[derive(Debug, Clone)]
pub struct ModelsConfig {
    /// `EMBEDDER`.
    pub embedder: Embedder,
    /// `RERANKER`.
    pub reranker: Reranker,
    /// `GENERATOR`.
    pub generator: Generator,
    /// `MODEL_DIR`: the folder of the local sentence model (safetensors, tokenizer, configuration).
    pub model_dir: PathBuf,
    /// `RELEVANCE_THRESHOLD`, 0 to 1: overrides the calibrated one; 0 never abstains by score.
    pub relevance_threshold: Option<f32>,
    /// `PRICES_FILE`: what providers charge; without it the cost of a call is unknown.
    pub prices_file: Option<PathBuf>,
}

/// A server of models and how it knows us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// `OPENAI_API_KEY` or `COHERE_API_KEY`; a server of one's own may need none.
    pub key: Option<Secret>,
    /// `OPENAI_BASE_URL`, with its `/v1`, or `COHERE_BASE_URL`; without a final slash.
    pub base_url: String,
}

/// A model of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteModel {
    /// Where it runs.
    pub server: Server,
    /// `CHAT_MODEL`, `RERANK_MODEL` or `EMBEDDING_MODEL`.
    pub model: String,
}

/// The model that judges, in evaluations, whether passages support what was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeConfig {
    /// `JUDGE_MODEL` at `JUDGE_BASE_URL` with `JUDGE_API_KEY`; without an address of its own it is where the other models are.
    pub remote: RemoteModel,
    /// `JUDGE_OWN_ANSWERS`: it may be the model that wrote the answers.
    pub own_answers: bool,
}

/// Turns text into vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Embedder {
    /// The sentence model in this process.
    Local,
    /// Any server with OpenAI's `/embeddings`.
    OpenAi {
        /// The model.
        remote: RemoteModel,
        /// `EMBEDDING_DIMENSIONS`, or the model's own width.
        dimensions: usize,
        /// Whether the width was asked for and has to be sent.
        shortened: bool,
    },
}

/// Orders the passages found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reranker {
    /// Sentence vectors and term coverage, in this process.
    Local,
    /// A chat model that grades all candidates at once.
    Chat(RemoteModel),
    /// Any server with Cohere's `/v2/rerank`.
    Cohere(RemoteModel),
    /// The order of the fusion stands.
    None,
}

/// Writes the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generator {
    /// The passages' own sentences.
    Extractive,
    /// Any server with OpenAI's `/chat/completions`.
    OpenAi(RemoteModel),
}

impl Embedder {
    /// As written in the configuration and shown in the status.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::OpenAi { .. } => "openai",
        }
    }
}

impl Reranker {
    /// As written in the configuration and shown in the status.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Chat(_) => "chat",
            Self::Cohere(_) => "cohere",
            Self::None => "none",
        }
    }
}

impl Reranker {
    /// Its name and its model's: scores of different ones are not judged by the same threshold.
    #[must_use]
    pub fn identity(&self) -> String {
        match self {
            Self::Chat(remote) | Self::Cohere(remote) => {
                format!("{} {}", self.name(), remote.model)
            }
            Self::Local | Self::None => self.name().to_owned(),
        }
    }
}

impl Generator {
    /// As written in the configuration and shown in the status.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::OpenAi(_) => "openai",
        }
    }
}

/// Quotas, budgets and the mode. A budget refuses to start with a model that has no price.
#[derive(Debug, Clone)]
pub struct LimitsConfig {
    /// `MODE`: forces the mode; unset leaves it to the stored one.
    pub mode: Option<Mode>,
    /// `VISITOR_DAILY_LIMIT`: questions a visitor may ask a day.
    pub visitor_questions_per_day: u64,
    /// `GLOBAL_DAILY_LIMIT`: questions all visitors together may ask a day.
    pub global_questions_per_day: u64,
    /// `DAILY_BUDGET_USD`: what a day's answers may cost; unset is no money limit.
    pub daily_budget: Option<Money>,
    /// `BATCH_DAILY_BUDGET_USD`: what a day's ingest, evaluation and prepared answers may cost; unset is no money limit.
    pub batch_daily_budget: Option<Money>,
    /// `USAGE_TABLE`: the DynamoDB table of the corpus item, counters and records.
    pub usage_table: String,
    /// `AWS_ENDPOINT_URL_DYNAMODB`: where DynamoDB is when it is not AWS's own, as the local emulator.
    pub dynamodb_endpoint: Option<String>,
    /// `HASH_SECRET`: keys the hash that stands for a visitor.
    pub hash_key: Option<HashKey>,
    /// `TRUSTED_HOPS`: how many proxies of our own stand before the service.
    pub trusted_hops: u8,
    /// `RECORD_DAYS`: how long a request's record is kept.
    pub record_days: u16,
}

/// Where evaluation results are kept: written by `eval`, served by `ask`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultsConfig {
    /// `EVAL_RESULTS`: a folder, or `s3://BUCKET/PREFIX`.
    pub location: String,
    /// `AWS_ENDPOINT_URL_S3`: where buckets are when they are not AWS's own.
    pub endpoint: Option<String>,
}

/// How the service presents itself.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// `ALLOWED_ORIGIN`: the one foreign origin whose pages may call the service, or `*`.
    pub allowed_origin: Option<String>,
    /// `PUBLIC_URL`: the service's root as visitors see it, with its final slash; makes links to `sources/…` absolute.
    /// Unset, they are taken from a Function URL's own host name, and stay relative elsewhere.
    pub public_url: Option<String>,
    /// `PORT`: where the scripts serve locally.
    pub port: u16,
}

/// The least severe level that is written to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// Failures of ours.
    Error,
    /// And what is done without.
    Warn,
    /// And one line a request.
    Info,
    /// And what helps to find a fault.
    Debug,
    /// And every detail of ours; libraries stay at warnings, see [`crate::telemetry`].
    Trace,
}

impl LogLevel {
    /// As written in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// A value that never prints.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the one call that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A variable that stops the start. Its text is one line and never holds a secret's value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Nothing can stand in for it.
    #[error("{variable} is not set: it must be {accepts}")]
    Missing {
        /// The variable.
        variable: &'static str,
        /// What it may be.
        accepts: String,
    },
    /// It is set to something else.
    #[error("{variable} is {found}: it must be {accepts}")]
    Wrong {
        /// The variable.
        variable: &'static str,
        /// The value, quoted and shortened, or `…` for a secret.
        found: String,
        /// What it may be.
        accepts: String,
    },
    /// It asks for a part that this version does not have.
    #[error("{variable} is {found}: {reason}")]
    NotBuilt {
        /// The variable.
        variable: String,
        /// The value, or `set` for a secret's place.
        found: String,
        /// What is missing and what to set instead.
        reason: String,
    },
    /// The `.env` file cannot be used.
    #[error(".env {fault}: it must hold lines of NAME=value")]
    DotEnv {
        /// What is wrong with it; never a value out of it.
        fault: String,
    },
}

impl Config {
    /// Reads the environment and the `.env` file of the working directory.
    ///
    /// # Errors
    /// The first variable that is wrong or missing.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::read(&Variables::from_env()?)
    }

    /// The same, if it is one for a service that visitors ask: they have to be told apart.
    ///
    /// # Errors
    /// `HASH_SECRET` is missing.
    pub fn for_visitors(self) -> Result<Self, ConfigError> {
        match self.limits.hash_key {
            Some(_) => Ok(self),
            None => Err(ConfigError::Missing {
                variable: "HASH_SECRET",
                accepts: format!("{SECRET}, the same ones in every process"),
            }),
        }
    }

    /// Builds the configuration from variables already gathered.
    ///
    /// # Errors
    /// The first variable that is wrong or missing.
    pub fn read(variables: &Variables) -> Result<Self, ConfigError> {
        variables.refuse_secret_arns()?;
        Ok(Self {
            database: DatabaseConfig::read(variables)?,
            corpus: variables
                .parse(
                    "CORPUS",
                    "a manifest's name: a to z, 0 to 9 and -",
                    corpus_name,
                )?
                .unwrap_or_else(|| "postgresql-17".into()),
            models: ModelsConfig::read(variables)?,
            judge: JudgeConfig::read(variables)?,
            limits: LimitsConfig::read(variables)?,
            results: ResultsConfig::read(variables)?,
            http: HttpConfig::read(variables)?,
            log_level: variables
                .parse("LOG_LEVEL", "error, warn, info, debug or trace", log_level)?
                .unwrap_or(LogLevel::Info),
        })
    }
}

impl DatabaseConfig {
    fn read(variables: &Variables) -> Result<Self, ConfigError> {
        let accepts = "a postgres:// URL (scripts/dev starts a database and sets it)";
        let url = variables
            .secret("DATABASE_URL", accepts, postgres_url)?
            .ok_or_else(|| ConfigError::Missing {
                variable: "DATABASE_URL",
                accepts: accepts.into(),
            })?;
        let direct_url = variables
            .secret(
                "DATABASE_DIRECT_URL",
                "a postgres:// URL that is no pooler",
                postgres_url,
            )?
            .unwrap_or_else(|| url.clone());
        Ok(Self {
            url,
            direct_url,
            ca_file: variables.parse("DATABASE_CA_FILE", "a readable PEM file", file)?,
        })
    }
}

impl ModelsConfig {
    fn read(variables: &Variables) -> Result<Self, ConfigError> {
        let servers = Servers::read(variables)?;
        let model = |variable| variables.parse(variable, "a model's name", model_name);
        let chat_model = model("CHAT_MODEL")?.unwrap_or_else(|| CHAT_MODEL.into());
        let rerank_model = model("RERANK_MODEL")?;
        // With a key all three models are the provider's, unless one is chosen otherwise.
        let by_default = |remote, local| if servers.has_key { remote } else { local };
        let embedder = match variables
            .get("EMBEDDER")
            .unwrap_or(by_default("openai", "local"))
        {
            "local" => {
                local_only(variables)?;
                Embedder::Local
            }
            "openai" => remote_embedder(variables, servers.openai("EMBEDDER", "openai")?)?,
            other => return Err(wrong("EMBEDDER", other, "local or openai")),
        };
        let reranker = match variables
            .get("RERANKER")
            .unwrap_or(by_default("chat", "local"))
        {
            "local" => Reranker::Local,
            "none" => Reranker::None,
            "chat" => Reranker::Chat(RemoteModel {
                server: servers.openai("RERANKER", "chat")?,
                model: rerank_model.unwrap_or_else(|| chat_model.clone()),
            }),
            "cohere" => Reranker::Cohere(RemoteModel {
                server: servers.cohere()?,
                model: rerank_model.unwrap_or_else(|| COHERE_RERANK_MODEL.into()),
            }),
            other => return Err(wrong("RERANKER", other, "local, chat, cohere or none")),
        };
        let generator = match variables
            .get("GENERATOR")
            .unwrap_or(by_default("openai", "extractive"))
        {
            "extractive" => Generator::Extractive,
            "openai" => Generator::OpenAi(RemoteModel {
                server: servers.openai("GENERATOR", "openai")?,
                model: chat_model,
            }),
            other => return Err(wrong("GENERATOR", other, "extractive or openai")),
        };
        Ok(Self {
            embedder,
            reranker,
            generator,
            model_dir: variables
                .parse("MODEL_DIR", "the folder of the sentence model", folder)?
                .unwrap_or_else(|| PathBuf::from(".local/model")),
            relevance_threshold: variables.parse(
                "RELEVANCE_THRESHOLD",
                "a number from 0 to 1",
                |value| {
                    value
                        .parse()
                        .ok()
                        .filter(|threshold| (0.0..=1.0).contains(threshold))
                },
            )?,
            prices_file: variables.parse("PRICES_FILE", "a readable file", file)?,
        })
    }
}

impl JudgeConfig {
    fn read(variables: &Variables) -> Result<Option<Self>, ConfigError> {
        let servers = Servers::read(variables)?;
        let key = variables.secret("JUDGE_API_KEY", "a key without white space", key)?;
        let url = variables.parse("JUDGE_BASE_URL", "an http:// or https:// URL", base_url)?;
        let named = variables.parse("JUDGE_MODEL", "a model's name", model_name)?;
        let yes_or_no = |value: &str| match value {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        let own_answers = variables
            .parse("JUDGE_OWN_ANSWERS", "yes or no", yes_or_no)?
            .unwrap_or(false);
        let at_openai = servers.has_key && servers.openai_url.is_none() && url.is_none();
        let Some(model) = named.or_else(|| at_openai.then(|| JUDGE_MODEL.to_owned())) else {
            return Ok(None);
        };
        // A key is sent to no other server than its own.
        let server = match url {
            Some(base_url) => Server { key, base_url },
            None => {
                let server = servers.openai("JUDGE_MODEL", "set")?;
                Server {
                    key: key.or(server.key),
                    base_url: server.base_url,
                }
            }
        };
        Ok(Some(Self {
            remote: RemoteModel { server, model },
            own_answers,
        }))
    }
}

impl ModelsConfig {
    /// The names of all models that run elsewhere.
    #[must_use]
    pub fn remote_models(&self) -> Vec<&str> {
        let embedder = match &self.embedder {
            Embedder::OpenAi { remote, .. } => Some(remote),
            Embedder::Local => None,
        };
        let reranker = match &self.reranker {
            Reranker::Chat(remote) | Reranker::Cohere(remote) => Some(remote),
            Reranker::Local | Reranker::None => None,
        };
        let generator = match &self.generator {
            Generator::OpenAi(remote) => Some(remote),
            Generator::Extractive => None,
        };
        [embedder, reranker, generator]
            .into_iter()
            .flatten()
            .map(|remote| remote.model.as_str())
            .collect()
    }
}

/// The servers that are configured, whether a model is asked of them or not.
struct Servers {
    has_key: bool,
    openai_key: Option<Secret>,
    openai_url: Option<String>,
    cohere_key: Option<Secret>,
    cohere_url: Option<String>,
}

impl Servers {
    fn read(variables: &Variables) -> Result<Self, ConfigError> {
        let key_of = |name| variables.secret(name, "a key without white space", key);
        let url_of = |name| variables.parse(name, URL, base_url);
        let openai_key = key_of("OPENAI_API_KEY")?;
        Ok(Self {
            has_key: openai_key.is_some(),
            openai_key,
            openai_url: url_of("OPENAI_BASE_URL")?,
            cohere_key: key_of("COHERE_API_KEY")?,
            cohere_url: url_of("COHERE_BASE_URL")?,
        })
    }

    /// The server of `variable`'s choice; one at an address of one's own may do without a key.
    fn openai(&self, variable: &'static str, choice: &str) -> Result<Server, ConfigError> {
        server(
            self.openai_key.as_ref(),
            self.openai_url.as_ref(),
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            &format!("{variable} is {choice}"),
        )
    }

    fn cohere(&self) -> Result<Server, ConfigError> {
        server(
            self.cohere_key.as_ref(),
            self.cohere_url.as_ref(),
            "https://api.cohere.com",
            "COHERE_API_KEY",
            "RERANKER is cohere",
        )
    }
}

fn server(
    key: Option<&Secret>,
    url: Option<&String>,
    public_url: &str,
    key_variable: &'static str,
    why: &str,
) -> Result<Server, ConfigError> {
    if key.is_none() && url.is_none() {
        return Err(ConfigError::Missing {
            variable: key_variable,
            accepts: format!("the provider's key, as {why}"),
        });
    }
    Ok(Server {
        key: key.cloned(),
        base_url: url.cloned().unwrap_or_else(|| public_url.into()),
    })
}

/// The local embedder has one model of one width.
fn local_only(variables: &Variables) -> Result<(), ConfigError> {
    let (model, dimensions) = LOCAL_MODEL;
    variables.parse(
        "EMBEDDING_MODEL",
        &format!("{model} while EMBEDDER is local"),
        |value| (value == model).then_some(()),
    )?;
    variables.parse(
        "EMBEDDING_DIMENSIONS",
        &format!("{dimensions} while EMBEDDER is local"),
        |value| (value.parse() == Ok(dimensions)).then_some(()),
    )?;
    Ok(())
}

fn remote_embedder(variables: &Variables, server: Server) -> Result<Embedder, ConfigError> {
    let model = variables
        .parse("EMBEDDING_MODEL", "a model's name", model_name)?
        .unwrap_or_else(|| EMBEDDING_MODEL.into());
    let accepts = format!("a number of dimensions from 1 to {MOST_DIMENSIONS}");
    let asked = variables.parse("EMBEDDING_DIMENSIONS", &accepts, |value| {
        number(value).filter(|dimensions| (1..=MOST_DIMENSIONS).contains(dimensions))
    })?;
    let own = KNOWN_DIMENSIONS
        .iter()
        .find(|(known, _)| *known == model)
        .map(|(_, dimensions)| *dimensions);
    let dimensions = asked.or(own).ok_or_else(|| ConfigError::Missing {
        variable: "EMBEDDING_DIMENSIONS",
        accepts: format!("the width of {model}'s vectors"),
    })?;
    Ok(Embedder::OpenAi {
        remote: RemoteModel { server, model },
        dimensions,
        shortened: own.is_some_and(|own| own != dimensions),
    })
}

const DOLLARS: &str = "an amount of US dollars, such as 2.50";
const SECRET: &str = "at least 16 characters";
const URL: &str = "an http:// or https:// URL";

fn dollars(value: &str) -> Option<Money> {
    Money::from_usd(value.parse().ok()?)
}

impl LimitsConfig {
    /// Reads these settings alone, for what needs no other.
    ///
    /// # Errors
    /// The first variable that is wrong or missing.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::read(&Variables::from_env()?)
    }

    fn read(variables: &Variables) -> Result<Self, ConfigError> {
        let questions = "a whole number of questions a day";
        Ok(Self {
            mode: variables.parse("MODE", "live, read-only or off", Mode::named)?,
            visitor_questions_per_day: variables
                .parse("VISITOR_DAILY_LIMIT", questions, number)?
                .unwrap_or(20),
            global_questions_per_day: variables
                .parse("GLOBAL_DAILY_LIMIT", questions, number)?
                .unwrap_or(500),
            daily_budget: variables.parse("DAILY_BUDGET_USD", DOLLARS, dollars)?,
            batch_daily_budget: variables.parse("BATCH_DAILY_BUDGET_USD", DOLLARS, dollars)?,
            usage_table: variables
                .parse(
                    "USAGE_TABLE",
                    "a table's name: 3 to 255 of a to z, A to Z, 0 to 9, _, - and .",
                    table_name,
                )?
                .unwrap_or_else(|| "sourced".into()),
            dynamodb_endpoint: variables.parse("AWS_ENDPOINT_URL_DYNAMODB", URL, http_url)?,
            hash_key: variables
                .secret("HASH_SECRET", SECRET, |value| HashKey::new(value).is_some())?
                .and_then(|secret| HashKey::new(secret.expose())),
            trusted_hops: variables
                .parse("TRUSTED_HOPS", "a number from 0 to 10", |value| {
                    number(value).filter(|hops| *hops <= 10)
                })?
                .unwrap_or(0),
            record_days: variables
                .parse("RECORD_DAYS", "a number of days from 1 to 3650", |value| {
                    number(value).filter(|days| (1..=3650).contains(days))
                })?
                .unwrap_or(30),
        })
    }
}

impl ResultsConfig {
    fn read(variables: &Variables) -> Result<Self, ConfigError> {
        Ok(Self {
            location: variables
                .parse(
                    "EVAL_RESULTS",
                    "a folder, or s3://BUCKET/PREFIX with a bucket's name of 3 to 63 of a to z, 0 to 9, . and -",
                    |value| is_location(value).then(|| value.to_owned()),
                )?
                .unwrap_or_else(|| "eval/results".into()),
            endpoint: variables.parse("AWS_ENDPOINT_URL_S3", URL, http_url)?,
        })
    }
}

impl HttpConfig {
    fn read(variables: &Variables) -> Result<Self, ConfigError> {
        Ok(Self {
            allowed_origin: variables.parse(
                "ALLOWED_ORIGIN",
                "one origin without a path, such as https://docs.example.com, or *",
                |value| (value == "*" || is_origin(value)).then(|| value.to_owned()),
            )?,
            public_url: variables
                .parse(
                    "PUBLIC_URL",
                    "the http:// or https:// URL of the service's root",
                    http_url,
                )?
                .map(|url| format!("{}/", url.trim_end_matches('/'))),
            port: variables
                .parse("PORT", "a port from 1 to 65535", |value| {
                    number(value).filter(|port| *port > 0)
                })?
                .unwrap_or(9000),
        })
    }
}

/// The variables of one start: the environment above the `.env` file. Empty values are left out.
#[derive(Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let pairs = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into().trim().to_owned()));
        Self(pairs.filter(|(_, value)| !value.is_empty()).collect())
    }
}

impl Variables {
    /// The environment, and below it the `.env` file of the working directory if there is one; `ENV_FILE` names another.
    ///
    /// # Errors
    /// A `.env` file that cannot be read.
    pub fn from_env() -> Result<Self, ConfigError> {
        let environment: Self = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        match std::fs::read_to_string(environment.get("ENV_FILE").unwrap_or(".env")) {
            Ok(text) => Ok(environment.above(dot_env(&text)?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(environment),
            Err(error) => Err(ConfigError::DotEnv {
                fault: format!("cannot be read ({})", error.kind()),
            }),
        }
    }

    /// These, and where one is unset, that of `lower`.
    #[must_use]
    pub fn above(self, lower: Self) -> Self {
        let mut merged = lower.0;
        merged.extend(self.0);
        Self(merged)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn parse<T>(
        &self,
        variable: &'static str,
        accepts: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        self.get(variable)
            .map(|value| parse(value).ok_or_else(|| wrong(variable, value, accepts)))
            .transpose()
    }

    fn secret(
        &self,
        variable: &'static str,
        accepts: &str,
        holds: impl Fn(&str) -> bool,
    ) -> Result<Option<Secret>, ConfigError> {
        match self.get(variable) {
            Some(value) if holds(value) => Ok(Some(Secret::new(value))),
            Some(_) => Err(ConfigError::Wrong {
                variable,
                found: "…".into(),
                accepts: accepts.into(),
            }),
            None => Ok(None),
        }
    }

    /// A secret that is named but never fetched would be silently absent.
    fn refuse_secret_arns(&self) -> Result<(), ConfigError> {
        let names = [
            "DATABASE_URL",
            "DATABASE_DIRECT_URL",
            "OPENAI_API_KEY",
            "COHERE_API_KEY",
            "HASH_SECRET",
        ];
        match names
            .iter()
            .find(|name| self.get(&format!("{name}_SECRET_ARN")).is_some())
        {
            Some(name) => Err(ConfigError::NotBuilt {
                variable: format!("{name}_SECRET_ARN"),
                found: "set".into(),
                reason: format!("this version does not fetch secrets; set {name} itself"),
            }),
            None => Ok(()),
        }
    }
}

/// Reads `NAME=value` lines; blank lines, `#` lines, an `export ` before the name and quotes around the value are allowed.
fn dot_env(text: &str) -> Result<Variables, ConfigError> {
    let mut pairs = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fault = || ConfigError::DotEnv {
            fault: format!("line {} is not understood", index + 1),
        };
        let (name, value) = line
            .strip_prefix("export ")
            .unwrap_or(line)
            .split_once('=')
            .ok_or_else(fault)?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(fault());
        }
        let unquoted = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        pairs.push((name.to_owned(), unquoted.unwrap_or(value).to_owned()));
    }
    Ok(pairs.into_iter().collect())
}

fn wrong(variable: &'static str, value: &str, accepts: &str) -> ConfigError {
    let found = format!("{:?}", value.chars().take(60).collect::<String>());
    ConfigError::Wrong {
        variable,
        found,
        accepts: accepts.into(),
    }
}

fn number<T: std::str::FromStr>(value: &str) -> Option<T> {
    value.parse().ok()
}

fn corpus_name(value: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (value.len() <= 64 && value.chars().all(allowed)).then(|| value.to_owned())
}

fn table_name(value: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    ((3..=255).contains(&value.len()) && value.chars().all(allowed)).then(|| value.to_owned())
}

fn model_name(value: &str) -> Option<String> {
    (value.len() <= 200 && value.chars().all(|c| c.is_ascii_graphic())).then(|| value.to_owned())
}

fn log_level(value: &str) -> Option<LogLevel> {
    [
        LogLevel::Error,
        LogLevel::Warn,
        LogLevel::Info,
        LogLevel::Debug,
        LogLevel::Trace,
    ]
    .into_iter()
    .find(|level| level.name().eq_ignore_ascii_case(value))
}

fn postgres_url(value: &str) -> bool {
    (value.starts_with("postgres://") || value.starts_with("postgresql://"))
        && !value.contains(char::is_whitespace)
}

fn key(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_graphic())
}

fn http_url(value: &str) -> Option<String> {
    let rest = value
        .strip_prefix("https://")
        .or_else(|| value.strip_prefix("http://"))?;
    let plain = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
        && rest.chars().all(|c| c.is_ascii_graphic());
    (plain && !rest.contains(['?', '#', '"', '<', '>', '\\'])).then(|| value.to_owned())
}

/// An address that paths are put behind.
fn base_url(value: &str) -> Option<String> {
    http_url(value).map(|url| url.trim_end_matches('/').to_owned())
}

fn is_origin(value: &str) -> bool {
    http_url(value).is_some() && value.matches('/').count() == 2
}

fn file(value: &str) -> Option<PathBuf> {
    Some(PathBuf::from(value)).filter(|path| path.is_file())
}

fn folder(value: &str) -> Option<PathBuf> {
    Some(PathBuf::from(value)).filter(|path: &PathBuf| Path::is_dir(path))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    const DATABASE: (&str, &str) = (
        "DATABASE_URL",
        "postgresql://postgres:hunter2@/sourced?host=/run/pg",
    );

    fn read(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::read(
            &std::iter::once(DATABASE)
                .chain(pairs.iter().copied())
                .collect(),
        )
    }

    #[test]
    fn defaults_are_local() {
        let config = read(&[]).unwrap();
        assert_eq!(config.corpus, "postgresql-17");
        assert_eq!(config.models.embedder, Embedder::Local);
        assert_eq!(config.models.reranker, Reranker::Local);
        assert_eq!(config.models.generator, Generator::Extractive);
        assert_eq!(config.limits.visitor_questions_per_day, 20);
        assert_eq!(config.limits.global_questions_per_day, 500);
        assert_eq!(config.limits.record_days, 30);
        assert_eq!(config.limits.daily_budget, None);
        assert_eq!(config.http.port, 9000);
        assert_eq!(config.limits.mode, None);
        let results = ResultsConfig {
            location: "eval/results".into(),
            endpoint: None,
        };
        assert_eq!(config.results, results);
        assert_eq!(
            config.clone().for_visitors().unwrap_err().to_string(),
            "HASH_SECRET is not set: it must be at least 16 characters, the same ones in every process"
        );
        assert_eq!(config.database.direct_url, config.database.url);
    }

    #[test]
    fn a_key_alone_makes_all_models_the_providers() {
        let models = read(&[("OPENAI_API_KEY", "sk-1")]).unwrap().models;
        let server = Server {
            key: Some(Secret::new("sk-1")),
            base_url: "https://api.openai.com/v1".into(),
        };
        let remote = |model: &str| RemoteModel {
            server: server.clone(),
            model: model.into(),
        };
        assert_eq!(models.generator, Generator::OpenAi(remote("gpt-4.1-mini")));
        assert_eq!(models.reranker, Reranker::Chat(remote("gpt-4.1-mini")));
        let embedder = Embedder::OpenAi {
            remote: remote("text-embedding-3-small"),
            dimensions: 1536,
            shortened: false,
        };
        assert_eq!(models.embedder, embedder);
    }

    #[test]
    fn a_chosen_part_stays_local_beside_a_key() {
        let models = read(&[
            ("OPENAI_API_KEY", "sk-1"),
            ("EMBEDDER", "local"),
            ("RERANKER", "none"),
        ])
        .unwrap()
        .models;
        assert_eq!(models.embedder, Embedder::Local);
        assert_eq!(models.reranker, Reranker::None);
        assert_eq!(models.generator.name(), "openai");
    }

    #[test]
    fn a_server_of_ones_own_needs_no_key() {
        let own = ("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/");
        let models = read(&[own, ("GENERATOR", "openai"), ("CHAT_MODEL", "smollm2:135m")])
            .unwrap()
            .models;
        assert_eq!(
            models.embedder,
            Embedder::Local,
            "without a key all else is local"
        );
        let server = Server {
            key: None,
            base_url: "http://127.0.0.1:8080/v1".into(),
        };
        let model = "smollm2:135m".into();
        assert_eq!(
            models.generator,
            Generator::OpenAi(RemoteModel { server, model })
        );
    }

    #[test]
    fn an_embedding_models_width_is_known_or_asked_for() {
        let openai = ("EMBEDDER", "openai");
        let key = ("OPENAI_API_KEY", "sk-1");
        let unknown = ("EMBEDDING_MODEL", "nomic-embed-text");
        let error = read(&[openai, key, unknown]).unwrap_err().to_string();
        assert!(
            error.contains("EMBEDDING_DIMENSIONS") && error.contains("nomic"),
            "{error}"
        );
        for (settings, width, sent) in [
            (&[unknown, ("EMBEDDING_DIMENSIONS", "768")][..], 768, false),
            (&[("EMBEDDING_DIMENSIONS", "512")][..], 512, true),
            (
                &[("EMBEDDING_MODEL", "text-embedding-3-large")][..],
                3072,
                false,
            ),
        ] {
            let settings: Vec<_> = [openai, key].iter().chain(settings).copied().collect();
            let Embedder::OpenAi {
                dimensions,
                shortened,
                ..
            } = read(&settings).unwrap().models.embedder
            else {
                panic!("not the provider's");
            };
            assert_eq!((dimensions, shortened), (width, sent));
        }
    }

    /// Wider vectors cannot be indexed: told before any table is made for them.
    #[test]
    fn c009_a_width_the_database_cannot_index_stops_the_start() {
        let error = read(&[
            ("OPENAI_API_KEY", "sk-1"),
            ("EMBEDDING_MODEL", "text-embedding-3-large"),
            ("EMBEDDING_DIMENSIONS", "4001"),
        ])
        .unwrap_err()
        .to_string();
        assert!(
            error.contains("EMBEDDING_DIMENSIONS") && error.contains("4000"),
            "{error}"
        );
    }

    #[test]
    fn a_wrong_value_is_one_line_that_names_it_and_what_it_accepts() {
        for (name, value, accepts) in [
            ("CORPUS", "../etc", "manifest"),
            ("EMBEDDER", "word2vec", "local or openai"),
            ("RERANKER", "best", "local, chat, cohere or none"),
            ("RERANKER", "cohere", "COHERE_API_KEY"),
            ("GENERATOR", "magic", "extractive"),
            ("GENERATOR", "openai", "OPENAI_API_KEY"),
            (
                "EMBEDDING_MODEL",
                "text-embedding-3-small",
                "all-MiniLM-L6-v2",
            ),
            ("EMBEDDING_DIMENSIONS", "1536", "384"),
            ("MODEL_DIR", "/nowhere", "folder"),
            ("RELEVANCE_THRESHOLD", "1.5", "0 to 1"),
            ("RELEVANCE_THRESHOLD", "NaN", "0 to 1"),
            ("PRICES_FILE", "/nowhere", "file"),
            ("DATABASE_CA_FILE", "/nowhere", "PEM"),
            ("OPENAI_BASE_URL", "api.example", "https://"),
            ("COHERE_BASE_URL", "ftp://api.example", "https://"),
            ("CHAT_MODEL", "a model", "name"),
            ("RERANK_MODEL", "a model", "name"),
            ("MODE", "on", "live, read-only or off"),
            ("VISITOR_DAILY_LIMIT", "-1", "whole number"),
            ("GLOBAL_DAILY_LIMIT", "many", "whole number"),
            ("DAILY_BUDGET_USD", "inf", "dollars"),
            ("USAGE_TABLE", "a b", "table"),
            ("AWS_ENDPOINT_URL_DYNAMODB", "localhost:8000", "https://"),
            ("EVAL_RESULTS", "s3://Results/eval", "s3://BUCKET/PREFIX"),
            ("EVAL_RESULTS", "s3:/results", "a folder"),
            ("EVAL_RESULTS", "https://results.example", "a folder"),
            ("AWS_ENDPOINT_URL_S3", "localhost:9000", "https://"),
            ("TRUSTED_HOPS", "11", "0 to 10"),
            ("RECORD_DAYS", "0", "1 to 3650"),
            ("ALLOWED_ORIGIN", "https://a.example/path", "origin"),
            ("PUBLIC_URL", "a.example", "https://"),
            ("LOG_LEVEL", "loud", "debug"),
            ("PORT", "0", "65535"),
            ("PORT", "a\nb", "65535"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(
                error.contains(name) && error.contains(accepts),
                "{name}={value}: {error}"
            );
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    fn a_secret_by_its_place_is_refused() {
        let error = read(&[
            ("HASH_SECRET_ARN", ""),
            ("HASH_SECRET_SECRET_ARN", "arn:aws:x"),
        ])
        .unwrap_err();
        assert!(matches!(error, ConfigError::NotBuilt { .. }), "{error}");
        let told = error.to_string();
        assert!(
            told.contains("HASH_SECRET_SECRET_ARN") && told.contains("HASH_SECRET itself"),
            "{told}"
        );
    }

    #[test]
    fn a_missing_database_names_the_variable() {
        let error = Config::read(&Variables::default()).unwrap_err().to_string();
        assert!(error.starts_with("DATABASE_URL is not set"), "{error}");
    }

    #[test]
    fn secrets_never_print() {
        let pairs = [
            ("HASH_SECRET", "0123456789abcdef"),
            ("OPENAI_API_KEY", "sk-tell-no-one"),
        ];
        let shown = format!("{:?}", read(&pairs).unwrap());
        assert!(
            !shown.contains("hunter2")
                && !shown.contains("sk-tell")
                && !shown.contains("0123456789abcdef"),
            "{shown}"
        );
        for (name, value) in [
            ("HASH_SECRET", "short"),
            ("OPENAI_API_KEY", "sk spaced"),
            ("DATABASE_DIRECT_URL", "host=db password=pw"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(name) && !error.contains(value), "{error}");
        }
        let variables: Variables = pairs.into_iter().collect();
        assert!(!format!("{variables:?}").contains("sk-tell"));
    }

    #[test]
    fn the_environment_stands_above_the_file() {
        let file = dot_env("# local\nexport CORPUS='handbook'\n\nLOG_LEVEL=\"debug\"\nPORT=9100\n")
            .unwrap();
        let environment: Variables = [DATABASE, ("PORT", "9200"), ("LOG_LEVEL", "")]
            .into_iter()
            .collect();
        let config = Config::read(&environment.above(file)).unwrap();
        assert_eq!(
            (config.corpus.as_str(), config.http.port, config.log_level),
            ("handbook", 9200, LogLevel::Debug)
        );
    }

    #[test]
    fn a_broken_file_names_the_line_and_not_the_value() {
        let error = dot_env("A=1\nsk-secret-key\n").unwrap_err().to_string();
        assert!(
            error.contains("line 2") && !error.contains("sk-secret"),
            "{error}"
        );
    }

    #[test]
    fn results_are_in_a_folder_or_in_a_bucket() {
        for location in [
            "/var/results",
            "../results",
            "s3://results",
            "s3://results/eval/",
        ] {
            let endpoint = "http://127.0.0.1:9000";
            let set = [
                ("EVAL_RESULTS", location),
                ("AWS_ENDPOINT_URL_S3", endpoint),
            ];
            let results = read(&set).unwrap().results;
            assert_eq!(results.location, location);
            assert_eq!(results.endpoint.as_deref(), Some(endpoint));
        }
    }

    #[test]
    fn roots_end_in_one_slash() {
        for url in [
            "https://docs.example/ask",
            "https://docs.example/ask/",
            "https://docs.example/ask//",
        ] {
            assert_eq!(
                read(&[("PUBLIC_URL", url)])
                    .unwrap()
                    .http
                    .public_url
                    .as_deref(),
                Some("https://docs.example/ask/")
            );
        }
    }
}

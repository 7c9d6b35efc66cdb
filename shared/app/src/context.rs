//! The composition root: what the pipelines share, made once at start.
//!
//! Starting reaches nothing but the model's files: Postgres is dialled by the first question that needs it; the page, the
//! status, prepared answers and every refusal get by with items in DynamoDB. No global state: whoever needs a part is handed
//! the context.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use adapters::dynamodb::Table;
use adapters::dynamodb::corpus::{Corpus, get_corpus};
use adapters::dynamodb::ledger::Ledger;
use adapters::dynamodb::mode::get_mode;
use adapters::dynamodb::quota::Quota;
use adapters::model::{Embedder, Reranker};
use adapters::postgres::Client;
use adapters::postgres::connect::{ConnectError, DatabaseUrl, connect};
use adapters::postgres::retrieve;
use adapters::provider::{
    ApiKey, BaseUrl, BatchLimits, ChatModel, ChatReranker, CohereReranker, OpenAiEmbedder,
    Provider, RetryPolicy, Timeouts, Width,
};
use adapters::results::Results;
use anyhow::{Context as _, anyhow};
use domain::cost::{Money, Prices};
use domain::mode::Mode;
use domain::prepared::Edition;
use domain::quota::{Day, Limits};
use domain::visitor::HashKey;

use crate::admit::Tally;
use crate::ask::ANSWERS_VERSION;
use crate::ask::judge::Thresholds;
use crate::ask::prompt::PROMPT_VERSION;
use crate::ask::thresholds;
use crate::ask::worst_case::{unpriced, worst_case};
use crate::cache::Cache;
use crate::config::{self, Config, Generator, LimitsConfig, ModelsConfig, RemoteModel, Server};
use crate::documents::Documents;
use crate::error::ApiError;
use crate::suggest::Shelf;

/// How long a stored mode is believed, and so how long a new one may take to be in force.
const MODE_AGE: Duration = Duration::from_secs(4);
/// How long a corpus item is believed. After a switch an old title or count may be shown this long; answers always read
/// the current version.
const CORPUS_AGE: Duration = Duration::from_secs(30);
/// An idle connection older than this is not trusted: servers and the network between drop them without a word, and a
/// frozen process misses even that word. Dialling again takes milliseconds.
const IDLE_CONNECTION_AGE: Duration = Duration::from_secs(60);

/// The words of a corpus version with the number of chunks that hold each.
pub type Words = Arc<HashMap<String, u32>>;

/// What the pipelines share.
pub struct Context {
    /// What the deployment is set to.
    pub config: Config,
    /// Turns texts into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Orders the passages found.
    pub reranker: Reranking,
    /// Writes the answer; the passages' own sentences answer without it.
    pub chat: Option<ChatModel>,
    /// What providers charge.
    pub prices: Prices,
    /// The items that are known while Postgres sleeps.
    pub table: Table,
    /// What visitors may ask and spend a day.
    pub quota: Quota,
    /// What the operator's own work may spend a day.
    pub ledger: Ledger,
    /// Keys the hashes that stand for visitors and questions; a service that visitors ask does not start without.
    pub hash_key: Option<HashKey>,
    /// The most that one question can cost.
    pub worst_case: Money,
    /// The relevance below which questions are refused, where it was calibrated.
    pub calibrated: Option<f32>,
    /// Questions that were kept out and not written down yet.
    pub(crate) tally: Tally,
    database: Database,
    mode: Cache<Option<Mode>>,
    corpus: Cache<Arc<Corpus>>,
    /// The suggested questions and their answers.
    pub(crate) shelf: Shelf,
    /// The stored documents that were read.
    pub(crate) documents: Documents,
    words: Mutex<Option<(i64, Words)>>,
    results: OnceLock<Results>,
}

impl Context {
    /// Reads the environment and makes everything it names.
    ///
    /// # Errors
    /// A wrong variable, or a model that cannot be loaded.
    pub async fn from_env() -> anyhow::Result<Self> {
        Self::new(Config::from_env()?).await
    }

    /// Makes everything the configuration names.
    ///
    /// # Errors
    /// A wrong `DATABASE_URL`, or a model that cannot be loaded.
    pub async fn new(config: Config) -> anyhow::Result<Self> {
        let embedder = embedder(&config.models)?;
        Self::with_embedder(config, embedder).await
    }

    /// The same with an embedder at hand.
    ///
    /// # Errors
    /// A wrong `DATABASE_URL`.
    pub async fn with_embedder(
        config: Config,
        embedder: Arc<dyn Embedder>,
    ) -> anyhow::Result<Self> {
        let url = DatabaseUrl::parse(
            config.database.url.expose(),
            config.database.ca_file.as_deref(),
        )
        .context("DATABASE_URL")?;
        let limits = &config.limits;
        let prices = prices(&config)?;
        let table = Table::connect(&limits.usage_table, limits.dynamodb_endpoint.as_deref()).await;
        Ok(Self {
            reranker: reranking(&config.models.reranker)?,
            chat: match &config.models.generator {
                Generator::Extractive => None,
                Generator::OpenAi(remote) => Some(chat_model(remote)?),
            },
            quota: Quota::new(table.clone(), daily_limits(limits)),
            ledger: ledger(limits, table.clone()),
            hash_key: limits.hash_key.clone(),
            worst_case: worst_case(&config.models, &prices),
            calibrated: calibrated(&config, &*embedder)?,
            prices,
            table,
            tally: Tally::default(),
            mode: Cache::default(),
            database: Database {
                url,
                open: tokio::sync::Mutex::new(None),
            },
            corpus: Cache::default(),
            shelf: Shelf::default(),
            documents: Documents::default(),
            words: Mutex::new(None),
            results: OnceLock::new(),
            config,
            embedder,
        })
    }

    /// The mode in force: the configured one, else the stored one, at most `MODE_AGE` old, else live.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when it cannot be read and was not known before.
    pub async fn mode(&self) -> Result<Mode, ApiError> {
        if let Some(forced) = self.config.limits.mode {
            return Ok(forced);
        }
        self.mode
            .get("the mode", MODE_AGE, get_mode(&self.table))
            .await
            .map(|stored| stored.unwrap_or(Mode::Live))
            .map_err(|error| {
                ApiError::Unavailable(anyhow::Error::from(error).context("read the mode"))
            })
    }

    /// When what is recorded of a day is to be gone, in seconds since 1970.
    pub(crate) fn record_expiry(&self, day: Day) -> u64 {
        day.end() + u64::from(self.config.limits.record_days) * 86_400
    }

    /// What prepared answers depend on beside their questions.
    #[must_use]
    pub fn edition(&self, corpus: &Corpus) -> Edition {
        let models = &self.config.models;
        let thresholds = Thresholds::of(self);
        let writer = [
            format!("answers {ANSWERS_VERSION}"),
            format!("rules {PROMPT_VERSION}"),
            format!("embedder {}", corpus.embedding_model),
            format!("reranker {}", models.reranker.name()),
            format!("generator {}", models.generator.name()),
            format!("models {}", models.remote_models().join(",")),
            format!("relevance {} {}", thresholds.sentences, thresholds.reranker),
        ];
        Edition {
            corpus: corpus.name.clone(),
            version: corpus.version,
            writer: writer.join("; "),
        }
    }

    /// The corpus as it is served, from the corpus item and at most `CORPUS_AGE` old. Wakes no Postgres.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when none was ever ingested, or the item cannot be read and no older copy is at hand.
    pub async fn corpus(&self) -> Result<Arc<Corpus>, ApiError> {
        let name = &self.config.corpus;
        let read = async {
            get_corpus(&self.table, name)
                .await?
                .map(Arc::new)
                .ok_or_else(|| {
                    anyhow!("no corpus named {name} has been ingested: run scripts/ingest")
                })
        };
        self.corpus
            .get("the corpus item", CORPUS_AGE, read)
            .await
            .map_err(|error| ApiError::Unavailable(error.context("read the corpus item")))
    }

    /// A connection to answer from. Statements of several tasks are pipelined on it, so one is enough; it is dialled when
    /// first asked for, and again when it has closed or lain idle.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn database(&self) -> Result<Arc<Client>, ConnectError> {
        self.database.client().await
    }

    /// The store of evaluation results, opened when first asked for.
    ///
    /// # Errors
    /// Settings of the environment that no client can be made of.
    pub fn results(&self) -> anyhow::Result<Results> {
        if let Some(open) = self.results.get() {
            return Ok(open.clone());
        }
        let config = &self.config.results;
        let opened = Results::open(&config.location, config.endpoint.as_deref())
            .context("open the results")?;
        Ok(self.results.get_or_init(|| opened).clone())
    }

    /// Forgets the open connection: what failed on it, or was abandoned on it, would hold up whatever comes next.
    pub async fn forget_database(&self) {
        *self.database.open.lock().await = None;
    }

    /// The words of a corpus version with the number of chunks that hold each, read once per version.
    ///
    /// # Errors
    /// When the database refuses or the connection fails.
    pub async fn words(&self, client: &Client, version: i64) -> anyhow::Result<Words> {
        let known = self
            .words
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some((of, words)) = known
            && of == version
        {
            return Ok(words);
        }
        let words = Arc::new(retrieve::words(client, version).await?);
        *self.words.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((version, Arc::clone(&words)));
        Ok(words)
    }
}

/// Who orders the passages found.
pub enum Reranking {
    /// The best sentences.
    Local,
    /// A model of a provider.
    Remote(Arc<dyn Reranker>),
    /// Nobody: the order of the fusion stands.
    None,
}

/// The embedder that the configuration names.
///
/// # Errors
/// A model that cannot be loaded, or a server that cannot be called.
pub fn embedder(models: &ModelsConfig) -> anyhow::Result<Arc<dyn Embedder>> {
    match &models.embedder {
        config::Embedder::Local => local_model(&models.model_dir),
        config::Embedder::OpenAi {
            remote,
            dimensions,
            shortened,
        } => {
            let width = if *shortened {
                Width::Requested(*dimensions)
            } else {
                Width::Native(*dimensions)
            };
            let provider = provider(&remote.server)?;
            let limits = BatchLimits::default();
            Ok(Arc::new(OpenAiEmbedder::new(
                provider,
                &remote.model,
                width,
                limits,
            )))
        }
    }
}

fn reranking(reranker: &config::Reranker) -> anyhow::Result<Reranking> {
    Ok(match reranker {
        config::Reranker::Local => Reranking::Local,
        config::Reranker::None => Reranking::None,
        config::Reranker::Chat(remote) => {
            Reranking::Remote(Arc::new(ChatReranker::new(chat_model(remote)?)))
        }
        config::Reranker::Cohere(remote) => Reranking::Remote(Arc::new(CohereReranker::new(
            provider(&remote.server)?,
            &remote.model,
        ))),
    })
}

/// A chat model as it is configured.
///
/// # Errors
/// A key or an address that cannot be sent.
pub fn chat_model(remote: &RemoteModel) -> anyhow::Result<ChatModel> {
    Ok(ChatModel::new(provider(&remote.server)?, &remote.model))
}

fn provider(server: &Server) -> anyhow::Result<Provider> {
    let key = server
        .key
        .as_ref()
        .map(|key| ApiKey::new(key.expose()))
        .transpose()
        .context("read a provider's key")?;
    let base = BaseUrl::parse(&server.base_url).context("read a provider's base URL")?;
    Provider::new(base, key, Timeouts::default(), RetryPolicy::default())
        .context("set up a provider's client")
}

fn calibrated(config: &Config, embedder: &dyn Embedder) -> anyhow::Result<Option<f32>> {
    let thresholds =
        thresholds::Thresholds::built_in().context("read the calibrated thresholds")?;
    let reranker = config.models.reranker.identity();
    let found = thresholds.of(&config.corpus, embedder.model(), &reranker);
    Ok(found.map(|found| found.threshold))
}

/// The operator's ledger in `table`, with the configured ceiling.
#[must_use]
pub fn ledger(limits: &LimitsConfig, table: Table) -> Ledger {
    Ledger::new(table, limits.batch_daily_budget)
}

/// What a day allows.
#[must_use]
pub fn daily_limits(limits: &LimitsConfig) -> Limits {
    Limits {
        visitor: limits.visitor_questions_per_day,
        global: limits.global_questions_per_day,
        budget: limits.daily_budget,
    }
}

/// The prices that are configured. A limit on money holds only what is priced.
///
/// # Errors
/// A file that cannot be read, or a budget with a model that has no price for what it is used for.
pub fn prices(config: &Config) -> anyhow::Result<Prices> {
    let prices = match &config.models.prices_file {
        None => Prices::default(),
        Some(path) => std::fs::read_to_string(path)
            .map_err(anyhow::Error::from)
            .and_then(|text| Ok(toml::from_str(&text)?))
            .with_context(|| format!("PRICES_FILE {}", path.display()))?,
    };
    let limits = &config.limits;
    let budgets = [
        ("DAILY_BUDGET_USD", limits.daily_budget),
        ("BATCH_DAILY_BUDGET_USD", limits.batch_daily_budget),
    ];
    let budget = budgets.iter().find(|(_, budget)| budget.is_some());
    match (unpriced(&config.models, &prices), budget) {
        (Some(model), Some((budget, _))) => Err(anyhow!(
            "{budget} is set, but PRICES_FILE has no price for what {model} is used for: add it, or unset the budget"
        )),
        _ => Ok(prices),
    }
}

struct Database {
    url: DatabaseUrl,
    open: tokio::sync::Mutex<Option<Open>>,
}

struct Open {
    client: Arc<Client>,
    /// By the wall clock: the others stand still while the process is frozen.
    used: SystemTime,
}

impl Database {
    async fn client(&self) -> Result<Arc<Client>, ConnectError> {
        // Held while dialling, so that questions that come meanwhile share the connection.
        let mut open = self.open.lock().await;
        let now = SystemTime::now();
        if let Some(known) = open.as_mut()
            && !known.client.is_closed()
            && now
                .duration_since(known.used)
                .is_ok_and(|idle| idle < IDLE_CONNECTION_AGE)
        {
            known.used = now;
            return Ok(Arc::clone(&known.client));
        }
        let client = Arc::new(connect(&self.url).await?);
        *open = Some(Open {
            client: Arc::clone(&client),
            used: now,
        });
        Ok(client)
    }
}

#[cfg(feature = "local")]
fn local_model(folder: &Path) -> anyhow::Result<Arc<dyn Embedder>> {
    let model = adapters::local_model::LocalModel::load(folder).with_context(|| {
        format!(
            "load the sentence model from MODEL_DIR {}",
            folder.display()
        )
    })?;
    Ok(Arc::new(model))
}

#[cfg(not(feature = "local"))]
fn local_model(_folder: &Path) -> anyhow::Result<Arc<dyn Embedder>> {
    Err(anyhow!(
        "EMBEDDER is local, but this build has no local model: build it with the feature local"
    ))
}

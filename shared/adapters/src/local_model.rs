//! all-MiniLM-L6-v2, run in this process.
//!
//! The encoder is BERT's, as the model's `config.json` describes it, written against `candle-nn`: `candle-transformers`
//! would compile a hundred architectures to use this one. All work happens on a thread pool of its own; a runtime worker
//! only waits for the reply. The weights are mapped, not read, so a cold start pays for the pages it touches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candle_core::{D, DType, Device, Tensor};
use candle_nn::{Embedding, LayerNorm, Linear, Module, VarBuilder, embedding, layer_norm, linear};
use futures_util::future::BoxFuture;
use rayon::prelude::*;
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};
use tokio::sync::oneshot;

use crate::model::{Embedder, ModelError};

/// Identity stored with every vector this model made.
const MODEL: &str = "all-MiniLM-L6-v2";

/// Word pieces the model was trained to read; the rest of a longer text is not seen.
const MAX_TOKENS: usize = 256;

/// Padded word pieces in one forward pass: large enough to keep the matrix product busy, small enough to stay in cache.
const BATCH_TOKENS: usize = 1_024;

/// The loaded model and the threads it runs on.
#[derive(Debug, Clone)]
pub struct LocalModel {
    encoder: Arc<Encoder>,
    threads: Arc<rayon::ThreadPool>,
}

/// Why the model could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The folder lacks a file, or a file is not what its name says.
    #[error("cannot read {path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The threads could not be started.
    #[error("cannot start the model's threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl LocalModel {
    /// Loads `config.json`, `tokenizer.json` and `model.safetensors` from `folder`.
    ///
    /// # Errors
    /// [`LoadError`] naming the file that is missing or wrong.
    pub fn load(folder: &Path) -> Result<Self, LoadError> {
        let threads = rayon::ThreadPoolBuilder::new()
            .thread_name(|n| format!("model-{n}"))
            .build()?;
        Ok(Self {
            encoder: Arc::new(Encoder::load(folder)?),
            threads: Arc::new(threads),
        })
    }
}

impl Embedder for LocalModel {
    fn model(&self) -> &str {
        MODEL
    }

    fn dimensions(&self) -> usize {
        self.encoder.hidden
    }

    /// Common words are tokens of their own, what is misspelt falls into pieces.
    fn is_word(&self, word: &str) -> bool {
        self.encoder.tokenizer.token_to_id(word).is_some()
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        let (reply, answer) = oneshot::channel();
        let encoder = Arc::clone(&self.encoder);
        let texts = texts.to_vec();
        self.threads.spawn(move || {
            // A panic that leaves a thread of the pool ends the process; here it drops the sender, which is an error.
            let embedded = catch_unwind(AssertUnwindSafe(|| encoder.embed(&texts)));
            if let Ok(embedded) = embedded {
                // A receiver that is gone is a question that was given up: nobody wants the vectors.
                let _ = reply.send(embedded);
            }
        });
        Box::pin(async move {
            answer
                .await
                .map_err(|error| ModelError::Other(error.into()))?
                .map_err(|error| ModelError::Other(error.into()))
        })
    }
}

/// The part of `config.json` that shapes the network.
#[derive(Debug, Deserialize)]
struct Shape {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
}

#[derive(Debug)]
struct Encoder {
    tokenizer: Tokenizer,
    words: Embedding,
    positions: Embedding,
    kind: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
    heads: usize,
    hidden: usize,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: LayerNorm,
    widen: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl Encoder {
    fn load(folder: &Path) -> Result<Self, LoadError> {
        let wrong = |name: &str, reason: String| LoadError::File {
            path: folder.join(name),
            reason,
        };
        let config = std::fs::read(folder.join("config.json"))
            .map_err(|e| wrong("config.json", e.to_string()))?;
        let shape: Shape =
            serde_json::from_slice(&config).map_err(|e| wrong("config.json", e.to_string()))?;
        let tokenizer = tokenizer(folder).map_err(|e| wrong("tokenizer.json", e.to_string()))?;
        let weights = folder.join("model.safetensors");
        #[expect(
            unsafe_code,
            reason = "the weights are mapped; the file belongs to the installation and is never written while in use"
        )]
        let mapped =
            unsafe { VarBuilder::from_mmaped_safetensors(&[&weights], DType::F32, &Device::Cpu) };
        mapped
            .and_then(|weights| Self::build(&shape, tokenizer, &weights))
            .map_err(|e| wrong("model.safetensors", e.to_string()))
    }

    fn build(
        shape: &Shape,
        tokenizer: Tokenizer,
        weights: &VarBuilder,
    ) -> candle_core::Result<Self> {
        let (hidden, eps) = (shape.hidden_size, shape.layer_norm_eps);
        let tables = weights.pp("embeddings");
        let layers = (0..shape.num_hidden_layers).map(|n| {
            let layer = weights.pp(format!("encoder.layer.{n}"));
            let attention = layer.pp("attention");
            Ok(Layer {
                query: linear(hidden, hidden, attention.pp("self.query"))?,
                key: linear(hidden, hidden, attention.pp("self.key"))?,
                value: linear(hidden, hidden, attention.pp("self.value"))?,
                output: linear(hidden, hidden, attention.pp("output.dense"))?,
                attention_norm: layer_norm(hidden, eps, attention.pp("output.LayerNorm"))?,
                widen: linear(
                    hidden,
                    shape.intermediate_size,
                    layer.pp("intermediate.dense"),
                )?,
                narrow: linear(shape.intermediate_size, hidden, layer.pp("output.dense"))?,
                norm: layer_norm(hidden, eps, layer.pp("output.LayerNorm"))?,
            })
        });
        let kinds = embedding(
            shape.type_vocab_size,
            hidden,
            tables.pp("token_type_embeddings"),
        )?;
        Ok(Self {
            tokenizer,
            words: embedding(shape.vocab_size, hidden, tables.pp("word_embeddings"))?,
            positions: embedding(
                shape.max_position_embeddings,
                hidden,
                tables.pp("position_embeddings"),
            )?,
            kind: kinds.embeddings().get(0)?,
            norm: layer_norm(hidden, eps, tables.pp("LayerNorm"))?,
            layers: layers.collect::<candle_core::Result<_>>()?,
            heads: shape.num_attention_heads,
            hidden,
        })
    }

    /// Embeds texts of like length together, so that little of a batch is padding.
    fn embed(&self, texts: &[String]) -> candle_core::Result<Vec<Vec<f32>>> {
        let encodings = self
            .tokenizer
            .encode_batch(texts.iter().map(String::as_str).collect(), true)
            .map_err(candle_core::Error::wrap)?;
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&n| encodings[n].len());
        let mut batches: Vec<&[usize]> = Vec::new();
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            // Ascending lengths: a batch is as long as its last text.
            let fits = (1..=rest.len())
                .take_while(|&n| n * encodings[rest[n - 1]].len() <= BATCH_TOKENS)
                .last()
                .unwrap_or(1);
            let (batch, later) = rest.split_at(fits);
            batches.push(batch);
            rest = later;
        }
        let embedded = batches
            .par_iter()
            .map(|batch| {
                let ids: Vec<&[u32]> = batch.iter().map(|&n| encodings[n].get_ids()).collect();
                self.forward(&ids)
            })
            .collect::<candle_core::Result<Vec<_>>>()?;
        let mut vectors = vec![Vec::new(); texts.len()];
        for (&n, vector) in batches
            .into_iter()
            .flatten()
            .zip(embedded.into_iter().flatten())
        {
            vectors[n] = vector;
        }
        Ok(vectors)
    }

    /// One pass: word pieces to the mean of the last layer's states, scaled to unit length.
    fn forward(&self, texts: &[&[u32]]) -> candle_core::Result<Vec<Vec<f32>>> {
        let (count, length) = (
            texts.len(),
            texts.iter().map(|ids| ids.len()).max().unwrap_or(0),
        );
        let padded = |fill: &dyn Fn(&[u32]) -> Vec<u32>| {
            let mut rows = Vec::with_capacity(count * length);
            for ids in texts {
                let mut row = fill(ids);
                row.resize(length, 0);
                rows.extend(row);
            }
            Tensor::from_vec(rows, (count, length), &Device::Cpu)
        };
        let ids = padded(&|ids| ids.to_vec())?;
        let mask = padded(&|ids| vec![1; ids.len()])?.to_dtype(DType::F32)?;

        let positions = self
            .positions
            .forward(&Tensor::arange(0, length as u32, &Device::Cpu)?)?;
        let states = self.words.forward(&ids)?;
        let states = states
            .broadcast_add(&positions)?
            .broadcast_add(&self.kind)?;
        let mut states = self.norm.forward(&states)?;
        let hidden_padding = mask.affine(1e9, -1e9)?.reshape((count, 1, 1, length))?;
        for layer in &self.layers {
            states = layer.forward(&states, &hidden_padding, self.heads)?;
        }
        let mask = mask.unsqueeze(2)?;
        let mean = states
            .broadcast_mul(&mask)?
            .sum(1)?
            .broadcast_div(&mask.sum(1)?)?;
        let norm = mean.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?;
        mean.broadcast_div(&norm)?.to_vec2()
    }
}

impl Layer {
    /// Self-attention and the feed-forward part, each with its residual and norm (Devlin et al. 2019, Vaswani et al. 2017).
    fn forward(
        &self,
        states: &Tensor,
        padding: &Tensor,
        heads: usize,
    ) -> candle_core::Result<Tensor> {
        let (count, length, hidden) = states.dims3()?;
        let split = |x: Tensor| {
            x.reshape((count, length, heads, hidden / heads))?
                .transpose(1, 2)?
                .contiguous()
        };
        let query = split(self.query.forward(states)?)?;
        let key = split(self.key.forward(states)?)?;
        let value = split(self.value.forward(states)?)?;
        let scale = 1.0 / ((hidden / heads) as f64).sqrt();
        let weights = query
            .matmul(&key.t()?)?
            .affine(scale, 0.0)?
            .broadcast_add(padding)?;
        let weights = candle_nn::ops::softmax_last_dim(&weights)?;
        let mixed = weights
            .matmul(&value)?
            .transpose(1, 2)?
            .reshape((count, length, hidden))?;
        let attended = self
            .attention_norm
            .forward(&(self.output.forward(&mixed)? + states)?)?;
        let fed = self
            .narrow
            .forward(&self.widen.forward(&attended)?.gelu_erf()?)?;
        self.norm.forward(&(fed + attended)?)
    }
}

/// The model's own tokenizer, without the fixed padding its file asks for.
fn tokenizer(folder: &Path) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(Some(TruncationParams {
        max_length: MAX_TOKENS,
        ..TruncationParams::default()
    }))?;
    Ok(tokenizer)
}

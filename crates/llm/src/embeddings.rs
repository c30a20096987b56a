//! Vectors of texts, from any server with OpenAI's `/embeddings`: Ollama, LM Studio, llama.cpp, vLLM, hosted ones.

use std::time::Duration;

use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;
use stepwell_net::HttpClient;
use stepwell_net::header::HeaderMap;
use stepwell_protocol::ErrorKind;
use url::Url;

use crate::advice::Peer;
use crate::connect::{headers, peer};
use crate::exchange::{AnswerLimits, post_for};
use crate::model::Error;
use crate::presets::Provider;
use crate::providers::openai_chat::OpenAiChat;
use crate::wire::{join, key_header};

/// Numbers as text take about twelve bytes each; a batch of long vectors fits.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// No model has longer vectors.
const LONGEST_VECTOR: usize = 16 * 1024;

/// What it takes to ask a server for vectors.
pub struct EmbeddingOptions {
    pub provider: Provider,
    pub model: String,
    pub key: Option<SecretString>,
    /// Numbers of a vector, where the model can give fewer than it has.
    pub dimensions: Option<u32>,
    pub client: HttpClient,
}

/// A server that makes vectors of texts.
pub struct EmbeddingModel {
    peer: Peer,
    url: Url,
    headers: HeaderMap,
    dimensions: Option<u32>,
    client: HttpClient,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    /// Which text it is of; servers that leave it out keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl EmbeddingModel {
    pub fn new(options: EmbeddingOptions) -> Result<Self, Error> {
        let EmbeddingOptions { provider, model, key, dimensions, client } = options;
        let peer = peer(&provider, &model, key.clone())?;
        let mut all = headers(&provider)?;
        all.extend(key_header(&OpenAiChat::new(provider.quirks), key.as_ref(), &peer)?);
        let url = join(&peer.base_url, &["embeddings"])?;
        Ok(Self { peer, url, headers: all, dimensions, client })
    }

    /// A vector for each text, in their order and all of one length.
    pub async fn embed(&self, texts: &[String], deadline: Duration) -> Result<Vec<Vec<f32>>, Error> {
        let mut body = json!({"model": self.peer.model, "input": texts, "encoding_format": "float"});
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let limits = AnswerLimits { bytes: MOST_BYTES, deadline };
        let headers = self.headers.clone();
        let answer: Answer = post_for(&self.client, &self.url, headers, &body, limits, &self.peer).await?;
        self.checked(answer, texts.len())
    }

    fn checked(&self, answer: Answer, count: usize) -> Result<Vec<Vec<f32>>, Error> {
        let wrong = |what: String| {
            Error::new(
                ErrorKind::LlmProtocol,
                format!("the vectors of `{}` cannot be used: {what}", self.peer.model),
            )
            .with_hint("check that the endpoint and the model make embeddings")
        };
        if answer.data.len() != count {
            return Err(wrong(format!("{} came for {count} texts", answer.data.len())));
        }
        let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); count];
        for (place, row) in answer.data.into_iter().enumerate() {
            let place = row.index.unwrap_or(place);
            match vectors.get_mut(place) {
                Some(slot) if slot.is_empty() => *slot = row.embedding,
                _ => return Err(wrong(format!("one is said to be of text {place}"))),
            }
        }
        let length =
            self.dimensions.map_or_else(|| vectors.first().map_or(0, Vec::len), |wanted| wanted as usize);
        for vector in &vectors {
            if vector.len() != length {
                return Err(wrong(format!("one has {} numbers instead of {length}", vector.len())));
            }
            if !vector.iter().all(|number| number.is_finite()) {
                return Err(wrong("one has a number that is none".to_owned()));
            }
        }
        if count > 0 && (length == 0 || length > LONGEST_VECTOR) {
            return Err(wrong(format!("they have {length} numbers")));
        }
        Ok(vectors)
    }
}

#[cfg(test)]
#[path = "embeddings_tests.rs"]
mod tests;

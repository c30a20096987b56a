//! Images from a text, from servers with OpenAI's `/images/generations` and from Gemini.

mod gemini;
mod openai;

use std::time::Duration;

use base64::Engine as _;
use secrecy::SecretString;
use serde_json::Value;
use stepwell_net::HttpClient;
use stepwell_net::header::HeaderMap;
use stepwell_protocol::{ErrorKind, Image};
use url::Url;

use crate::advice::Peer;
use crate::connect::{headers, peer};
use crate::exchange::{post, whole};
use crate::model::Error;
use crate::presets::{Provider, ProviderKind};
use crate::providers::gemini::Gemini;
use crate::providers::openai_chat::OpenAiChat;
use crate::wire::{join, key_header};

/// The largest answer that is read; an image takes a third more as text.
const MOST_BYTES: usize = 40 * 1024 * 1024;

/// What it takes to ask a server for images.
pub struct ImageOptions {
    pub provider: Provider,
    pub model: String,
    pub key: Option<SecretString>,
    pub client: HttpClient,
}

/// A server that makes images.
pub struct ImageModel {
    peer: Peer,
    url: Url,
    headers: HeaderMap,
    form: Form,
    client: HttpClient,
}

/// How the server is spoken to.
#[derive(Clone, Copy)]
enum Form {
    OpenAi,
    Gemini,
}

impl ImageModel {
    pub fn new(options: ImageOptions) -> Result<Self, Error> {
        let ImageOptions { provider, model, key, client } = options;
        let peer = peer(&provider, &model, key.clone())?;
        let mut all = headers(&provider)?;
        let (form, url) = match provider.kind {
            ProviderKind::OpenaiChat | ProviderKind::OpenaiResponses => {
                all.extend(key_header(&OpenAiChat::new(provider.quirks), key.as_ref(), &peer)?);
                (Form::OpenAi, join(&peer.base_url, &["images", "generations"])?)
            }
            ProviderKind::Gemini => {
                all.extend(key_header(&Gemini::default(), key.as_ref(), &peer)?);
                (Form::Gemini, join(&peer.base_url, &["models", &format!("{model}:generateContent")])?)
            }
            ProviderKind::Anthropic => {
                let message = format!("`{}` makes no images", provider.name);
                return Err(Error::new(ErrorKind::LlmProtocol, message)
                    .with_hint("name a model of an OpenAI-compatible server or of Gemini"));
            }
        };
        Ok(Self { peer, url, headers: all, form, client })
    }

    /// Makes an image of a text; `from` is an image to begin with.
    pub async fn make(
        &self,
        prompt: &str,
        from: Option<&Image>,
        deadline: Duration,
    ) -> Result<MadeBytes, Error> {
        let body = match (self.form, from) {
            (Form::Gemini, _) => gemini::body(prompt, from),
            (Form::OpenAi, None) => openai::body(&self.peer.model, prompt),
            (Form::OpenAi, Some(_)) => {
                let message = format!("`{}` takes no image to begin with", self.peer.model);
                return Err(Error::new(ErrorKind::LlmProtocol, message)
                    .with_hint("describe the whole image in words"));
            }
        };
        let body = body.to_string().into_bytes();
        let ask = async {
            let mut reply =
                post(&self.client, &self.url, self.headers.clone(), body.into(), &self.peer).await?;
            whole(&mut reply, MOST_BYTES, &self.peer).await
        };
        let bytes =
            tokio::time::timeout(deadline, ask).await.unwrap_or_else(|_| Err(self.peer.silence(deadline)))?;
        let answer: Value =
            serde_json::from_slice(&bytes).map_err(|cause| self.peer.unreadable(&bytes, &cause))?;
        let found = match self.form {
            Form::OpenAi => openai::image(&answer),
            Form::Gemini => gemini::image(&answer),
        };
        let data = found.map_err(|what| self.unusable(&what))?;
        let content = base64::engine::general_purpose::STANDARD.decode(data.trim());
        let content = content.map_err(|error| self.unusable(&format!("its base64 is wrong: {error}")))?;
        let kind = ImageKind::of(&content).ok_or_else(|| self.unusable("it is no PNG, JPEG, GIF or WebP"))?;
        Ok(MadeBytes { content, kind })
    }

    fn unusable(&self, what: &str) -> Error {
        let message = format!("`{}` gave no usable image: {what}", self.peer.model);
        Error::new(ErrorKind::LlmProtocol, message).with_hint("check that the model makes images")
    }
}

/// An image that was made.
#[derive(Debug)]
pub struct MadeBytes {
    pub content: Vec<u8>,
    pub kind: ImageKind,
}

/// A format of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    Png,
    Jpeg,
    Gif,
    WebP,
}

impl ImageKind {
    /// By the first bytes of a file.
    pub fn of(content: &[u8]) -> Option<Self> {
        match content {
            [0x89, b'P', b'N', b'G', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            _ => None,
        }
    }
}

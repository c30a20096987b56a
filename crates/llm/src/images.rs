//! Images from a text. A wire format that makes them implements [`ImageFormat`].

pub(crate) mod openai;

use std::time::Duration;

use base64::Engine as _;
use secrecy::SecretString;
use serde_json::Value;
use stepwell_net::HttpClient;
use stepwell_net::header::HeaderMap;
use stepwell_protocol::{ErrorKind, Image};
use url::Url;

use crate::advice::Peer;
use crate::connect::{headers, own_headers, peer};
use crate::exchange::{AnswerLimits, post_for};
use crate::model::Error;
use crate::presets::Provider;
use crate::providers::image_format;
use crate::wire::join;

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
    format: &'static dyn ImageFormat,
    client: HttpClient,
}

/// How a server is asked for an image.
pub(crate) trait ImageFormat: Send + Sync {
    /// The address below the base of the server.
    fn path(&self, model: &str) -> Vec<String>;

    /// The request; `None` where the server takes no image to begin with.
    fn body(&self, model: &str, prompt: &str, from: Option<&Image>) -> Option<Value>;

    /// The image as base64, or what the server gave instead.
    fn image(&self, answer: &Value) -> Result<String, String>;
}

impl ImageModel {
    pub fn new(options: ImageOptions) -> Result<Self, Error> {
        let ImageOptions { provider, model, key, client } = options;
        let peer = peer(&provider, &model, key.clone())?;
        let Some(format) = image_format(provider.kind) else {
            let message = format!("`{}` makes no images", provider.name);
            return Err(Error::new(ErrorKind::LlmProtocol, message)
                .with_hint("name a model of another provider, such as an OpenAI-compatible server"));
        };
        let mut all = headers(&provider)?;
        all.extend(own_headers(&provider, key.as_ref(), &peer)?);
        let path = format.path(&model);
        let url = join(&peer.base_url, &path.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(Self { peer, url, headers: all, format, client })
    }

    /// Makes an image of a text; `from` is an image to begin with.
    pub async fn make(
        &self,
        prompt: &str,
        from: Option<&Image>,
        deadline: Duration,
    ) -> Result<MadeBytes, Error> {
        let body = self.format.body(&self.peer.model, prompt, from).ok_or_else(|| {
            let message = format!("`{}` takes no image to begin with", self.peer.model);
            Error::new(ErrorKind::LlmProtocol, message).with_hint("describe the whole image in words")
        })?;
        let limits = AnswerLimits { bytes: MOST_BYTES, deadline };
        let headers = self.headers.clone();
        let answer: Value = post_for(&self.client, &self.url, headers, &body, limits, &self.peer).await?;
        let found = self.format.image(&answer);
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

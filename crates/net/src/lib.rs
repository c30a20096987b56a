//! HTTP with bounds: clients, event streams and downloads.
//!
//! [`HttpClient`] opens connections when they are first needed and keeps them; every wait has a deadline
//! ([`Timeouts`]) and every body a size limit. [`HttpClient::download`] follows redirects, requests do not.
//! [`SseParser`] decodes server-sent events as their bytes arrive. TLS is rustls with ring; proxies come from the
//! environment, and loopback addresses never go through one.
//!
//! ```
//! use stepwell_net::{SseEvent, SseParser};
//!
//! let mut parser = SseParser::new(stepwell_net::MAX_EVENT_BYTES);
//! let mut seen = Vec::new();
//! for chunk in ["event: del", "ta\ndata: 1\n\ndata: 2\n\n"] {
//!     parser.feed(chunk.as_bytes(), |event: SseEvent<'_>| {
//!         seen.push((event.name.to_vec(), event.data.to_vec()));
//!         Ok::<(), stepwell_net::EventTooLong>(())
//!     })?;
//! }
//! assert_eq!(seen, [(b"delta".to_vec(), b"1".to_vec()), (b"".to_vec(), b"2".to_vec())]);
//! # Ok::<(), stepwell_net::EventTooLong>(())
//! ```
//!
//! A request and its answer, with a body that is read piece by piece:
//!
//! ```no_run
//! use stepwell_net::header::HeaderMap;
//! use stepwell_net::{HttpClient, Timeouts};
//!
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! let client = HttpClient::new(Timeouts::STANDARD);
//! let mut response = client.get_json(&"http://127.0.0.1:11434/v1/models".parse()?, HeaderMap::new()).await?;
//! let body = response.bytes(1024 * 1024).await?;
//! println!("{}: {} bytes", response.status(), body.len());
//! # Ok(())
//! # }
//! ```
//!
//! This crate knows no model, no tool and no file: a download hands its pieces to the caller.

mod client;
mod download;
mod error;
mod page;
mod response;
mod sse;

pub use client::{HttpClient, Timeouts};
pub use download::DownloadProgress;
pub use error::{Error, host_and_port, without_secrets};
pub use page::{Page, PageError, PageLimits, get_page};
pub use reqwest::header;
pub use response::{BodyKind, Response};
pub use sse::{EventTooLong, MAX_EVENT_BYTES, SseEvent, SseParser};

//! The page and its files, which are part of the binary, and the page that signs a browser in.

use axum::Extension;
use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use crate::guard::Caller;
use crate::problem::Problem;

/// A file of the built page.
struct Asset {
    /// Relative to `web/dist`.
    path: &'static str,
    bytes: &'static [u8],
    etag: &'static str,
}

/// Sorted by path.
static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

static NOT_BUILT: &str = include_str!("page/not_built.html");
static LOGIN: &str = include_str!("page/login.html");
static LOGIN_SCRIPT: &str = include_str!("page/login.js");
static STYLE: &str = include_str!("page/plain.css");

/// Files below this folder have a hash of their content in their name.
const HASHED: &str = "assets/";

fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.binary_search_by_key(&path, |asset| asset.path).ok().map(|index| &ASSETS[index])
}

/// Serves a file by its exact name. There is no folder that a path could lead out of.
pub(crate) async fn asset(
    Extension(caller): Extension<Caller>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let path = uri.path().strip_prefix('/').unwrap_or_default();
    if method != Method::GET && method != Method::HEAD {
        return Problem::not_found().into_response();
    }
    match path {
        "" | "index.html" if caller == Caller::Nobody => {
            (StatusCode::UNAUTHORIZED, html(LOGIN)).into_response()
        }
        "" | "index.html" => match find("index.html") {
            Some(index) => file(index, &headers),
            None => html(NOT_BUILT).into_response(),
        },
        "plain.css" => text("text/css; charset=utf-8", STYLE),
        // What is packed is served under the name of what is in it.
        path => match find(path).filter(|asset| !matches!(ending(asset.path), "gz" | "br")) {
            Some(asset) => file(asset, &headers),
            None => Problem::not_found().into_response(),
        },
    }
}

/// Explains how to sign in, or does it: the code stands behind `#` and is seen by the script alone.
pub(crate) async fn login() -> Response {
    html(LOGIN).into_response()
}

pub(crate) async fn login_script() -> Response {
    text("text/javascript; charset=utf-8", LOGIN_SCRIPT)
}

fn html(body: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], body)
}

fn text(kind: &'static str, body: &'static str) -> Response {
    ([(CONTENT_TYPE, kind)], body).into_response()
}

fn file(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let (packed, encoding) = packed(asset, headers);
    let is_known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).is_some_and(|known| {
        known.split(',').any(|known| known.trim().trim_start_matches("W/") == packed.etag)
    });
    let (status, body) = if is_known {
        (StatusCode::NOT_MODIFIED, Body::empty())
    } else {
        (StatusCode::OK, Body::from(packed.bytes))
    };
    let mut response = (status, body).into_response();
    let set = response.headers_mut();
    set.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(asset.path)));
    set.insert(ETAG, HeaderValue::from_static(packed.etag));
    set.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    let keep =
        if asset.path.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    set.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    if let Some(encoding) = encoding {
        set.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

/// The smallest form of a file that the client understands.
fn packed(asset: &'static Asset, headers: &HeaderMap) -> (&'static Asset, Option<&'static str>) {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let accepts = |encoding: &str| {
        accepted.split(',').any(|item| {
            let mut parts = item.split(';').map(str::trim);
            parts.next() == Some(encoding) && parts.next().is_none_or(|weight| weight != "q=0")
        })
    };
    for (encoding, ending) in [("br", "br"), ("gzip", "gz")] {
        if accepts(encoding)
            && let Some(packed) = find(&format!("{}.{ending}", asset.path))
        {
            return (packed, Some(encoding));
        }
    }
    (asset, None)
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn media_type(path: &str) -> &'static str {
    match ending(path) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

//! Counters of the server, as Prometheus reads them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use axum::http::StatusCode;
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) connections: Gauge,
    pub(crate) sockets: Gauge,
    pub(crate) streams: Gauge,
    pub(crate) sockets_opened: Counter,
    pub(crate) messages_received: Counter,
    pub(crate) messages_sent: Counter,
    pub(crate) messages_rejected: Counter,
    pub(crate) stalled: Counter,
    pub(crate) bytes_received: Counter,
    pub(crate) bytes_sent: Counter,
    requests: Mutex<BTreeMap<(String, &'static str, u16), u64>>,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How many there are now; each is counted while its [`Counted`] lives.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicI64);

pub(crate) struct Counted<'g>(&'g Gauge);

impl Gauge {
    pub(crate) fn count(&self) -> Counted<'_> {
        self.enter();
        Counted(self)
    }

    /// Counts one until [`Self::leave`], for what cannot borrow.
    pub(crate) fn enter(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Metrics {
    /// Counts a finished request. Routes are those of the router, so their number is bounded.
    pub(crate) fn request(&self, route: &str, method: &'static str, status: StatusCode) {
        *self.requests.lock().entry((route.to_owned(), method, status.as_u16())).or_default() += 1;
    }

    /// The text form, version 0.0.4.
    pub(crate) fn text(&self, uptime_seconds: u64, memory: Option<u64>) -> String {
        let mut text = String::new();
        let mut one = |name: &str, kind: &str, help: &str, value: &dyn std::fmt::Display| {
            writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}").ok();
        };
        one("stepwell_uptime_seconds", "gauge", "Seconds since the server started.", &uptime_seconds);
        one("stepwell_connections", "gauge", "Open TCP connections.", &self.connections.get());
        one("stepwell_sockets", "gauge", "Open WebSockets.", &self.sockets.get());
        one("stepwell_event_streams", "gauge", "Open streams of server-sent events.", &self.streams.get());
        one("stepwell_sockets_opened_total", "counter", "WebSockets opened.", &self.sockets_opened.get());
        one(
            "stepwell_messages_received_total",
            "counter",
            "Messages from sockets.",
            &self.messages_received.get(),
        );
        one("stepwell_messages_sent_total", "counter", "Messages to sockets.", &self.messages_sent.get());
        one(
            "stepwell_messages_rejected_total",
            "counter",
            "Frames that held no message of the protocol.",
            &self.messages_rejected.get(),
        );
        one(
            "stepwell_sockets_stalled_total",
            "counter",
            "Sockets closed because nobody read them.",
            &self.stalled.get(),
        );
        one(
            "stepwell_bytes_received_total",
            "counter",
            "Bytes read from connections.",
            &self.bytes_received.get(),
        );
        one("stepwell_bytes_sent_total", "counter", "Bytes written to connections.", &self.bytes_sent.get());
        if let Some(memory) = memory {
            one("process_resident_memory_bytes", "gauge", "Resident memory.", &memory);
        }
        text.push_str(
            "# HELP stepwell_requests_total Finished requests.\n# TYPE stepwell_requests_total counter\n",
        );
        for ((route, method, status), count) in &*self.requests.lock() {
            writeln!(
                text,
                "stepwell_requests_total{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}} {count}"
            )
            .ok();
        }
        text
    }
}

//! The API as documents: OpenAPI 3.1 for requests, AsyncAPI 3.0 for the socket. Both are made from the schemas of
//! `protocol`.

use serde_json::{Map, Value, json};

/// Describes every route, with the types of the protocol as components.
pub(crate) fn document(version: &str) -> Value {
    let mut schemas = protocol_types();
    schemas.insert("Health".into(), health());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Stepwell",
            "version": version,
            "description": "Commands, queries and events of the agent. docs/serve.md tells how to use it.",
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }, { "cookie": [] }],
        "paths": paths(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "stepwell" },
            },
        },
    })
}

fn health() -> Value {
    json!({
        "type": "object",
        "required": ["version", "uptime_seconds"],
        "properties": {
            "version": { "type": "string" },
            "uptime_seconds": { "type": "integer", "minimum": 0 },
            "proof": { "type": "string", "description": "HMAC of the challenge under the token." },
        },
    })
}

fn paths() -> Value {
    let refused = || problem("The token is missing or wrong.");
    let mut health_responses = responses(&[("200", "Health", "The server is there.")]);
    health_responses["400"] = problem("The challenge is empty or too long.");
    json!({
        "/api/health": { "get": {
            "summary": "Says that the server is there",
            "security": [],
            "parameters": [{
                "name": "challenge",
                "in": "query",
                "description": "Asks the server to prove that it knows the token.",
                "schema": { "type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9]+$" },
            }],
            "responses": health_responses,
        } },
        "/api/session": { "get": {
            "summary": "Says which folder the server was started in",
            "responses": {
                "200": content("What a page begins with.", json!({
                    "type": "object",
                    "required": ["version", "workspace"],
                    "properties": { "version": { "type": "string" }, "workspace": { "type": "string" } },
                })),
                "401": refused(),
                "429": problem("There are too many requests."),
            },
        } },
        "/api/commands": { "post": exchange("Carries out a command", "Command", "CommandReply") },
        "/api/queries": { "post": exchange("Answers a query", "Query", "QueryReply") },
        "/api/tasks/{task}/events": { "get": {
            "summary": "Follows a task: its log after a number, then what happens",
            "description": "Server-sent events. `data` is an EventRecord; durable events have their number as `id`. \
                An event `end` says that the task was closed, `failed` that it cannot be followed further.",
            "parameters": [
                { "name": "task", "in": "path", "required": true, "schema": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" } },
                { "name": "after", "in": "query", "schema": { "type": "integer", "minimum": 0, "maximum": i64::MAX } },
                {
                    "name": "attended",
                    "in": "query",
                    "description": "Whether a person answers approvals while this is open.",
                    "schema": { "type": "boolean" },
                },
                { "name": "Last-Event-ID", "in": "header", "schema": { "type": "integer", "minimum": 0, "maximum": i64::MAX } },
            ],
            "responses": {
                "200": {
                    "description": "The events.",
                    "content": { "text/event-stream": { "schema": { "type": "string" } } },
                },
                "400": problem("A parameter is wrong."),
                "401": refused(),
                "404": problem("There is no such task."),
                "429": problem("There are too many requests."),
                "503": problem("Too many sockets are open."),
            },
        } },
        "/api/socket": { "get": {
            "summary": "Opens a WebSocket: a ClientMessage or ServerMessage a text frame (docs/schema/asyncapi.json)",
            "responses": {
                "101": { "description": "The socket is open." },
                "400": problem("This is no handshake of a WebSocket."),
                "401": refused(),
                "426": problem("This is no handshake of a WebSocket."),
                "429": problem("There are too many requests."),
                "503": problem("Too many sockets are open."),
            },
        } },
        "/api/metrics": { "get": {
            "summary": "Counters, as Prometheus reads them",
            "responses": {
                "200": {
                    "description": "The counters.",
                    "content": { "text/plain": { "schema": { "type": "string" } } },
                },
                "401": refused(),
                "429": problem("There are too many requests."),
            },
        } },
        "/api/openapi.json": { "get": {
            "summary": "Describes the API",
            "responses": {
                "200": content("This document.", json!({ "type": "object" })),
                "401": refused(),
                "429": problem("There are too many requests."),
            },
        } },
        "/api/links": { "post": {
            "summary": "Makes a path that signs a browser in, once, within two minutes",
            "security": [{ "token": [] }],
            "responses": {
                "200": content("The path.", json!({
                    "type": "object",
                    "required": ["path", "expires_in_seconds"],
                    "properties": { "path": { "type": "string" }, "expires_in_seconds": { "type": "integer" } },
                })),
                "401": refused(),
            },
        } },
        "/api/stop": { "post": {
            "summary": "Ends the server",
            "security": [{ "token": [] }],
            "responses": {
                "202": content("The server ends.", json!({ "type": "object" })),
                "401": refused(),
            },
        } },
    })
}

fn exchange(summary: &str, takes: &str, gives: &str) -> Value {
    let mut responses = responses(&[
        ("200", gives, "It was done."),
        ("422", gives, "The engine could not do it; `error` says why."),
    ]);
    for (status, description) in [
        ("400", "The body is not what this path takes."),
        ("401", "The token is missing or wrong."),
        ("403", "A page of another origin asked."),
        ("408", "The body did not come in time."),
        ("413", "The body is too large."),
        ("415", "The body must be JSON."),
        ("429", "There are too many requests."),
        ("503", "The server stops."),
        ("504", "There was no reply in time."),
    ] {
        responses[status] = problem(description);
    }
    json!({
        "summary": summary,
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": reference(takes) } },
        },
        "responses": responses,
    })
}

fn responses(known: &[(&str, &str, &str)]) -> Value {
    known.iter().map(|(status, of, text)| ((*status).to_owned(), content(text, reference(of)))).collect()
}

fn problem(description: &str) -> Value {
    content(description, reference("ErrorReport"))
}

fn content(description: &str, schema: Value) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The types of the protocol, with references as OpenAPI wants them.
fn protocol_types() -> Map<String, Value> {
    let mut schema = stepwell_protocol::json_schema();
    let mut types = match schema["$defs"].take() {
        Value::Object(types) => types,
        _ => Map::new(),
    };
    types.values_mut().for_each(refer_to_components);
    types
}

fn refer_to_components(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get_mut("$ref") {
                *target = target.replace("#/$defs/", "#/components/schemas/");
            }
            fields.values_mut().for_each(refer_to_components);
        }
        Value::Array(items) => items.iter_mut().for_each(refer_to_components),
        _ => {}
    }
}

/// Describes the socket, in the form of AsyncAPI 3.0. The types are those of `protocol.json` beside it.
pub fn asyncapi() -> Value {
    let message = |name: &str| {
        json!({
            "name": name,
            "contentType": "application/json",
            "payload": { "$ref": format!("protocol.json#/$defs/{name}") },
        })
    };
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Stepwell socket",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "One message a text frame. A frame that is no message is answered with `rejected`, and \
                the socket stays open. The server pings; a client that is silent for a minute is closed (1008), one \
                that sends more than 16 MiB in a message too (1009), all when the server stops (1001). After a drop, \
                connect again and send `follow` with the last number of each task.",
        },
        "servers": { "local": { "host": "127.0.0.1:7433", "protocol": "ws" } },
        "channels": { "socket": {
            "address": "/api/socket",
            "messages": { "client": message("ClientMessage"), "server": message("ServerMessage") },
        } },
        "operations": {
            "receive": {
                "action": "receive",
                "channel": { "$ref": "#/channels/socket" },
                "messages": [{ "$ref": "#/channels/socket/messages/client" }],
            },
            "send": {
                "action": "send",
                "channel": { "$ref": "#/channels/socket" },
                "messages": [{ "$ref": "#/channels/socket/messages/server" }],
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        fn check(value: &Value, document: &Value) {
            match value {
                Value::Object(fields) => {
                    if let Some(Value::String(target)) = fields.get("$ref") {
                        let found = document.pointer(target.strip_prefix('#').unwrap_or_default());
                        assert!(found.is_some(), "{target}");
                    }
                    fields.values().for_each(|field| check(field, document));
                }
                Value::Array(items) => items.iter().for_each(|item| check(item, document)),
                _ => {}
            }
        }
        let document = document("1");
        check(&document, &document);
        assert!(document["paths"].as_object().unwrap().len() >= 9);
    }
}

//! Tests of the guard, as tables of requests. `tests/it/attacks.rs` has the rest, over real connections.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use proptest::prelude::*;

use super::{Caller, Guard, Hosts, Refusal, Scheme};
use crate::access::{Access, Token};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn guard(hosts: Hosts, scheme: Scheme) -> Guard {
    Guard { access: Arc::new(Access::new(Token::new(TOKEN).unwrap())), hosts, scheme }
}

fn judge(guard: &Guard, headers: &[(&str, &str)]) -> Result<Caller, Refusal> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    guard.judge(&Method::GET, &Uri::from_static("/api/session"), &map)
}

#[test]
fn remote_servers_know_their_names_and_schemes() {
    let names = || Hosts::Remote { names: vec!["build.example".to_owned()] };
    let bearer = format!("Bearer {TOKEN}");
    let table = [
        (Scheme::Https, "build.example", "https://build.example", Ok(Caller::Program)),
        (Scheme::Https, "build.example", "http://build.example", Err(Refusal::Origin)),
        (Scheme::Either, "build.example", "http://build.example", Ok(Caller::Program)),
        (Scheme::Either, "build.example", "https://build.example", Ok(Caller::Program)),
        (Scheme::Either, "192.168.1.5:80", "https://192.168.1.5:80", Ok(Caller::Program)),
        (Scheme::Either, "other.example", "https://other.example", Err(Refusal::Host)),
        (Scheme::Https, "build.example", "https://build.example.evil", Err(Refusal::Origin)),
    ];
    for (scheme, host, origin, expected) in table {
        let judged =
            judge(&guard(names(), scheme), &[("host", host), ("origin", origin), ("authorization", &bearer)]);
        assert_eq!(judged, expected, "{scheme:?} {host} {origin}");
    }
}

#[test]
fn cookies_over_tls_have_a_name_that_no_other_host_can_set() {
    let hosts = || Hosts::Remote { names: Vec::new() };
    let secure = guard(hosts(), Scheme::Https);
    let cookie = secure.access.new_cookie();
    let under = |guard: &Guard, name: &str| {
        judge(guard, &[("host", "10.0.0.1"), ("cookie", &format!("a=b; {name}={cookie}"))])
    };
    assert_eq!(under(&secure, "__Host-stepwell"), Ok(Caller::Browser));
    assert_eq!(under(&secure, "stepwell"), Ok(Caller::Nobody));
}

proptest! {
    #[test]
    fn nothing_but_the_token_opens(given in "[ -~]{0,48}") {
        prop_assume!(given.trim() != TOKEN);
        let guard = guard(Hosts::Loopback { names: Vec::new() }, Scheme::Http);
        let judged = judge(&guard, &[("host", "localhost"), ("authorization", &format!("Bearer {given}"))]);
        prop_assert_eq!(judged, Err(Refusal::Credential));
        let judged = judge(&guard, &[("host", "localhost"), ("cookie", &format!("stepwell={given}"))]);
        prop_assert_eq!(judged, Ok(Caller::Nobody));
    }

    #[test]
    fn no_name_but_localhost_is_this_machine(name in "[a-z0-9.-]{1,30}") {
        prop_assume!(name != "localhost" && !name.starts_with("127."));
        let guard = guard(Hosts::Loopback { names: Vec::new() }, Scheme::Http);
        let bearer = format!("Bearer {TOKEN}");
        let judged = judge(&guard, &[("host", &name), ("authorization", &bearer)]);
        prop_assert!(judged.is_err(), "{}", name);
    }
}

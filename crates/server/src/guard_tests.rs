//! Tests of the guard, as a table of requests.

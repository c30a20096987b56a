//! Everything that goes wrong between a request and the end of its answer.

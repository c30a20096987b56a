//! How much a tree of tasks may use. Sub-tasks share their root's ledger, so none can outspend it.

use std::fmt;

use parking_lot::Mutex;
use stepwell_protocol::{ErrorKind, Usage};

/// What a tree of tasks may use; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Input and output tokens together.
    pub max_tokens: Option<u64>,
    pub max_cost_usd: Option<f64>,
}

/// What a tree of tasks has used against its budget.
#[derive(Debug, Default)]
pub struct Ledger {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    budget: Budget,
    /// What the person allowed beyond the budget.
    granted: Budget,
    used: Usage,
}

/// Which limit is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exhausted {
    Tokens { used: u64, limit: u64 },
    Cost { used_usd: f64, limit_usd: f64 },
}

impl Exhausted {
    pub fn kind(self) -> ErrorKind {
        match self {
            Self::Tokens { .. } => ErrorKind::TokenBudget,
            Self::Cost { .. } => ErrorKind::Budget,
        }
    }

    /// The option that raises the limit.
    pub fn option(self) -> &'static str {
        match self {
            Self::Tokens { .. } => "--max-tokens",
            Self::Cost { .. } => "--max-cost",
        }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens { used, limit } => write!(f, "{used} of {limit} tokens are used"),
            Self::Cost { used_usd, limit_usd } => write!(f, "${used_usd:.4} of ${limit_usd:.4} are spent"),
        }
    }
}

impl Ledger {
    pub fn new(budget: Budget, used: Usage) -> Self {
        Self { state: Mutex::new(State { budget, granted: Budget::default(), used }) }
    }

    /// Begins anew with another budget.
    pub fn restart(&self, budget: Budget) {
        *self.state.lock() = State { budget, ..State::default() };
    }

    pub fn add(&self, usage: Usage) {
        self.state.lock().used += usage;
    }

    /// Holds another budget from now on; what was used stays used.
    pub fn set_budget(&self, budget: Budget) {
        self.state.lock().budget = budget;
    }

    pub fn used(&self) -> Usage {
        self.state.lock().used
    }

    /// Whether another request may be sent.
    pub fn check(&self) -> Result<(), Exhausted> {
        let state = self.state.lock();
        let granted = state.granted.max_tokens.unwrap_or(0);
        if let Some(limit) = state.budget.max_tokens.map(|limit| limit.saturating_add(granted))
            && state.used.total() >= limit
        {
            return Err(Exhausted::Tokens { used: state.used.total(), limit });
        }
        let granted = state.granted.max_cost_usd.unwrap_or(0.0);
        let limit = state.budget.max_cost_usd.map(|limit| limit + granted);
        if let (Some(limit), Some(cost)) = (limit, state.used.cost_usd)
            && cost >= limit
        {
            return Err(Exhausted::Cost { used_usd: cost, limit_usd: limit });
        }
        Ok(())
    }

    /// A budget of so many percent of what is left of this one; no limit where this has none.
    pub fn share(&self, percent: u64) -> Budget {
        let state = self.state.lock();
        let tokens = state.budget.max_tokens.map(|limit| {
            let granted = state.granted.max_tokens.unwrap_or(0);
            let left = limit.saturating_add(granted).saturating_sub(state.used.total());
            (u128::from(left) * u128::from(percent) / 100) as u64
        });
        let cost = state.budget.max_cost_usd.map(|limit| {
            let granted = state.granted.max_cost_usd.unwrap_or(0.0);
            (limit + granted - state.used.cost_usd.unwrap_or(0.0)).max(0.0) * percent as f64 / 100.0
        });
        Budget { max_tokens: tokens, max_cost_usd: cost }
    }

    /// The person allowed as much again, from what is used now.
    pub fn extend(&self) {
        let mut state = self.state.lock();
        let (used, cost) = (state.used.total(), state.used.cost_usd.unwrap_or(0.0));
        state.granted = Budget {
            max_tokens: state.budget.max_tokens.map(|_| used),
            max_cost_usd: state.budget.max_cost_usd.map(|_| cost),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(tokens: u64, cost: Option<f64>) -> Usage {
        Usage { input_tokens: tokens, cost_usd: cost, ..Usage::default() }
    }

    #[test]
    fn stops_at_the_limit_and_goes_on_when_extended() {
        let ledger = Ledger::new(Budget { max_tokens: Some(100), max_cost_usd: None }, Usage::default());
        ledger.add(usage(99, None));
        assert_eq!(ledger.check(), Ok(()));
        ledger.add(usage(1, None));
        assert_eq!(ledger.check(), Err(Exhausted::Tokens { used: 100, limit: 100 }));
        ledger.extend();
        assert_eq!(ledger.check(), Ok(()));
    }

    #[test]
    fn money_without_a_known_price_cannot_be_counted() {
        let ledger = Ledger::new(Budget { max_tokens: None, max_cost_usd: Some(0.5) }, Usage::default());
        ledger.add(usage(1_000_000, None));
        assert_eq!(ledger.check(), Ok(()));
        ledger.add(usage(1, Some(0.6)));
        assert!(ledger.check().is_err());
    }
}

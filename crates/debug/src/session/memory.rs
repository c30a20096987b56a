//! Data breakpoints, disassembly and memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Session;
use crate::dap::types::{Breakpoint, DataBreakpointInfo};
use crate::ids::AdapterFrameId;
use crate::{Error, Result};

/// The access that a data breakpoint stops at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    Write,
    Read,
    ReadWrite,
}

impl Access {
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::ReadWrite => "readWrite",
        }
    }
}

/// A breakpoint on a variable's memory. It belongs to one session: another run has other addresses.
#[derive(Clone, Debug)]
pub struct DataBreakpoint {
    pub expression: String,
    pub access: Access,
    pub verified: bool,
    pub message: Option<String>,
    id: Value,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Instruction {
    pub address: String,
    pub instruction_bytes: Option<String>,
    pub instruction: String,
    pub symbol: Option<String>,
    pub line: Option<i64>,
}

/// Bytes of the program's memory.
#[derive(Clone, Debug)]
pub struct Memory {
    pub address: String,
    pub bytes: Vec<u8>,
    /// How many of the requested bytes cannot be read.
    pub unreadable: u64,
}

impl Session {
    pub fn data_breakpoints(&self) -> Vec<DataBreakpoint> {
        self.state.lock().data_breakpoints.clone()
    }

    /// Sets a data breakpoint on the memory of an expression.
    pub async fn set_data_breakpoint(
        &self,
        frame: AdapterFrameId,
        expression: &str,
        access: Access,
    ) -> Result<()> {
        if !self.can("supportsDataBreakpoints") {
            return Err(Error::Unable {
                adapter: self.adapter.kind().name().to_owned(),
                what: "stop when a variable is used".to_owned(),
                hint: Some("`debug_watch` finds out who writes it, line by line where it must".to_owned()),
            });
        }
        let Some(info) = self.data_breakpoint_info(frame, expression).await else {
            return Err(Error::parameter(format!(
                "`{expression}` has no place in memory that can be watched from this frame"
            )));
        };
        let offered = info.access_types;
        if !offered.is_empty() && !offered.iter().any(|kind| kind == access.name()) {
            return Err(Error::parameter(format!(
                "`{expression}` can be watched for {}, not for {}",
                offered.join(", "),
                access.name()
            )));
        }
        let new = DataBreakpoint {
            expression: expression.to_owned(),
            access,
            verified: false,
            message: None,
            id: info.data_id.unwrap_or_default(),
        };
        let mut wanted = self.data_breakpoints();
        wanted.retain(|known| known.id != new.id);
        wanted.push(new);
        self.send_data_breakpoints(wanted).await
    }

    pub async fn clear_data_breakpoints(&self) -> Result<usize> {
        let count = self.data_breakpoints().len();
        if count > 0 {
            self.send_data_breakpoints(Vec::new()).await?;
        }
        Ok(count)
    }

    /// Sets exactly the requested data breakpoints.
    pub(crate) async fn restore_data_breakpoints(&self) -> Result<()> {
        self.send_data_breakpoints(self.data_breakpoints()).await
    }

    async fn send_data_breakpoints(&self, mut wanted: Vec<DataBreakpoint>) -> Result<()> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Set {
            breakpoints: Vec<Breakpoint>,
        }
        let places: Vec<Value> = wanted
            .iter()
            .map(|place| json!({ "dataId": place.id, "accessType": place.access.name() }))
            .collect();
        let answer = self.request("setDataBreakpoints", json!({ "breakpoints": places })).await?;
        let set: Set = serde_json::from_value(answer).unwrap_or_default();
        for (at, place) in wanted.iter_mut().enumerate() {
            let told = set.breakpoints.get(at);
            place.verified = told.is_some_and(|told| told.verified);
            place.message = told.and_then(|told| told.message.clone());
        }
        self.state.lock().data_breakpoints = wanted;
        Ok(())
    }

    /// Asks the adapter for the data id of an expression.
    pub(crate) async fn data_breakpoint_info(
        &self,
        frame: AdapterFrameId,
        expression: &str,
    ) -> Option<DataBreakpointInfo> {
        let mut asks = Vec::new();
        for scope in self.scopes(frame).await.ok()? {
            asks.push(json!({ "variablesReference": scope.variables_reference, "name": expression }));
        }
        asks.push(json!({ "name": expression, "frameId": frame }));
        for ask in asks {
            let info = self.request("dataBreakpointInfo", ask).await.ok();
            let info: Option<DataBreakpointInfo> = info.and_then(|info| serde_json::from_value(info).ok());
            if let Some(info) = info.filter(|info| info.data_id.as_ref().is_some_and(|id| !id.is_null())) {
                return Some(info);
            }
        }
        None
    }

    /// Returns machine instructions from an address on.
    pub async fn disassemble(&self, address: &str, offset: i64, count: i64) -> Result<Vec<Instruction>> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Listing {
            instructions: Vec<Instruction>,
        }
        let arguments = json!({
            "memoryReference": address, "instructionOffset": offset, "instructionCount": count,
            "resolveSymbols": true,
        });
        let answer =
            self.ask("supportsDisassembleRequest", "disassemble", "show instructions", arguments).await?;
        let listing: Listing = serde_json::from_value(answer).unwrap_or_default();
        Ok(listing.instructions)
    }

    /// Returns bytes from an address on.
    pub async fn read_memory(&self, address: &str, offset: i64, count: i64) -> Result<Memory> {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Read {
            address: String,
            unreadable_bytes: Option<u64>,
            data: Option<String>,
        }
        let arguments = json!({ "memoryReference": address, "offset": offset, "count": count });
        let answer = self.ask("supportsReadMemoryRequest", "readMemory", "read memory", arguments).await?;
        let read: Read = serde_json::from_value(answer).unwrap_or_default();
        let bytes = STANDARD.decode(read.data.unwrap_or_default()).map_err(|error| {
            Error::parameter(format!("{} sent bytes that cannot be read: {error}", self.adapter.kind()))
        })?;
        Ok(Memory { address: read.address, bytes, unreadable: read.unreadable_bytes.unwrap_or_default() })
    }
}

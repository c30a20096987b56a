//! The settings as people look at them: every value that is set, the strongest layer's, with its source.

use serde_json::{Value, json};
use stepwell_protocol::SettingItem;

use super::{Settings, Source};

impl Settings {
    /// Every value that is set and where it comes from, by name.
    pub fn in_force(&self) -> Vec<SettingItem> {
        let mut items: Vec<SettingItem> = Vec::new();
        for (source, layer) in &self.layers {
            let Ok(Value::Object(fields)) = serde_json::to_value(layer) else { continue };
            for (name, value) in fields {
                match value {
                    // Variables and headers of servers may hold keys.
                    Value::Object(_) if name == "mcp_servers" => {
                        for (entry, server) in &layer.mcp_servers {
                            let shown = serde_json::to_value(server.without_secrets()).unwrap_or_default();
                            set(&mut items, format!("{name}.{entry}"), shown, source);
                        }
                    }
                    // Tables are merged entry by entry.
                    Value::Object(entries) if matches!(name.as_str(), "providers" | "models" | "modes") => {
                        for (entry, value) in entries {
                            set(&mut items, format!("{name}.{entry}"), value, source);
                        }
                    }
                    // Rules of every layer are in force.
                    value if name == "permissions" => items.push(item(name, value, source)),
                    value => set(&mut items, name, value, source),
                }
            }
        }
        for (name, value) in [("mode", json!("code")), ("permission_mode", json!("default"))] {
            if !items.iter().any(|item| item.name == name) {
                items.push(item(name.to_owned(), value, &Source::BuiltIn));
            }
        }
        items.sort_by(|a, b| a.name.cmp(&b.name));
        items
    }
}

fn item(name: String, value: Value, source: &Source) -> SettingItem {
    SettingItem { name, value, source: source.to_string() }
}

fn set(items: &mut Vec<SettingItem>, name: String, value: Value, source: &Source) {
    items.retain(|known| known.name != name);
    items.push(item(name, value, source));
}

// Holds a task folder against the schemas Roo-Code publishes: node check-task.mjs FOLDER [--strict]
// With --strict a field the schema does not know is a fault too.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createRequire } from "node:module"

const { clineMessageSchema, historyItemSchema } = createRequire(import.meta.url)("@roo-code/types")
const [folder, ...flags] = process.argv.slice(2)
const strict = flags.includes("--strict")
const faults = []

const load = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"))
const hold = (place, schema, value) => {
  const result = (strict ? schema.strict() : schema).safeParse(value)
  if (!result.success) faults.push(`${place}: ${JSON.stringify(result.error.issues)}`)
}

hold("history_item.json", historyItemSchema, load("history_item.json"))

let before = -Infinity
for (const [index, message] of load("ui_messages.json").entries()) {
  const place = `ui_messages.json[${index}]`
  hold(place, clineMessageSchema, message)
  const kinds = [message.ask, message.say].filter((kind) => kind !== undefined)
  if (kinds.length !== 1 || message[message.type] === undefined) faults.push(`${place}: says neither or both`)
  if (message.ts < before) faults.push(`${place}: older than the one before`)
  before = message.ts
}

const open = new Set()
for (const [index, message] of load("api_conversation_history.json").entries()) {
  const place = `api_conversation_history.json[${index}]`
  if (message.role !== "user" && message.role !== "assistant") faults.push(`${place}: role ${message.role}`)
  if (typeof message.content === "string") continue
  for (const block of message.content) {
    if (block.type === "tool_use") open.add(block.id)
    if (block.type === "tool_result" && !open.delete(block.tool_use_id)) faults.push(`${place}: result without call`)
  }
}

for (const fault of faults) console.error(fault)
console.log(faults.length === 0 ? "OK" : `${faults.length} faults`)
process.exit(faults.length === 0 ? 0 : 1)

/// Which events are in the log.
import type { Event } from '../protocol/types';

const TRANSIENT = new Set<Event['type']>([
  'token', 'reasoning_token', 'call_forming', 'tool_progress', 'tool_output', 'agent_state_changed', 'run_ended', 'debug_session',
  'background_command', 'lagged', 'retrying',
]);

/** Whether the event belongs in the log, and has a number of its own there. */
export function isDurable(event: Event): boolean {
  return !TRANSIENT.has(event.type);
}

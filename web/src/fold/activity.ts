/// What goes on at this moment: the twin of `crates/transcript/src/activity.rs`.
import type { Event } from '../protocol/types';
import type { Activity } from './shape';
import { byteText, splice } from './text';

export function emptyActivity(): Activity {
  return { agent: { status: 'idle' }, forming: [], retrying: null, debug_sessions: [], background: [], run_end: null };
}

export function applyToActivity(activity: Activity, event: Event): Activity {
  switch (event.type) {
    case 'call_forming': {
      const known = activity.forming.find((call) => call.call_id === event.call_id);
      if (!known) {
        const { message_id, call_id, name, arguments: text } = event;
        return { ...activity, retrying: null, forming: [...activity.forming, { message_id, call_id, name, arguments: text }] };
      }
      const text = byteText(known.arguments);
      splice(text, event.offset, event.arguments);
      const forming = activity.forming.map((call) => (call === known ? { ...call, arguments: text.text } : call));
      return { ...activity, retrying: null, forming };
    }
    case 'action':
      return withoutForming(activity, (call) => call.call_id === event.call.id);
    // What it became follows in the log.
    case 'thought':
    case 'answer':
    case 'answer_restarted':
    case 'answer_interrupted':
      return withoutForming(activity, (call) => call.message_id === event.message_id);
    case 'token':
    case 'reasoning_token':
      return activity.retrying ? { ...activity, retrying: null } : activity;
    case 'retrying': {
      const { attempt, limit, delay_ms, reason } = event;
      return { ...activity, retrying: { attempt, limit, delay_ms, reason } };
    }
    case 'agent_state_changed':
      return { ...activity, agent: event.state, run_end: event.state.status === 'idle' ? activity.run_end : null };
    case 'run_ended':
      return { ...activity, forming: [], retrying: null, agent: { status: 'idle' }, run_end: event.end };
    case 'debug_session': {
      const others = activity.debug_sessions.filter((known) => known.session_id !== event.session.session_id);
      const ended = event.session.state === 'terminated';
      return { ...activity, debug_sessions: ended ? others : [...others, event.session] };
    }
    case 'background_command': {
      const others = activity.background.filter((known) => known.process_id !== event.command.process_id);
      return { ...activity, background: event.command.ended ? others : [...others, event.command] };
    }
    default:
      return activity;
  }
}

function withoutForming(activity: Activity, leaves: (call: Activity['forming'][number]) => boolean): Activity {
  const forming = activity.forming.filter((call) => !leaves(call));
  return forming.length === activity.forming.length ? activity : { ...activity, forming };
}

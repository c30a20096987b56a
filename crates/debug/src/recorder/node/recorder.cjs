// Records what a Node program throws, with the variables of its own frames. Node loads it before the program because
// NODE_OPTIONS names it, in worker threads and child processes too.
//
// An inspector session on the thread that it looks at is never paused: `Debugger.paused` comes as a plain call while
// the program waits for it to return. What threw is seen at the program's own speed, without a connection.
'use strict';

// Tests replace modules such as `fs`; what is needed is kept from before.
const { appendFileSync, readFileSync, existsSync } = require('fs');
const path = require('path');
const { fileURLToPath } = require('url');
const sourceMaps = require('./source_maps.cjs');

const FRAMES = 6;
const VARIABLES = 60;
const LONGEST = 2000;
// Exceptions recorded with their variables, at one place and in all; and how many may stop the program at all.
const AT_ONE_PLACE = 4;
const MOST_RECORDED = 400;
const MOST_SEEN = 20000;
// Lines that are followed, and for how many milliseconds.
const MOST_PASSAGES = 6000;
const FOLLOWING = 5000;
// Programs that only start others.
const STARTERS = /[\\/](npm-cli|npx-cli|yarn|yarnpkg|pnpm|pnpx|corepack)(\.c?js)?$/;
// Names that test runners and transpilers put into a module.
const MACHINERY = /^(__vi_|__vite|__vitest|_jest|_interop|__esm|__webpack)/;

function start(folder) {
  const { threadId } = require('worker_threads');
  const file = path.join(folder, `${process.pid}${threadId ? `-${threadId}` : ''}.jsonl`);
  const write = (record) => {
    try {
      appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    } catch {
      // The folder is gone: whoever asked has ended.
    }
  };
  write({ event: 'start' });
  if (STARTERS.test(process.argv[1] || '')) return;
  const { Session } = require('inspector');
  const session = new Session();
  try {
    session.connect();
  } catch {
    // Some processes have no inspector, such as the one of `node --test`; those that it starts do.
    return;
  }
  // Answers come before `post` returns.
  const ask = (method, parameters) => {
    let answer;
    session.post(method, parameters, (error, result) => { answer = error ? undefined : result; });
    return answer;
  };
  const watched = process.env.STEPWELL_RECORD_PROBES;
  const probes = watched ? JSON.parse(readFileSync(watched, 'utf8')) : undefined;
  const scripts = new Scripts();
  const recorder = probes ? new Follower(ask, write, scripts, probes, process.pid * 1000 + threadId) : new Thrown(ask, write, scripts);
  session.on('Debugger.scriptParsed', ({ params }) => {
    const script = scripts.add(params);
    if (script.isOwn) guarded(write, () => recorder.loaded(script));
  });
  session.on('Debugger.paused', ({ params }) => guarded(write, () => recorder.paused(params)));
  ask('Debugger.enable', {});
  recorder.watchExit?.();
}

// A fault of the recorder is no fault of the program.
function guarded(write, run) {
  try {
    run();
  } catch (error) {
    write({ event: 'problem', message: String(error && error.stack).slice(0, LONGEST) });
  }
}

class Scripts {
  constructor() {
    this.known = new Map();
  }

  add({ scriptId, url, sourceMapURL }) {
    const file = fileOf(url);
    const script = { id: scriptId, url, file, isOwn: isOwn(file), sourceMapURL, map: undefined };
    this.known.set(scriptId, script);
    return script;
  }

  /** The file and line of a place, in the sources that a person wrote. Lines count from one. */
  place({ scriptId, lineNumber, columnNumber }) {
    const script = this.known.get(scriptId);
    if (!script || !script.file) return undefined;
    const original = this.map(script)?.original(lineNumber, columnNumber ?? 0);
    if (!original) return { file: script.file, line: lineNumber + 1, isOwn: script.isOwn };
    return { ...original, isOwn: isOwn(original.file) };
  }

  map(script) {
    if (script.map === undefined) {
      script.map = sourceMaps.load(script.file, script.sourceMapURL, readFileSync, existsSync);
    }
    return script.map;
  }
}

function fileOf(url) {
  if (url.startsWith('file://')) {
    try {
      return fileURLToPath(url.split(/[?#]/)[0]);
    } catch {
      return undefined;
    }
  }
  return path.isAbsolute(url) ? url.split('?')[0] : undefined;
}

function isOwn(file) {
  return file !== undefined && !file.includes('/node_modules/') && !file.startsWith('/usr/') && path.dirname(file) !== __dirname;
}

/** Records exceptions that were thrown while code of the program's own was running. */
class Thrown {
  constructor(ask, write, scripts) {
    Object.assign(this, { ask, write, scripts, seen: 0, recorded: 0, places: new Map(), isOn: false, exits: new Set() });
  }

  // Test runners and Node's loader throw hundreds of exceptions before they come to the program.
  loaded() {
    if (this.isOn) return;
    this.isOn = true;
    this.ask('Debugger.setPauseOnExceptions', { state: 'all' });
  }

  paused({ reason, data, callFrames, hitBreakpoints }) {
    if (hitBreakpoints?.some((id) => this.exits.has(id))) {
      this.ended(callFrames);
      return;
    }
    if (reason !== 'exception' && reason !== 'promiseRejection') return;
    this.seen += 1;
    if (this.seen === MOST_SEEN) this.ask('Debugger.setPauseOnExceptions', { state: 'uncaught' });
    const own = this.ownFrames(callFrames);
    if (own.length === 0) return;
    const uncaught = data?.uncaught === true;
    const key = own.slice(0, 2).map(({ place }) => `${place.file}:${place.line}`).join(' ');
    const before = this.places.get(key) || 0;
    this.places.set(key, before + 1);
    if (!uncaught && (before >= AT_ONE_PLACE || this.recorded >= MOST_RECORDED)) return;
    this.recorded += 1;
    const frames = own.map((one) => this.recordedFrame(one));
    this.write({
      event: 'raised', uncaught, thrown: shortened(this.opened(data)), frames, library_frames: callFrames.length - frames.length,
    });
  }

  /** Stops where the program chooses an exit code, in functions of Node's own: nothing of the program is replaced. */
  watchExit() {
    for (const expression of ['process.exit', 'Object.getOwnPropertyDescriptor(process, "exitCode")?.set']) {
      const objectId = this.ask('Runtime.evaluate', { expression, silent: true })?.result?.objectId;
      const set = objectId && this.ask('Debugger.setBreakpointOnFunctionCall', { objectId });
      if (set) this.exits.add(set.breakpointId);
    }
  }

  ended(callFrames) {
    // Node's own `process.exit` sets the code too; who called it was recorded already.
    const [callee, caller] = callFrames;
    if (!caller || this.scripts.known.get(caller.location.scriptId)?.url.startsWith('node:')) return;
    const answer = this.ask('Debugger.evaluateOnCallFrame', {
      callFrameId: callee.callFrameId, expression: 'arguments[0] ?? process.exitCode', returnByValue: true, silent: true,
    });
    const code = Number(answer?.result?.value);
    const frames = code ? this.ownFrames(callFrames).map((one) => this.recordedFrame(one)) : [];
    if (frames.length > 0) this.write({ event: 'ended_itself', code, frames });
  }

  ownFrames(callFrames) {
    const own = [];
    for (const frame of callFrames) {
      const place = this.scripts.place(frame.location);
      if (place && place.isOwn) own.push({ frame, place });
      if (own.length === FRAMES) break;
    }
    return own;
  }

  recordedFrame({ frame, place }) {
    return { function: frame.functionName, file: place.file, line: place.line, ...this.variables(frame) };
  }

  /** Anything can be thrown; what is in an object is told when it is asked for. */
  opened(thrown) {
    if (!thrown?.objectId || thrown.subtype === 'error') return thrown;
    const answer = this.ask('Runtime.callFunctionOn', {
      objectId: thrown.objectId, functionDeclaration: 'function() { return this; }', generatePreview: true, silent: true,
    });
    return answer?.result || thrown;
  }

  variables({ scopeChain, this: self }) {
    const variables = [];
    const outer = [];
    for (const scope of scopeChain) {
      if (scope.type === 'global' || scope.type === 'script') continue;
      const isLocal = scope.type === 'local' || scope.type === 'block' || scope.type === 'catch';
      const rows = isLocal ? variables : outer;
      const answer = this.ask('Runtime.getProperties', {
        objectId: scope.object.objectId, ownProperties: true, generatePreview: true,
      });
      for (const { name, value } of answer?.result || []) {
        if (value && !MACHINERY.test(name) && rows.length < VARIABLES) rows.push([name, shortened(value)]);
      }
    }
    if (self?.type === 'object' && self.className !== 'global') outer.push(['this', shortened(this.opened(self))]);
    return { variables, outer };
  }
}

/** Records the values of names at every line of the functions that are followed. */
class Follower {
  constructor(ask, write, scripts, probes, thread) {
    Object.assign(this, { ask, write, scripts, probes, thread, passages: 0, since: 0 });
  }

  loaded(script) {
    const map = this.scripts.map(script);
    for (const probe of this.probes) {
      for (const line of probe.lines) {
        if (map) {
          for (const at of map.generated(probe.file, line)) this.stopAt(script, at.line, at.column);
        } else if (script.file === probe.file) {
          this.stopAt(script, line - 1, 0);
        }
      }
    }
  }

  // V8 takes the next place that code can stop at; one that has a stop already refuses another.
  stopAt(script, lineNumber, columnNumber) {
    this.ask('Debugger.setBreakpoint', { location: { scriptId: script.id, lineNumber, columnNumber } });
  }

  paused({ callFrames }) {
    const [frame] = callFrames;
    const place = frame && this.scripts.place(frame.location);
    if (!place) return;
    const now = Date.now();
    this.since = this.since || now;
    this.passages += 1;
    if (this.passages > MOST_PASSAGES || now - this.since > FOLLOWING) {
      this.ask('Debugger.disable', {});
      this.write({ event: 'unfollowed' });
      return;
    }
    const probe = this.probes.find(({ file, lines }) => file === place.file && lines.includes(place.line));
    if (!probe) return;
    const values = {};
    for (const name of probe.names) {
      const answer = this.ask('Debugger.evaluateOnCallFrame', {
        callFrameId: frame.callFrameId, expression: name, silent: true, generatePreview: true, includeCommandLineAPI: true,
      });
      if (answer && !answer.exceptionDetails) values[name] = shortened(answer.result);
    }
    const { file, line } = place;
    this.write({ event: 'passage', thread: this.thread, depth: callFrames.length, file, line, values });
  }
}

/** A value without the text of a whole function or file. */
function shortened(value) {
  if (!value) return value;
  const short = { ...value };
  delete short.objectId;
  for (const name of ['description', 'value']) {
    if (typeof short[name] === 'string' && short[name].length > LONGEST) short[name] = `${short[name].slice(0, LONGEST)}…`;
  }
  return short;
}

const folder = process.env.STEPWELL_RECORD;
if (folder && existsSync(folder)) {
  try {
    start(folder);
  } catch {
    // The program runs as it would without a recorder.
  }
}

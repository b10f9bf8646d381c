// The account of a JavaScript program: what it says of its own stacks before it dies.
//
// A stack is what V8 itself hands to `Error.prepareStackTrace`, as structured call sites. The account is
// a file of JSON Lines, named by $KCORE_TRUTH; every line is one write, so threads may share it.
// Not in strict mode: behind a strict function V8 tells neither receivers nor arguments.

const fs = require('fs');
const path = require('path');
const { describe } = require('./describe.js');
const { tierOf } = require('./tier.js');

Error.stackTraceLimit = Infinity;

function append(line) {
  fs.appendFileSync(process.env.KCORE_TRUTH || '/dev/stdout', JSON.stringify(line) + '\n');
}

/** The call sites of an error, innermost first; the error must be new, its `stack` not yet read. */
function sitesOf(error) {
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = error.stack;
  Error.prepareStackTrace = before;
  return sites;
}

const FLAGS = {
  constructor: 'isConstructor',
  native: 'isNative',
  eval: 'isEval',
  toplevel: 'isToplevel',
  async: 'isAsync',
  promise_all: 'isPromiseAll',
};

function flagsOf(site) {
  const flags = Object.keys(FLAGS).filter((flag) => site[FLAGS[flag]]?.());
  if (!site.getFileName() && !site.isEval()) flags.push('builtin');
  if (site.getFileName()?.startsWith('wasm:')) flags.push('wasm');
  return flags;
}

/** One frame, with the keys of a call in gen-cores/README.md. */
function frameOf(site) {
  const script = site.getFileName() || site.getScriptNameOrSourceURL() || null;
  return {
    function: site.getFunctionName() || '<anonymous>',
    match: 'exact',
    file: script && script.split('/').pop(),
    line: site.getLineNumber() ?? null,
    column: site.getColumnNumber() ?? null,
    script,
    shown: String(site),
    type_name: site.getTypeName() ?? null,
    method: site.getMethodName() ?? null,
    flags: flagsOf(site),
  };
}

/** The function of a call site, if V8 tells it and it stands on the stack once. */
function onlyFunctionOf(site, sites) {
  const called = site.getFunction();
  return called && sites.filter((other) => other.getFunction() === called).length === 1 ? called : undefined;
}

/** What only functions in sloppy mode tell: receiver and arguments. */
function valuesOf(site, sites) {
  const called = onlyFunctionOf(site, sites);
  if (!called) return {};
  const told = { this: describe(site.getThis(), { depth: 0 }) };
  // Methods and arrow functions keep none, and throw if asked.
  const args = Object.hasOwn(called, 'arguments') && called.arguments;
  return args ? { ...told, args: Array.from(args, (value) => describe(value, { depth: 1 })) } : told;
}

/** The frames of an error, those that wait for a promise apart. */
function stackOf(error, { values = true } = {}) {
  const sites = sitesOf(error);
  const waits = (site) => Boolean(site.isAsync?.());
  const here = sites.filter((site) => !waits(site));
  return {
    frames: here.map((site) => ({
      ...frameOf(site),
      ...tierOf(onlyFunctionOf(site, here)),
      ...(values ? valuesOf(site, here) : {}),
    })),
    awaits: sites.filter(waits).map(frameOf),
  };
}

/** The id of this thread. */
function tid() {
  return Number(path.basename(fs.readlinkSync('/proc/thread-self')));
}

/** Native frames and the runtime's own may stand anywhere between those of the program. */
function withGaps(frames) {
  const gap = { gap: 'runtime' };
  return [gap, ...frames.flatMap((frame) => [frame, gap])];
}

/** Tells a thread's stack. */
function thread(role, stack, crashed = false) {
  const { frames, awaits } = stack;
  append({ thread: { tid: tid(), role, crashed, frames: withGaps(frames), awaits, end: 'outermost' } });
}

/**
 * The frame of the function that makes `error`, but at `word` of the same line instead of at its `new`:
 * there the program will be when it dies or waits. Without a word it may be anywhere in the line.
 */
function moved(stack, word) {
  const [frame, ...callers] = stack.frames;
  if (word === null) return { ...stack, frames: [{ ...frame, column: null, shown: null }, ...callers] };
  const line = fs.readFileSync(frame.script.replace(/^file:\/\//, ''), 'utf8').split('\n')[frame.line - 1];
  const column = line.indexOf(word) + 1;
  if (column === 0) throw new Error(`no ${word} in line ${frame.line} of ${frame.script}`);
  const shown = frame.shown.replace(/:\d+(\)?)$/, `:${column}$1`);
  return { ...stack, frames: [{ ...frame, column, shown }, ...callers] };
}

/** Tells what is no stack: a line of values.jsonl. */
function tell(line) {
  fs.appendFileSync('values.jsonl', JSON.stringify(line) + '\n');
}

/** Tells a value: what `print` names, and what else is known of it. */
function value(print, value, keys = {}) {
  tell({ print, ...keys, ...describe(value) });
}

/** Tells facts of the process, with the keys of `facts`. */
function fact(facts) {
  append({ fact: facts });
}

/** Tells what the whole process is, and that the account is complete. */
function done() {
  append({ pid: process.pid });
  append({ argv: fs.readFileSync('/proc/self/cmdline', 'utf8').split('\0').slice(0, -1) });
  fact({ thread_count: fs.readdirSync('/proc/self/task').length });
  append({ done: true });
}

/** The frame of a function of the runtime itself, which V8 leaves out while it is the innermost one. */
function builtin(name) {
  return { function: name, match: 'exact', mark: 'optional', flags: ['builtin'] };
}

/** `stack` at `word` of the innermost frame's line, in a call of the runtime's function `name`. */
function inside(stack, name, word = name) {
  const { frames, awaits } = moved(stack, word);
  return { frames: [builtin(name), ...frames], awaits };
}

/** Tells the stack of this thread, and aborts. */
function die(options) {
  tellLast(new Error('here'), options); process.abort();
}

function tellLast(error, options) {
  thread('main', inside(stackOf(error, options), 'abort', 'abort()'), true);
  done();
}

module.exports = { append, describe, die, done, fact, inside, moved, stackOf, tell, thread, value };

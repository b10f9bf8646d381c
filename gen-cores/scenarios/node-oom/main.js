// A process that runs out of heap: V8 gives up in the middle of JavaScript.
const truth = require('./truth.js');

class Entry {
  constructor(key) {
    this.key = key;
    this.next = null;
  }
}

function fill(cache) {
  tell(new Error());
  for (let at = 0; ; at++) { const entry = new Entry(`key ${at}`); entry.next = cache.last; cache.last = entry; }
}

/** The loop is on the line below the one that makes the error, and may be in the constructor. */
function tell(error) {
  const { frames: [frame, ...callers], awaits } = truth.stackOf(error, { values: false });
  const inner = { function: 'Entry', match: 'exact', mark: 'optional', flags: ['constructor'] };
  const loop = { ...frame, line: frame.line + 1, column: null, shown: null };
  truth.thread('main', { frames: [inner, loop, ...callers], awaits }, true);
  truth.done();
}

fill({ last: null });

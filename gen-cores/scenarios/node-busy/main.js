// A process in an endless loop, killed from outside.
const truth = require('./truth.js');

function main(name) {
  const count = name.length;
  return [name].map((text) => compute(text, count));
}

function compute(text, count) {
  const state = { text, count, done: false };
  return spin(state, 7);
}

function spin(state, seed) {
  tell(new Error());
  for (let sum = seed; !state.done; ) { sum = (sum * 5 + state.count) % 99991; state.count = sum & 1; }
}

/** The loop is on the line below the one that makes the error. It changes what it was called with. */
function tell(error) {
  const { frames: [frame, ...callers], awaits } = truth.stackOf(error, { values: false });
  truth.thread('main', { frames: [{ ...frame, line: frame.line + 1, column: null, shown: null }, ...callers], awaits });
  truth.done();
}

main('busy');

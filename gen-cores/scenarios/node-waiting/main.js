// A process that waits for what never comes, killed from outside: Atomics.wait deep in JavaScript.
const truth = require('./truth.js');

class Lock {
  constructor() {
    this.cell = new Int32Array(new SharedArrayBuffer(4));
  }
  acquire(owner) {
    return this.waitFor(owner, 0);
  }
  waitFor(owner, value) {
    this.owner = owner;
    tell(new Error()); return Atomics.wait(this.cell, 0, value);
  }
}

function tell(error) {
  truth.thread('main', truth.inside(truth.stackOf(error), 'wait', 'wait('));
  truth.done();
}

function transaction(name) {
  const lock = new Lock();
  return lock.acquire({ name, at: 17 });
}

function work(names) {
  return names.sort().map((name) => transaction(name));
}

work(['second', 'first']);

// Several isolates: the main thread and workers that wait, run or have nothing to do while it dies.
const truth = require('./truth.js');
const { Worker, isMainThread, workerData } = require('worker_threads');

const ROLES = ['waiting', 'nested', 'running', 'idle'];

/** Shared: how many threads have told their stacks, and a cell that nobody ever wakes. */
function start() {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const workers = ROLES.map((role) => new Worker(__filename, { workerData: { role, cells } }));
  globalThis.workers = workers;
  setInterval(function poll() { if (Atomics.load(cells, 0) === ROLES.length) settled(); }, 10);
}

function settled() {
  // The last one has told, and may need a moment to where it said it would be.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  diesFirst();
}

function diesFirst() {
  truth.die();
}

/** Tells a worker's stack as it will be at `word` of the line that makes the error. */
function tell(error, word, inside) {
  const stack = truth.stackOf(error);
  truth.thread(workerData.role, inside ? truth.inside(stack, inside, word) : truth.moved(stack, word));
  Atomics.add(workerData.cells, 0, 1);
}

function waiting(cells) {
  return outerWait(cells, 'argument');
}

function outerWait(cells, text) {
  return [1].map(function callback() { return wait(cells, 1); });
}

// What follows it in the line that uses it is no text that looks like it.
const CALL = 'wait(';

function wait(cells, at) {
  tell(new Error(), CALL, 'wait'); Atomics.wait(cells, at, 0);
}

function nested(cells) {
  return JSON.stringify({ toJSON() { return wait(cells, 1); } });
}

function running(cells) {
  return spin(1);
}

function spin(seed) {
  let sum = seed;
  tell(new Error(), null); for (;;) sum = (sum * 3 + 1) % 1000003; // One line, wherever it is stopped.
}

function idle(cells) {
  setInterval(() => {}, 1000000);
  setTimeout(() => {
    truth.thread(workerData.role, { frames: [], awaits: [] });
    Atomics.add(cells, 0, 1);
  }, 1);
}

if (isMainThread) start();
else ({ waiting, nested, running, idle })[workerData.role](workerData.cells);

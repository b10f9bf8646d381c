// Many objects of few classes, counted exactly: garbage is collected before the process dies. With few of
// them the process also asks V8 for a snapshot of its heap, and tells what that says of sizes.
const truth = require('./truth.js');
const { execFileSync } = require('child_process');

const COUNT = Number(process.argv[2]);

class Point {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
}

class Sample {
  constructor(value) {
    this.value = value;
  }
}

class Link {
  constructor(next) {
    this.next = next;
  }
}

class Leaf {
  constructor(number) {
    this.number = number;
  }
}

/** Owns its leaves alone, but for the one that all share. */
class Owner {
  constructor(count, shared) {
    this.leaves = Array.from({ length: count }, (_, at) => new Leaf(at));
    this.shared = shared;
  }
}

class Root {}
class Unused {}

const chainOf = (count) => {
  let last = null;
  for (let at = 0; at < count; at++) last = new Link(last);
  return last;
};

function build() {
  const root = new Root();
  root.points = Array.from({ length: COUNT }, (_, at) => new Point(at, -at));
  root.samples = Array.from({ length: COUNT / 10 }, (_, at) => new Sample(at + 0.5));
  root.chain = chainOf(COUNT / 10);
  root.shared = new Leaf(-1);
  root.owners = [1, 10, 100].map((count) => new Owner(count, root.shared));
  root.byKey = new Map(Array.from({ length: 100 }, (_, at) => [`key ${at}`, new Leaf(at)]));
  return root;
}

function waste() {
  let kept;
  for (let at = 0; at < 1000; at++) kept = new Unused();
  return kept ? 0 : 1;
}

const counts = {
  Point: COUNT,
  Sample: COUNT / 10,
  Link: COUNT / 10,
  Leaf: 1 + 1 + 10 + 100 + 100,
  Owner: 3,
  Root: 1,
  ...(COUNT > 1000 && { Session: 100, Lone: 3 }),
  Unused: 0,
};

function tellSnapshot() {
  const file = require('v8').writeHeapSnapshot('heap.heapsnapshot');
  const told = execFileSync(process.execPath, ['snapshot.js', file, ...Object.keys(counts)], { encoding: 'utf8' });
  for (const line of told.trim().split('\n')) truth.tell(JSON.parse(line));
  require('fs').unlinkSync(file);
}

function main() {
  globalThis.root = build();
  if (COUNT > 1000) globalThis.tables = require('./sessions.js');
  waste();
  for (const [name, count] of Object.entries(counts)) truth.tell({ class: name, count });
  if (COUNT <= 1000) tellSnapshot();
  for (let times = 0; times < 3; times++) gc();
  last();
}

function last() {
  truth.tell({ heap: require('v8').getHeapStatistics() });
  truth.die({ values: false });
}

// Not in this turn: what the loader left on the stack would keep garbage alive.
setImmediate(main);

// Functions that run as optimized code, with others inlined into them, by every compiler of V8; each calls
// `hook`, which calls the next. With --allow-natives-syntax they are compiled to order, else by being hot.
const truth = require('./truth.js');

/** A question or order that takes --allow-natives-syntax; undefined without. */
function native(text) {
  try {
    return new Function('f', text);
  } catch {
    return undefined;
  }
}

const prepare = native('%PrepareFunctionForOptimization(f)');
const compilers = {
  interpreter: native('%NeverOptimizeFunction(f)'),
  baseline: native('%CompileBaseline(f)'),
  maglev: native('%OptimizeMaglevOnNextCall(f)'),
  turbofan: native('%OptimizeFunctionOnNextCall(f)'),
};
const optimizeLoop = native('%OptimizeOsr(1)') || (() => {});

let stage = -1; // None: the functions are only being made hot.

function hook(value) {
  if (stage >= 0) descend();
  return value;
}

function descend() {
  stage++;
  if (stage === stages.length) truth.die({ values: false });
  stages[stage].run(1.5);
}

function interpreted(value) {
  return hook(value) + 1;
}

function baseline(value) {
  const doubled = value * 2;
  return hook(doubled) - 1;
}

// Each of the next ones on a line of its own: an inlined frame has its own line.
const leaves = [1, 2, 3, 4, 5].map(() => function leaf(value) {
  const more = value + 1;
  return hook(more) * 2;
});
const [innermost, tried, called, boundLeaf, looped] = leaves;

function multiply(value, times) {
  return innermost(value * times) + times;
}

function inlining(value) {
  let sum = 0;
  for (let at = 1; at < 3; at++) {
    sum += multiply(value, at);
  }
  return sum;
}

function small(value) {
  return hook(value | 0) + 1;
}

function maglev(value) {
  return small(value) + value;
}

function Vector(x) {
  this.x = hook(x);
  this.y = x;
}

function constructing(value) {
  const vector = new Vector(value);
  return vector.x + vector.y;
}

const holder = {
  held: 1,
  get doubled() { return hook(this.held) * 2; },
  method(value) { return this.doubled + value; },
};

function accessing(value) {
  return holder.method(value);
}

const shapes = [
  { kind: 'round', area(value) { return hook(value) * 3; } },
  { kind: 'square', corners: 4, area(value) { return hook(value) * 4; } },
];

function polymorphic(value) {
  let sum = 0;
  for (const shape of shapes) sum += shape.area(value);
  return sum;
}

function eachOf(value) {
  let sum = 0;
  [value, 2, 3].forEach((part) => { sum += hook(part); });
  return sum;
}

function mapped(value) {
  return [value, 2].map(function double(part) { return hook(part) * 2; });
}

function catching(value) {
  try {
    return tried(value);
  } catch (error) {
    return error;
  } finally {
    value = 0;
  }
}

function applied(value) {
  return called.call(null, value) + called.apply(null, [value]);
}

const bound = boundLeaf.bind(null, 4);

function binding(value) {
  return bound() + value;
}

function looping(value) {
  let sum = 0;
  for (let at = 0; at < 200; at++) {
    if (at === 10) optimizeLoop();
    sum += at * value;
    if (at === 150) sum += looped(sum);
  }
  return sum;
}

// Behind a builtin V8 tells no functions any more: those that are inlined into one come first.
const stages = [
  { compiler: 'turbofan', run: eachOf },
  { compiler: 'turbofan', run: mapped },
  { compiler: 'interpreter', run: interpreted },
  { compiler: 'baseline', run: baseline },
  { compiler: 'maglev', run: maglev },
  { compiler: 'turbofan', run: inlining },
  { compiler: 'turbofan', run: constructing },
  { compiler: 'turbofan', run: accessing },
  { compiler: 'turbofan', run: polymorphic },
  { compiler: 'turbofan', run: catching },
  { compiler: 'turbofan', run: applied },
  { compiler: 'turbofan', run: binding },
  { compiler: 'loop', run: looping },
  { compiler: 'interpreter', run: function last(value) { return hook(value); } },
];

function heat({ compiler, run }, times) {
  if (prepare) prepare(run);
  for (let at = 0; at < times; at++) run(at + 0.5);
  if (prepare && compilers[compiler]) compilers[compiler](run);
  run(0.5);
}

if (prepare) {
  for (const inner of [...leaves, multiply, small, Vector, holder.method, ...shapes.map(({ area }) => area)]) prepare(inner);
  compilers.interpreter(hook);
}
for (const each of stages) heat(each, prepare ? 8 : 20000);
descend();

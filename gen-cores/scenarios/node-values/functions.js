// Functions: their names, sources, and what their closures hold.
const { more } = require('./describe.js');

function declared(first, second = 2, ...rest) { return first; }

async function waits() { await null; }
function* yields() { yield 1; }
async function* streams() { yield 1; }

class Declared {
  static make() { return new Declared(); }
  method() { return this; }
  get value() { return 1; }
}

class Derived extends Declared {}

function closure(start) {
  let count = start;
  const step = 1.5;
  const names = ['a', 'b'];
  const counter = function counter() { count += step; return names[count]; };
  return more(counter, { closure: { count, step, names } });
}

function nested(outer) {
  const hidden = `of ${outer}`;
  return (function () {
    const own = 7;
    const inner = () => [outer, hidden, own];
    return more(inner, { closure: { own, hidden, outer } });
  })();
}

// V8 keeps the names of 75 and more in a table.
function crowded(count) {
  const names = Array.from({ length: count }, (_, index) => `v${index}`);
  const assigned = names.map((name, index) => `${name} = ${index}`);
  const crowd = new Function(`let ${assigned.join(', ')}; return () => [${names}];`)();
  return more(crowd, { closure: Object.fromEntries(names.map((name, index) => [name, index])) });
}

function bound(target, receiver, ...args) {
  return more(target.bind(receiver, ...args), { bound: { target, this: receiver, args } });
}

function renamed() {
  return Object.defineProperty(function original() {}, 'name', { value: 'given' });
}

const key = Symbol('key');
const computed = { ['a' + 1]() {}, [key]() {}, größe() {} };

exports.make = () => ({
  declared,
  arrow: (a, b) => a + b,
  anonymous: (() => function () {})(),
  async: waits,
  generator: yields,
  asyncGenerator: streams,
  asyncArrow: async () => {},
  class: Declared,
  derived: Derived,
  classAnonymous: (() => class {})(),
  method: Declared.prototype.method,
  static: Declared.make,
  getter: Object.getOwnPropertyDescriptor(Declared.prototype, 'value').get,
  computed: computed.a1,
  symbolName: computed[key],
  unicode: computed.größe,
  renamed: renamed(),
  properties: Object.assign(function withProperties() {}, { version: 3, nested: { a: 1 } }),
  closure: closure(10),
  nested: nested('outermost'),
  crowded: crowded(74),
  overcrowded: crowded(90),
  bound: bound(declared, { receiver: 1 }, 'first', 2),
  boundTwice: bound(bound(declared, null, 1), undefined, 2),
  builtin: Math.max,
  builtinMethod: Array.prototype.map,
  constructor: Map,
  fromText: new Function('a', 'b', 'return a * b'),
});

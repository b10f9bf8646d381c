// Plain objects: where V8 keeps properties, and what keys and values may be.
function numbered(count, from = {}) {
  for (let at = 0; at < count; at++) from[`key${at}`] = at;
  return from;
}

function without(object, ...keys) {
  for (const key of keys) delete object[key];
  return object;
}

function cyclic() {
  const object = { name: 'cycle' };
  object.self = object;
  object.inside = { back: object };
  return object;
}

function mutated() {
  const object = { x: 1, y: 1.5, z: 'text' };
  object.x = 2.25;
  object.y = -0.5;
  object.z = 7;
  return object;
}

const accessors = () => ({
  plain: 1,
  get both() { return 1; },
  set both(value) {},
  get reads() { return 2; },
  set writes(value) {},
});

function described() {
  const object = {};
  Object.defineProperty(object, 'hidden', { value: 1, enumerable: false });
  Object.defineProperty(object, 'constant', { value: 2, enumerable: true });
  Object.defineProperty(object, 'shown', { value: 3, enumerable: true, writable: true });
  return object;
}

function nullPrototype() {
  const object = Object.create(null);
  object.a = 1;
  object.b = 'two';
  return object;
}

function deep(levels) {
  return levels === 0 ? { bottom: true } : { level: levels, next: deep(levels - 1) };
}

exports.make = () => ({
  empty: {},
  fast: { a: 1, b: 'two', c: 3.5, d: null, e: undefined, f: true },
  outOfObject: numbered(30),
  many: numbered(100, { first: 0 }),
  dictionary: without(numbered(20), 'key0', 'key7'),
  manyMore: numbered(1500),
  emptied: without({ a: 1, b: 2 }, 'a', 'b'),
  integerKeys: { 0: 'zero', 1: 'one', 7: 'seven', 4294967295: 'no index' },
  mixedKeys: { b: 1, 2: 'two', a: 2, 1: 'one' },
  symbolKeys: { [Symbol('own')]: 1, [Symbol.toStringTag]: 'Tagged', plain: 2 },
  oddKeys: { '': 'empty', 'with space': 1, 'größe': 2, '漢字': 3, 'a.b': 4, ['__proto__']: 5, '\n': 6 },
  accessors: accessors(),
  described: described(),
  nullPrototype: nullPrototype(),
  cyclic: cyclic(),
  mutated: mutated(),
  frozen: Object.freeze({ a: 1, b: [2] }),
  deep: deep(12),
  inherits: Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }),
});

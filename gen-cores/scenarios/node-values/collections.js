// Maps, sets, and their weak relatives; of those the contents are told, though no program can list them.
const { more } = require('./describe.js');

const keyed = (count) => new Map(Array.from({ length: count }, (_, at) => [`key${at}`, at]));

function without(collection, ...keys) {
  for (const key of keys) collection.delete(key);
  return collection;
}

function cleared() {
  const map = keyed(10);
  map.clear();
  return map.set('after', 1);
}

// What weak collections hold must be held elsewhere too.
const held = [];

function hold(name) {
  const object = { held: name };
  held.push(object);
  return object;
}

function weakMap() {
  const [a, b] = [hold('a'), hold('b')];
  return more(new WeakMap([[a, 'of a'], [b, 2]]), { entries: [[a, 'of a'], [b, 2]] });
}

function weakSet() {
  const [a, b] = [hold('c'), hold('d')];
  return more(new WeakSet([a, b]), { list: [a, b] });
}

function weakRef() {
  const target = hold('e');
  return more(new WeakRef(target), { target });
}

exports.make = () => ({
  mapEmpty: new Map(),
  map: new Map([['a', 1], ['b', { c: 2 }], [3, 'three'], [null, undefined], [NaN, 'nan'], [-0, 'zero']]),
  mapObjects: new Map([[{ key: 1 }, [1]], [Symbol('key'), new Map([['inner', true]])]]),
  mapLarge: keyed(1000),
  mapDeleted: without(keyed(12), 'key0', 'key5', 'key11'),
  mapCleared: cleared(),
  setEmpty: new Set(),
  set: new Set(['a', 1, 1.5, null, undefined, NaN, true]),
  setObjects: new Set([{ a: 1 }, [2]]),
  setDeleted: without(new Set([1, 2, 3, 4, 5]), 1, 3),
  weakMap: weakMap(),
  weakSet: weakSet(),
  weakRef: weakRef(),
});

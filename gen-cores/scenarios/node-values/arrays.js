// Arrays with every kind of elements.
function sparse() {
  const array = [1, 2];
  array[5000000] = 'far';
  return array;
}

function grown(count) {
  const array = [];
  for (let at = 0; at < count; at++) array.push(at * 2);
  return array;
}

function shrunk() {
  const array = grown(100);
  array.length = 7;
  return array;
}

function withHoles(array, ...places) {
  for (const at of places) delete array[at];
  return array;
}

function withProperties() {
  const array = ['a', 'b'];
  array.name = 'named';
  array[-1] = 'no element';
  return array;
}

function described() {
  const array = [1, 2, 3];
  Object.defineProperty(array, 1, { get: function second() { return 2; }, configurable: true });
  return array;
}

class Stack extends Array {}

exports.make = () => ({
  empty: [],
  smi: [1, 2, 3],
  smiHoles: [1, , 3],
  double: [1.5, -0, NaN, Infinity, 2],
  doubleHoles: withHoles([1.5, 2.5, 3.5], 1),
  object: ['text', null, undefined, true, {}, 7],
  objectHoles: withHoles(['a', 'b', 'c'], 0, 2),
  onlyHoles: new Array(5),
  dictionary: sparse(),
  large: grown(1000),
  shrunk: shrunk(),
  nested: [[1, [2, [3]]], []],
  frozen: Object.freeze([1, 'two', 3.5]),
  sealed: Object.seal([1, 2, 3]),
  fixed: Object.preventExtensions([1.5, 2.5]),
  properties: withProperties(),
  accessor: described(),
  subclass: Stack.from(['x', 'y']),
  copyOnWrite: [10, 20, 30, 40],
});

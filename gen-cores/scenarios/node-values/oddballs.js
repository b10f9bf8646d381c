// What is neither a number, a string nor an object.
exports.make = () => ({
  undefined: undefined,
  null: null,
  true: true,
  false: false,
  symbol: Symbol('described'),
  symbolEmpty: Symbol(''),
  symbolBare: Symbol(),
  symbolShared: Symbol.for('shared'),
  symbolKnown: Symbol.iterator,
  bigZero: 0n,
  bigOne: 1n,
  bigMinusOne: -1n,
  bigDigit: 2n ** 64n - 1n,
  bigTwoDigits: 2n ** 64n,
  bigNegative: -(3n ** 200n),
  bigLong: 7n ** 3000n,
});

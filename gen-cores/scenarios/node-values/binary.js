// Buffers and views: on the heap and off it, with offsets, shared.
const words = new ArrayBuffer(64);
new Uint8Array(words).forEach((_, at, bytes) => { bytes[at] = at * 3; });

const filled = (Type, values) => Type.from(values);

exports.make = () => ({
  buffer: Buffer.from('a small buffer: größe'),
  bufferLarge: Buffer.alloc(20000, 'large '),
  bufferEmpty: Buffer.alloc(0),
  bufferSlice: Buffer.from('0123456789').subarray(3, 7),
  arrayBuffer: words.slice(0, 24),
  arrayBufferEmpty: new ArrayBuffer(0),
  shared: new SharedArrayBuffer(16),
  uint8: filled(Uint8Array, [0, 1, 255]),
  int8: filled(Int8Array, [0, 127, -128]),
  uint8Clamped: filled(Uint8ClampedArray, [0, 300, -5]),
  uint16: filled(Uint16Array, [0, 65535]),
  int16: filled(Int16Array, [32767, -32768]),
  uint32: filled(Uint32Array, [0, 4294967295]),
  int32: filled(Int32Array, [2147483647, -2147483648]),
  float32: filled(Float32Array, [0.5, -0, NaN, 1e10, Infinity]),
  float64: filled(Float64Array, [Math.PI, -0, NaN, 5e-324]),
  bigInt64: filled(BigInt64Array, [2n ** 63n - 1n, -(2n ** 63n)]),
  bigUint64: filled(BigUint64Array, [0n, 2n ** 64n - 1n]),
  float16: typeof Float16Array === 'function' ? filled(Float16Array, [0.5, 65504, -0, NaN]) : null,
  large: Float64Array.from({ length: 5000 }, (_, at) => at / 4),
  empty: new Uint16Array(0),
  view: new Uint16Array(words, 8, 5),
  dataView: new DataView(words, 4, 12),
});

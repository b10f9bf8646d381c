// Describes a JavaScript value as JSON, in the form of gen-cores/README.md.
'use strict';

const { types } = require('util');

/** How many elements, entries and properties are told of one object. */
const MOST = 120;

/** The longest string that is told whole; of longer ones the two ends. */
const LONGEST = 4096;
const END = 64;

/** What no program can ask an object for, but ours knows: see `more`. */
const known = new WeakMap();

/** Adds keys to the description of an object: what is behind a proxy, in a private field, in a promise. */
function more(value, keys) {
  known.set(value, keys);
  return value;
}

/** A question that takes `--allow-natives-syntax`; undefined without. */
function native(question) {
  try {
    return new Function('value', `return ${question}`);
  } catch {
    return () => undefined;
  }
}

const hasFastProperties = native('%HasFastProperties(value)');
const ELEMENTS = {
  dictionary: native('%HasDictionaryElements(value)'),
  double: native('%HasDoubleElements(value)'),
  smi: native('%HasSmiElements(value)'),
  object: native('%HasObjectElements(value)'),
};
const hasHoles = native('%HasHoleyElements(value)');

/** A description of `value`; `depth` levels of what it holds are described too. */
function describe(value, { depth = 4 } = {}) {
  return new Description(depth).of(value, '', depth);
}

class Description {
  constructor() {
    this.seen = new Map();
  }

  of(value, path, depth) {
    const primitive = primitiveOf(value);
    if (primitive) return primitive;
    if (this.seen.has(value)) return { type: 'again', path: this.seen.get(value) };
    this.seen.set(value, path);
    return { ...this.whole(value, path, depth), ...this.known(value, path, depth) };
  }

  whole(value, path, depth) {
    // Whatever else is asked of it, its traps would answer.
    if (types.isProxy(value)) return { type: typeof value, kind: 'proxy' };
    return typeof value === 'function' ? functionOf(value) : this.object(value, path, depth);
  }

  known(value, path, depth) {
    const keys = known.get(value) || {};
    const tell = (key) => [key, depth > 0 ? this.of(keys[key], `${path}<${key}>`, depth - 1) : null];
    return Object.fromEntries(Object.keys(keys).map(tell));
  }

  object(value, path, depth) {
    const told = { type: 'object', kind: kindOf(value), class: classOf(value) };
    if (depth === 0) return told;
    const inner = (part, name) => this.of(part, `${path}${name}`, depth - 1);
    Object.assign(told, CONTENTS[told.kind]?.(value, inner));
    return { ...told, ...propertiesOf(value, told.kind, inner) };
  }
}

function primitiveOf(value) {
  switch (value === null ? 'null' : typeof value) {
    case 'string': return stringOf(value);
    case 'number': return { type: 'number', value: Object.is(value, -0) ? '-0' : String(value) };
    case 'bigint': return { type: 'bigint', value: String(value) };
    case 'boolean': return { type: 'boolean', value };
    case 'symbol': return { type: 'symbol', description: value.description ?? null };
    case 'undefined': return { type: 'undefined' };
    case 'null': return { type: 'null' };
    default: return undefined;
  }
}

/** Text as UTF-16 units where it is not Unicode: JSON has no place for a lone surrogate. */
function textOf(text) {
  const isLone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
  return isLone ? { units: Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)) } : { value: text };
}

function stringOf(text) {
  const told = { type: 'string', length: text.length };
  if (text.length <= LONGEST) return { ...told, ...textOf(text) };
  return { ...told, head: textOf(text.slice(0, END)), tail: textOf(text.slice(-END)) };
}

function functionOf(value) {
  const name = Object.getOwnPropertyDescriptor(value, 'name')?.value;
  return {
    type: 'function',
    name: typeof name === 'string' ? name : null,
    source: stringOf(Function.prototype.toString.call(value)),
    parameters: value.length,
  };
}

function classOf(value) {
  for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
    const made = Object.getOwnPropertyDescriptor(at, 'constructor')?.value;
    if (at !== value && typeof made === 'function' && made.name) return made.name;
  }
  return null;
}

const KINDS = [
  ['array', Array.isArray],
  ['map', types.isMap],
  ['set', types.isSet],
  ['weakmap', types.isWeakMap],
  ['weakset', types.isWeakSet],
  ['date', types.isDate],
  ['regexp', types.isRegExp],
  ['error', types.isNativeError],
  ['promise', types.isPromise],
  ['typedarray', types.isTypedArray],
  ['dataview', types.isDataView],
  ['arraybuffer', types.isAnyArrayBuffer],
  ['boxed', types.isBoxedPrimitive],
  ['arguments', types.isArgumentsObject],
  ['generator', types.isGeneratorObject],
];

function kindOf(value) {
  const found = KINDS.find(([, is]) => is(value));
  return found ? found[0] : 'plain';
}

/** What an object of a kind holds beside its properties. */
const CONTENTS = {
  array: (value, inner) => ({ length: value.length, list: elementsOf(value, inner), elements: elementsKind(value) }),
  arguments: (value, inner) => ({ length: value.length, list: elementsOf(value, inner) }),
  map: (value, inner) => ({
    size: value.size,
    entries: [...value].slice(0, MOST).map(([k, v], at) => [inner(k, `<key ${at}>`), inner(v, `<value ${at}>`)]),
  }),
  set: (value, inner) => ({ size: value.size, list: [...value].slice(0, MOST).map((v, at) => inner(v, `<${at}>`)) }),
  date: (value) => ({ value: String(value.getTime()), iso: Number.isNaN(value.getTime()) ? null : value.toISOString() }),
  regexp: (value) => ({ source: value.source, flags: value.flags, last_index: value.lastIndex }),
  error: (value) => ({ stack: typeof value.stack === 'string' ? value.stack : null }),
  boxed: (value, inner) => ({ value: inner(value.valueOf(), '<value>') }),
  arraybuffer: (value) => ({ byte_length: value.byteLength, bytes: bytesOf(new Uint8Array(value)) }),
  dataview: (value) => ({ ...viewOf(value) }),
  typedarray: (value) => ({
    ...viewOf(value),
    length: value.length,
    list: Array.from(value.subarray(0, MOST), (part) => primitiveOf(part).value),
  }),
};

function viewOf(value) {
  const { byteOffset, byteLength, buffer } = value;
  return { byte_offset: byteOffset, byte_length: byteLength, bytes: bytesOf(new Uint8Array(buffer, byteOffset, byteLength)) };
}

function bytesOf(bytes) {
  return Array.from(bytes.subarray(0, MOST), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function elementsOf(value, inner) {
  const count = Math.min(value.length, MOST);
  return Array.from({ length: count }, (_, at) => (Object.hasOwn(value, at) ? inner(value[at], `[${at}]`) : { type: 'hole' }));
}

function elementsKind(value) {
  const kind = Object.keys(ELEMENTS).find((name) => ELEMENTS[name](value));
  const holes = kind === 'dictionary' ? '' : hasHoles(value) ? 'holey ' : 'packed ';
  return kind && holes + kind;
}

/** Keys that every object of a kind has, or whose values `CONTENTS` tells. */
const USUAL = { array: ['length'], arguments: ['length', 'callee'], regexp: ['lastIndex'], error: ['stack'], boxed: ['length'] };

function isElement(value, key, kind) {
  const listed = ['array', 'arguments', 'typedarray'].includes(kind) || value instanceof String;
  return listed && typeof key === 'string' && /^(0|[1-9]\d*)$/.test(key) && Number(key) < 2 ** 32 - 1;
}

function propertiesOf(value, kind, inner) {
  const isOwn = (key) => !(USUAL[kind] || []).includes(key) && !isElement(value, key, kind);
  const keys = Reflect.ownKeys(value).filter(isOwn);
  const shapes = keys.map((key) => [key, Object.getOwnPropertyDescriptor(value, key)]);
  return {
    total: keys.length,
    properties: shapes.slice(0, MOST).map(([key, shape]) => [String(key), propertyOf(shape, key, inner)]),
    hidden: shapes.filter(([, shape]) => !shape.enumerable).map(([key]) => String(key)),
    fast: hasFastProperties(value),
  };
}

function propertyOf(shape, key, inner) {
  if ('value' in shape) return inner(shape.value, typeof key === 'symbol' ? `[${String(key)}]` : `.${key}`);
  return { type: 'accessor', get: shape.get?.name ?? null, set: shape.set?.name ?? null };
}

module.exports = { describe, more };

// Objects of the language's own kinds. What no program can ask them for is told beside them.
const { more } = require('./describe.js');

class AppError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'AppError';
    this.code = 'E_APP';
  }
}

function withOwn(error, own) {
  return Object.assign(error, own);
}

function read(error) {
  return error.stack ? error : null;
}

function searched() {
  const expression = /o/gy;
  expression.lastIndex = 4;
  expression.test('hello world');
  return expression;
}

function rejected(reason) {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return more(promise, { state: 'rejected', result: reason });
}

function* numbers() {
  const sent = yield 1;
  yield sent;
}

function generator(steps) {
  const made = numbers();
  for (let step = 0; step < steps; step++) made.next(step);
  return more(made, { state: steps === 3 ? 'closed' : 'suspended' });
}

function sloppy(a, b) {
  a = 'changed';
  return arguments;
}

function strict(a, b) {
  'use strict';
  return arguments;
}

function proxy(target, handler) {
  return more(new Proxy(target, handler), { target, handler });
}

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return more(proxy, { target: null, handler: null });
}

exports.make = () => ({
  date: new Date(Date.UTC(2024, 1, 29, 12, 34, 56, 789)),
  dateOld: new Date(-1e12),
  dateEpoch: new Date(0),
  dateInvalid: new Date(NaN),
  regexp: /a(b)?[^\/]\/$/gimsuy,
  regexpEmpty: new RegExp(''),
  regexpSearched: searched(),
  regexpIndices: /x/d,
  regexpUnicode: /größe|漢字/u,
  error: new Error('a message'),
  errorEmpty: new Error(),
  errorRead: read(new Error('its stack was read')),
  errorType: new TypeError('a type'),
  errorCause: new Error('outer', { cause: new RangeError('inner') }),
  errorCauseText: new Error('outer', { cause: 'a text' }),
  errorOwn: withOwn(new Error('with more'), { code: 'ENOENT', errno: -2, detail: { path: '/tmp' } }),
  errorClass: new AppError('of a class', { cause: null }),
  errorMany: new AggregateError([new Error('one'), new Error('two')], 'several'),
  promisePending: more(new Promise(() => {}), { state: 'pending' }),
  promiseFulfilled: more(Promise.resolve({ answer: 42 }), { state: 'fulfilled', result: { answer: 42 } }),
  promiseRejected: rejected('the reason'),
  promiseWaiting: more(new Promise(() => {}).then(function next() {}), { state: 'pending' }),
  proxy: proxy({ behind: 1 }, { get: () => 'trapped' }),
  proxyFunction: proxy(function behind() {}, {}),
  proxyOfProxy: proxy(proxy([1, 2], {}), {}),
  proxyRevoked: revoked(),
  boxedNumber: new Number(1.5),
  boxedString: new String('boxed'),
  boxedBoolean: new Boolean(false),
  boxedSymbol: Object(Symbol('boxed')),
  boxedBigInt: Object(12345678901234567890n),
  argumentsSloppy: sloppy(1, 'two', 3.5),
  argumentsStrict: strict(1, 'two', 3.5),
  argumentsNone: sloppy(),
  generatorNew: generator(0),
  generatorSuspended: generator(1),
  generatorClosed: generator(3),
  url: new URL('https://user@example.org:8080/path?query=1#hash'),
});

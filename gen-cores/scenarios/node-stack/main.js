// Every plain way in which JavaScript calls JavaScript, one inside the other, down to process.abort():
// functions, closures, methods, constructors, accessors, callbacks of builtins, generators, eval, vm.
// What is in strict mode comes first: of functions outside of it V8 tells no arguments.
const truth = require('./truth.js');
const vm = require('vm');

function inScript() {
  globalThis.inContext = inContext;
  const script = new vm.Script('\n\nfunction fromScript(n) { return inContext(n); }\nfromScript(7);', { filename: 'made-up/script.js' });
  return script.runInThisContext();
}

function inContext(number) {
  const context = vm.createContext({ emitted });
  return vm.runInContext('(() => emitted(7))()', context, 'other-context.js');
}

function emitted(number) {
  const emitter = new (require('events'))();
  emitter.on('event', function listener(first, second) { outer(first * second, 'name'); });
  emitter.emit('event', number, 4);
}

function outer(count, name) {
  const closure = (extra) => { return middle(count + extra, name, [extra]); };
  return closure(2);
}

function middle(sum, name) {
  return new Account('savings', sum).deposit(10);
}

class Entity {
  constructor(name) {
    this.name = name;
    this.ready = this.prepare(name);
  }
  prepare(name) { return name.length; }
}

class Account extends Entity {
  #balance;
  static opened = 0;
  constructor(name, balance) {
    super(name);
    this.#balance = balance;
  }
  deposit(amount) { return this.#add(amount); }
  #add(amount) {
    this.#balance += amount;
    return Account.audit(this);
  }
  static audit(account) { return account.total; }
  get total() { this.total = this.#balance; return 0; }
  set total(value) { this['computed ' + 'name'](value); }
  ['computed ' + 'name'](value) { literal.method(value); }
}

const literal = {
  method(value) { return this.arrow(value); },
  arrow: (value) => literal.named(value),
  named: function ownName(value) { return literal.inferred(value); },
  inferred: function (value) { return defaults(value); },
};

function defaults(count, value = initial(count)) {
  return value;
}

const initial = (count) => {
  class Fields { field = builtins([3, 1, 2], count); static { Fields.kept = true; } }
  return new Fields();
};

function builtins(numbers, value) {
  return numbers.map(function (number, at) {
    return at === 1 ? each(numbers, value) : number;
  });
}

function each(numbers, value) {
  [numbers].forEach((list) => sorted(list, value));
}

function sorted(list, value) {
  let calls = 0;
  list.slice().sort(function compare(a, b) {
    if (calls++ === 0) reduced(list, value);
    return a - b;
  });
}

function reduced(list, value) {
  list.reduce((sum, each) => (sum > 3 ? serialized(value) : sum + each), 1);
}

function serialized(value) {
  let told = false;
  return JSON.stringify({ deep: { toJSON(key) { if (!told) { told = true; parsed(key); } return 1; } } }, null, value);
}

function parsed(key) {
  return JSON.parse('{"a": [1]}', function reviver(name, held) {
    if (name === '0') replaced('haystack', 'needle');
    return held;
  });
}

function replaced(text, other) {
  return text.replace(/st(a)/g, (match, letter, at) => { reflected(match, at); return letter; });
}

function reflected(match, at) {
  return Reflect.apply(applied, { receiver: match }, [at, 'two']);
}

function applied(at) {
  return bound.call(null, 'last');
}

const bound = function target(first, last) { return constructed.apply(this, [first, last]); }.bind({ bound: true }, 'first');

function constructed(first) {
  return Reflect.construct(Plain, [first, 1.5]);
}

function Plain(first, number) {
  this.first = first;
  this.number = number;
  [...generator(first)];
}

function* generator(only) {
  yield 1;
  yield* delegate(only);
}

function* delegate(only) {
  const proxy = new Proxy({ only }, { get(target, key, receiver) { return converted(target[key]); } });
  yield proxy.anything;
}

function converted(text) {
  const object = { [Symbol.toPrimitive](hint) { return tagged`a ${hint} b ${text}`; } };
  return `${object}`;
}

function tagged(strings, ...values) {
  return caught(values[0]);
}

function caught(hint) {
  try {
    throw new Error('caught');
  } catch (error) {
    return fielded(error);
  } finally {
    hint = null;
  }
}

function fielded(error) {
  const map = new Map([['key', error]]);
  map.forEach((value, key) => renamed(key));
}

function renamed(key) {
  const original = function original() { return größe(key); };
  Object.defineProperty(original, 'name', { value: 'given name' });
  return original();
}

function größe(key) { const text = '𝒳 → é'; return deep(key, 40, text); }

function deep(key, count, text) {
  return count === 0 ? receiver(key) : deep(key, count - 1, text);
}

function receiver(key) {
  return function () { return evaluated(key, this); }.call(key);
}

function evaluated(key, boxed) {
  return eval('const inside = 1;\n  madeByConstructor(key, inside)');
}

const madeByConstructor = new Function('key', 'inside', 'next', 'return next(key);').bind(null, 0, 1, innermost);

function innermost(key) {
  return new Shape(key, 1.5, [key]);
}

function Shape(name, number, list) {
  this.name = name;
  this.area = fewer.call({ held: list }, number);
}

function fewer(first, missing, alsoMissing) {
  return more(first, 'two', null, undefined, -0, 10n ** 20n, Symbol('six'));
}

function more(only) {
  return last(only, { a: 1 });
}

async function last(number, object) {
  // The part of an async function before its first await runs in its caller.
  truth.die();
}

inScript();

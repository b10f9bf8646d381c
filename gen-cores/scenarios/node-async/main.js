// A process that dies behind awaits: the stack is short, what waits for it is long. Each function waits in
// its own way, and other chains of promises wait for what never comes.
const truth = require('./truth.js');
const { setTimeout: sleep } = require('timers/promises');

const never = new Promise(() => {});

async function entry() {
  const value = await overTimers(1);
  return value;
}

async function overTimers(value) {
  await sleep(1);
  return await inMethod(value);
}

async function inMethod(value) {
  const service = new Service();
  return await service.request(value);
}

class Service {
  async request(value) {
    try {
      return await this.#send(value);
    } finally {
      this.done = true;
    }
  }
  async #send(value) {
    await null;
    return await allOf(value);
  }
}

async function allOf(value) {
  const [first] = await Promise.all([never, raced(value), sleep(100000)]);
  return first;
}

async function raced(value) {
  return await arrow(value);
}

const arrow = async (value) => {
  await undefined;
  for await (const part of streamed(value)) return part;
};

async function* streamed(value) {
  await null;
  yield await thenable(value);
}

async function thenable(value) {
  return await Promise.resolve(value).then(async function settled(result) {
    await null;
    return await looped(result);
  });
}

async function looped(value) {
  for (let at = 0; ; at++) {
    await null;
    if (at === 3) return await innermost(at);
  }
}

async function innermost(at) {
  await new Promise((resolve) => setImmediate(resolve));
  synchronous(at);
}

function synchronous(at) {
  truth.die();
}

// They stay as they are: nothing ever wakes them.
async function waitsForever(name) { await never; return name; }
async function waitsForWaiter() { return await waitsForever('inner'); }
globalThis.suspended = [waitsForever('outer'), waitsForWaiter(), never.then(function afterNever() {})];

entry();

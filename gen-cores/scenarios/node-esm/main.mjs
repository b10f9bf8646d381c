// ECMAScript modules: names of scripts are URLs, one module waits for another, and dies.
import { begin, Greeter } from './other.mjs';
import truth from './truth.js';

const answer = await begin(42);

function last(number) {
  return new Greeter(number).greet(() => { truth.die(); });
}

const { enter } = await import('./late.mjs');

export default enter(() => last(answer));

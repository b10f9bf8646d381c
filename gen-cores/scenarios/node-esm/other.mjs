// A module that main.mjs imports.
export async function begin(number) {
  await null;
  return number;
}

export class Greeter {
  #number;
  constructor(number) {
    this.#number = number;
  }
  greet(callback) {
    return callback(this.#number);
  }
}

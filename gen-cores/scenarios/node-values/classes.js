// Instances: of classes, constructor functions, and what has an odd constructor or none.
const { more } = require('./describe.js');

class Point {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
}

class Point3 extends Point {
  z = 0.5;
  static origin = new Point3(0, 0);
}

class Named extends Point3 {
  #secret = 'hidden';
  #count = 3;
  constructor(name) {
    super(1, 2);
    this.name = name;
    more(this, { private: { '#secret': this.#secret, '#count': this.#count } });
  }
}

class Late {
  constructor(count) {
    for (let at = 0; at < count; at++) this[`late${at}`] = at;
  }
}

function Shape(kind) {
  this.kind = kind;
}
Shape.prototype.area = function () { return 0; };

const namespace = {};
namespace.Inferred = class { value = 1; };

class Misnamed {
  static name = 'a static property';
}

class Temperature {
  #celsius = 20.5;
  constructor() { more(this, { private: { '#celsius': this.#celsius } }); }
  get fahrenheit() { return this.#celsius * 1.8 + 32; }
  set fahrenheit(value) { this.#celsius = (value - 32) / 1.8; }
}

exports.make = () => ({
  point: new Point(3, -4.5),
  derived: new Point3(1, 2),
  privateFields: new Named('deep'),
  late: new Late(40),
  function: new Shape('round'),
  inferred: new namespace.Inferred(),
  anonymous: new (class { a = 1; })(),
  misnamed: new Misnamed(),
  accessors: new Temperature(),
  prototypeOnly: Object.create(Point.prototype),
  changed: Object.setPrototypeOf({ was: 'plain' }, Shape.prototype),
  emitter: new (require('events'))(),
});

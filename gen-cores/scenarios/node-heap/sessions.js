// Objects that are used as maps: hash tables with keys that no other object has, but for one.
'use strict';

/** Without its first property the object is a hash table, before it gets its keys. */
function fill(object, number) {
  object.first = 0;
  object.user = number;
  delete object.first;
  for (let at = 0; at < 20; at++) object[`s${number}_${at}`] = at;
}

class Session {
  constructor(number) {
    fill(this, number);
  }
}

/** Of these there are few. */
class Lone {
  constructor(number) {
    fill(this, number);
  }
}

module.exports = {
  sessions: Array.from({ length: 100 }, (_, at) => new Session(at)),
  lone: Array.from({ length: 3 }, (_, at) => new Lone(at)),
};

// Values of every kind, each told in values.jsonl: an object of the class KnownValues holds them all, the
// argument of the function `keep` under which the process dies, and a global variable beside that.
const truth = require('./truth.js');
const kinds = ['oddballs', 'numbers', 'strings', 'arrays', 'objects', 'classes', 'collections', 'binary', 'builtins', 'functions'];

class KnownValues {}

function keep(values) {
  truth.die({ values: false });
}

/** Told is one copy and kept another: to look at a string is to change its form. */
function main() {
  const values = new KnownValues();
  for (const kind of kinds) {
    const { make, forms = {} } = require(`./${kind}.js`);
    // On one line: errors know where they were made.
    const [told, kept] = [1, 2].map(() => make());
    for (const key of Object.keys(told)) truth.value(`values.${kind}.${key}`, told[key], { frame: 'keep', ...forms[key] });
    values[kind] = kept;
  }
  globalThis.knownValues = values;
  keep(values);
}

main();

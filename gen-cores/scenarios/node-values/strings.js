// Strings in every form that V8 has for them. `forms` says which ones were meant to be made: what the
// engine makes of them is its own affair, the text is what counts.
const half = (text, count) => text.repeat(count).slice(0);

function thin(text) {
  // Used as a key, the second of two equal strings becomes a reference to the first.
  const [first, second] = [1, 2].map(() => [text, 'as a key'].join(' '));
  const object = { [first]: 1 };
  object[second] = 2;
  return second;
}

function cons(left, right) {
  return left + right;
}

function deep(count) {
  let text = '';
  for (let at = 0; at < count; at++) text += `part ${at}, `;
  return text;
}

function sliced(text) {
  const parent = text.repeat(20).split('').join('');
  return parent.substring(3, 3 + 40);
}

exports.make = () => ({
  empty: '',
  letter: 'a',
  latinLetter: 'ß',
  oneByte: 'hello world',
  latin: 'größe, naïve, ¿qué?',
  twoByte: '日本語のテキスト',
  astral: '𝒳 and 🎉',
  loneHigh: 'high \ud83c end',
  loneLow: 'low \udf89 end',
  mixed: 'latin ü then 漢字',
  control: 'nul \0 newline \n tab \t quote " backslash \\ escape \u001b[31m delete \u007f',
  bidi: 'right \u202e left \u2066 isolate',
  separator: 'line \u2028 paragraph \u2029',
  index: '12345',
  numberLike: '1.5e3',
  internalized: 'a literal of the program',
  sequential: ['made', 'at', 'run', 'time'].join('-'),
  sequentialTwoByte: ['作られた', 'at', 'run', 'time'].join('-'),
  cons: cons(half('left side, ', 3), half('right side. ', 3)),
  consTwoByte: cons(half('links, ', 3), half('右側。', 5)),
  consOfCons: cons(cons(half('one ', 5), half('two ', 5)), cons(half('three ', 5), half('four ', 5))),
  consDeep: deep(5000),
  sliced: sliced('0123456789abcdefghijklmnopqrstuvwxyz'),
  slicedTwoByte: sliced('いろはにほへとちりぬるを'),
  thin: thin('thin'),
  thinTwoByte: thin('細い'),
  long: 'long '.repeat(40000).split('').join(''),
  externalOneByte: Buffer.alloc(1100000, 'external text. ').toString('latin1'),
  externalTwoByte: Buffer.from('外部のテキスト。'.repeat(140000), 'utf16le').toString('utf16le'),
});

exports.forms = {
  letter: { form: 'internalized' },
  oneByte: { form: 'internalized' },
  internalized: { form: 'internalized' },
  sequential: { form: 'sequential' },
  sequentialTwoByte: { form: 'sequential' },
  cons: { form: 'cons' },
  consTwoByte: { form: 'cons' },
  consOfCons: { form: 'cons' },
  consDeep: { form: 'cons' },
  sliced: { form: 'sliced' },
  slicedTwoByte: { form: 'sliced' },
  thin: { form: 'thin' },
  thinTwoByte: { form: 'thin' },
  externalOneByte: { form: 'external' },
  externalTwoByte: { form: 'external' },
};

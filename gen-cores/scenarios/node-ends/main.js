// Ends of a process by an exception under --abort-on-uncaught-exception: what is thrown, and by whom, is told by the
// argument. Nobody asks the exception for its `stack` before the process dies.
const truth = require('./truth.js');

class QuotaError extends Error {}

/** Two errors of one line: one is thrown, the other tells its stack. */
function make(message) {
  return [new QuotaError(message), new Error()];
}

function text(error) {
  return `${error}`.replace(/^Error: /, '');
}

/** Tells what ends the process: nothing but that may happen from now on. */
function tell(exception, stack) {
  const isObject = exception instanceof Error;
  truth.fact({
    exception_type: isObject ? exception.constructor.name : typeof exception,
    exception_what: isObject ? exception.message : String(exception),
  });
  if (stack) truth.tell({ exception_stack: stack.frames.map(({ shown }) => shown) });
  truth.done();
}

/** The stack of the error that was made beside another one. */
function beside(here) {
  return truth.moved(truth.stackOf(here), 'new QuotaError');
}

/** What `act` throws, told beforehand by throwing it once. */
function caught(act) {
  try { act(); } catch (error) { return error; }
}

const ENDS = {
  error() {
    const [error, here] = make('over the limit');
    tell(error, beside(here));
    setTimeout(function later() { throw error; }, 1);
  },
  text() {
    tell('just text');
    throw 'just text';
  },
  number() {
    tell(-42.5);
    setImmediate(() => { throw -42.5; });
  },
  property() {
    const read = (object) => object.property;
    tell(caught(() => read(undefined)));
    read(undefined);
  },
  native() {
    const parse = () => decodeURIComponent('%');
    tell(caught(parse));
    parse();
  },
  rejection() {
    const [error, here] = make('nobody waits');
    tell(error, beside(here));
    (async function reject() { throw error; })();
  },
  handler() {
    const [error, here] = make('seen by a handler');
    process.on('uncaughtException', function onUncaught() { process.abort(); });
    tell(error, beside(here));
    setTimeout(function later() { throw error; }, 1);
  },
};

ENDS[process.argv[2]]();

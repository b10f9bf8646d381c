// An uncaught error of a class of the program, with a cause and properties, under --abort-on-uncaught-exception.
const truth = require('./truth.js');

class QuotaError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'QuotaError';
    this.code = 'E_QUOTA';
    this.limit = 512;
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    return refuse('the limit is no number', cause);
  }
}

function refuse(message, cause) {
  throw told(new QuotaError(message, { cause }), new Error());
}

/** The stack is that of an error beside it, whose `stack` nobody has asked for. */
function told(error, here) {
  truth.fact({ exception_type: error.constructor.name, exception_what: error.message });
  truth.value('error', error, { frame: 'refuse' });
  truth.thread('main', truth.moved(truth.stackOf(here), 'throw'), true);
  truth.done();
  return error;
}

setTimeout(function late() {
  parse('{"limit": many}');
}, 1);

// A check of V8's own that fails: a function for its tests is called with what it does not expect.
const truth = require('./truth.js');

function failing() {
  tell(new Error()); %NeverOptimizeFunction(1);
}

function tell(error) {
  truth.thread('main', truth.moved(truth.stackOf(error), '%NeverOptimizeFunction'), true);
  truth.done();
}

failing();

// Asks V8 what runs a function, which takes `--allow-natives-syntax`.

function ask(text) {
  try {
    return new Function('called', text);
  } catch {
    return undefined;
  }
}

const statusOf = ask('return %GetOptimizationStatus(called)');

/** The bit of a function that is on the stack: its number is not the same in all versions. */
const EXECUTING = statusOf && (function calibrate() {
  return statusOf(calibrate) & (1 << 10) ? 10 : 11;
})();

/** The bits for what runs the innermost call of a function, as they follow that one. */
const TIERS = { turbofan: 1, interpreter: 5, baseline: 6, maglev: 8 };

/** What runs a function that is on the stack; one that V8 does not find there has no frame of its own. */
function tierOf(called) {
  if (!statusOf || !called) return {};
  const status = statusOf(called);
  if (!(status & (1 << EXECUTING))) return { inline: true };
  const tier = Object.keys(TIERS).find((name) => status & (1 << (EXECUTING + TIERS[name])));
  return tier ? { tier, inline: false } : {};
}

module.exports = { tierOf };

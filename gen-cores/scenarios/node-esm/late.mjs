// A module that main.mjs imports while it runs.
const lateArrow = (next) => next();

export function enter(next) {
  return lateArrow(next);
}

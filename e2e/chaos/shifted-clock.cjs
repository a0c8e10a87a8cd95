// Preloaded into the apps of the harness: their wall clock is off by as many milliseconds as a file says. The monotonic clock is not.
const { readFileSync } = require('node:fs');

const file = process.env.SLUICE_CHAOS_CLOCK;
const systemNow = Date.now;
let shift = 0;
let read = 0;

function now() {
  const at = systemNow();
  if (at - read > 100) {
    read = at;
    try {
      shift = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      shift = 0;
    }
  }
  return at + shift;
}

globalThis.Date = class extends Date {
  constructor(...args) {
    if (args.length === 0) super(now());
    else super(...args);
  }

  static now() {
    return now();
  }
};

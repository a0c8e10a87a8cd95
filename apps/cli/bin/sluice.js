#!/usr/bin/env node
// The bin npm links must exist before the build, so this file only hands over to the built command.
import('../dist/main.js').catch((cause) => {
  if (cause?.code !== 'ERR_MODULE_NOT_FOUND') throw cause;
  console.error('sluice is not built yet: run "npm start" or "npm test" once, then try again.');
  process.exit(2);
});

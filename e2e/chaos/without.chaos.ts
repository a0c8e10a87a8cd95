import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RULES, tryRule } from './rules.js';
import { startBreakableServices } from './services.js';

const left = RULES.find((rule) => rule === process.env.SLUICE_CHAOS_WITHOUT);

/** Fails, as it should, and says what caught the rule that was left out. */
it(`holds without the rule "${process.env.SLUICE_CHAOS_WITHOUT ?? ''}"`, async () => {
  if (left === undefined) throw new Error(`--without takes one of ${RULES.join(', ')}`);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-chaos-'));
  const services = await startBreakableServices(folder);
  try {
    const { scenario, polls, violations } = await tryRule(services.weaviate.directUrl, left, true);
    console.log(
      `without ${left}: scenario "${scenario}", ${polls} polls, ${violations.length} violations: ${violations.slice(0, 5).join('; ')}`,
    );
    expect(violations).toEqual([]);
  } finally {
    await services.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}, 600_000);

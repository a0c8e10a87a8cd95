import type { ParseInput } from '@sluice/core';
import { type ParserSettings, parserSettingsSchema } from './settings.js';

/** The settings of all formats, with defaults for what the source does not set. */
export function settingsOf(input: Pick<ParseInput, 'settings'>): ParserSettings {
  return parserSettingsSchema.parse(input.settings ?? {});
}

import type { FormatEntry } from '../format-entry.js';

export const yaml: FormatEntry = {
  format: 'yaml',
  version: 1,
  title: 'YAML',
  extensions: ['yaml', 'yml'],
  content: '-',
  reads:
    'The file as it is, parted at documents, members and list items, each with its path and the short members of what encloses it.',
  load: async () => (await import('./parse-yaml.js')).parseYaml,
};

import type { FormatEntry } from '../format-entry.js';

export const mbox: FormatEntry = {
  format: 'mbox',
  version: 1,
  title: 'Mailbox (MBOX)',
  extensions: ['mbox'],
  content: 'a `From ` line before mail headers',
  reads: 'Each mail as mails are read, one after the other. A mail that can’t be read is a warning.',
  recognises: (head) => /^From \S+.*\d{4}[^\r\n]*\r?\n[\w-]+: /.test(head.slice(0, 2_000)),
  load: async (children) => (await import('./parse-mbox.js')).createMboxParser(children),
};

import type { FormatEntry } from '../format-entry.js';

export const subtitles: FormatEntry = {
  format: 'subtitles',
  version: 1,
  title: 'Subtitles',
  extensions: ['srt', 'vtt'],
  content: '`WEBVTT`',
  reads:
    'What is said, joined to sentences, a paragraph of some length each with the time at which it begins, as `[00:01:02]`. Not read: numbers, styles, notes.',
  recognises: (head) => /^(?:\u00ef\u00bb\u00bf)?WEBVTT(?:[ \t\r\n]|$)/.test(head),
  load: async () => (await import('./parse-subtitles.js')).parseSubtitles,
};

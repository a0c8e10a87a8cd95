import { describe, expect, it } from 'vitest';
import { documentLine } from './document-line.js';

const line = (fields: Record<string, unknown>) => JSON.stringify({ level: 30, role: 'worker', msg: 'document', ...fields });

describe('documentLine', () => {
  it.each([
    [{ doc_id: 'inbox/a.pdf', status: 'indexed', chunks: 12, seconds: 0.84 }, 'inbox/a.pdf indexed, 12 chunks, 0.8 s'],
    [
      { doc_id: 'inbox/a.pdf', status: 'failed', reason: 'password_required', message: 'set passwords in sluice.yaml' },
      'inbox/a.pdf failed: password_required: set passwords in sluice.yaml',
    ],
    [{ doc_id: 'inbox/b.bin', status: 'skipped', reason: 'unsupported_type' }, 'inbox/b.bin skipped: unsupported_type'],
    [{ doc_id: 'inbox/c.txt', status: 'deleted' }, 'inbox/c.txt deleted'],
  ])('reports %o', (fields, expected) => {
    expect(documentLine(line(fields))).toBe(expected);
  });

  it.each([
    '',
    'document',
    '{"msg":"document"}',
    '{"msg":"document","doc_id":7}',
    '{"msg":"document",',
    '{"msg":"other","doc_id":"a/b"}',
  ])('says nothing of %j', (other) => {
    expect(documentLine(other)).toBeUndefined();
  });
});

it('shows control characters of file names instead of sending them', () => {
  const line = JSON.stringify({ msg: 'document', doc_id: 'inbox/e\u001b[31mred\n.md', status: 'deleted' });
  expect(documentLine(line)).toBe('inbox/e\\x1b[31mred\\x0a.md deleted');
});

it('reports a root that was lost or came back', () => {
  const line = JSON.stringify({ source: 'inbox', root_state: 'missing', msg: '/a is not there; deletes are suspended' });
  expect(documentLine(line)).toBe('source inbox: /a is not there; deletes are suspended');
});

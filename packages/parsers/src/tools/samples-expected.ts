/**
 * What becomes of the real files that other projects test with (Unstructured's example-docs, py-pdf's sample-files), by name. Files
 * that are not named here are expected to be indexed.
 */
export const EXPECTED_OUTCOMES: Readonly<Record<string, string>> = {
  'empty.txt': 'empty',
  'empty.eml': 'empty',
  'libreoffice-writer-password.pdf': 'password_required',
  'password.pdf': 'password_required',
  'password_protected.xlsx': 'password_required',
  'simple.zip': 'unsupported_type',
  'simple.doc': 'unsupported_type',
};

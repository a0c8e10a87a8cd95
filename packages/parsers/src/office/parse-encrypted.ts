import { type Parser, SluiceError } from '@sluice/core';
import { decryptOffice } from './decrypt-office.js';

/** Office files that need a password: decrypted in memory, then read by their own format. */
export function createEncryptedOfficeParser(parseChild: Parser['parse']): Parser['parse'] {
  return async (input) => {
    const bytes = await decryptOffice(input.bytes, input.name, input.passwords ?? [], input.limits);
    // What is inside is a plain package: one that is encrypted again was made to go round in circles.
    if (bytes[0] !== 0x50 || bytes[1] !== 0x4b)
      throw new SluiceError('corrupt', `${input.name} holds no office file once it is decrypted`);
    return parseChild({ ...input, bytes });
  };
}

import { deflateRawSync } from 'node:zlib';
import { crc32 } from './crc32.js';

/** Writes a zip archive with these entries, deflated. For benchmarks and tests. */
export function writeZip(entries: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const data = typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content);
    const packed = deflateRawSync(data, { level: 6 });
    const nameBytes = Buffer.from(name, 'utf8');
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(0x0800, 2);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(data), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(data.length, 18);
    facts.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('504b0304', 'hex'), facts, nameBytes, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('504b01021400', 'hex'), facts, tail, nameBytes]));
    locals.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(18);
  const entriesSize = directory.reduce((sum, entry) => sum + entry.length, 0);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(entriesSize, 8);
  end.writeUInt32LE(offset, 12);
  return new Uint8Array(Buffer.concat([...locals, ...directory, Buffer.from('504b0506', 'hex'), end]));
}

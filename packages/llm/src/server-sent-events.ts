/** A line may be this long (UTF-16 units): an endpoint that sends more without a line break is none. */
const LONGEST_LINE = 1_000_000;

/** The data of each event of a stream (WHATWG HTML, 9.2.6); `touch` is called whenever bytes arrive. */
export async function* readEvents(body: ReadableStream<Uint8Array>, touch: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const bytes of chunksOf(body)) {
    touch();
    rest += decoder.decode(bytes, { stream: true });
    if (rest.length > LONGEST_LINE) throw new RangeError('an event of the stream is too long');
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line.charAt(5) === ' ' ? 6 : 5));
      }
    }
  }
  if (rest.startsWith('data:')) data.push(rest.slice(5).trim());
  if (data.length > 0) yield data.join('\n');
}

/** The stream's bytes; a reader that leaves cancels it. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let ended = false;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    ended = true;
  } finally {
    // What went wrong while reading is what the caller hears of, not what went wrong while leaving.
    if (!ended) await reader.cancel().catch(() => {});
  }
}

import { SluiceError } from '@sluice/core';
import { errorOf } from './problems.js';

/** An event of a streamed answer, as `POST /v1/answer` with `stream` sends it. */
interface StreamedEvent {
  event: string;
  data: unknown;
}

/**
 * The events of a streamed answer. One of a failure is thrown instead, as the SluiceError of its problem; so is an end before `done`
 * (`not_ready`).
 */
export async function* readAnswerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of bytesOf(body)) {
    rest += decoder.decode(bytes, { stream: true });
    const frames = rest.split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const read = readFrame(frame);
      if (read === undefined) continue;
      if (read.event === 'error') throw errorOf(503, JSON.stringify(read.data));
      yield read;
      if (read.event === 'done') return;
    }
  }
  throw new SluiceError('not_ready', 'The answer ended before it was whole.');
}

/** The stream's bytes; a reader that leaves cancels it. */
async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // After an end there is nothing to cancel, and what went wrong while reading is what the caller hears of.
    await reader.cancel().catch(() => {});
  }
}

function readFrame(frame: string): StreamedEvent | undefined {
  const event = /^event: (.*)$/m.exec(frame)?.[1];
  const data = /^data: (.*)$/m.exec(frame)?.[1];
  return event === undefined || data === undefined ? undefined : { event, data: JSON.parse(data) };
}

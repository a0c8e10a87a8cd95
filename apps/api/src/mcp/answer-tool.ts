import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Logger } from '@sluice/telemetry';
import { problemOf } from '../problems.js';

/**
 * A tool's result: the value as text and as structured content, which clients show to the model one or the other of. What fails is a
 * result too, so that the model reads what to change.
 */
export async function answerTool(
  { requestId, logger }: { requestId: string; logger: Logger },
  work: () => Promise<Record<string, unknown>>,
): Promise<CallToolResult> {
  try {
    const value = await work();
    return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
  } catch (error) {
    const { code, detail, status } = problemOf(error, requestId);
    if (status >= 500) logger.error({ err: error, code, request_id: requestId }, 'a tool call failed');
    return { isError: true, content: [{ type: 'text', text: `${code}: ${detail}` }] };
  }
}

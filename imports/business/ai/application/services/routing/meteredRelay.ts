/** Follows the body of a relayed response to its end, and finds the usage that vendors report there. */
import { fieldsOf, isObject, readJson } from '../../../domain/util/json';
import type { RelayResponse } from '../../../domain/types/RelayTypes';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';

/** Bytes of the end of a body: usage is the last field of JSON, and is in the last event of a stream. */
const TAIL = 16 * 1024;

export interface RelayOutcome {
  /** Called once the body was sent, with the usage that it reports. */
  readonly completed: (usage: Usage | undefined) => Promise<void> | void;
  /** Called if it broke off, or its consumer left. */
  readonly failed: (error: unknown) => Promise<void> | void;
}

export function meteredRelay(relayed: RelayResponse, outcome: RelayOutcome): RelayResponse {
  return {
    status: relayed.status,
    header: (name) => relayed.header(name),
    requestId: relayed.requestId,
    passthroughHeaders: relayed.passthroughHeaders,
    text: () => relayed.text(),
    body: followed(relayed.body, outcome),
  };
}

async function* followed(
  body: AsyncIterable<Uint8Array>,
  { completed, failed }: RelayOutcome,
): AsyncGenerator<Uint8Array, void, undefined> {
  let tail = Buffer.alloc(0);
  let hasEnded = false;
  try {
    for await (const chunk of body) {
      tail = Buffer.concat([tail, chunk.subarray(-TAIL)]).subarray(-TAIL);
      yield chunk;
    }
    hasEnded = true;
    await completed(usageIn(tail.toString()));
  } catch (error) {
    hasEnded = true;
    await failed(error);
    throw error;
  } finally {
    if (!hasEnded) await failed(undefined);
  }
}

/** https://platform.openai.com/docs/api-reference/images, https://platform.openai.com/docs/api-reference/audio */
export function usageIn(text: string): Usage | undefined {
  const start = text.lastIndexOf('"usage"');
  const open = text.indexOf('{', start);
  if (start === -1 || open === -1) return undefined;
  for (let end = text.indexOf('}', open); end !== -1; end = text.indexOf('}', end + 1)) {
    const usage = parse(text.slice(open, end + 1));
    if (usage !== undefined) return toUsage(fieldsOf(usage));
  }
  return undefined;
}

function parse(text: string): unknown {
  const value = readJson(text);
  return isObject(value) ? value : undefined;
}

function toUsage({
  input_tokens: input,
  output_tokens: output,
}: {
  readonly [name: string]: unknown;
}): Usage | undefined {
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
}

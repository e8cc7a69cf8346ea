/** What the batch APIs of all vendors are made of: JSON requests, uploads, and results in JSON Lines. */
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import type { UnreadableResult, VendorBatchResult } from '../../../domain/interfaces/VendorBatches';
import { fieldsOf, readJson } from '../../../domain/util/json';
import type { RelayRequest, RelayResponse } from '../../../domain/types/RelayTypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** Sends a request to the vendor with the user's credential, in one attempt. */
export type SendBatchRequest = (request: RelayRequest) => Promise<RelayResponse>;

/** Milliseconds for an upload or a download of a batch's requests or results. */
export const TRANSFER_TIMEOUT_MS = 3_600_000;

/** Bytes of one result. */
const MAX_LINE = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

const JSON_HEADERS = { 'content-type': 'application/json' } as const;

/** @throws LLMStreamError if the response is not JSON; what `send` throws */
export async function requestJson(send: SendBatchRequest, request: RelayRequest): Promise<JsonObject> {
  const headers = request.body === undefined ? request.headers : { ...JSON_HEADERS, ...request.headers };
  const response = await send(headers === undefined ? request : { ...request, headers });
  return parseObject(await response.text());
}

/**
 * Yields the results of a body as they arrive. A line that is not JSON is yielded as it is, so that what the vendor
 * has spoilt does not keep the results behind it.
 * @throws LLMStreamError for a line that is too long
 */
export async function* readResults(
  body: AsyncIterable<Uint8Array>,
  toResult: (line: JsonObject) => VendorBatchResult,
): AsyncGenerator<VendorBatchResult | UnreadableResult, void, undefined> {
  for await (const line of readLines(body)) {
    const value = readJson(line);
    yield value === undefined ? { unreadable: line } : toResult(fieldsOf(value));
  }
}

/** Yields lines that are not blank, without a byte order mark. */
async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length > MAX_LINE) throw new LLMStreamError(`A result of the batch is longer than ${MAX_LINE} bytes.`);
    parts.push(part);
  };
  // `trim` removes a byte order mark, which JSON.parse refuses.
  const take = (): string => {
    const line = Buffer.concat(parts).toString().trim();
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line !== '') yield line;
    }
    add(chunk.subarray(start));
  }
  const rest = take();
  if (rest !== '') yield rest;
}

function parseObject(text: string): JsonObject {
  try {
    return fieldsOf(JSON.parse(text));
  } catch (cause) {
    throw new LLMStreamError(`The response of the batch API is not JSON (${text.length} characters).`, { cause });
  }
}

/** The text of the lines, without having all of it in memory twice. */
export async function* linesBody(
  lines: readonly string[],
  head = '',
  tail = '',
): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(head);
  for (let start = 0; start < lines.length; start += LINES_AT_ONCE) {
    yield Buffer.from(`${lines.slice(start, start + LINES_AT_ONCE).join('\n')}\n`);
    // Lets other requests proceed.
    await Promise.resolve();
  }
  yield Buffer.from(tail);
}

const LINES_AT_ONCE = 64;

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'string' ? Number(value) || 0 : 0;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Parses JSON that callers send, within limits that are checked before anything is built of it. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { ownTurn } from '../../business/ai/domain/util/ownTurn';
import { JsonScan } from './JsonScan';
import type { JsonLimits } from './JsonScan';

/** Bytes that are read without a pause. Others have their turn between the pieces of a larger text. */
const PIECE = 512 * 1024;
/** With more values, what is done with them takes a while, too. */
const MANY_VALUES = 10_000;

/**
 * @returns the value, or its promise for a large text: others have their turn before it is used
 * @throws LLMInvalidRequestError for invalid or too deeply nested JSON, HttpError for too many values
 */
export function parseJson(body: unknown, limits: JsonLimits): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw new LLMInvalidRequestError('The request has no body. Send a JSON object.', { path: '' });
  if (body.length > PIECE) return parseInPieces(body, limits);
  const scan = new JsonScan(limits);
  scan.read(body);
  return scan.values > MANY_VALUES ? parseInTurn(body) : parse(body);
}

async function parseInPieces(body: Buffer, limits: JsonLimits): Promise<unknown> {
  const scan = new JsonScan(limits);
  for (let start = 0; start < body.length; start += PIECE) {
    scan.read(body.subarray(start, start + PIECE));
    await ownTurn('first');
  }
  return parseInTurn(body);
}

async function parseInTurn(body: Buffer): Promise<unknown> {
  await ownTurn('first');
  const value = parse(body);
  await ownTurn();
  return value;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    // The cause is dropped because it quotes the body, which must not reach logs.
    throw new LLMInvalidRequestError('The request body is not valid JSON.', { path: '' });
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

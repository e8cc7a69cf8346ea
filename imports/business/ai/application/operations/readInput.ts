/** Reads the untrusted input of a run or a call: the messages before it, its text and its files. */
import { invalid, json, text } from '../../domain/util/arguments';
import { isList } from '../../domain/util/json';
import type { LLMInput } from '../../domain/types/LLMTypes';
import type { JsonObject } from '../../domain/types/VendorTypes';

export const INPUT_LIMITS = {
  /** Characters of JSON, not counting files. */
  text: 4_000_000,
  /**
   * Bytes of JSON, files included. A stored run has its input twice, by itself and in its transcript, and MongoDB's
   * documents end at 16 MiB: https://www.mongodb.com/docs/manual/reference/limits/
   */
  bytes: 7_000_000,
} as const;

/** Fields that contain files as base64 or as data URLs, in the formats that the normalizer reads. */
const FILE_FIELDS = new Set(['image_url', 'url', 'file_data', 'data']);

/**
 * Checks the size only: the normalizer checks the items and reports their paths.
 * @throws LLMInvalidRequestError
 */
export function readInput(fields: JsonObject): LLMInput {
  const { input, inputData, conversation_history: history } = fields;
  // `inputData` is another name of `input`.
  const path = inputData === undefined ? 'input' : 'inputData';
  if (inputData !== undefined && input !== undefined)
    throw invalid('inputData', 'must not be given in addition to "input"');
  const read = withHistory(history, inputOf(inputData ?? input, path));
  if (Buffer.byteLength(typeof read === 'string' ? read : JSON.stringify(read)) > INPUT_LIMITS.bytes)
    throw invalid(path, `must be no larger than ${INPUT_LIMITS.bytes / 1e6} MB of JSON, files included`);
  return read;
}

/** The messages before the input, as callers that store the conversation themselves send them. */
function withHistory(history: unknown, input: LLMInput): LLMInput {
  if (history === undefined) return input;
  const path = 'conversation_history';
  if (!isList(history)) throw invalid(path, 'must be a list of messages');
  const past = itemsOf(history, path) as Exclude<LLMInput, string>;
  return [...past, ...(typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input)];
}

function inputOf(value: unknown, path: string): LLMInput {
  if (typeof value === 'string') return text(INPUT_LIMITS.text)(value, path);
  if (!isList(value)) throw invalid(path, 'must be a string or a list of messages');
  return itemsOf(value, path) as LLMInput;
}

function itemsOf(value: unknown, path: string): unknown {
  const read = json(Infinity)(value, path);
  const withoutFiles = JSON.stringify(read, (name, field: unknown) =>
    typeof field === 'string' && FILE_FIELDS.has(name) ? '' : field,
  );
  if (withoutFiles.length > INPUT_LIMITS.text)
    throw invalid(path, `must be no larger than ${INPUT_LIMITS.text} characters of JSON, not counting files`);
  return read;
}

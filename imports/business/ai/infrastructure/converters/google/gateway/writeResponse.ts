/**
 * Writes a response as a `GenerateContentResponse`. A response that came over this wire is written as it was received.
 * https://ai.google.dev/api/generate-content#GenerateContentResponse
 */
import { parseArguments } from '../../shared/callArguments';
import { PLACEHOLDER_SIGNATURE } from '../request/ContentsBuilder';
import { partsOfItem } from '../request/parts';
import { toUsageMetadata, usageOf } from '../usage';
import type { PartsContext } from '../request/parts';
import type { GooglePart } from '../googleTypes';
import { refusalOf } from '../../../../domain/entities/Response';
import { fieldsOf, isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { LLMResponse, OutputItem, ResponseStatus, Usage } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** Media in the output came over this wire, so nothing in it is unsupported. */
const OUTPUT_CONTEXT: PartsContext = { fetchesUrls: true, mediaInResults: true };

/** For responses of other wires, which have no finish reason of this one. */
const FINISH_OF_STATUS: Readonly<Record<ResponseStatus, string>> = {
  completed: 'STOP',
  incomplete: 'OTHER',
  failed: 'OTHER',
  cancelled: 'OTHER',
  in_progress: 'FINISH_REASON_UNSPECIFIED',
  queued: 'FINISH_REASON_UNSPECIFIED',
};
const FINISH_OF_REASON: Readonly<Record<string, string>> = {
  max_output_tokens: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};

export function writeGoogle(response: LLMResponse): JsonObject {
  const { wire, fields } = response.vendor;
  return wire === 'gemini' && fields !== undefined ? fromSameWire(response, fields) : fromOtherWire(response);
}

// ---- responses of this wire

function fromSameWire(response: LLMResponse, fields: JsonObject): JsonObject {
  const parts = response.output.flatMap((item) => partsOfItem(item, OUTPUT_CONTEXT, () => 'output').parts);
  const usage = response.vendor.usage;
  const usageMetadata =
    usage !== undefined && hasSameCounts(usageOf(usage, []), response.usage)
      ? usage
      : usage === undefined
        ? undefined
        : toUsageMetadata(response.usage);
  return {
    ...fields,
    ...(Array.isArray(fields.candidates) ? { candidates: withParts(fields.candidates, parts) } : {}),
    ...omitUndefined({ usageMetadata }),
  };
}

function withParts(candidates: readonly unknown[], parts: readonly GooglePart[]): unknown[] {
  const [first, ...others] = candidates;
  if (!isObject(first) || parts.length === 0) return [...candidates];
  return [{ ...first, content: { ...fieldsOf(first.content), parts } }, ...others];
}

/** A run adds up the usage of several model calls. The metadata of the last call would then be wrong. */
function hasSameCounts(one: Usage, other: Usage): boolean {
  return one.input_tokens === other.input_tokens && one.output_tokens === other.output_tokens;
}

// ---- responses of other wires

function fromOtherWire(response: LLMResponse): JsonObject {
  const parts = withPlaceholderSignature(response.output.flatMap(toClientParts));
  const reason = response.incomplete_details?.reason;
  const finishReason =
    refusalOf(response) !== undefined
      ? 'SAFETY'
      : response.status === 'incomplete' && reason !== undefined
        ? (FINISH_OF_REASON[reason] ?? 'OTHER')
        : FINISH_OF_STATUS[response.status];
  const citationSources = citationsOf(response.output);
  return {
    candidates: [
      {
        content: { role: 'model', parts },
        finishReason,
        index: 0,
        ...(citationSources.length === 0 ? {} : { citationMetadata: { citationSources } }),
      },
    ],
    usageMetadata: toUsageMetadata(response.usage),
    modelVersion: response.model,
    responseId: response.id,
  };
}

/** Calls are written with their id, so that results can refer to it; reasoning without its encrypted content. */
function toClientParts(item: OutputItem): GooglePart[] {
  switch (item.type) {
    case 'message':
      return item.content.flatMap((part) =>
        part.type === 'output_text' ? [{ text: part.text }] : part.type === 'refusal' ? [{ text: part.refusal }] : [],
      );
    case 'reasoning':
      return [...item.summary, ...(item.content ?? [])].map((part) => ({ text: part.text, thought: true }));
    case 'function_call':
      return [{ functionCall: { id: item.call_id, name: item.name, args: parseArguments(item).value } }];
    default:
      return [];
  }
}

/** The client may send this history to a Gemini model, which requires a signature on the first call of each step. */
function withPlaceholderSignature(parts: GooglePart[]): GooglePart[] {
  const first = parts.findIndex((part) => part.functionCall !== undefined);
  return parts.map((part, index) => (index === first ? { ...part, thoughtSignature: PLACEHOLDER_SIGNATURE } : part));
}

/** Offsets are UTF-8 bytes in the entire text of the response. */
function citationsOf(output: readonly OutputItem[]): JsonObject[] {
  const sources: JsonObject[] = [];
  let offset = 0;
  for (const item of output) {
    if (item.type !== 'message') continue;
    for (const part of item.content) {
      if (part.type !== 'output_text') continue;
      for (const { type, url, title, start_index: start, end_index: end } of part.annotations) {
        if (type !== 'url_citation' || typeof url !== 'string') continue;
        const indexes =
          typeof start === 'number' && typeof end === 'number'
            ? {
                startIndex: offset + byteLength(part.text.slice(0, start)),
                endIndex: offset + byteLength(part.text.slice(0, end)),
              }
            : {};
        sources.push({ ...indexes, uri: url, ...(typeof title === 'string' ? { title } : {}) });
      }
      offset += byteLength(part.text);
    }
  }
  return sources;
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}

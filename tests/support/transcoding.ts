/** Runs streams through the adapter and back, for the tests of encoders and of the adapter. */
import { parseArguments } from '../../imports/business/ai/infrastructure/converters/shared/callArguments';
import { decodeStream } from '../../imports/business/ai/infrastructure/streaming/decodeStream';
import type { OpenAIChunk } from '../../imports/business/ai/infrastructure/converters/chat/stream/OpenAIChunk';
import type { StreamOptions, StreamInput } from '../../imports/business/ai/infrastructure/streaming/StreamSession';
import { UnifiedStreamAdapter } from '../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import { SCHEME_OF_WIRE } from '../../imports/business/ai/domain/types/VendorTypes';
import type {
  JsonObject,
  ServedScheme,
  VendorName,
  ServedWire,
} from '../../imports/business/ai/domain/types/VendorTypes';
import { modelOf, RECORDINGS } from './recordings';
import type { Recording } from './recordings';
import { responseContext, WIRES } from './wireContexts';

const { interactions: _, ...SERVED } = SCHEME_OF_WIRE;
export const SCHEME_NAMES: readonly ServedScheme[] = Object.values(SERVED);

/** Recorded streams with status 200, including those that fail later. */
export const STREAMS: readonly Recording[] = RECORDINGS.filter(({ stream, status }) => stream && status === 200);

export const CREATED = 1_760_000_000;

export interface Transcoded {
  readonly lines: readonly string[];
  readonly chunks: readonly OpenAIChunk[];
  /** The error that the stream threw after its last line. */
  readonly error: unknown;
}

export async function transcode(
  from: ServedScheme,
  to: ServedScheme,
  source: StreamInput,
  options: StreamOptions = {},
): Promise<Transcoded> {
  const lines: string[] = [];
  const chunks: OpenAIChunk[] = [];
  try {
    for await (const [line, chunk] of new UnifiedStreamAdapter(from, to).processStream(source, {
      created: CREATED,
      ...options,
    })) {
      lines.push(line);
      chunks.push(chunk);
    }
  } catch (error) {
    return { lines, chunks, error };
  }
  return { lines, chunks, error: undefined };
}

export function transcodeRecording(
  recording: Recording,
  to: ServedScheme,
  options: StreamOptions = {},
  text = recording.text,
): Promise<Transcoded> {
  return transcode(SCHEME_OF_WIRE[recording.wire], to, bodyOf(text), {
    vendor: recording.vendor,
    model: modelOf(recording),
    ...options,
  });
}

export async function* bodyOf(
  ...chunks: readonly (string | Uint8Array)[]
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of chunks) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** Decodes a stream with the decoder of its wire. @throws what the decoder throws */
export async function decodeText(
  wire: ServedWire,
  text: string,
  vendor: VendorName,
  model = 'requested-model',
): Promise<readonly ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  const decoder = WIRES[wire].createDecoder(responseContext(vendor, model));
  const options = { streamIdleTimeout: 60_000, maxEventBytes: 64 * 1024 * 1024, abort: () => undefined };
  for await (const event of decodeStream(bodyOf(text), decoder, options)) events.push(event);
  return events;
}

/** The complete response of a recorded stream; `undefined` for a stream that fails. */
export async function responseOf(recording: Recording): Promise<LLMResponse | undefined> {
  try {
    return completedIn(await decodeText(recording.wire, recording.text, recording.vendor, modelOf(recording)));
  } catch {
    return undefined;
  }
}

export function completedIn(events: readonly ResponseStreamEvent[]): LLMResponse {
  const [completed] = events.flatMap((event) => (event.type === 'response.completed' ? [event.response] : []));
  if (completed === undefined) throw new Error('the stream was not completed');
  return completed;
}

export function wireOf(scheme: ServedScheme): ServedWire {
  const [wire] = (Object.keys(SERVED) as ServedWire[]).filter((name) => SCHEME_OF_WIRE[name] === scheme);
  if (wire === undefined) throw new Error(`no wire is ${scheme}`);
  return wire;
}

/** The vendor that defines each scheme. */
export const DEFAULT_VENDOR: Readonly<Record<ServedScheme, VendorName>> = {
  openai: 'openai',
  openai_responses: 'openai',
  anthropic: 'anthropic',
  google: 'google',
};

/** The content of a response, independent of its scheme. */
export interface Meaning {
  readonly text: string;
  readonly refusal: string;
  /** Without blank lines, which separate parts on wires without parts. */
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: JsonObject }[];
  readonly status: string;
  readonly reason: string | undefined;
  readonly counts: readonly number[];
}

export function meaningOf({ output, output_text, status, incomplete_details, usage }: LLMResponse): Meaning {
  const messages = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return {
    text: output_text,
    refusal: messages.map((part) => (part.type === 'refusal' ? part.refusal : '')).join(''),
    reasoning: output
      .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
      .map(({ text }) => text)
      .join('')
      .replaceAll('\n\n', ''),
    calls: output.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, arguments: parseArguments(item).value }] : [],
    ),
    status,
    reason: incomplete_details?.reason,
    counts: [usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens],
  };
}

/** The text, calls and finish reasons in the loop's chunks. */
export function contentOfChunks(chunks: readonly OpenAIChunk[]): {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: JsonObject }[];
  readonly finish: readonly string[];
} {
  const choices = chunks.flatMap(({ choices: each }) => each).filter(({ index }) => index === 0);
  return {
    text: choices.map(({ delta }) => (typeof delta.content === 'string' ? delta.content : '')).join(''),
    calls: choices
      .flatMap(({ delta }) => delta.tool_calls ?? [])
      .map((call) => ({
        name: call.function?.name ?? '',
        arguments: parseArguments({ arguments: call.function?.arguments ?? '' }).value,
      })),
    finish: choices.flatMap(({ finish_reason }) => (finish_reason === null ? [] : [finish_reason])),
  };
}

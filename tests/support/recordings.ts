/** Recorded vendor traffic, exchange by exchange. `tests/fixtures/recorded/README.md` describes the files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createParser } from 'eventsource-parser';
import type { SseMessage } from '../../imports/business/ai/infrastructure/converters/Wire';
import type { JsonObject, VendorName, ServedWire } from '../../imports/business/ai/domain/types/VendorTypes';

export const RECORDINGS_ROOT = join(__dirname, '../fixtures/recorded');

interface IndexedExchange {
  readonly n: number;
  readonly path: string;
  readonly stream: boolean;
  readonly status: number;
  readonly requestFile: string | null;
  readonly responseFile: string;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

interface IndexedCase {
  readonly id: string;
  readonly api: string;
  readonly exchanges: readonly IndexedExchange[];
}

export interface Recording {
  /** Case and number, for test titles. */
  readonly name: string;
  readonly caseId: string;
  readonly n: number;
  readonly api: string;
  readonly vendor: VendorName;
  readonly wire: ServedWire;
  readonly path: string;
  readonly stream: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly request: JsonObject | undefined;
  /** The original body of the response. */
  readonly text: string;
}

/** A recording that includes its request, which some lack. */
export type RequestRecording = Recording & { readonly request: JsonObject };

const APIS: Readonly<Record<string, { readonly vendor: VendorName; readonly wire: ServedWire }>> = {
  'openai.responses': { vendor: 'openai', wire: 'responses' },
  'azure.openai.responses': { vendor: 'azure_openai', wire: 'responses' },
  'xai.responses': { vendor: 'grok', wire: 'responses' },
  'anthropic.messages': { vendor: 'anthropic', wire: 'anthropic_messages' },
  'openai.chat.completions': { vendor: 'openai', wire: 'chat_completions' },
  'azure.openai.chat.completions': { vendor: 'azure_openai', wire: 'chat_completions' },
  'azure.ai-models.chat.completions': { vendor: 'azure_openai', wire: 'chat_completions' },
  'groq.chat.completions': { vendor: 'groq', wire: 'chat_completions' },
  'openai-compatible.chat.completions': { vendor: 'openai_compatible', wire: 'chat_completions' },
  'xai.chat.completions': { vendor: 'grok', wire: 'chat_completions' },
  'gemini.generateContent': { vendor: 'google', wire: 'gemini' },
  'gemini.streamGenerateContent': { vendor: 'google', wire: 'gemini' },
  'vertex.generateContent': { vendor: 'google', wire: 'gemini' },
  'vertex.streamGenerateContent': { vendor: 'google', wire: 'gemini' },
};

const index = JSON.parse(load('index.json')) as { readonly cases: readonly IndexedCase[] };

export const RECORDINGS: readonly Recording[] = index.cases.flatMap(({ id, api, exchanges }) => {
  const target = APIS[api];
  if (target === undefined) throw new Error(`The index of the recordings contains the unknown API "${api}".`);
  return exchanges.map(({ n, path, stream, status, requestFile, responseFile, responseHeaders }) => ({
    name: `${id} ${n}`,
    caseId: id,
    n,
    api,
    ...target,
    path,
    stream,
    status,
    headers: responseHeaders ?? {},
    request: requestFile === null ? undefined : (JSON.parse(load(requestFile)) as JsonObject),
    text: responseFile.endsWith('.jsonl') ? toSse(load(responseFile), target.wire) : load(responseFile),
  }));
});

export function recordingsOf(wire: ServedWire): readonly Recording[] {
  return RECORDINGS.filter((recording) => recording.wire === wire);
}

export function hasRequest(recording: Recording): recording is RequestRecording {
  return recording.request !== undefined;
}

/** The model named in the request or, if there is none, in its path. */
export function modelOf({ path, request }: Recording): string {
  if (typeof request?.['model'] === 'string') return request['model'];
  const inPath = /(?:models|deployments)\/([^:/?]+)[:/]/.exec(path)?.[1];
  return inPath === undefined ? 'recorded-model' : decodeURIComponent(inPath);
}

export function sseMessages(text: string): readonly SseMessage[] {
  const messages: SseMessage[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => messages.push({ event, data }) });
  parser.feed(text);
  return messages;
}

/** Converts payloads that were recorded one per line back to an SSE stream. */
function toSse(lines: string, wire: ServedWire): string {
  const payloads = lines.split('\n').filter((line) => line !== '');
  // Sources that recorded only payloads also dropped the end marker of chat streams.
  const marker = wire === 'chat_completions' && !payloads.includes('[DONE]') ? ['[DONE]'] : [];
  return [...payloads, ...marker]
    .map((payload) => {
      const type = payload.startsWith('{') ? (JSON.parse(payload) as { readonly type?: unknown }).type : undefined;
      return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${payload}\n\n`;
    })
    .join('');
}

function load(file: string): string {
  return readFileSync(join(RECORDINGS_ROOT, file), 'utf8');
}

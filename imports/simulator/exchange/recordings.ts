/** Recorded vendor traffic, played back with the recorded status, headers and bytes. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import type { Rendered } from '../answers/Rendered';
import { hostOf } from '../hosts';
import { asArray, asObject, asString, isObject, objectsIn, parseJson } from '../json';
import { inPieces } from './faults';
import type { PlayedExchange, PlayOptions } from './PlayedExchange';

/** @param root folder that holds `index.json` */
export function recordedCaseIds(root: string): readonly string[] {
  return objectsIn(indexOf(root).cases).map((entry) => asString(entry.id));
}

/** @throws Error when the index has no such case. */
export function recordedCase(caseId: string, root: string): readonly PlayedExchange[] {
  const entry = objectsIn(indexOf(root).cases).find((candidate) => candidate.id === caseId);
  if (entry === undefined) throw new Error(`There is no recorded case '${caseId}' in ${root}.`);
  const wire = wireOf(asString(entry.api));
  const vendor = VENDOR_OF[asString(entry.vendor)] ?? 'openai_compatible';
  return objectsIn(entry.exchanges).map((exchange): PlayedExchange => {
    const requestFile = asString(exchange.requestFile);
    const recorded = readFileSync(path.join(root, asString(exchange.responseFile)));
    const framed = asString(exchange.responseForm).startsWith('jsonl-of-sse-data');
    return {
      caseId,
      number: Number(exchange.n),
      vendor,
      wire,
      method: asString(exchange.method),
      path: pathAt(vendor, asString(exchange.path)),
      stream: exchange.stream === true,
      status: Number(exchange.status),
      headers: headersOf(exchange),
      ...(requestFile === '' ? {} : { request: parseJson(readFileSync(path.join(root, requestFile), 'utf8')) }),
      response: framed ? framedAgain(recorded.toString(), wire) : recorded,
    };
  });
}

/** The exchanges that wait to be played. */
export class Playlist {
  private readonly waiting: (PlayedExchange & { readonly chunkBytes: number | undefined })[] = [];

  add(exchanges: readonly PlayedExchange[], { chunkBytes }: PlayOptions): void {
    this.waiting.push(...exchanges.map((exchange) => ({ ...exchange, chunkBytes })));
  }

  /** The next exchange, when it is on this wire. */
  take(wire: WireName): Rendered | undefined {
    const [next] = this.waiting;
    if (next?.wire !== wire) return undefined;
    this.waiting.shift();
    const frames = next.chunkBytes === undefined ? [next.response] : inPieces([next.response], next.chunkBytes);
    return { status: next.status, headers: next.headers, frames };
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  complaints(): readonly string[] {
    return this.waiting.map(
      ({ caseId, number }) => `exchange ${number} of the recording ${caseId} was never asked for`,
    );
  }
}

/**
 * The payloads as events again: one line each, with the event's name on the wires that name them. Sources that drop
 * the framing drop chat's `[DONE]` with it; it comes back after a stream that finished.
 */
function framedAgain(lines: string, wire: WireName): Buffer {
  const payloads = lines.split('\n').filter((line) => line.trim() !== '');
  const named = wire === 'responses' || wire === 'anthropic_messages';
  const events = payloads.map(
    (payload) => `${named ? `event: ${asString(asObject(parseJson(payload)).type)}\n` : ''}data: ${payload}\n\n`,
  );
  const ends = wire === 'chat_completions' && payloads.at(-1) !== '[DONE]' && payloads.some(isFinishing);
  return Buffer.from([...events, ...(ends ? ['data: [DONE]\n\n'] : [])].join(''));
}

function isFinishing(payload: string): boolean {
  return (
    payload !== '[DONE]' &&
    objectsIn(asObject(parseJson(payload)).choices).some((choice) => typeof choice.finish_reason === 'string')
  );
}

const VENDOR_OF: Readonly<Record<string, VendorName>> = {
  openai: 'openai',
  azure: 'azure_openai',
  anthropic: 'anthropic',
  gemini: 'google',
  xai: 'grok',
  groq: 'groq',
  llama: 'llama',
};

/** Hosts of Llama models have roots of their own before the path that they share. */
function pathAt(vendor: VendorName, recorded: string): string {
  // The query that a source dropped must be there: Azure's dated paths want their version.
  if (recorded.includes('/deployments/') && !recorded.includes('?'))
    return pathAt(vendor, `${recorded}?api-version=dropped`);
  return vendor === 'llama' ? `${hostOf(vendor).basePath}/chat/completions` : `/${hostOf(vendor).prefix}${recorded}`;
}

function wireOf(api: string): WireName {
  if (api.endsWith('.responses')) return 'responses';
  if (api.endsWith('chat.completions')) return 'chat_completions';
  return api.startsWith('anthropic') ? 'anthropic_messages' : 'gemini';
}

function headersOf(exchange: object): Readonly<Record<string, string>> {
  const headers = 'responseHeaders' in exchange ? asObject(exchange.responseHeaders) : {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, asString(value)]));
}

const indexes = new Map<string, ReturnType<typeof asObject>>();

function indexOf(root: string): ReturnType<typeof asObject> {
  const known = indexes.get(root);
  if (known !== undefined) return known;
  const index = parseJson(readFileSync(path.join(root, 'index.json'), 'utf8'));
  if (!isObject(index) || asArray(index.cases).length === 0) throw new Error(`${root}/index.json lists no cases.`);
  indexes.set(root, index);
  return index;
}

/** Loads recorded vendor traffic for playback with the recorded status, headers and bytes. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { VendorName, ServedWire } from '../../business/ai/domain/types/VendorTypes';
import { vendorProfile } from '../vendorProfiles';
import { asArray, asObject, asString, isObject, objectsIn, parseJson } from '../json';
import type { RecordedExchange } from './RecordedExchange';

/** @param root folder that holds `index.json` */
export function listRecordedCases(root: string): readonly string[] {
  return objectsIn(indexOf(root).cases).map((entry) => asString(entry.id));
}

/** @throws Error when the index has no such case. */
export function loadRecordedCase(caseId: string, root: string): readonly RecordedExchange[] {
  const entry = objectsIn(indexOf(root).cases).find((candidate) => candidate.id === caseId);
  if (entry === undefined) throw new Error(`Unknown recorded case "${caseId}" in ${root}.`);
  const wire = wireOf(asString(entry.api));
  const vendor = VENDOR_OF[asString(entry.vendor)] ?? 'openai_compatible';
  return objectsIn(entry.exchanges).map((exchange): RecordedExchange => {
    const requestFile = asString(exchange.requestFile);
    const recorded = readFileSync(path.join(root, asString(exchange.responseFile)));
    const isUnframed = asString(exchange.responseForm).startsWith('jsonl-of-sse-data');
    return {
      caseId,
      number: Number(exchange.n),
      vendor,
      wire,
      method: asString(exchange.method),
      path: simulatorPath(vendor, asString(exchange.path)),
      stream: exchange.stream === true,
      status: Number(exchange.status),
      headers: headersOf(exchange),
      ...(requestFile === '' ? {} : { request: parseJson(readFileSync(path.join(root, requestFile), 'utf8')) }),
      response: isUnframed ? restoreFraming(recorded.toString(), wire) : recorded,
    };
  });
}

/**
 * Rebuilds the events of a stream from its payloads, with event names on the wires that have them. Sources without
 * framing lack chat's `[DONE]` too; it is added back after a stream that finished.
 */
function restoreFraming(lines: string, wire: ServedWire): Buffer {
  const payloads = lines.split('\n').filter((line) => line.trim() !== '');
  const named = wire === 'responses' || wire === 'anthropic_messages';
  const events = payloads.map(
    (payload) => `${named ? `event: ${asString(asObject(parseJson(payload)).type)}\n` : ''}data: ${payload}\n\n`,
  );
  const ends = wire === 'chat_completions' && payloads.at(-1) !== '[DONE]' && payloads.some(hasFinishReason);
  return Buffer.from([...events, ...(ends ? ['data: [DONE]\n\n'] : [])].join(''));
}

function hasFinishReason(payload: string): boolean {
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

/** Vendors of Llama models have different roots before the path that they share. */
function simulatorPath(vendor: VendorName, recorded: string): string {
  // Restores a query that the source dropped: Azure's dated paths require their version.
  if (recorded.includes('/deployments/') && !recorded.includes('?'))
    return simulatorPath(vendor, `${recorded}?api-version=dropped`);
  return vendor === 'llama'
    ? `${vendorProfile(vendor).basePath}/chat/completions`
    : `/${vendorProfile(vendor).prefix}${recorded}`;
}

function wireOf(api: string): ServedWire {
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
  const cached = indexes.get(root);
  if (cached !== undefined) return cached;
  const index = parseJson(readFileSync(path.join(root, 'index.json'), 'utf8'));
  if (!isObject(index) || asArray(index.cases).length === 0) throw new Error(`${root}/index.json lists no cases.`);
  indexes.set(root, index);
  return index;
}

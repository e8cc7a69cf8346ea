/**
 * Checks output against Open Responses: its published schemas (release 2026-04-24) and the order of a stream's events.
 * https://www.openresponses.org
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Ajv2020 from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { createParser } from 'eventsource-parser';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

const FOLDER = join(__dirname, '../fixtures/schemas/open-responses');
const ajv = new Ajv2020({ strict: false, allErrors: false });
const compiled = new Map<string, ValidateFunction>();

export type OpenResponsesSchema =
  | 'response-resource'
  | 'streaming-events'
  | 'compact-resource'
  | 'error-response'
  | 'websocket-error-event'
  | 'websocket-create-event'
  | 'create-response-body'
  | 'compact-request'
  | 'item-field'
  | 'item-param';

/** @throws Error with the path at which the value violates the schema */
export function expectValid(schema: OpenResponsesSchema, value: unknown): void {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(JSON.parse(readFileSync(join(FOLDER, `${schema}.json`), 'utf8')) as object);
    compiled.set(schema, validate);
  }
  if (validate(value)) return;
  const [first] = validate.errors ?? [];
  throw new Error(
    `not a valid ${schema}: ${first?.instancePath ?? ''} ${first?.message ?? ''} in ${JSON.stringify(value).slice(0, 1_500)}`,
  );
}

export type OpenResponsesEvent = JsonObject & { readonly type: string; readonly sequence_number: number };

const TERMINAL: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/**
 * @throws Error for a frame whose name differs from its event's type, and for a stream that does not end with
 * `[DONE]`
 */
export function eventsOfStream(text: string): readonly OpenResponsesEvent[] {
  const events: OpenResponsesEvent[] = [];
  let isDone = false;
  createParser({
    onEvent: ({ event, data }) => {
      if (isDone) throw new Error('The stream continues after [DONE].');
      if (data === '[DONE]') {
        isDone = true;
        return;
      }
      const parsed = JSON.parse(data) as OpenResponsesEvent;
      if (parsed.type !== event) throw new Error(`A frame named "${String(event)}" contains a ${parsed.type} event.`);
      events.push(parsed);
    },
  }).feed(text);
  if (!/\ndata: \[DONE\]\n\n$/.test(text)) throw new Error('The stream does not end with [DONE].');
  return events;
}

/** @returns the final response. @throws Error for an event that is invalid or out of order */
export function checkEvents(events: readonly OpenResponsesEvent[]): JsonObject {
  events.forEach((event, index) => {
    expectValid('streaming-events', event);
    if (event.sequence_number !== index) throw new Error(`event ${index} has the number ${event.sequence_number}`);
  });
  const [first, second] = events;
  if (first?.type !== 'response.created') throw new Error(`the first event is ${String(first?.type)}`);
  if (second?.type !== 'response.in_progress' && second?.type !== 'response.queued')
    throw new Error(`the second event is ${String(second?.type)}`);
  const last = events.at(-1);
  if (last === undefined || !TERMINAL.has(last.type)) throw new Error(`the last event is ${String(last?.type)}`);
  if (events.filter(({ type }) => TERMINAL.has(type)).length !== 1)
    throw new Error('there are several terminal events');
  const response = last['response'] as JsonObject;
  checkItems(events, response);
  return response;
}

/** Checks that items open and close one at a time, equal those of the response, and match their deltas. */
function checkItems(events: readonly OpenResponsesEvent[], response: JsonObject): void {
  const closed: unknown[] = [];
  let open: number | undefined;
  const deltas = new Map<string, string>();
  for (const event of events) {
    const { type } = event;
    const part = JSON.stringify([event['item_id'], event['content_index'], event['summary_index']]);
    if (type === 'response.output_item.added') {
      if (open !== undefined) throw new Error('An item starts inside another one.');
      open = event['output_index'] as number;
      if (open !== closed.length) throw new Error(`item ${closed.length} has the index ${open}`);
    } else if (type === 'response.output_item.done') {
      if (open !== event['output_index']) throw new Error('An item ends that is not open.');
      open = undefined;
      closed.push(event['item']);
    } else if (type.endsWith('.delta'))
      deltas.set(
        `${type.slice(0, -'.delta'.length)} ${part}`,
        (deltas.get(`${type.slice(0, -'.delta'.length)} ${part}`) ?? '') + String(event['delta']),
      );
    else if (/(?:_text|refusal|reasoning|arguments)\.done$/.test(type)) {
      const text = event['text'] ?? event['refusal'] ?? event['arguments'];
      const joined = deltas.get(`${type.slice(0, -'.done'.length)} ${part}`) ?? '';
      if (joined !== text) throw new Error(`The deltas before ${type} add up to ${joined}, not ${String(text)}.`);
    }
  }
  if (open !== undefined) throw new Error('An item did not end.');
  const [streamed, final] = [
    closed.map(withoutEncryptedContent),
    (response['output'] as readonly unknown[]).map(withoutEncryptedContent),
  ];
  if (response['status'] !== 'failed' && !isDeepStrictEqual(streamed, final))
    throw new Error(`The closed items differ from those of the response: ${JSON.stringify([streamed, final])}`);
}

/** Vendors encrypt reasoning again for the final response. */
function withoutEncryptedContent(item: unknown): unknown {
  const { encrypted_content: _, ...rest } = item as JsonObject;
  return rest;
}

/**
 * What Open Responses allows to come out of an API: its published schemas (release 2026-04-24), and the order of a
 * stream's events.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Ajv2020 from 'ajv/dist/2020';
import type { ValidateFunction } from 'ajv/dist/2020';
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

/** @throws Error that says where a value breaks the schema */
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

/** @throws Error for a frame whose name is not its event's type, and for a stream without `[DONE]` as its last frame */
export function eventsOfStream(text: string): readonly OpenResponsesEvent[] {
  const events: OpenResponsesEvent[] = [];
  let isDone = false;
  createParser({
    onEvent: ({ event, data }) => {
      if (isDone) throw new Error('the stream goes on after [DONE]');
      if (data === '[DONE]') {
        isDone = true;
        return;
      }
      const parsed = JSON.parse(data) as OpenResponsesEvent;
      if (parsed.type !== event) throw new Error(`a frame called ${String(event)} holds ${parsed.type}`);
      events.push(parsed);
    },
  }).feed(text);
  if (!/\ndata: \[DONE\]\n\n$/.test(text)) throw new Error('the stream does not end with [DONE]');
  return events;
}

/** The response that the events end with. @throws Error for an event that is not valid or not in its place */
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

/**
 * Items open and close one after another, closed ones are those of the response, and deltas join to what they
 * became.
 */
function checkItems(events: readonly OpenResponsesEvent[], response: JsonObject): void {
  const closed: unknown[] = [];
  let open: number | undefined;
  const pieces = new Map<string, string>();
  for (const event of events) {
    const { type } = event;
    const place = JSON.stringify([event['item_id'], event['content_index'], event['summary_index']]);
    if (type === 'response.output_item.added') {
      if (open !== undefined) throw new Error('an item begins inside another');
      open = event['output_index'] as number;
      if (open !== closed.length) throw new Error(`item ${closed.length} has the index ${open}`);
    } else if (type === 'response.output_item.done') {
      if (open !== event['output_index']) throw new Error('an item ends that is not open');
      open = undefined;
      closed.push(event['item']);
    } else if (type.endsWith('.delta'))
      pieces.set(
        `${type.slice(0, -'.delta'.length)} ${place}`,
        (pieces.get(`${type.slice(0, -'.delta'.length)} ${place}`) ?? '') + String(event['delta']),
      );
    else if (/(?:_text|refusal|reasoning|arguments)\.done$/.test(type)) {
      const said = event['text'] ?? event['refusal'] ?? event['arguments'];
      const joined = pieces.get(`${type.slice(0, -'.done'.length)} ${place}`) ?? '';
      if (joined !== said) throw new Error(`the deltas of ${type} say ${joined}, not ${String(said)}`);
    }
  }
  if (open !== undefined) throw new Error('an item did not end');
  const [told, whole] = [closed.map(withoutSeal), (response['output'] as readonly unknown[]).map(withoutSeal)];
  if (response['status'] !== 'failed' && !isDeepStrictEqual(told, whole))
    throw new Error(`the items that closed are not those of the response: ${JSON.stringify([told, whole])}`);
}

/** Hosts seal reasoning anew for the whole response. */
function withoutSeal(item: unknown): unknown {
  const { encrypted_content: _, ...rest } = item as JsonObject;
  return rest;
}

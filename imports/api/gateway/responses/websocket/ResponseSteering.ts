/**
 * The input that steers responses on one WebSocket: it waits for the response in progress, and is the input of the one
 * that follows. A response is never cut short for it, which the protocol leaves to the server.
 * https://developers.openai.com/api/reference/resources/responses/websocket-events
 */
import { randomUUID } from 'node:crypto';
import type { Item } from '../../../../business/ai/domain/types/ResponsesAPITypes';
import { omitUndefined } from '../../../../business/ai/domain/util/omitUndefined';
import { isList, isObject } from '../../../../business/ai/domain/util/json';

type Body = Readonly<Record<string, unknown>>;

interface Steer {
  readonly id: string;
  readonly input: unknown;
}

/** A response of the connection. */
interface Target {
  readonly id: string;
  /** The request that it answers. */
  readonly body: Body;
  /** What its client has to supply before it can be continued. Absent: it is under way. */
  readonly required?: readonly Body[];
  readonly steers: Steer[];
}

const FIELDS = new Set(['type', 'previous_response_id', 'input']);
const MAX_PENDING = 16;
const NOT_FOUND = {
  code: 'response_not_found',
  message: 'The response is not the latest one of this connection.',
};
/** What a continuation does not inherit. */
const OWN_FIELDS = new Set(['input', 'previous_response_id', 'conversation']);

/** What supplies the result of a call, by the type of the call. */
const RESULTS: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  computer_call: 'computer_call_output',
  local_shell_call: 'local_shell_call_output',
  shell_call: 'shell_call_output',
  apply_patch_call: 'apply_patch_call_output',
};

export class ResponseSteering {
  private readonly send: (event: Body) => void;
  private target: Target | undefined;
  private sequence = 0;

  /** @param send sends an event to the client */
  constructor(send: (event: Body) => void) {
    this.send = send;
  }

  /** A message to the client. @param body the request whose response it is about */
  sent(message: string, body: Body): void {
    const [, number] = /"sequence_number":(\d+)/.exec(message) ?? [];
    if (number !== undefined) this.sequence = Number(number);
    if (!message.includes('"response.created"')) return;
    const event: unknown = JSON.parse(message);
    if (!isObject(event) || event['type'] !== 'response.created' || !isObject(event['response'])) return;
    this.fail('response_not_found', 'The conversation went on with another response.');
    this.target = { id: String(event['response']['id']), body, steers: [] };
  }

  /**
   * The turn is over.
   * @param output of its response; undefined if it has failed
   * @returns the request for the response that follows by itself
   */
  ended(output: readonly Item[] | undefined): Body | undefined {
    if (this.target === undefined || this.target.required !== undefined) return undefined;
    if (output === undefined) {
      this.fail('response_failed', 'The response did not complete.');
      this.target = undefined;
      return undefined;
    }
    this.target = { ...this.target, required: output.flatMap(requiredInput) };
    return this.goOn();
  }

  /** Takes a message of the client. @returns the request for the response that follows by itself */
  steer(message: Body): Body | undefined {
    const { previous_response_id: previousId, input } = message;
    const { target } = this;
    const named = typeof previousId === 'string' ? previousId : undefined;
    const steer = { id: `steer_${randomUUID().replaceAll('-', '')}`, input };
    const problem = this.problemWith(message);
    if (problem !== undefined || target === undefined) {
      const about = { previous_response_id: named ?? null, input: input ?? null };
      this.emit('failed', about, { error: problem ?? NOT_FOUND });
      return undefined;
    }
    target.steers.push(steer);
    this.emit('accepted', { id: steer.id, previous_response_id: named });
    return target.required === undefined ? undefined : this.goOn();
  }

  private problemWith(message: Body): Body | undefined {
    const { previous_response_id: previousId, input } = message;
    const isKnown = Object.keys(message).every((field) => FIELDS.has(field));
    if (typeof previousId !== 'string' || !isKnown || !isInput(input))
      return {
        code: 'invalid_input',
        message: 'Send "previous_response_id", and a text or messages of the user as "input".',
      };
    if (this.target?.id !== previousId) return NOT_FOUND;
    if (this.target.steers.length < MAX_PENDING) return undefined;
    return {
      code: 'too_many_pending_steers',
      message: 'Wait for the response that follows, or send a "response.create".',
    };
  }

  /** Adds what waits to the request that continues its response. */
  steered(body: Body): Body {
    const { target } = this;
    if (target === undefined || target.steers.length === 0 || body['previous_response_id'] !== target.id) return body;
    const steers = target.steers.splice(0);
    const { input } = body;
    const own = typeof input === 'string' ? [userMessage(input)] : isList(input) ? input : [];
    return { ...body, input: [...steers.flatMap(itemsOf), ...own] };
  }

  private goOn(): Body | undefined {
    const { target } = this;
    if (target === undefined || target.steers.length === 0) return undefined;
    const { id, required = [], steers, body } = target;
    if (required.length > 0) {
      const last = steers.at(-1);
      const reason = 'waiting_for_required_input';
      this.emit('pending', { id: last?.id, previous_response_id: id }, { reason, required_input: required });
      return undefined;
    }
    const settings = Object.fromEntries(Object.entries(body).filter(([name]) => !OWN_FIELDS.has(name)));
    return { ...settings, previous_response_id: id, input: steers.splice(0).flatMap(itemsOf) };
  }

  private fail(code: string, message: string): void {
    const { target } = this;
    for (const { id, input } of target?.steers.splice(0) ?? [])
      this.emit('failed', { id, previous_response_id: target?.id, input }, { error: { code, message } });
  }

  private emit(outcome: 'accepted' | 'pending' | 'failed', steer: Body, others: Body = {}): void {
    this.sequence += 1;
    this.send({ type: `response.steer.${outcome}`, sequence_number: this.sequence, steer, ...others });
  }
}

function isInput(input: unknown): boolean {
  if (typeof input === 'string') return input !== '';
  return isList(input) && input.length > 0 && input.every((item) => isObject(item) && item['role'] === 'user');
}

function itemsOf({ input }: Steer): readonly unknown[] {
  return typeof input === 'string' ? [userMessage(input)] : isList(input) ? input : [];
}

function userMessage(text: string): Body {
  return { type: 'message', role: 'user', content: text };
}

function requiredInput(item: Item): readonly Body[] {
  if (item.type === 'mcp_approval_request')
    return [{ type: 'mcp_approval_response', approval_request_id: 'id' in item ? item.id : undefined }];
  const type = RESULTS[item.type];
  if (type === undefined || !('call_id' in item)) return [];
  return [omitUndefined({ type, call_id: item.call_id, name: 'name' in item ? item.name : undefined })];
}

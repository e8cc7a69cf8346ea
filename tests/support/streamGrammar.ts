/**
 * Checks the grammar of each scheme's stream, frame by frame, by the vendor's documentation and without product
 * code.
 */
import { expect } from 'chai';
import type { JsonObject, ServedScheme } from '../../imports/business/ai/domain/types/VendorTypes';

export interface Frame {
  readonly event: string | undefined;
  readonly data: string;
}

/** Splits a text that consists of complete frames. */
export function framesIn(text: string): readonly Frame[] {
  const breakOf = text.includes('\r\n') ? '\r\n' : '\n';
  const frames = text.split(breakOf + breakOf);
  expect(frames.pop(), 'the last frame has its blank line').to.equal('');
  return frames.map((frame) => {
    const lines = frame.split(breakOf);
    const event = lines.length > 1 ? lines[0]! : undefined;
    const data = lines.at(-1)!;
    // An assertion takes a hundred times as long, and there are millions of frames.
    const isFrame = lines.length <= 2 && data.startsWith('data: ') && event?.startsWith('event: ') !== false;
    if (!isFrame) expect.fail(`Not a frame of server-sent events: ${frame}`);
    return { event: event?.slice('event: '.length), data: data.slice('data: '.length) };
  });
}

export function eventsIn(text: string): readonly JsonObject[] {
  return framesIn(text)
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as JsonObject);
}

/** Check a successful stream. */
export const CHECKS: Readonly<Record<ServedScheme, (text: string) => void>> = {
  openai: checkChat,
  openai_responses: checkResponses,
  anthropic: checkAnthropic,
  google: checkGoogle,
};

/** Expects an error in the target's format, and nothing that signals success. */
export function expectFailure(target: ServedScheme, text: string): void {
  const events = eventsIn(text);
  const last = events.at(-1)!;
  switch (target) {
    case 'openai':
      expect(last.error).to.include.keys('message', 'type', 'param', 'code');
      expect(text).not.to.include('[DONE]');
      return;
    case 'openai_responses':
      expect(events.slice(-2).map(({ type }) => type)).to.deep.equal(['error', 'response.failed']);
      expect(
        events.filter(({ type }) => type === 'response.completed' || type === 'response.incomplete'),
      ).to.deep.equal([]);
      return;
    case 'anthropic':
      expect(last).to.deep.include({ type: 'error' });
      expect(events.filter(({ type }) => type === 'message_stop' || type === 'message_delta')).to.deep.equal([]);
      return;
    case 'google':
      expect(last.error).to.include.keys('code', 'message', 'status');
      expect(text).not.to.include('finishReason');
  }
}

// Chat completions: https://platform.openai.com/docs/api-reference/chat-streaming

function checkChat(text: string): void {
  const frames = framesIn(text);
  expect(frames.map(({ event }) => event)).to.deep.equal(frames.map(() => undefined));
  expect(frames.filter(({ data }) => data === '[DONE]').length, 'one end marker').to.equal(1);
  expect(frames.at(-1)!.data).to.equal('[DONE]');
  const chunks = eventsIn(text);
  expect(new Set(chunks.map(({ id }) => id)).size, 'one id').to.be.at.most(2);
  const choices = chunks.flatMap(({ choices }) => choices as JsonObject[]).filter(({ index }) => index === 0);
  const deltas = choices.map(({ delta }) => delta as JsonObject);
  expect(
    deltas.find((delta) => Object.keys(delta).length > 0),
    'the role comes first',
  ).to.include({ role: 'assistant' });
  expect(deltas.filter(({ role }) => role !== undefined).length).to.equal(1);
  const calls = deltas.flatMap(({ tool_calls }) => (tool_calls as JsonObject[] | undefined) ?? []);
  calls.forEach((call, index) => {
    expect(call).to.include({ index });
    expect(call.id).to.be.a('string').that.is.not.empty;
    expect(JSON.parse(String((call.function as JsonObject).arguments))).to.be.an('object');
  });
  const finished = choices.findIndex(({ finish_reason }) => finish_reason !== null);
  expect(finished, 'a finish reason, on the last chunk of the choice').to.equal(choices.length - 1);
  const counted = chunks.filter(({ usage }) => usage !== undefined && usage !== null);
  expect(counted.length, 'usage at most once').to.be.at.most(1);
  for (const chunk of counted) {
    expect(chunk).to.equal(chunks.at(-1));
    expect(chunk.choices).to.deep.equal([]);
  }
}

// Responses: https://www.openresponses.org, release 2026-04-24, "Streaming"

const PART_EVENTS: Readonly<Record<string, { readonly delta: string; readonly done: string; readonly field: string }>> =
  {
    output_text: { delta: 'response.output_text.delta', done: 'response.output_text.done', field: 'text' },
    refusal: { delta: 'response.refusal.delta', done: 'response.refusal.done', field: 'refusal' },
    reasoning_text: { delta: 'response.reasoning.delta', done: 'response.reasoning.done', field: 'text' },
    summary_text: {
      delta: 'response.reasoning_summary_text.delta',
      done: 'response.reasoning_summary_text.done',
      field: 'text',
    },
  };

function checkResponses(text: string): void {
  const frames = framesIn(text);
  expect(frames.at(-1)).to.deep.equal({ event: undefined, data: '[DONE]' });
  const events = eventsIn(text);
  expect(events.length, 'one end marker').to.equal(frames.length - 1);
  events.forEach((event, number) => expect(event.sequence_number, `number of ${String(event.type)}`).to.equal(number));
  frames.slice(0, -1).forEach(({ event }, at) => expect(event).to.equal(events[at]!.type));
  expect(events.slice(0, 2).map(({ type }) => type)).to.deep.equal(['response.created', 'response.in_progress']);
  const end = events.at(-1)!;
  const terminal = events.filter(({ type }) =>
    ['response.completed', 'response.incomplete', 'response.failed'].includes(String(type)),
  );
  expect(terminal, 'one end').to.deep.equal([end]);
  const closed = new ResponsesItems().read(events.slice(2, -1).filter((event) => !isExtension(event)));
  const response = end.response as JsonObject;
  expect((response.output as JsonObject[]).map(comparable)).to.deep.equal(closed.map(comparable));
  for (const event of [events[0]!, events[1]!]) expect((event.response as JsonObject).id).to.equal(response.id);
}

/** An implementor's own event: "Extending streaming events". */
function isExtension({ type }: JsonObject): boolean {
  return String(type).startsWith('bolide:');
}

/**
 * Ignores what may differ in the terminal event: encrypted reasoning, and the status of a vendor's own items. Summary
 * parts are joined, because some decoders don't number them.
 */
function comparable({ encrypted_content: _, status: __, ...item }: JsonObject): JsonObject {
  return {
    ...item,
    ...(Array.isArray(item.summary) ? { summary: item.summary.map((part: JsonObject) => part.text).join('') } : {}),
  };
}

/** Checks that items and parts are open one at a time, and close with the content of their deltas. */
class ResponsesItems {
  private readonly closed: JsonObject[] = [];
  private item: JsonObject | undefined;
  private part:
    | { readonly added: JsonObject; readonly deltas: string[]; readonly annotations: unknown[]; isDone: boolean }
    | undefined;
  private parts: Record<'content' | 'summary', JsonObject[]> = { content: [], summary: [] };
  private argumentDeltas: string[] = [];

  read(events: readonly JsonObject[]): readonly JsonObject[] {
    for (const event of events) this.event(String(event.type), event);
    expect(this.item, 'every item is closed').to.equal(undefined);
    return this.closed;
  }

  private event(type: string, event: JsonObject): void {
    if (type === 'response.output_item.added') {
      this.open(event);
      return;
    }
    if ('output_index' in event) expect(event.output_index, type).to.equal(this.closed.length);
    if ('item_id' in event) expect(event.item_id, type).to.equal(this.item!.id);
    if (type === 'response.output_item.done') {
      this.close(event);
      return;
    }
    if (type === 'response.function_call_arguments.delta') this.argumentDeltas.push(String(event.delta));
    if (type === 'response.function_call_arguments.done')
      expect(event.arguments).to.equal(this.argumentDeltas.join(''));
    if (type.endsWith('_part.added')) {
      this.openPart(event);
      return;
    }
    if (type.endsWith('_part.done')) {
      this.closePart(event);
      return;
    }
    if (this.part === undefined) return;
    const kind = PART_EVENTS[String(this.part.added.type)]!;
    if (type === kind.delta) {
      expect(this.part.isDone, `${type} after its end`).to.equal(false);
      this.part.deltas.push(String(event.delta));
    } else if (type === kind.done) {
      this.part.isDone = true;
      expect(event[kind.field]).to.equal(this.part.deltas.join(''));
    } else {
      expect(type).to.equal('response.output_text.annotation.added');
      expect(event.annotation_index).to.equal(this.part.annotations.length);
      this.part.annotations.push(event.annotation);
    }
  }

  private open(event: JsonObject): void {
    expect(this.item, 'one item at a time').to.equal(undefined);
    expect(event.output_index).to.equal(this.closed.length);
    this.item = event.item as JsonObject;
    expect(this.item.id).to.be.a('string').that.is.not.empty;
    if (this.item.type === 'message') expect(this.item.content).to.deep.equal([]);
    if (this.item.type === 'reasoning') expect(this.item.summary).to.deep.equal([]);
    if (this.item.type === 'function_call') expect(this.item.arguments).to.equal('');
    this.parts = { content: [], summary: [] };
    this.argumentDeltas = [];
  }

  private openPart(event: JsonObject): void {
    expect(this.part, 'one part at a time').to.equal(undefined);
    const list = 'summary_index' in event ? 'summary' : 'content';
    expect(event[`${list}_index`]).to.equal(this.parts[list].length);
    this.part = { added: event.part as JsonObject, deltas: [], annotations: [], isDone: false };
  }

  private closePart(event: JsonObject): void {
    const { added, deltas, annotations, isDone } = this.part!;
    const closed = event.part as JsonObject;
    const kind = PART_EVENTS[String(added.type)];
    if (kind !== undefined) {
      expect(isDone, 'the text is done before its part').to.equal(true);
      expect(closed[kind.field]).to.equal(deltas.join(''));
    }
    if (closed.type === 'output_text') expect(closed.annotations).to.deep.equal(annotations);
    this.parts['summary_index' in event ? 'summary' : 'content'].push(closed);
    this.part = undefined;
  }

  private close(event: JsonObject): void {
    expect(this.part, 'every part is closed').to.equal(undefined);
    const item = event.item as JsonObject;
    expect(item.id).to.equal(this.item!.id);
    if (item.type === 'message') expect(item.content).to.deep.equal(this.parts.content);
    if (item.type === 'reasoning')
      expect([item.summary, item.content ?? []]).to.deep.equal([this.parts.summary, this.parts.content]);
    if (item.type === 'function_call') expect(item.arguments).to.equal(this.argumentDeltas.join(''));
    this.closed.push(item);
    this.item = undefined;
  }
}

// Messages: https://platform.claude.com/docs/en/build-with-claude/streaming

const BLOCK_OF_DELTA: Readonly<Record<string, string>> = {
  text_delta: 'text',
  citations_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
};

function checkAnthropic(text: string): void {
  const frames = framesIn(text);
  const named = eventsIn(text);
  frames.forEach(({ event }, at) => expect(event).to.equal(named[at]!.type));
  // Clients ignore events that they don't know: https://docs.anthropic.com/en/docs/build-with-claude/streaming
  const events = named.filter(({ type }) => type !== 'tool_use_announced');
  const types = events.map(({ type }) => type);
  expect(types[0]).to.equal('message_start');
  expect(types.slice(-2)).to.deep.equal(['message_delta', 'message_stop']);
  for (const once of ['message_start', 'message_delta', 'message_stop'])
    expect(types.filter((type) => type === once).length, once).to.equal(1);
  expect((events[0]!.message as JsonObject).usage).to.include.keys('input_tokens', 'output_tokens');
  expect(events.at(-2)!.usage).to.include.keys('output_tokens');
  expect((events.at(-2)!.delta as JsonObject).stop_reason).to.be.a('string');
  let open: JsonObject | undefined;
  let next = 0;
  let input = '';
  for (const event of events.slice(1, -2)) {
    if (event.type === 'content_block_start') {
      expect(open, 'one block at a time').to.equal(undefined);
      open = event.content_block as JsonObject;
      input = '';
    }
    expect(event.index, String(event.type)).to.equal(next);
    expect(open, String(event.type)).not.to.equal(undefined);
    if (event.type === 'content_block_delta') {
      const delta = event.delta as JsonObject;
      const kind = BLOCK_OF_DELTA[String(delta.type)];
      if (kind !== undefined) expect(open!.type).to.equal(kind);
      if (delta.type === 'input_json_delta') {
        expect(input, 'the input comes in one piece').to.equal('');
        input = String(delta.partial_json);
        expect(JSON.parse(input)).to.be.an('object');
      }
    }
    if (event.type === 'content_block_stop') {
      if (open!.type === 'tool_use') expect(input).not.to.equal('');
      open = undefined;
      next += 1;
    }
  }
  expect(open, 'every block is closed').to.equal(undefined);
}

// generateContent: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent

function checkGoogle(text: string): void {
  expect(text.replaceAll('\r\n', ''), 'CRLF').not.to.include('\n');
  const frames = framesIn(text);
  expect(frames.every(({ event, data }) => event === undefined && data !== '[DONE]')).to.equal(true);
  const chunks = eventsIn(text);
  chunks.forEach((chunk, at) => {
    const isLast = at === chunks.length - 1;
    const candidates = (chunk.candidates as JsonObject[] | undefined) ?? [];
    if (!isLast) expect(candidates).not.to.be.empty;
    if (candidates.length > 0)
      expect(candidates[0]!.finishReason !== undefined, 'the finish reason is on the last chunk').to.equal(isLast);
    expect(chunk.usageMetadata !== undefined, 'usage is on the last chunk').to.equal(isLast);
  });
}

/** Decoding Responses streams: all recorded ones, and the quirks of vendors. */
import { expect } from 'chai';
import { LLMError, LLMStreamError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { fromResponses } from '../../../../../../../imports/business/ai/infrastructure/converters/responses/ResponsesConverter';
import { responsesWire } from '../../../../../../../imports/business/ai/infrastructure/converters/responses/responsesWire';
import { sseMessages } from '../../../../../../support/recordings';
import { responsesResponseContext, STREAMS, terminalResponse } from '../../../../../../support/responsesRecordings';
import type { LLMResponse } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import type {
  ResponseContext,
  SseMessage,
  StreamDecoder,
} from '../../../../../../../imports/business/ai/infrastructure/converters/Wire';

interface Outcome {
  readonly events: readonly ResponseStreamEvent[];
  readonly errors: readonly unknown[];
}

/** Everything that a decoder emits, even after an error. */
function decode(messages: readonly SseMessage[], context: ResponseContext = responsesResponseContext()): Outcome {
  const decoder = responsesWire.createDecoder(context);
  const events: ResponseStreamEvent[] = [];
  const errors: unknown[] = [];
  for (const message of messages) attempt(() => decoder.push(message, events), errors);
  attempt(() => decoder.end(events), errors);
  return { events, errors };
}

function attempt(step: () => void, errors: unknown[]): void {
  try {
    step();
  } catch (error) {
    errors.push(error);
  }
}

function messagesOf(...events: readonly JsonObject[]): readonly SseMessage[] {
  return events.map((event) => ({ event: event.type as string, data: JSON.stringify(event) }));
}

function decodeEvents(...events: readonly JsonObject[]): Outcome {
  return decode(messagesOf(...events));
}

function completedIn(events: readonly ResponseStreamEvent[]): readonly LLMResponse[] {
  return events.flatMap((event) => (event.type === 'response.completed' ? [event.response] : []));
}

const USAGE = {
  input_tokens: 3,
  output_tokens: 2,
  total_tokens: 5,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};
const MESSAGE = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
};
const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'look',
  arguments: '{"at":"sky"}',
  status: 'completed',
};

function response(changes: JsonObject = {}): JsonObject {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [MESSAGE],
    usage: USAGE,
    ...changes,
  };
}

const COMPLETED = { type: 'response.completed', response: response() };

describe('ResponsesDecoder on recorded streams', () => {
  for (const recording of STREAMS) {
    const context = responsesResponseContext({ vendor: recording.vendor });
    const messages = sseMessages(recording.text);
    const failed = terminalResponse(recording).status === 'failed';

    if (failed) {
      it(`${recording.name}: throws the vendor's error once, with the failed response`, () => {
        const { events, errors } = decode(messages, context);
        expect(completedIn(events)).to.deep.equal([]);
        expect(errors).to.have.length(1);
        expect(errors[0]).to.be.instanceOf(LLMError).with.nested.property('response.status', 'failed');
      });
    } else {
      it(`${recording.name}: ends with the response that its terminal event converts to without streaming`, () => {
        const { events, errors } = decode(messages, context);
        expect(errors).to.deep.equal([]);
        expect(completedIn(events)).to.deep.equal([fromResponses(terminalResponse(recording), context)]);
        expect(events.at(-1)?.type).to.equal('response.completed');
      });

      it(`${recording.name}: emits deltas that add up to the text, and announces every call before it is complete`, () => {
        const { events } = decode(messages, context);
        const [completed] = completedIn(events);
        const text = events
          .flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))
          .join('');
        expect(text).to.equal(completed?.output_text);
        const calls = completed?.output.filter((item) => item.type === 'function_call') ?? [];
        expect(events.flatMap((event) => (event.type === 'response.tool_use.done' ? [event.item] : []))).to.deep.equal(
          calls,
        );
        for (const call of calls) {
          const announced = events.findIndex(
            (event) => event.type === 'response.tool_use.announced' && event.call_id === call.call_id,
          );
          const done = events.findIndex(
            (event) => event.type === 'response.tool_use.done' && event.item.call_id === call.call_id,
          );
          expect(announced).to.be.within(0, done - 1);
        }
      });

      it(`${recording.name}: emits each delta as soon as it arrives`, () => {
        const decoder = responsesWire.createDecoder(context);
        for (const message of messages) {
          const out: ResponseStreamEvent[] = [];
          decoder.push(message, out);
          const { type, delta } = JSON.parse(message.data) as { type: string; delta?: string };
          if (/(output_text|reasoning_text|reasoning_summary_text)\.delta$/.test(type))
            expect(out).to.have.length(1).with.nested.property('0.delta', delta);
        }
      });
    }

    it(`${recording.name}: throws when cut after any of its ${messages.length} events`, () => {
      for (let count = 0; count < messages.length; count += 1) {
        const { events, errors } = decode(messages.slice(0, count), context);
        expect(completedIn(events), `cut after ${count}`).to.deep.equal([]);
        expect(errors, `cut after ${count}`).to.have.length(1);
        // A stream that was cut after its error event throws that error; any other cut is a broken stream.
        expect(errors[0], `cut after ${count}`).to.be.instanceOf(
          failed && count === messages.length - 1 ? LLMError : LLMStreamError,
        );
      }
    });
  }
});

describe('ResponsesDecoder', () => {
  it('emits the events of a response in order', () => {
    const { events } = decodeEvents(
      { type: 'response.created', response: response({ status: 'in_progress', output: [], usage: null }) },
      { type: 'response.in_progress', response: response({ status: 'in_progress', output: [], usage: null }) },
      { type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, status: 'in_progress', content: [] } },
      {
        type: 'response.content_part.added',
        output_index: 0,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi' },
      { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hi' },
      { type: 'response.content_part.done', output_index: 0, content_index: 0, part: MESSAGE.content[0] },
      { type: 'response.output_item.done', output_index: 0, item: MESSAGE },
      { type: 'response.output_item.added', output_index: 1, item: { ...CALL, status: 'in_progress', arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"at":' },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '"sky"}' },
      { type: 'response.function_call_arguments.done', output_index: 1, arguments: CALL.arguments },
      { type: 'response.output_item.done', output_index: 1, item: CALL },
      { type: 'response.completed', response: response({ output: [MESSAGE, CALL] }) },
    );
    expect(events.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.output_item.added',
      'response.output_text.delta',
      'response.output_item.done',
      'response.output_item.added',
      'response.tool_use.announced',
      'response.tool_use.done',
      'response.output_item.done',
      'response.usage',
      'response.completed',
    ]);
  });

  it('emits arguments only once they are complete', () => {
    const { events } = decodeEvents(
      { type: 'response.output_item.added', output_index: 0, item: { ...CALL, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"at":' },
      { type: 'response.output_item.done', output_index: 0, item: CALL },
      { type: 'response.completed', response: response({ output: [CALL] }) },
    );
    const received = events.flatMap((event) =>
      'item' in event && event.item.type === 'function_call' ? [event.item.arguments] : [],
    );
    expect(received).to.deep.equal(['', CALL.arguments, CALL.arguments]);
  });

  it('separates interleaved calls', () => {
    const other = { ...CALL, id: 'fc_2', call_id: 'call_2', arguments: '{}' };
    const { events } = decodeEvents(
      { type: 'response.output_item.added', output_index: 0, item: { ...CALL, arguments: '' } },
      { type: 'response.output_item.added', output_index: 1, item: { ...other, arguments: '' } },
      { type: 'response.output_item.done', output_index: 1, item: other },
      { type: 'response.output_item.done', output_index: 0, item: CALL },
      { type: 'response.completed', response: response({ output: [CALL, other] }) },
    );
    expect(
      events.flatMap((event) =>
        event.type === 'response.tool_use.done' ? [[event.output_index, event.item.call_id]] : [],
      ),
    ).to.deep.equal([
      [1, 'call_2'],
      [0, 'call_1'],
    ]);
  });

  it('emits a call that only the terminal response contains', () => {
    const { events } = decodeEvents({ type: 'response.completed', response: response({ output: [CALL] }) });
    expect(events.map(({ type }) => type)).to.deep.equal([
      'response.output_item.added',
      'response.tool_use.announced',
      'response.tool_use.done',
      'response.output_item.done',
      'response.usage',
      'response.completed',
    ]);
  });

  it('never emits a truncated call', () => {
    const cut = { ...CALL, status: 'incomplete', arguments: '{"at":"s' };
    const { events } = decodeEvents(
      { type: 'response.output_item.added', output_index: 0, item: { ...CALL, arguments: '' } },
      { type: 'response.output_item.done', output_index: 0, item: cut },
      {
        type: 'response.incomplete',
        response: response({
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: [cut],
        }),
      },
    );
    expect(events.map(({ type }) => type)).to.deep.equal([
      'response.output_item.added',
      'response.tool_use.announced',
      'response.output_item.done',
      'response.usage',
      'response.completed',
    ]);
  });

  it('announces a call that is named only when it is complete', () => {
    const { events } = decodeEvents(
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'function_call', id: 'fc_1', arguments: '' },
      },
      { type: 'response.output_item.done', output_index: 0, item: CALL },
    );
    expect(events.map(({ type }) => type)).to.deep.equal([
      'response.output_item.added',
      'response.tool_use.announced',
      'response.tool_use.done',
      'response.output_item.done',
    ]);
  });

  it('accepts reasoning under each of its three names', () => {
    const { events } = decodeEvents(
      { type: 'response.reasoning_text.delta', output_index: 0, delta: 'raw' },
      { type: 'response.reasoning.delta', output_index: 0, delta: 'open' },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'short' },
    );
    expect(events).to.deep.equal([
      { type: 'response.reasoning.delta', output_index: 0, delta: 'raw', summary: false },
      { type: 'response.reasoning.delta', output_index: 0, delta: 'open', summary: false },
      { type: 'response.reasoning.delta', output_index: 0, delta: 'short', summary: true },
    ]);
  });

  it('emits refusals and annotations', () => {
    const annotation = { type: 'url_citation', url: 'https://example.com', title: 'x', start_index: 0, end_index: 2 };
    const { events } = decodeEvents(
      { type: 'response.refusal.delta', output_index: 0, delta: 'No' },
      { type: 'response.output_text.annotation.added', output_index: 0, annotation_index: 0, annotation },
    );
    expect(events).to.deep.equal([
      { type: 'response.refusal.delta', output_index: 0, delta: 'No' },
      { type: 'response.annotation.added', output_index: 0, annotation },
    ]);
  });

  it('passes on unknown events unchanged', () => {
    const raw = { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1', sequence_number: 4 };
    expect(decodeEvents(raw).events).to.deep.equal([
      { type: 'vendor.event', origin: { wire: 'responses', vendor: 'openai', model: 'asked-model' }, raw },
    ]);
  });

  it('ends incomplete responses like complete ones', () => {
    const body = response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    const { events, errors } = decodeEvents({ type: 'response.incomplete', response: body });
    expect(errors).to.deep.equal([]);
    expect(completedIn(events)).to.deep.equal([fromResponses(body, responsesResponseContext())]);
  });

  it('takes the status from the terminal event if the response leaves it open', () => {
    const { events } = decodeEvents({ type: 'response.incomplete', response: response({ status: 'in_progress' }) });
    expect(completedIn(events).map(({ status }) => status)).to.deep.equal(['incomplete']);
  });

  it('assembles the output from the finished items, in order, if the terminal response has none', () => {
    for (const output of [[], null, undefined]) {
      const { events, errors } = decodeEvents(
        { type: 'response.output_item.done', output_index: 1, item: CALL },
        { type: 'response.output_item.done', output_index: 0, item: MESSAGE },
        { type: 'response.completed', response: response({ output }) },
      );
      expect(errors).to.deep.equal([]);
      expect(completedIn(events)).to.deep.equal([
        fromResponses(response({ output: [MESSAGE, CALL] }), responsesResponseContext()),
      ]);
    }
  });

  it('rejects an empty response after text has arrived', () => {
    const { events, errors } = decodeEvents(
      { type: 'response.output_text.delta', output_index: 0, delta: 'Hi' },
      { type: 'response.completed', response: response({ output: [] }) },
    );
    expect(completedIn(events)).to.deep.equal([]);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.be.instanceOf(LLMStreamError);
  });

  it('emits usage before the end, and none if the vendor reported none', () => {
    const types = (usage: unknown): readonly string[] =>
      decodeEvents({ type: 'response.completed', response: response({ usage }) }).events.map(({ type }) => type);
    expect(types(USAGE)).to.deep.equal(['response.usage', 'response.completed']);
    expect(types(null)).to.deep.equal(['response.completed']);
  });

  it('ignores everything after the end', () => {
    const { events, errors } = decode([
      ...messagesOf(
        COMPLETED,
        { type: 'response.output_text.delta', output_index: 0, delta: 'more' },
        { type: 'error', message: 'late' },
        COMPLETED,
      ),
      { data: '[DONE]' },
      { data: '<html>' },
    ]);
    expect(errors).to.deep.equal([]);
    expect(events.map(({ type }) => type)).to.deep.equal(['response.usage', 'response.completed']);
  });

  it('does not accept [DONE] as an end', () => {
    const { events, errors } = decode([
      ...messagesOf({ type: 'response.output_text.delta', output_index: 0, delta: 'Hi' }),
      { data: '[DONE]' },
    ]);
    expect(completedIn(events)).to.deep.equal([]);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.be.instanceOf(LLMStreamError);
  });

  const broken: Readonly<Record<string, string>> = {
    'an HTML page': '<!DOCTYPE html>',
    'half an event': '{"type":"response.output_text.delta","delta":"H',
    'a bare number': '42',
    'a delta that is not a string': '{"type":"response.output_text.delta","delta":{"text":"Hi"}}',
    'an item that is null': '{"type":"response.output_item.done","output_index":0,"item":null}',
    'a terminal event without a response': '{"type":"response.completed"}',
  };
  for (const [what, data] of Object.entries(broken)) {
    it(`rejects ${what}, once`, () => {
      const { events, errors } = decode([{ data }, ...messagesOf(COMPLETED)]);
      expect(completedIn(events)).to.deep.equal([]);
      expect(errors).to.have.length(1);
      expect(errors[0]).to.be.instanceOf(LLMStreamError);
    });
  }

  describe('errors', () => {
    const failed = {
      type: 'response.failed',
      response: response({
        status: 'failed',
        output: [],
        error: { code: 'rate_limit_exceeded', message: 'slow down' },
      }),
    };
    const nested = {
      type: 'error',
      sequence_number: 2,
      error: { type: 'tokens', code: 'rate_limit_exceeded', message: 'slow down', param: null },
    };
    const flat = { type: 'error', sequence_number: 2, code: 'rate_limit_exceeded', message: 'slow down', param: null };

    for (const [form, event] of Object.entries({ nested, flat })) {
      it(`throws a ${form} error event when the stream ends after it`, () => {
        const { events, errors } = decodeEvents(event);
        expect(events).to.deep.equal([]);
        expect(errors).to.have.length(1);
        expect(errors[0]).to.include({
          code: 'rate-limited',
          vendorCode: 'rate_limit_exceeded',
          message: 'slow down',
          vendor: 'openai',
        });
      });

      it(`throws a ${form} error event and the failed response after it once, with the usage`, () => {
        const { events, errors } = decodeEvents(event, failed, COMPLETED);
        expect(events).to.deep.equal([]);
        expect(errors).to.have.length(1);
        expect(errors[0]).to.include({ code: 'rate-limited', vendorCode: 'rate_limit_exceeded' });
        expect((errors[0] as LLMError).response).to.deep.include({ status: 'failed' });
        expect((errors[0] as LLMError).response?.usage.total_tokens).to.equal(5);
      });

      it(`waits for only one event after a ${form} error event`, () => {
        const { events, errors } = decodeEvents(event, COMPLETED);
        expect(completedIn(events)).to.deep.equal([]);
        expect(errors).to.have.length(1);
      });
    }

    it('throws a failed response without a preceding error event', () => {
      const { errors } = decodeEvents(failed);
      expect(errors).to.have.length(1);
      expect(errors[0]).to.include({ code: 'rate-limited', message: 'slow down' });
    });

    it('recognizes an error that only the SSE event name marks', () => {
      const decoder: StreamDecoder = responsesWire.createDecoder(responsesResponseContext());
      decoder.push({ event: 'error', data: JSON.stringify({ error: { code: 'server_error', message: 'oops' } }) }, []);
      expect(() => decoder.end([])).to.throw(LLMError, 'oops');
    });
  });
});

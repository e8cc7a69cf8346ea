/** Round trips of every recorded exchange of the Responses wire. */
import { expect } from 'chai';
import {
  fromResponses,
  readResponse,
  toResponses,
} from '../../../../../../imports/business/ai/infrastructure/converters/responses/ResponsesConverter';
import {
  readResponsesRequest,
  writeResponses,
} from '../../../../../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { toolCalls } from '../../../../../../imports/business/ai/domain/entities/Response';
import { sseMessages } from '../../../../../support/recordings';
import {
  RESPONSES,
  REQUESTS,
  EXCHANGES,
  responsesContext,
  responsesResponseContext,
  STREAMS,
  terminalResponse,
} from '../../../../../support/responsesRecordings';
import { requestViolations } from '../../../../../support/publishedSchemas';
import { meaningOfItem, meaningOfRequest } from '../../../../../support/sameMeaning/responses';
import type { RequestRecording, Recording } from '../../../../../support/recordings';
import type { InputItem, LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import type { WireRequest } from '../../../../../../imports/business/ai/infrastructure/converters/Wire';

function bodyOf(recording: Recording): JsonObject {
  return recording.stream ? terminalResponse(recording) : (JSON.parse(recording.text) as JsonObject);
}

function innerOf(recording: Recording): LLMResponse {
  return readResponse(bodyOf(recording), responsesResponseContext({ vendor: recording.vendor }));
}

function resent(recording: RequestRecording): WireRequest {
  const { stream, ...options } = readResponsesRequest(recording.request);
  return toResponses({ model: 'none', ...options }, responsesContext({ vendor: recording.vendor }), stream ?? false);
}

const successful = [...RESPONSES, ...STREAMS];

describe('recorded Responses API responses', () => {
  it(`cover all ${EXCHANGES.length} exchanges: ${RESPONSES.length} responses, ${STREAMS.length} streams, and errors`, () => {
    expect(EXCHANGES.length).to.be.greaterThan(40);
    expect(RESPONSES.length + STREAMS.length + EXCHANGES.filter(({ status }) => status !== 200).length).to.equal(
      EXCHANGES.length,
    );
  });

  for (const recording of successful) {
    it(`${recording.name}: is restored from the domain model as the vendor sent it`, () => {
      expect(writeResponses(innerOf(recording))).to.deep.equal(bodyOf(recording));
    });

    it(`${recording.name}: has the same status, text, calls and usage`, () => {
      const body = bodyOf(recording) as unknown as RecordedBody;
      const inner = innerOf(recording);
      expect(inner.id).to.equal(body.id);
      expect(inner.status).to.equal(body.status);
      expect(inner.vendor.finish_reason).to.equal(body.status);
      expect(inner.model).to.equal(body.model);
      expect(inner.output_text).to.equal(textIn(body));
      expect(toolCalls(inner).map(({ call_id, name, arguments: args }) => [call_id, name, args])).to.deep.equal(
        callsIn(body),
      );
      expect(inner.usage.input_tokens).to.equal(body.usage?.input_tokens ?? 0);
      expect(inner.usage.output_tokens).to.equal(body.usage?.output_tokens ?? 0);
      expect(inner.usage.total_tokens).to.equal(body.usage?.total_tokens ?? 0);
      expect(inner.usage.input_tokens_details.cached_tokens).to.equal(
        body.usage?.input_tokens_details.cached_tokens ?? 0,
      );
      expect(inner.usage.output_tokens_details.reasoning_tokens).to.equal(
        body.usage?.output_tokens_details.reasoning_tokens ?? 0,
      );
      expect(inner.vendor.warnings).to.have.length(body.usage === null ? 1 : 0);
    });

    it(`${recording.name}: names the origin of opaque items, and only of those`, () => {
      for (const item of innerOf(recording).output) {
        const opaque = !['message', 'function_call', 'function_call_output'].includes(item.type);
        expect('origin' in item ? item.origin : undefined).to.deep.equal(
          opaque ? { wire: 'responses', vendor: recording.vendor, model: bodyOf(recording).model } : undefined,
        );
      }
    });
  }

  it('throw for exactly the responses that failed', () => {
    for (const recording of successful) {
      const convert = (): LLMResponse =>
        fromResponses(bodyOf(recording), responsesResponseContext({ vendor: recording.vendor }));
      if (bodyOf(recording).status === 'failed')
        expect(convert).to.throw().with.nested.property('response.status', 'failed');
      else expect(convert().output.length).to.be.greaterThan(0);
    }
  });
});

describe('recorded Responses API requests', () => {
  // The vendor rejected these for the id of a reasoning item whose message the client had replaced, so we send it
  // without that id.
  const REPAIRED = new Set(['openai-resp-err400-ctx-a 2']);

  for (const recording of REQUESTS) {
    it(`${recording.name}: is sent again with the same meaning, valid and without losses`, () => {
      const { body, losses, warnings } = resent(recording);
      const recorded = REPAIRED.has(recording.name) ? withoutReasoningIds(recording.request) : recording.request;
      expect(meaningOfRequest(body)).to.deep.equal(meaningOfRequest(recorded));
      expect(losses).to.deep.equal([]);
      expect(warnings).to.deep.equal([]);
      expect(requestViolations(body)).to.equal('');
    });
  }

  it('preserve an unknown field under its original name', () => {
    const recording = REQUESTS.find(({ request }) => request.include !== undefined)!;
    expect(readResponsesRequest(recording.request).vendor?.openai_responses).to.deep.include({
      include: recording.request.include,
    });
  });
});

describe('recorded Responses API loops', () => {
  const loops = REQUESTS.flatMap((next) => {
    const previous = REQUESTS.find(({ caseId, n }) => caseId === next.caseId && n === next.n - 1);
    return previous !== undefined && previous.status === 200 && continues(next.request, previous)
      ? [{ previous, next }]
      : [];
  });

  it(`cover all ${loops.length} exchanges that continue the previous one`, () => {
    const withHistory = REQUESTS.filter(
      ({ request }) => Array.isArray(request.input) && request.input.some(isModelOutput),
    );
    // In the first, the conversation was invented; in the second and third, the client replaced the model's message.
    const others = ['openai-resp-err500-a 1', 'openai-resp-err400-ctx-a 2', 'openai-resp-err400-ctx-a 3'];
    expect(withHistory.map(({ name }) => name).filter((name) => !others.includes(name))).to.deep.equal(
      loops.map(({ next }) => next.name),
    );
  });

  for (const { previous, next } of loops) {
    it(`${next.name}: is rebuilt from the converted response of the previous exchange`, () => {
      const before = readResponsesRequest(previous.request);
      const { input, stream, ...options } = readResponsesRequest(next.request);
      const { output } = fromResponses(
        { ...bodyOf(previous), output: outputOf(previous) },
        responsesResponseContext({ vendor: previous.vendor }),
      );
      const history: readonly InputItem[] = [...before.input, ...output, ...trailingResults(input)];
      const { body, losses } = toResponses(
        { model: 'none', ...options, input: history },
        responsesContext({ vendor: next.vendor }),
        stream ?? false,
      );
      expect(losses).to.deep.equal([]);
      expect(requestViolations(body)).to.equal('');
      const rebuilt = itemsOf(body);
      const recorded = itemsOf(next.request);
      // One recording client rewrote the vendor's server tools, so they are compared with what the vendor sent.
      expect(rebuilt.filter(isHosted)).to.deep.equal(
        [...itemsOf(previous.request), ...outputOf(previous).map(meaningOfItem)].filter(isHosted),
      );
      const rebuiltItems = rebuilt.filter((item) => !isHosted(item));
      const recordedItems = recorded.filter((item) => !isHosted(item));
      expect(rebuiltItems.length).to.equal(recordedItems.length);
      rebuiltItems.forEach((item, index) => {
        const then = recordedItems[index]!;
        const surplus = Object.keys(item).filter((key) => !(key in then));
        // Without stored responses, ids must not be sent; the other fields are the vendor's own additions.
        expect(['id', 'status'].filter((key) => next.request.store !== false || key !== 'id')).to.include.members(
          surplus,
        );
        expect(straight(Object.fromEntries(Object.entries(item).filter(([key]) => key in then)))).to.deep.equal(
          straight(then),
        );
      });
    });
  }
});

interface RecordedBody {
  readonly id: string;
  readonly status: string;
  readonly model: string;
  readonly output: readonly {
    type: string;
    call_id: string;
    name: string;
    arguments: string;
    content: readonly { type: string; text: string }[];
  }[];
  readonly usage: {
    input_tokens: number;
    output_tokens: number;
    total_tokens: number;
    input_tokens_details: { cached_tokens: number };
    output_tokens_details: { reasoning_tokens: number };
  } | null;
}

function textIn(body: RecordedBody): string {
  return body.output
    .flatMap((item) =>
      item.type === 'message' ? item.content.filter(({ type }) => type === 'output_text').map(({ text }) => text) : [],
    )
    .join('');
}

function callsIn(body: RecordedBody): readonly string[][] {
  return body.output.flatMap((item) =>
    item.type === 'function_call' ? [[item.call_id, item.name, item.arguments]] : [],
  );
}

function itemsOf(request: JsonObject): readonly JsonObject[] {
  return meaningOfRequest(request).input as readonly JsonObject[];
}

/**
 * Recording clients took the items of a stream from its `output_item.done` events, whose encrypted content differs
 * from that of the final response.
 */
function outputOf(recording: Recording): readonly JsonObject[] {
  if (!recording.stream) return bodyOf(recording).output as readonly JsonObject[];
  const events = sseMessages(recording.text).map(({ data }) => JSON.parse(data) as { type: string; item: JsonObject });
  return events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
}

function isModelOutput(item: JsonObject): boolean {
  return item.role === 'assistant' || (item.role === undefined && !String(item.type).endsWith('_output'));
}

function isHosted(item: JsonObject): boolean {
  return !['message', 'function_call', 'function_call_output', 'reasoning'].includes(item.type as string);
}

/** Whether the request contains the recorded response verbatim. */
function continues(request: JsonObject, previous: RequestRecording): boolean {
  const then = itemsOf(previous.request);
  const now = itemsOf(request);
  const added = now.slice(then.length).filter((item) => isModelOutput(item) && !isHosted(item));
  const texts = new Set(outputOf(previous).map((item) => textOf(meaningOfItem(item))));
  return (
    JSON.stringify(now.slice(0, then.length)) === JSON.stringify(then) &&
    added.length > 0 &&
    added.every((item) => texts.has(textOf(item)))
  );
}

function textOf(item: JsonObject): string {
  return JSON.stringify([
    item.type,
    item.call_id,
    item.arguments,
    item.encrypted_content,
    item.type === 'message' ? textsOf(item.content) : undefined,
  ]);
}

function textsOf(content: unknown): unknown {
  return (content as readonly JsonObject[]).map(({ type, text }) => [type, straight(text)]);
}

/** One recording tool replaced typographic quotes in the requests that it saved. */
function straight(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replace(/[\u2018\u2019]/g, "'")
      .replace(/[\u201c\u201d]/g, '\\"'),
  );
}

/** What the client added after the model's last output. */
function trailingResults(input: readonly InputItem[]): readonly InputItem[] {
  const last = input.findLastIndex(
    (item) =>
      item.type === 'function_call' ||
      item.type === 'reasoning' ||
      (item.type === 'message' && item.role === 'assistant'),
  );
  return input.slice(last + 1);
}

function withoutReasoningIds(request: JsonObject): JsonObject {
  const items = request.input as readonly JsonObject[];
  return {
    ...request,
    input: items.map(({ id, ...item }) => (item.type === 'reasoning' || id === undefined ? item : { ...item, id })),
  };
}

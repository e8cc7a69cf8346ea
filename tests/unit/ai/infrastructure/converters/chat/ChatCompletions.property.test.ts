/** Properties of arbitrary chat completions and histories. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  fromChatCompletions,
  toChatCompletions,
} from '../../../../../../imports/business/ai/infrastructure/converters/chat/ChatCompletionsConverter';
import {
  readChatCompletionsRequest,
  writeChatCompletions,
} from '../../../../../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import {
  normalizeInput,
  normalizeOptions,
} from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { isLLMError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { InputItem } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, VendorName } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { chunksOf } from '../../../../../support/chatChunks';
import {
  CHAT_RESPONSES,
  chatContext,
  chatResponseContext,
  decodeEvents,
  responseContextFor,
  responseIn,
  streamOf,
} from '../../../../../support/chatRecordings';
import { chatViolations } from '../../../../../support/publishedSchemas';
import { meaningOfChatRequest } from '../../../../../support/sameMeaning/chat';
import { quirksFor } from '../../../../../support/wireContexts';
import { IS_SOAK } from '../../../../../support/soak';

const RUNS = { numRuns: IS_SOAK ? 300 : 100 };
const VENDORS: readonly VendorName[] = ['openai', 'azure_openai', 'grok', 'groq', 'llama', 'openai_compatible'];

const text = fc.string({ maxLength: 12 });
const name = fc.stringMatching(/^[a-z_]{1,8}$/);
const json = fc.jsonValue({ maxDepth: 2 });
/** An unknown field. */
const unknown = fc.dictionary(fc.stringMatching(/^z_[a-z]{1,4}$/), json, { maxKeys: 2 });

function sometimes<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}

/** Without undefined fields. */
function withoutUndefined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

const call = fc
  .record({
    index: sometimes(fc.nat(3)),
    id: sometimes(fc.oneof(fc.constant(null), fc.uuid())),
    type: sometimes(fc.constantFrom('function', 'builtin_function')),
    function: fc
      .record({
        name: sometimes(name),
        arguments: sometimes(fc.oneof(text, fc.constant('{"a":1}'), fc.constant(null), fc.dictionary(name, json))),
        extra: sometimes(json),
      })
      .map(withoutUndefined),
    extra_content: sometimes(json),
  })
  .map(withoutUndefined);

const customCall = fc.record({ id: fc.uuid(), type: fc.constant('custom'), custom: fc.record({ name, input: text }) });

const annotation = fc.oneof(
  fc.record({ type: fc.constant('url_citation'), url_citation: fc.record({ url: text, start_index: fc.nat(9) }) }),
  fc.record({ type: fc.constant('url_citation'), url: text }),
  fc.record({
    type: fc.constant('document_citation'),
    document_citation: fc.record({ document_id: text }),
    more: text,
  }),
);

const content = fc.oneof(
  fc.constant(null),
  text,
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text }),
      fc.record({ type: fc.constant('refusal'), refusal: text }),
      fc.record({ type: fc.constant('thinking'), thinking: json }),
    ),
    { maxLength: 3 },
  ),
);

const message = fc
  .record({
    role: sometimes(fc.constant('assistant')),
    content: sometimes(content),
    refusal: sometimes(fc.option(text)),
    reasoning: sometimes(fc.option(text)),
    reasoning_content: sometimes(fc.option(text)),
    tool_calls: sometimes(fc.oneof(fc.constant(null), fc.array(fc.oneof(call, customCall), { maxLength: 3 }))),
    function_call: sometimes(fc.oneof(fc.constant(null), fc.record({ name, arguments: text }))),
    annotations: sometimes(fc.oneof(fc.constant(null), fc.array(annotation, { maxLength: 2 }))),
    audio: sometimes(fc.oneof(fc.constant(null), fc.record({ id: name, data: text, transcript: text }))),
    executed_tools: sometimes(fc.array(fc.record({ index: fc.nat(3), type: name, arguments: text }), { maxLength: 2 })),
  })
  .map(withoutUndefined);

const choice = fc
  .tuple(
    fc.record({
      index: sometimes(fc.nat(2)),
      finish_reason: sometimes(
        fc.option(fc.constantFrom('stop', 'tool_calls', 'length', 'content_filter', 'function_call', 'eos')),
      ),
      logprobs: sometimes(
        fc.option(fc.record({ content: fc.option(fc.array(json, { maxLength: 2 })), refusal: fc.constant(null) })),
      ),
      content_filter_results: sometimes(json),
    }),
    fc.tuple(message, unknown).map(([known, more]) => ({ ...more, ...known })),
  )
  .map(([fields, said_]) => ({ ...withoutUndefined(fields), message: said_ }));

const completion = fc
  .tuple(
    fc.record({
      id: sometimes(fc.constantFrom('', 'chatcmpl-1')),
      object: sometimes(fc.constant('chat.completion')),
      created: sometimes(fc.constantFrom(0, 1_700_000_000)),
      model: sometimes(fc.constantFrom('', 'a-model')),
      usage: sometimes(
        fc.oneof(
          fc.constant(null),
          fc.record({
            prompt_tokens: fc.nat(),
            completion_tokens: fc.nat(),
            total_tokens: fc.nat(),
            queue_time: fc.double({ noNaN: true, noDefaultInfinity: true }),
          }),
        ),
      ),
      service_tier: sometimes(json),
      system_fingerprint: sometimes(fc.option(text)),
      x_groq: sometimes(fc.record({ id: text })),
    }),
    fc.array(choice, { minLength: 1, maxLength: 3 }),
    unknown,
  )
  .map(([fields, choices, more]): JsonObject => ({ ...more, ...withoutUndefined(fields), choices }));

describe('the chat wire', () => {
  it('restores every completion as the vendor sent it', () => {
    fc.assert(
      fc.property(completion, fc.constantFrom(...VENDORS), (body, vendor) => {
        const sent = JSON.parse(JSON.stringify(body)) as JsonObject;
        const response = fromChatCompletions(sent, chatResponseContext(vendor));
        expect(writeChatCompletions(JSON.parse(JSON.stringify(response)) as typeof response)).to.deep.equal(sent);
      }),
      RUNS,
    );
  });

  it('reads every recorded response the same when it is streamed in deltas of any size', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CHAT_RESPONSES), fc.integer({ min: 1, max: 40 }), (one, size) => {
        const body = JSON.parse(one.text) as JsonObject;
        const streamed = responseIn(decodeEvents(streamOf(...chunksOf(body, size)), responseContextFor(one)));
        const { fields: streamedFields, ...streamedVendor } = streamed.vendor;
        const { fields, ...vendor } = fromChatCompletions(body, responseContextFor(one)).vendor;
        expect({ ...streamed, vendor: streamedVendor }).to.deep.equal({
          ...fromChatCompletions(body, responseContextFor(one)),
          vendor,
        });
        // Only a call's index within the complete response can differ: it is not part of a chunk.
        expect(withoutNumbers(streamedFields)).to.deep.equal(withoutNumbers(fields));
      }),
      RUNS,
    );
  });

  it("sends every history within the vendor's schema, with each result right after its turn", () => {
    fc.assert(
      fc.property(
        fc.array(historyItem, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(...VENDORS),
        (items, vendor) => {
          const options = normalizeOptions({
            model: 'm',
            input: [{ role: 'user', content: 'hi' }, ...items],
            instructions: 'be brief',
            max_output_tokens: 9,
            stop: ['x'],
          });
          const { body } = toChatCompletions(options, chatContext(vendor), false);
          expect(chatViolations(vendor, body)).to.equal('');
          expectResults(body.messages as readonly JsonObject[]);
        },
      ),
      RUNS,
    );
  });

  it("restores a client's messages as it sent them", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(clientTurn, {
          minLength: 1,
          maxLength: 5,
          selector: (turn) => JSON.stringify(turn[1]?.tool_call_id ?? turn),
        }),
        (turns) => {
          const request = { model: 'm', messages: JSON.parse(JSON.stringify(turns.flat())) as JsonObject[] };
          const { stream: _, ...options } = readChatCompletionsRequest(request);
          const { body, losses } = toChatCompletions(
            normalizeOptions(options),
            chatContext('openai_compatible'),
            false,
          );
          expect(meaningOfChatRequest(body, quirksFor('openai_compatible'))).to.deep.equal(
            meaningOfChatRequest(request, quirksFor('openai_compatible')),
          );
          expect(losses).to.deep.equal([]);
        },
      ),
      RUNS,
    );
  });

  it('converts any JSON to a response or a typed error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          completion,
          completion.map((body) => ({ ...body, choices: [{ message: body }] })),
        ),
        (body) => {
          try {
            expect(fromChatCompletions(body, chatResponseContext()).object).to.equal('response');
          } catch (error) {
            expect(isLLMError(error), String(error)).to.equal(true);
          }
        },
      ),
      RUNS,
    );
  });

  it('reads any JSON as a request or reports the path of the problem', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.record({
            messages: fc.array(
              fc.oneof(
                fc.jsonValue(),
                fc.record({
                  role: fc.constantFrom('user', 'assistant', 'tool', 'function'),
                  content: fc.jsonValue(),
                  tool_calls: fc.jsonValue(),
                }),
              ),
            ),
            tools: fc.jsonValue(),
          }),
        ),
        (body) => {
          try {
            expect(readChatCompletionsRequest(body).input).to.be.an('array');
          } catch (error) {
            expect(isLLMError(error) && error.code, String(error)).to.equal('invalid-request');
          }
        },
      ),
      RUNS,
    );
  });

  it('converts an item of a growing history once', () => {
    const items = normalizeInput([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b' },
        ],
      },
    ]);
    const context = chatContext('openai');
    const [first] = toChatCompletions({ model: 'm', input: items }, context, false).body.messages as readonly unknown[];
    const [again] = toChatCompletions({ model: 'm', input: [...items, ...items] }, context, false).body
      .messages as readonly unknown[];
    expect(again).to.equal(first);
    const [elsewhere] = toChatCompletions({ model: 'm', input: items }, chatContext('groq'), false).body
      .messages as readonly unknown[];
    expect(elsewhere).not.to.equal(first);
  });
});

function withoutNumbers(fields: JsonObject | undefined): unknown {
  return JSON.parse(JSON.stringify(fields, (key, value: unknown) => (key === 'tool_calls' ? undefined : value)));
}

/** Items from any wire, including calls and results out of order. */
const id = fc.constantFrom('call_1', 'call_2', 'call_with_a_name_that_is_much_longer_than_forty_characters');
const historyItem: fc.Arbitrary<InputItem> = fc.oneof(
  text.map((content): InputItem => ({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: content }],
  })),
  fc.constant<InputItem>({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' }],
  }),
  fc.constant<InputItem>({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rule' }] }),
  text.map((content): InputItem => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: content, annotations: [] }],
  })),
  text.map((refusal): InputItem => ({ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal }] })),
  fc.record({ call_id: id, name }).map((fields): InputItem => ({ type: 'function_call', ...fields, arguments: '{}' })),
  fc.record({ call_id: id, output: text }).map((fields): InputItem => ({ type: 'function_call_output', ...fields })),
  id.map((call_id): InputItem => ({
    type: 'function_call_output',
    call_id,
    output: [
      { type: 'input_text', text: 'seen' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
    ],
  })),
  id.map((call_id): InputItem => ({ type: 'function_call_output', call_id, output: 'late', deferred: true })),
  fc.constant<InputItem>({
    type: 'reasoning',
    summary: [],
    encrypted_content: 'sealed',
    origin: { wire: 'responses', vendor: 'openai' },
  }),
);

function expectResults(messages: readonly JsonObject[]): void {
  let open: string[] = [];
  for (const one of messages) {
    if (one.role === 'tool') {
      expect(one.tool_call_id).to.equal(open.shift());
      continue;
    }
    expect(open, 'calls without a result').to.deep.equal([]);
    open = ((one.tool_calls ?? []) as readonly { readonly id: string }[]).map((called) => called.id);
  }
  expect(open, 'calls without a result').to.deep.equal([]);
}

const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('text'), text, cache_control: json }),
  fc.record({ type: fc.constant('image_url'), image_url: fc.record({ url: fc.constant('https://a.example/i.png') }) }),
  fc.record({
    type: fc.constant('image_url'),
    image_url: fc.record({ url: fc.constant('data:image/png;base64,AA=='), detail: fc.constant('low'), format: text }),
  }),
  fc.record({
    type: fc.constant('input_audio'),
    input_audio: fc.record({ data: fc.constant('AAAA'), format: fc.constantFrom('wav', 'mp3', 'flac') }),
  }),
  fc.record({ type: fc.constant('file'), file: fc.record({ file_id: name }) }),
  fc.record({ type: fc.constant('video_url'), video_url: fc.record({ url: text }) }),
);
const named = fc.constantFrom<JsonObject>({}, { name: 'bob' }, { name: null });

/** The messages of one side of the conversation before the other's turn, as clients write them. */
const clientTurn: fc.Arbitrary<readonly JsonObject[]> = fc.oneof(
  fc
    .tuple(fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 })), named)
    .map(([content, more]) => [{ role: 'user', content, ...more }]),
  fc.tuple(fc.constantFrom('system', 'user'), text).map(([role, content]) => [{ role, content }]),
  fc.tuple(text, named).map(([content, more]) => [{ role: 'assistant', content, ...more }]),
  fc
    .tuple(
      fc.constantFrom<JsonObject>(
        {},
        { content: null },
        { content: '' },
        { content: 'I look' },
        { content: 'I look', reasoning: 'hm' },
        { content: null, refusal: null, reasoning_content: 'hm' },
      ),
      fc.uuid(),
      text,
    )
    .map(([fields, call_id, content]) => [
      { role: 'assistant', ...fields, tool_calls: [calling(`${call_id}-1`), calling(`${call_id}-2`)] },
      { role: 'tool', tool_call_id: `${call_id}-1`, content },
      { role: 'tool', tool_call_id: `${call_id}-2`, content: [{ type: 'text', text: content }] },
    ]),
);

function calling(call_id: string): JsonObject {
  return { id: call_id, type: 'function', function: { name: 'look', arguments: '{"a":1}' } };
}

/**
 * Random sessions of valid Open Responses requests: every response, event and error must be valid, whatever the
 * requests and their order.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { checkEvents, eventsOfStream, expectValid } from '../support/openResponses';
import { openSocket } from '../support/responsesSocket';
import type { ResponsesSocketClient } from '../support/responsesSocket';
import { IS_SOAK } from '../support/soak';

const SESSIONS = IS_SOAK ? 600 : 25;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 2 ** 31);

const VENDORS = ['openai', 'anthropic', 'google', 'grok', 'groq', 'azure_openai', 'openai_compatible'] as const;
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { freq: 6 });
const texts = fc.constantFrom(
  'Hello.',
  'What is the weather in Paris?',
  'Give me a number 🦊 or two.',
  'Call a tool, please.',
  'Füge "Anführungszeichen" ein: \\ \n ok',
);

const inputText = texts.map((text) => ({ type: 'input_text', text }));
const userMessage = fc.record({
  type: fc.constant('message'),
  role: fc.constant('user'),
  content: fc.oneof(
    texts,
    fc.array(
      fc.oneof(
        { weight: 4, arbitrary: inputText },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            { type: 'input_image', image_url: PNG },
            { type: 'input_image', image_url: PNG, detail: 'low' },
          ),
        },
      ),
      { minLength: 1, maxLength: 3 },
    ),
  ),
});
const operatorMessage = fc.record({
  type: fc.constant('message'),
  role: fc.constantFrom('system', 'developer'),
  content: fc.oneof(texts, fc.array(inputText, { minLength: 1, maxLength: 2 })),
});
const assistantMessage = fc.record(
  {
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    content: fc.oneof(
      texts,
      fc.array(
        texts.map((text) => ({ type: 'output_text', text })),
        { minLength: 1, maxLength: 2 },
      ),
    ),
    phase: fc.constantFrom('commentary', 'final_answer'),
  },
  { requiredKeys: ['type', 'role', 'content'] },
);
const exchange = fc
  .tuple(fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom('a', 'b', 'c', '1', '2') }), texts)
  .map(([id, text]) => [
    { type: 'function_call', call_id: `call_${id}`, name: 'get_weather', arguments: '{"location":"Paris"}' },
    { type: 'function_call_output', call_id: `call_${id}`, output: text },
  ]);
const history = fc.array(
  fc.oneof(
    userMessage.map((item) => [item]),
    operatorMessage.map((item) => [item]),
    assistantMessage.map((item) => [item]),
    exchange,
  ),
  { maxLength: 4 },
);
const input = fc.oneof(
  texts,
  fc.tuple(history, userMessage).map(([items, last]) => [...items.flat(), last]),
);

const tool = (name: string): fc.Arbitrary<JsonObject> =>
  fc.record(
    {
      type: fc.constant('function'),
      name: fc.constant(name),
      description: nullable(fc.constant('Returns the weather.')),
      parameters: fc.constant({
        type: 'object',
        properties: { location: { type: 'string' } },
        required: ['location'],
        additionalProperties: false,
      }),
      strict: fc.boolean(),
    },
    { requiredKeys: ['type', 'name', 'parameters'] },
  );
const toolsAndChoice = fc.oneof(
  { weight: 2, arbitrary: fc.constant<JsonObject>({}) },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        tools: fc.tuple(tool('get_weather'), tool('get_time')),
        tool_choice: nullable<unknown>(
          fc.oneof(
            fc.constantFrom('auto', 'none', 'required'),
            fc.constant({ type: 'function', name: 'get_time' }),
            fc.record(
              {
                type: fc.constant('allowed_tools'),
                tools: fc.constant([{ type: 'function', name: 'get_weather' }]),
                mode: fc.constantFrom('auto', 'required', 'none'),
              },
              { requiredKeys: ['type', 'tools'] },
            ),
          ),
        ),
        parallel_tool_calls: nullable(fc.boolean()),
        max_tool_calls: nullable(fc.integer({ min: 1, max: 5 })),
      },
      { requiredKeys: ['tools'] },
    ),
  },
);

const format = fc.oneof(
  fc.constant({ type: 'text' }),
  fc.record(
    {
      type: fc.constant('json_schema'),
      name: fc.constant('answer'),
      schema: fc.constant({
        type: 'object',
        properties: { answer: { type: 'string' } },
        required: ['answer'],
        additionalProperties: false,
      }),
      strict: fc.boolean(),
      description: fc.constant('The answer.'),
    },
    { requiredKeys: ['type', 'name', 'schema', 'strict'] },
  ),
);
/** OpenAI's own API and xAI's lack these fields. */
const penalty = fc.oneof({ weight: 15, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(0.5) });
const options = fc.record(
  {
    instructions: nullable(texts),
    temperature: nullable(fc.constantFrom(0, 0.5, 1)),
    top_p: nullable(fc.constantFrom(0.1, 1)),
    presence_penalty: nullable(penalty),
    frequency_penalty: nullable(penalty),
    max_output_tokens: nullable(fc.integer({ min: 16, max: 2_000 })),
    metadata: nullable(
      fc.dictionary(
        fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'b', 'c', 'd') }),
        fc.string({ maxLength: 20, unit: 'grapheme' }),
        { maxKeys: 16 },
      ),
    ),
    safety_identifier: nullable(fc.constant('person-1')),
    prompt_cache_key: nullable(fc.constant('cache-1')),
    truncation: fc.constantFrom('auto', 'disabled'),
    service_tier: fc.constantFrom('auto', 'default'),
    text: nullable(fc.record({ format, verbosity: fc.constantFrom('low', 'medium', 'high') }, { requiredKeys: [] })),
    reasoning: nullable(
      fc.record(
        {
          effort: nullable(fc.constantFrom('low', 'medium', 'high')),
          summary: nullable(fc.constantFrom('auto', 'concise', 'detailed')),
        },
        { requiredKeys: [] },
      ),
    ),
    store: fc.boolean(),
    include: fc.constant(['reasoning.encrypted_content']),
  },
  { requiredKeys: [] },
);

const request = fc.record({
  fields: fc
    .tuple(fc.record({ input }), toolsAndChoice, options)
    .map((parts): JsonObject => Object.assign({}, ...parts) as JsonObject),
  vendor: fc.constantFrom(...VENDORS),
  form: fc.constantFrom('json', 'stream', 'socket'),
});
type AnyRequest = Parameters<Parameters<typeof request.map>[0]>[0];
/** Each request either starts a conversation or continues the last response with the outputs of its calls. */
const session = fc.array(fc.record({ request, continues: fc.boolean() }), { minLength: 1, maxLength: 5 });

describe('A session of valid requests', () => {
  let gateway: Gateway;
  const counts = { requests: 0, completed: 0, incomplete: 0, refused: 0, continued: 0, calls: 0 };
  before(async () => {
    gateway = await startGateway({ row: { defaultModel: 'some-model' } });
  });
  // The simulator compiles a vendor's schemas when it is asked first, which takes longer than all that follows.
  for (const vendor of VENDORS)
    before(async () => {
      const response = await gateway.request('/v1/responses', { model: vendor, input: 'Hi', stream: true });
      checkEvents(eventsOfStream(await response.text()));
    });
  after(() => gateway.close());

  it('receives only valid resources, events and errors', async () => {
    await fc.assert(
      fc.asyncProperty(session, async (turns) => {
        const socket = await openSocket({ url: gateway.url, token: TOKENS.ann });
        let last: JsonObject | undefined;
        for (const { request: next, continues } of turns)
          last = (await play(next, continues ? last : undefined, socket)) ?? last;
        await socket.close();
      }),
      { numRuns: SESSIONS, seed: SEED },
    );
    console.log(`      ${JSON.stringify({ seed: SEED, ...counts })}`);
    expect(gateway.unexpected).to.deep.equal([]);
    expect(counts.completed / counts.requests).to.be.greaterThan(0.8);
    for (const count of [counts.continued, counts.calls]) expect(count).to.be.greaterThan(0);
  });

  async function play(
    { fields, vendor, form }: AnyRequest,
    last: JsonObject | undefined,
    socket: ResponsesSocketClient,
  ): Promise<JsonObject | undefined> {
    const body = { ...fields, model: vendor, ...(last === undefined ? {} : continuation(last, fields)) };
    expectValid('create-response-body', body);
    counts.requests += 1;
    if (last !== undefined) counts.continued += 1;
    if (form === 'socket') {
      const turn = await socket.turn(body);
      return checked(turn.response, body, turn.error);
    }
    const httpResponse = await gateway.request('/v1/responses', form === 'stream' ? { ...body, stream: true } : body);
    const text = await httpResponse.text();
    if (httpResponse.status !== 200) {
      const error = JSON.parse(text) as { error: { message: string } };
      expectValid('error-response', error);
      return checked(undefined, body, error.error);
    }
    return checked(form === 'stream' ? checkEvents(eventsOfStream(text)) : (JSON.parse(text) as JsonObject), body);
  }

  function checked(
    response: JsonObject | undefined,
    body: JsonObject,
    error?: { readonly message: string },
  ): JsonObject | undefined {
    if (response === undefined) {
      counts.refused += 1;
      expect(error?.message, JSON.stringify(body)).to.match(EXPECTED_ERRORS);
      return undefined;
    }
    expectValid('response-resource', response);
    if (response['status'] === 'failed') return checked(undefined, body, response['error'] as { message: string });
    if (response['status'] === 'incomplete') counts.incomplete += 1;
    else {
      expect(response['status']).to.equal('completed');
      counts.completed += 1;
    }
    expect(response['previous_response_id']).to.equal(body['previous_response_id'] ?? null);
    expect(response['metadata']).to.deep.equal(body['metadata'] ?? {});
    counts.calls += callsIn(response).length;
    return body['store'] === false ? undefined : response;
  }
});

/**
 * Why a valid request may fail: required tools that can't be called together with a JSON response, and a vendor that
 * does not continue reasoning that was cut short.
 */
const EXPECTED_ERRORS =
  /without its required following item|must NOT have unevaluated properties|^The model made no tool call/;

function continuation(last: JsonObject, { input: requested }: JsonObject): JsonObject {
  const outputs = callsIn(last).map(({ call_id }) => ({
    type: 'function_call_output',
    call_id,
    output: '{"degrees":21}',
  }));
  const items =
    typeof requested === 'string'
      ? [{ type: 'message', role: 'user', content: requested }]
      : (requested as JsonObject[]);
  return { previous_response_id: last['id'], input: [...outputs, ...items] };
}

function callsIn(response: JsonObject): readonly JsonObject[] {
  return (response['output'] as readonly JsonObject[]).filter(({ type }) => type === 'function_call');
}

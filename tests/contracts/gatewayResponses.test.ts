/** The Responses API: continuation, validation, tool_choice, storage, background responses, compaction, WebSockets. */
import { expect } from 'chai';
import { DEFAULT_HTTP_LIMITS } from '../../imports/api/createHttpApi';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { checkEvents, eventsOfStream, expectValid } from '../support/openResponses';
import { openSocket } from '../support/responsesSocket';

type Body = JsonObject & {
  readonly id: string;
  readonly output: readonly JsonObject[];
  readonly error?: { readonly code: string; readonly message: string; readonly param: string | null };
};

const BOB = { headers: { authorization: `Bearer ${TOKENS.bob}` } };
const WEATHER = { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } };
const TIME = { type: 'function', name: 'get_time', parameters: { type: 'object', properties: {} } };

describe('The Responses API', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  async function create(body: JsonObject, init = {}): Promise<Body> {
    const response = await gateway.request('/v1/responses', body, init);
    return (await response.json()) as Body;
  }

  async function created(body: JsonObject): Promise<Body> {
    const response = await gateway.request('/v1/responses', body);
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    const resource = JSON.parse(text) as Body;
    expectValid('response-resource', resource);
    return resource;
  }

  async function streamed(body: JsonObject): Promise<Body> {
    const response = await gateway.request('/v1/responses', { ...body, stream: true });
    return checkEvents(eventsOfStream(await response.text())) as Body;
  }

  async function poll(id: string, until: string): Promise<Body> {
    for (;;) {
      const response = (await (await gateway.request(`/v1/responses/${id}`)).json()) as Body;
      expectValid('response-resource', response);
      if (response.status === until) return response;
      expect(response.status).to.be.oneOf(['queued', 'in_progress']);
    }
  }

  function lastSeen(): JsonObject {
    return gateway.simulator.requests.at(-1)!.body as JsonObject;
  }

  describe('continuing a previous response', () => {
    for (const model of ['anthropic', 'google', 'groq', 'openai_compatible']) {
      it(`sends the full conversation to ${model}, which stores no responses, once and in order`, async () => {
        gateway.simulator.enqueue({ text: 'I will.' }, { text: 'Cobalt.' }, { text: 'Blue.' });
        const first = await created({ model, input: 'Remember cobalt.', instructions: 'Be brief.' });
        const second = await streamed({ model, input: 'Which word?', previous_response_id: first.id });
        const third = await created({ model, input: 'Which colour?', previous_response_id: second.id });
        expect(third.previous_response_id).to.equal(second.id);
        const seen = JSON.stringify(lastSeen());
        const places = ['Remember cobalt.', 'I will.', 'Which word?', 'Cobalt.', 'Which colour?'].map((text) =>
          seen.indexOf(text),
        );
        expect(places).to.deep.equal([...places].sort((a, b) => a - b));
        expect(Math.min(...places)).to.be.greaterThan(-1);
        expect(seen.split('Remember cobalt.')).to.have.length(2);
        // Instructions apply only to their own request.
        expect(seen).not.to.include('Be brief.');
        expect(seen).not.to.include('_gw').and.not.to.include('previous_response_id');
      });
    }

    it('sends only the new input to OpenAI, which stores responses', async () => {
      const first = await created({ model: 'openai', input: 'Remember cobalt.' });
      const second = await created({ model: 'openai', input: 'Which word?', previous_response_id: first.id });
      expect(lastSeen()).to.include({ previous_response_id: first.id, store: true });
      expect(JSON.stringify(lastSeen())).not.to.include('cobalt');
      expect(second.previous_response_id).to.equal(first.id);
    });

    it('switches to another vendor and back', async () => {
      gateway.simulator.enqueue(
        { text: 'I will.', reasoning: 'They want me to remember.' },
        { text: 'Cobalt.' },
        { text: 'Blue.' },
      );
      const first = await created({ model: 'openai', input: 'Remember cobalt.' });
      const second = await created({ model: 'anthropic', input: 'Which word?', previous_response_id: first.id });
      expect(JSON.stringify(lastSeen())).to.include('Remember cobalt.').and.to.include('I will.');
      const response = await gateway.request('/v1/responses', {
        model: 'openai',
        input: 'Which colour?',
        previous_response_id: second.id,
        stream: true,
      });
      const events = eventsOfStream(await response.text());
      checkEvents(events);
      // OpenAI saw a new conversation. The client must see the continued one, from the first event on.
      for (const event of events)
        if (event['response'] !== undefined)
          expect(event['response'], event.type).to.include({ previous_response_id: second.id });
      expect(lastSeen()).not.to.have.property('previous_response_id');
      const seen = JSON.stringify(lastSeen());
      for (const text of ['Remember cobalt.', 'I will.', 'Which word?', 'Cobalt.', 'Which colour?'])
        expect(seen).to.include(text);
      expect(seen).not.to.include('_gw');
    });

    it('accepts the outputs of its calls', async () => {
      for (const model of ['openai', 'anthropic', 'google', 'groq']) {
        gateway.simulator.enqueue(
          { calls: [{ name: 'get_weather' }, { name: 'get_time' }] },
          { text: 'Sunny at noon.' },
        );
        const first = await created({ model, input: 'Weather and time?', tools: [WEATHER, TIME] });
        const outputs = first.output
          .filter(({ type }) => type === 'function_call')
          .map(({ call_id, name }) => ({ type: 'function_call_output', call_id, output: `${String(name)} output` }));
        expect(outputs).to.have.length(2);
        const second = await created({ model, input: outputs, tools: [WEATHER, TIME], previous_response_id: first.id });
        expect(JSON.stringify(second.output)).to.include('Sunny at noon.');
        expect(JSON.stringify(lastSeen())).to.include('get_weather output').and.to.include('get_time output');
      }
    });

    it('replaces a lone surrogate at which its text was cut', async () => {
      for (const model of ['openai', 'anthropic', 'google', 'groq']) {
        gateway.simulator.enqueue({ text: 'Foxes: \ud83e', incomplete: 'max_output_tokens' }, { text: 'All of them.' });
        const first = await created({ model: 'anthropic', input: 'Foxes?' });
        await created({ model, input: 'Go on.', previous_response_id: first.id });
        expect(JSON.stringify(lastSeen()), model).to.include('Foxes: \ufffd');
      }
    });

    it('resolves references to its items', async () => {
      for (const model of ['openai', 'anthropic']) {
        gateway.simulator.enqueue({ text: 'The word is cobalt.' }, { text: 'Cobalt.' });
        const first = await created({ model, input: 'Which word?' });
        const items = first.output.map(({ id }) => ({ type: 'item_reference', id }));
        await created({ model, input: [...items, { role: 'user', content: 'Again?' }] });
        const seen = JSON.stringify(lastSeen());
        expect(seen).to.include(model === 'openai' ? String(items[0]?.id) : 'The word is cobalt.');
      }
    });
  });

  describe('validation', () => {
    async function rejected(body: JsonObject, status = 400, init = {}): Promise<NonNullable<Body['error']>> {
      const requestsBefore = gateway.simulator.requests.length;
      const response = await gateway.request('/v1/responses', { model: 'openai', ...body }, init);
      const received = (await response.json()) as Body;
      expect(response.status, JSON.stringify(received)).to.equal(status);
      expectValid('error-response', received);
      expect(gateway.simulator.requests.length, 'no request was sent to a vendor').to.equal(requestsBefore);
      return received.error!;
    }

    it('rejects an unknown, unstored or deleted previous response with the same error', async () => {
      const unstored = await created({ model: 'openai', input: 'x', store: false });
      const deleted = await created({ model: 'anthropic', input: 'x' });
      await (await gateway.request(`/v1/responses/${deleted.id}`, undefined, { method: 'DELETE' })).text();
      for (const id of ['resp_unknown', unstored.id, deleted.id]) {
        const error = await rejected({ input: 'y', previous_response_id: id });
        expect(error).to.deep.equal({
          message: `Previous response with id '${id}' not found.`,
          type: 'invalid_request',
          param: 'previous_response_id',
          code: 'previous_response_not_found',
        });
      }
    });

    it("rejects another user's responses and items exactly like unknown ones, even under the vendor's ids", async () => {
      for (const model of ['openai', 'anthropic']) {
        const mine = await created({ model, input: 'A secret.' });
        const item = mine.output[0]!.id as string;
        const foreign = await rejected({ model, input: 'y', previous_response_id: mine.id }, 400, BOB);
        const unknown = await rejected({ model, input: 'y', previous_response_id: 'resp_unknown' }, 400, BOB);
        expect(foreign).to.deep.equal({ ...unknown, message: unknown.message.replace('resp_unknown', mine.id) });
        const [foreignItem, unknownItem] = [
          await rejected({ model, input: [{ type: 'item_reference', id: item }] }, 404, BOB),
          await rejected({ model, input: [{ type: 'item_reference', id: 'msg_unknown' }] }, 404, BOB),
        ];
        expect(foreignItem).to.deep.equal({
          ...unknownItem,
          message: unknownItem.message.replace('msg_unknown', item),
        });
        for (const method of ['GET', 'DELETE']) {
          const [theirs, none] = await Promise.all(
            [mine.id, 'resp_unknown'].map((id) =>
              gateway.request(`/v1/responses/${id}`, undefined, { method, ...BOB }),
            ),
          );
          expect([theirs!.status, none!.status]).to.deep.equal([404, 404]);
          expect((await theirs!.text()).replace(mine.id, 'resp_unknown')).to.equal(await none!.text());
        }
        expect((await gateway.request(`/v1/responses/${mine.id}`)).status).to.equal(200);
      }
    });

    it('rejects the output of a call that does not exist', async () => {
      const error = await rejected({
        input: [
          { role: 'user', content: 'x' },
          { type: 'function_call_output', call_id: 'call_unknown', output: '{}' },
        ],
      });
      expect(error).to.include({ param: 'input' });
      expect(error.message).to.include('call_unknown');
      const first = await created({ model: 'anthropic', input: 'x' });
      await rejected({
        model: 'anthropic',
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: 'call_unknown', output: '{}' }],
      });
      // The call must come first.
      await rejected({
        input: [
          { type: 'function_call_output', call_id: 'c', output: '{}' },
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        ],
      });
    });

    for (const [field, value] of [
      ['max_output_tokens', 15],
      ['max_output_tokens', 16.5],
      ['max_tool_calls', 0],
      ['top_logprobs', 21],
      ['top_logprobs', -1],
      ['temperature', 2.1],
      ['temperature', 'hot'],
      ['top_p', 1.01],
      ['presence_penalty', 3],
      ['frequency_penalty', -3],
      ['metadata', Object.fromEntries(Array.from({ length: 17 }, (_value, index) => [`k${index}`, 'v']))],
      ['metadata', { k: 'x'.repeat(513) }],
      ['metadata', { ['k'.repeat(65)]: 'v' }],
      ['metadata', { k: 1 }],
      ['metadata', []],
      ['safety_identifier', 'x'.repeat(65)],
      ['prompt_cache_key', 'x'.repeat(65)],
      ['truncation', 'sometimes'],
      ['stream', 'yes'],
      ['store', 1],
      ['background', 'yes'],
      ['parallel_tool_calls', 'yes'],
      ['include', 'everything'],
      ['service_tier', 7],
      ['input', 17],
      ['input', [17]],
      ['input', [{ type: 17 }]],
      ['tools', {}],
      ['tools', [{ type: 'function' }]],
      ['tools', [{ type: 'function', name: 'with blank' }]],
      ['tools', [{ type: 'function', name: 'x'.repeat(65) }]],
      ['tool_choice', 'perhaps'],
      ['tool_choice', { type: 'allowed_tools', tools: [] }],
      ['tool_choice', { type: 'function', name: 'not_offered' }],
      ['text', { format: { type: 'json_schema', name: 'x' } }],
      ['reasoning', 'hard'],
      ['model', 17],
      ['previous_response_id', 17],
    ] as const) {
      it(`rejects ${field} ${JSON.stringify(value).slice(0, 60)}, and names the field`, async () => {
        const body = { input: 'x', ...(field === 'tool_choice' ? { tools: [WEATHER] } : {}), [field]: value };
        expect((await rejected(body)).param).to.satisfy(
          (param: string | null) => param?.startsWith(field) === true,
          `starts with ${field}`,
        );
        // An invalid streaming request gets an ordinary error response.
        if (field !== 'stream') await rejected({ ...body, stream: true });
      });
    }

    it('rejects a stored prompt if the provider cannot resolve it', async () => {
      expect((await rejected({ model: 'anthropic', input: 'x', prompt: { id: 'pmpt_1' } })).param).to.equal('prompt');
    });
  });

  it('accepts more than the schema allows: messages without a type, its own output, and nulls', async () => {
    gateway.simulator.enqueue({ text: 'Hi.', reasoning: 'A greeting.' });
    const first = await created({
      model: 'openai_compatible',
      input: [{ role: 'user', content: 'Hello' }],
      tools: [{ ...WEATHER, strict: null, description: null }],
      reasoning: { effort: null },
      stream: null,
      store: null,
      metadata: null,
      text: null,
      include: null,
      background: null,
    });
    await created({
      model: 'openai_compatible',
      input: [{ role: 'user', content: 'Hello' }, ...first.output, { role: 'user', content: 'Again.' }],
    });
    expect(JSON.stringify(lastSeen())).to.include('Hi.');
  });

  it('repeats the request fields in the format of responses', async () => {
    const fields = {
      instructions: 'Be brief.',
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      max_tool_calls: 3,
      metadata: { k: 'v' },
      parallel_tool_calls: false,
      safety_identifier: 's',
      prompt_cache_key: 'p',
      service_tier: 'default',
      truncation: 'auto',
      top_logprobs: 2,
      presence_penalty: 0.5,
      frequency_penalty: 0.25,
    };
    const format = {
      type: 'json_schema',
      name: 'a',
      schema: { type: 'object', properties: {}, additionalProperties: false },
      strict: true,
    };
    const response = await created({
      model: 'groq/openai/gpt-oss-120b',
      input: 'x',
      ...fields,
      tools: [WEATHER],
      tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'get_weather' }] },
      text: { format, verbosity: 'low' },
      reasoning: { effort: 'low' },
    });
    expect(response).to.deep.include({
      ...fields,
      store: true,
      background: false,
      error: null,
      incomplete_details: null,
      tools: [{ ...WEATHER, description: null, strict: null }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'get_weather' }] },
      text: {
        verbosity: 'low',
        format: { type: 'json_schema', name: 'a', description: null, strict: true, schema: null },
      },
      reasoning: { effort: 'low', summary: null },
    });
    expect(lastSeen()).to.deep.include({ presence_penalty: 0.5, frequency_penalty: 0.25 });
  });

  it('reports penalties that a vendor of its own API lacks, instead of sending them to be refused', async () => {
    const body = { input: 'x', presence_penalty: 0.5, frequency_penalty: 0.25 };
    for (const [model, isSent] of [
      ['openai', false],
      ['azure_openai', false],
      ['anthropic', false],
      ['openai_compatible', true],
      ['google', false],
    ] as const) {
      const answer = await gateway.request('/v1/responses', { model, ...body });
      expect(answer.status, model).to.equal(200);
      const warnings = answer.headers.get('x-bolide-warnings') ?? '';
      expect(/presence_penalty.*frequency_penalty/.test(warnings), model).to.equal(!isSent);
      expect(/presence_?penalty":0.5/i.test(JSON.stringify(lastSeen())), model).to.equal(isSent);
      expect(await answer.json()).to.deep.include({ presence_penalty: 0.5, frequency_penalty: 0.25 });
    }
    const defaults = await gateway.request('/v1/responses', { model: 'openai', input: 'x', presence_penalty: 0 });
    expect(defaults.headers.get('x-bolide-warnings')).to.equal(null);
  });

  describe('enforcing tool_choice', () => {
    for (const [choice, called, allowed] of [
      ['none', 'get_weather', false],
      ['auto', 'get_time', true],
      ['required', 'get_time', true],
      [{ type: 'function', name: 'get_weather' }, 'get_time', false],
      [{ type: 'function', name: 'get_weather' }, 'get_weather', true],
      [{ type: 'allowed_tools', tools: [{ type: 'function', name: 'get_weather' }] }, 'get_time', false],
      [{ type: 'allowed_tools', tools: [{ type: 'function', name: 'get_weather' }] }, 'get_weather', true],
      [
        { type: 'allowed_tools', mode: 'none', tools: [{ type: 'function', name: 'get_weather' }] },
        'get_weather',
        false,
      ],
      ['required', undefined, false],
      [
        { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'get_weather' }] },
        undefined,
        false,
      ],
    ] as const) {
      it(`${allowed ? 'accepts' : 'rejects'} ${called ?? 'no call'} with ${JSON.stringify(choice)}, streamed or not`, async () => {
        for (const model of ['openai', 'anthropic', 'groq']) {
          const body = { model, input: 'x', tools: [WEATHER, TIME], tool_choice: choice };
          const turn = called === undefined ? { text: 'No.' } : { calls: [{ name: called }] };
          gateway.simulator.enqueue(turn, turn);
          const plain = await gateway.request('/v1/responses', body);
          const received = (await plain.json()) as Body;
          expect([plain.status, received.error?.code], JSON.stringify(received)).to.deep.equal(
            allowed ? [200, undefined] : [502, 'server_error'],
            model,
          );
          const response = await streamed(body);
          expect(response.status, model).to.equal(allowed ? 'completed' : 'failed');
          if (!allowed) expect(JSON.stringify(response.output)).not.to.include('function_call');
        }
      });
    }
  });

  describe('reporting failures', () => {
    /**
     * A request with everything that clients may send but responses must not repeat as is: tools without a description,
     * a format without a schema, and a previous response that the provider may not have stored.
     */
    async function continuationOf(first: string): Promise<JsonObject & { readonly previous_response_id: string }> {
      const { id } = await created({ model: first, input: 'Remember cobalt.' });
      return {
        model: 'openai',
        input: [user('x')],
        previous_response_id: id,
        tools: [WEATHER, TIME],
        reasoning: { effort: 'low' },
        text: {
          format: {
            type: 'json_schema',
            name: 'a',
            schema: { type: 'object', properties: {}, additionalProperties: false },
          },
        },
      };
    }

    const user = (text: string): JsonObject => ({ type: 'message', role: 'user', content: text });
    const required = {
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'get_time' }] },
    };

    for (const first of ['openai', 'anthropic']) {
      it(`sends a failed response if OpenAI violates tool_choice, after a response of ${first}`, async () => {
        const body = { ...(await continuationOf(first)), ...required };
        gateway.simulator.enqueue({ text: '{}' }, { text: '{}' }, { text: '{}' });
        const failed = await streamed(body);
        expect(failed).to.deep.include({
          status: 'failed',
          previous_response_id: body.previous_response_id,
          tools: [WEATHER, TIME].map((tool) => ({ ...tool, description: null, strict: null })),
        });
        expect(failed.error?.message).to.match(/^The model made no tool call/);
        const plain = await gateway.request('/v1/responses', body);
        expect(plain.status).to.equal(502);
        expectValid('error-response', await plain.json());
        const socket = await openSocket({ url: gateway.url, token: TOKENS.ann });
        expect((await socket.turn(body)).error?.message).to.match(/^The model made no tool call/);
        await socket.close();
      });

      it(`forwards a failure that OpenAI reports itself, after a response of ${first}`, async () => {
        const body = await continuationOf(first);
        const reply = { text: 'partial', failed: { message: 'The GPU is on fire.' } };
        gateway.simulator.enqueue(reply, reply, reply, reply);
        const expected = {
          status: 'failed',
          previous_response_id: body.previous_response_id,
          error: { code: 'server_error', message: 'The GPU is on fire.' },
        };
        const fromStream = await streamed(body);
        expect(fromStream).to.deep.include(expected);
        expect(await (await gateway.request(`/v1/responses/${fromStream.id}`)).json()).to.deep.equal(fromStream);
        const plain = await created(body);
        expect(plain).to.deep.include(expected);
        expect(await (await gateway.request(`/v1/responses/${plain.id}`)).json()).to.deep.equal(plain);
        const { id } = await created({ ...body, background: true });
        const background = await poll(id, 'failed');
        expectValid('response-resource', background);
        expect(background).to.deep.include(expected);
        const socket = await openSocket({ url: gateway.url, token: TOKENS.ann });
        expect((await socket.turn(body)).error?.message).to.equal('The GPU is on fire.');
        await socket.close();
      });
    }
  });

  describe('retrieving and deleting', () => {
    for (const model of ['openai', 'anthropic', 'grok']) {
      it(`returns a response of ${model} exactly as it was created, until it is deleted`, async () => {
        const plain = await created({ model, input: 'x', metadata: { k: 'v' } });
        expect(await (await gateway.request(`/v1/responses/${plain.id}`)).json()).to.deep.equal(plain);
        const fromStream = await streamed({ model, input: 'x' });
        expect(await (await gateway.request(`/v1/responses/${fromStream.id}`)).json()).to.deep.equal(fromStream);
        const gone = await gateway.request(`/v1/responses/${plain.id}`, undefined, { method: 'DELETE' });
        expect(await gone.json()).to.deep.equal({ id: plain.id, object: 'response', deleted: true });
        const upstream = gateway.simulator.requests.filter(
          ({ method, path }) => method === 'DELETE' && path.endsWith(plain.id),
        );
        expect(upstream).to.have.length(model === 'anthropic' ? 0 : 1);
        expect((await gateway.request(`/v1/responses/${plain.id}`)).status).to.equal(404);
        expect((await gateway.request(`/v1/responses/${plain.id}`, undefined, { method: 'DELETE' })).status).to.equal(
          404,
        );
      });
    }

    it('rejects streaming a response without events, but ignores stream=false', async () => {
      const { id } = await created({ model: 'openai', input: 'x' });
      const response = await gateway.request(`/v1/responses/${id}?stream=true`);
      expect([response.status, ((await response.json()) as Body).error?.param]).to.deep.equal([400, 'stream']);
      expect((await gateway.request(`/v1/responses/${id}?stream=false&include[]=x`)).status).to.equal(200);
    });

    it('requires the scope generate to delete and the scope read to retrieve', async () => {
      const { id } = await created({ model: 'openai', input: 'x' });
      const reader = { headers: { authorization: `Bearer ${TOKENS.reader}` } };
      const generator = { headers: { authorization: `Bearer ${TOKENS.generator}` } };
      expect(
        (await gateway.request(`/v1/responses/${id}`, undefined, { method: 'DELETE', ...reader })).status,
      ).to.equal(403);
      expect((await gateway.request(`/v1/responses/${id}`, undefined, generator)).status).to.equal(403);
    });
  });

  describe('background responses', () => {
    for (const model of ['openai', 'anthropic']) {
      it(`generates a response of ${model} that can be retrieved and continued`, async () => {
        const queued = await created({ model, input: 'Repeat cobalt.', background: true });
        expect(queued).to.include({ status: 'queued', background: true, completed_at: null, usage: null });
        const finished = await poll(queued.id, 'completed');
        expect(finished.id).to.equal(queued.id);
        expect(finished.background).to.equal(true);
        expect(finished.output).to.have.length.greaterThan(0);
        expect(lastSeen()).not.to.have.property('background');
        const next = await created({ model, input: 'Again?', previous_response_id: queued.id });
        expect(next.previous_response_id).to.equal(queued.id);
        expect(JSON.stringify(lastSeen())).to.include('Repeat cobalt.');
        const cancelled = await gateway.request(`/v1/responses/${queued.id}/cancel`, {});
        expect(((await cancelled.json()) as Body).status).to.equal('completed');
      });
    }

    it('can be cancelled only by their user, which aborts the upstream request', async () => {
      gateway.simulator.enqueue({ fault: { kind: 'stall', after: 'nothing' } });
      const aborted = gateway.simulator.nextAbort();
      const { id } = await created({ model: 'anthropic', input: 'x', background: true });
      await gateway.simulator.nextRequest();
      expect(
        (await gateway.request(`/v1/responses/${id}/cancel`, undefined, { method: 'POST', ...BOB })).status,
      ).to.equal(404);
      expect((await create({ model: 'anthropic', input: 'y', previous_response_id: id })).error?.message).to.include(
        'not finished',
      );
      const cancelled = await gateway.request(`/v1/responses/${id}/cancel`, undefined, { method: 'POST' });
      const body = (await cancelled.json()) as Body;
      expectValid('response-resource', body);
      expect(body.status).to.equal('cancelled');
      expect(await aborted).to.include({ aborted: true });
      expect((await poll(id, 'cancelled')).id).to.equal(id);
    });

    it('store a failure as the response', async () => {
      gateway.simulator.enqueue({
        status: 400,
        body: { error: { message: 'That is wrong.', type: 'invalid_request_error' } },
      });
      const { id } = await created({ model: 'openai', input: 'x', background: true });
      const failed = await poll(id, 'failed');
      expect(failed.error).to.deep.equal({ code: 'invalid_request', message: 'That is wrong.' });
    });

    it('finish before the server closes', async () => {
      gateway.simulator.enqueue({ text: 'x'.repeat(500), fault: { kind: 'slow', chunkBytes: 32, delayMs: 1 } });
      const { id } = await created({ model: 'anthropic', input: 'x', background: true });
      await gateway.api.close();
      expect((await gateway.module.responses.find('ann', id))?.body?.['status']).to.equal('completed');
    });

    it('must be stored, and are the only ones that can be cancelled', async () => {
      expect((await create({ model: 'openai', input: 'x', background: true, store: false })).error?.param).to.equal(
        'store',
      );
      const { id } = await created({ model: 'openai', input: 'x' });
      expect((await gateway.request(`/v1/responses/${id}/cancel`, undefined, { method: 'POST' })).status).to.equal(400);
      expect(
        (await gateway.request('/v1/responses/resp_unknown/cancel', undefined, { method: 'POST' })).status,
      ).to.equal(404);
    });
  });

  describe('compaction', () => {
    async function compact(body: JsonObject, init = {}): Promise<Body> {
      const response = await gateway.request('/v1/responses/compact', body, init);
      const compacted = (await response.json()) as Body;
      if (response.status === 200) expectValid('compact-resource', compacted);
      return compacted;
    }
    const CONVERSATION = [
      { role: 'user', content: 'We launch on Tuesday.' },
      { role: 'assistant', content: 'Noted.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'And this?' },
          { type: 'input_image', image_url: 'https://example.com/a.png' },
        ],
      },
    ];

    it('replaces a conversation with an encrypted summary and the messages without a response', async () => {
      for (const model of ['openai', 'anthropic', 'google', 'groq']) {
        gateway.simulator.enqueue({ text: 'Launch: Tuesday.', usage: { input: 50, output: 5 } });
        const compacted = await compact({ model, input: CONVERSATION });
        expect(compacted.output.map(({ type }) => type)).to.deep.equal(['compaction', 'message']);
        expect(compacted.output[1]).to.deep.include({
          role: 'user',
          status: 'completed',
          content: [
            { type: 'input_text', text: 'And this?' },
            { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
          ],
        });
        expect(compacted.usage).to.include({ input_tokens: 50, output_tokens: 5 });
        expect(JSON.stringify(compacted)).not.to.include('Launch: Tuesday.');
        const seen = JSON.stringify(lastSeen());
        expect(seen).to.include('We launch on Tuesday.').and.to.include('Noted.').and.not.to.include('And this?');
      }
    });

    it('creates a summary that every vendor can continue from, for its user only', async () => {
      gateway.simulator.enqueue({ text: 'Launch: Tuesday.' });
      const { output } = await compact({ model: 'anthropic', input: CONVERSATION.slice(0, 2) });
      for (const model of ['openai', 'anthropic', 'google', 'groq']) {
        await created({ model, input: [...output, { role: 'user', content: 'When?' }] });
        expect(JSON.stringify(lastSeen())).to.include('Launch: Tuesday.').and.not.to.include('bolide.c1');
      }
      const theirs = await gateway.request(
        '/v1/responses',
        { model: 'openai', input: [...output, { role: 'user', content: 'When?' }] },
        BOB,
      );
      expect(theirs.status).to.equal(400);
      expect(((await theirs.json()) as Body).error).to.include({ param: 'input[0].encrypted_content' });
    });

    it('rejects an altered summary', async () => {
      gateway.simulator.enqueue({ text: 'Launch: Tuesday.' });
      const { output } = await compact({ model: 'anthropic', input: CONVERSATION.slice(0, 2) });
      const sealed = String(output[0]!.encrypted_content);
      const middle = Math.floor(sealed.length / 2);
      for (const changed of [
        sealed.slice(0, -4),
        `${sealed.slice(0, middle)}${sealed[middle] === 'A' ? 'B' : 'A'}${sealed.slice(middle + 1)}`,
        'bolide.c1.',
        'bolide.c1.AAAA',
      ]) {
        const response = await gateway.request('/v1/responses', {
          model: 'openai',
          input: [
            { ...output[0], encrypted_content: changed },
            { role: 'user', content: 'When?' },
          ],
        });
        expect(response.status, changed).to.equal(400);
        await response.text();
      }
    });

    it('compacts stored conversations and earlier summaries', async () => {
      gateway.simulator.enqueue({ text: 'Noted.' }, { text: 'Launch: Tuesday.' }, { text: 'Still: Tuesday.' });
      const first = await created({ model: 'google', input: 'We launch on Tuesday.' });
      const { output } = await compact({ model: 'google', previous_response_id: first.id });
      expect(JSON.stringify(lastSeen())).to.include('We launch on Tuesday.');
      await compact({ model: 'google', input: [...output, { role: 'assistant', content: 'Yes.' }] });
      expect(JSON.stringify(lastSeen())).to.include('Launch: Tuesday.');
    });

    it('rejects an empty conversation, a missing model and an incomplete summary', async () => {
      expect((await compact({ model: 'openai', input: [] })).error?.param).to.equal('input');
      expect((await compact({ input: 'x' })).error?.param).to.equal('model');
      expect((await compact({ model: 'openai', previous_response_id: 'resp_unknown' })).error?.code).to.equal(
        'previous_response_not_found',
      );
      gateway.simulator.enqueue({ text: 'Launch', incomplete: 'max_output_tokens' });
      expect((await compact({ model: 'anthropic', input: 'x' })).error?.message).to.match(/no complete summary/);
    });
  });

  describe('over a WebSocket', () => {
    const ANN = (): { url: string; token: string } => ({ url: gateway.url, token: TOKENS.ann });
    const user = (content: string): JsonObject => ({ type: 'message', role: 'user', content });

    it('accepts connections with the scope generate, and only on its own path', async () => {
      const refusals: readonly (readonly [token: string, message: RegExp])[] = [
        ['wrong', /401/],
        [TOKENS.reader, /403/],
      ];
      for (const [token, message] of refusals) {
        const error = await openSocket({ url: gateway.url, token }).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(String(error)).to.match(message);
      }
      for (const path of ['/', '/v1/chat/completions', '/websocket', '/sockjs/1/2/websocket', '/v1/responses/x']) {
        expect(
          gateway.api.handleUpgrade(
            { url: path, method: 'GET', headers: {} } as never,
            undefined as never,
            Buffer.alloc(0),
          ),
          path,
        ).to.equal(false);
      }
    });

    it('continues its latest response, stored or not, with the full conversation', async () => {
      for (const model of ['openai', 'anthropic']) {
        const socket = await openSocket(ANN());
        let previous: unknown;
        for (const text of ['first', 'second', 'third']) {
          const turn = await socket.turn({
            model,
            store: false,
            input: [user(text)],
            ...(previous === undefined ? {} : { previous_response_id: previous }),
          });
          previous = turn.response?.['id'];
        }
        const seen = JSON.stringify(lastSeen());
        for (const text of ['first', 'second', 'third']) expect(seen).to.include(text);
        await socket.close();
      }
    });

    it('forgets responses before the latest, unless they are stored', async () => {
      const socket = await openSocket(ANN());
      const first = await socket.turn({ model: 'anthropic', store: false, input: [user('x')] });
      const second = await socket.turn({ model: 'anthropic', store: true, input: [user('x')] });
      await socket.turn({ model: 'anthropic', store: false, input: [user('x')] });
      expect(
        (await socket.turn({ model: 'anthropic', previous_response_id: first.response?.['id'], input: [user('x')] }))
          .error?.code,
      ).to.equal('previous_response_not_found');
      expect(
        (await socket.turn({ model: 'anthropic', previous_response_id: second.response?.['id'], input: [user('x')] }))
          .response?.['status'],
      ).to.equal('completed');
      await socket.close();
    });

    it('handles requests one after another, however fast they arrive', async () => {
      const socket = await openSocket(ANN());
      const turns = 12;
      for (let turn = 0; turn < turns; turn += 1)
        socket.socket.send(
          JSON.stringify({
            type: 'response.create',
            model: turn % 2 === 0 ? 'openai' : 'google',
            store: false,
            input: `turn ${turn}`,
          }),
        );
      let open = false;
      for (let ended = 0; ended < turns;) {
        const { type } = await socket.next();
        if (type === 'response.created') {
          expect(open).to.equal(false);
          open = true;
        }
        if (type === 'response.completed') {
          expect(open).to.equal(true);
          open = false;
          ended += 1;
        }
      }
      expect(gateway.simulator.requests.filter(({ wire }) => wire !== undefined)).to.have.length(turns);
      await socket.close();
    });

    it('reports each error in one message, and stays open', async () => {
      const socket = await openSocket(ANN());
      for (const invalid of [
        'not json',
        '[]',
        '{}',
        '{"type":"response.cancel"}',
        '{"type":"response.create","model":"unknown","input":"x"}',
        '{"type":"response.create","model":"openai","input":"x","background":true}',
        `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      ]) {
        socket.socket.send(invalid);
        const message = await socket.next();
        expectValid('websocket-error-event', message);
        expect(message['status'], invalid).to.be.oneOf([400, 404]);
      }
      socket.socket.send(Buffer.from('{}'));
      expect((await socket.next())['type']).to.equal('error');
      for (const fault of [{ kind: 'reset', after: { events: 4 } }, { kind: 'html' }] as const) {
        gateway.simulator.enqueue({ text: 'one two three four five six seven', fault });
        const turn = await socket.turn({ model: 'anthropic', input: [user('x')] });
        expect(turn.error, JSON.stringify(turn)).not.to.equal(undefined);
        expect(turn.events.some(({ type }) => type === 'response.failed')).to.equal(false);
      }
      expect((await socket.turn({ model: 'anthropic', input: [user('x')] })).response?.['status']).to.equal(
        'completed',
      );
      await socket.close();
    });

    it('closes after a message that is too large', async () => {
      const socket = await openSocket(ANN());
      const closed = new Promise<number>((resolve) => socket.socket.once('close', (code: number) => resolve(code)));
      socket.socket.send(`{"type":"response.create","input":"${'x'.repeat(DEFAULT_HTTP_LIMITS.maxBodyBytes)}"}`);
      expect(await closed).to.equal(1009);
    });
  });
});

describe('A WebSocket that reaches its maximum connection time', () => {
  it('receives an error and is closed', async () => {
    const gateway = await startGateway({ api: { limits: { maxConnectionTime: 30 } } });
    const socket = await openSocket({ url: gateway.url, token: TOKENS.ann });
    const closed = new Promise<number>((resolve) => socket.socket.once('close', (code: number) => resolve(code)));
    const message = await socket.next();
    expectValid('websocket-error-event', message);
    expect((message['error'] as JsonObject)['code']).to.equal('websocket_connection_limit_reached');
    expect(await closed).to.equal(1001);
    await gateway.close();
  });
});

describe('A provider that the caller may not use', () => {
  it('is hidden under every name', async () => {
    const gateway = await startGateway({
      api: {
        access: {
          decide: async ({ userId }, { providerId }) =>
            userId === 'ann' || providerId === 'google'
              ? { allowed: true }
              : { allowed: false, reason: 'Only ann may use it.' },
        },
      },
    });
    for (const model of ['openai', 'openai/gpt-5', 'gpt-5-mini', 'claude-sonnet-4-5']) {
      const response = await gateway.request('/v1/responses', { model, input: 'x' }, BOB);
      // Bob sees only the provider for Gemini, which gets these requests if no other provider can be meant.
      expect([404, 200]).to.include(response.status);
      if (response.status === 200) expect(gateway.simulator.requests.at(-1)?.vendor).to.equal('google');
      else
        expect(await response.text())
          .not.to.include("'openai")
          .and.not.to.include("'anthropic");
    }
    const listed = (await (await gateway.request('/v1/models', undefined, BOB)).json()) as { data: { id: string }[] };
    const listedProviders = new Set(listed.data.map(({ id }) => id.split('/')[0]));
    expect([...listedProviders]).to.deep.equal(['google']);
    expect((await gateway.request('/v1/responses', { model: 'openai', input: 'x' })).status).to.equal(200);
    await gateway.close();
  });
});

describe('A background response whose store fails', () => {
  it('is lost without affecting anything else', async () => {
    const gateway = await startGateway();
    const { responses } = gateway.module;
    const save = responses.save.bind(responses);
    let saves = 0;
    responses.save = (stored) => {
      saves += 1;
      return saves === 1 ? save(stored) : Promise.reject(new Error('the disk is full'));
    };
    const response = await gateway.request('/v1/responses', { model: 'openai', input: 'x', background: true });
    const { id } = (await response.json()) as Body;
    await gateway.api.close();
    expect(gateway.unexpected.map((error) => (error as Error).message)).to.deep.equal([
      'the disk is full',
      'the disk is full',
    ]);
    expect((await responses.find('ann', id))?.response.status).to.equal('queued');
    await gateway.close();
  });
});

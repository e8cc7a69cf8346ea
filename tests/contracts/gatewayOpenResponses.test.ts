/**
 * The published compliance tests of Open Responses, reimplemented and run against the server with every vendor behind
 * it. Titles are the published test ids.
 */
import { expect } from 'chai';
import type { JsonObject, VendorName } from '../../imports/business/ai/domain/types/VendorTypes';
import { checkEvents, eventsOfStream, expectValid } from '../support/openResponses';
import { openSocket } from '../support/responsesSocket';
import { startSimulatedServer } from '../support/startSimulatedServer';
import type { SimulatedServer } from '../support/startSimulatedServer';

const user = (text: string): JsonObject => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const assistant = (text: string, more: JsonObject = {}): JsonObject => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
  ...more,
});

const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather at a place.',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string', description: 'City and state' } },
    required: ['location'],
  },
};

/** One red pixel. */
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

const MODELS: Readonly<Record<VendorName, string>> = {
  openai: 'gpt-4o-mini',
  azure_openai: 'azure_openai/gpt-5-mini',
  anthropic: 'anthropic/claude-sonnet-4-5',
  google: 'google/gemini-2.5-flash',
  grok: 'grok/grok-4',
  groq: 'groq/llama-3.3-70b-versatile',
  llama: 'llama/llama',
  openai_compatible: 'openai_compatible/some-model',
};

for (const [vendor, model] of Object.entries(MODELS)) {
  describe(`Open Responses with ${model} behind it`, () => {
    let server: SimulatedServer;
    before(async () => {
      server = await startSimulatedServer({ BOLIDE_API_TOKEN: 'a-token-for-tests-of-requests' });
      // The only vendor without environment variables.
      if (vendor === 'openai_compatible')
        await server.host.providers.service.create({
          providerId: vendor,
          name: vendor,
          vendor,
          baseURL: server.simulator.baseURL(vendor),
          auth: { kind: 'api_key' },
          apiKey: 'simulated',
          access: 'everyone',
          defaultModel: 'some-model',
        });
    });
    after(() => server.close());

    function post(path: string, body: JsonObject): Promise<Response> {
      return fetch(`${server.url}/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}` },
        body: JSON.stringify(body),
      });
    }

    /** Creates a response, and expects it to be valid, completed and with output. */
    async function create(body: JsonObject): Promise<JsonObject & { readonly output: readonly JsonObject[] }> {
      const httpResponse = await post('/responses', { model, ...body });
      const text = await httpResponse.text();
      expect(httpResponse.status, text).to.equal(200);
      expect(httpResponse.headers.get('content-type')).to.include('application/json');
      const response = JSON.parse(text) as JsonObject & { readonly output: readonly JsonObject[] };
      expectValid('response-resource', response);
      expect(response.status).to.equal('completed');
      expect(response.output).not.to.deep.equal([]);
      return response;
    }

    async function compact(body: JsonObject): Promise<JsonObject & { readonly output: readonly JsonObject[] }> {
      const httpResponse = await post('/responses/compact', { model, ...body });
      const text = await httpResponse.text();
      expect(httpResponse.status, text).to.equal(200);
      return JSON.parse(text) as JsonObject & { readonly output: readonly JsonObject[] };
    }

    it('basic-response', async () => {
      await create({ input: [user('Greet me briefly.')] });
    });

    it('assistant-phase', async () => {
      await create({
        input: [
          assistant('I should answer with the saved number.', { phase: 'commentary' }),
          assistant('The number is four.', { phase: 'final_answer' }),
          user('Repeat only the number.'),
        ],
      });
    });

    it('streaming-response', async () => {
      const httpResponse = await post('/responses', { model, stream: true, input: [user('Count from 1 to 5.')] });
      expect(httpResponse.headers.get('content-type')).to.include('text/event-stream');
      const response = checkEvents(eventsOfStream(await httpResponse.text()));
      expectValid('response-resource', response);
      expect(response.status).to.equal('completed');
    });

    it('system-prompt', async () => {
      await create({
        input: [
          {
            type: 'message',
            role: 'system',
            content: [{ type: 'input_text', text: 'You are a pirate. Always respond in pirate speak.' }],
          },
          user('Greet me.'),
        ],
      });
    });

    it('tool-calling', async () => {
      const { output } = await create({ input: [user("What's the weather like in San Francisco?")], tools: [WEATHER] });
      expect(output.map(({ type }) => type)).to.include('function_call');
    });

    it('tool-calling-streaming', async () => {
      const httpResponse = await post('/responses', {
        model,
        stream: true,
        input: [user("What's the weather like in San Francisco?")],
        tools: [WEATHER],
      });
      const events = eventsOfStream(await httpResponse.text());
      checkEvents(events);
      for (const type of [
        'response.output_item.added',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done',
      ]) {
        expect(events.map((event) => event.type)).to.include(type);
      }
    });

    it('image-input', async () => {
      await create({
        input: [
          {
            type: 'message',
            role: 'user',
            content: [
              { type: 'input_text', text: 'What do you see in this image? Answer in one sentence.' },
              { type: 'input_image', image_url: PNG },
            ],
          },
        ],
      });
    });

    it('multi-turn', async () => {
      await create({
        input: [
          user('My name is Alice.'),
          assistant('Hello Alice! Nice to meet you. How can I help you today?'),
          user('What is my name?'),
        ],
      });
    });

    it('previous-response-id', async () => {
      const first = await create({ input: [user('My name is Alice.')] });
      const second = await create({ input: [user('What is my name?')], previous_response_id: first.id });
      expect(second.previous_response_id).to.equal(first.id);
    });

    it('function-call-roundtrip', async () => {
      const first = await create({
        input: [user('What is the weather in Paris?')],
        tools: [WEATHER],
        tool_choice: { type: 'function', name: 'get_weather' },
      });
      const call = first.output.find(({ type }) => type === 'function_call')!;
      await create({
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: call.call_id, output: '{"degrees": 21}' }],
      });
    });

    it('compact-response', async () => {
      const compacted = await compact({
        prompt_cache_key: 'openresponses-compact-test',
        input: [
          user('We agreed to launch on Tuesday and notify support first.'),
          assistant('Understood. The launch is Tuesday, with support notified beforehand.'),
        ],
      });
      expectValid('compact-resource', compacted);
      expect(compacted.object).to.equal('response.compaction');
      expect(compacted.output.map(({ type }) => type)).to.include('compaction');
    });

    it('compact-missing-model', async () => {
      const httpResponse = await post('/responses/compact', { input: [user('We agreed to launch on Tuesday.')] });
      expect(httpResponse.status).to.be.oneOf([400, 422]);
      expectValid('error-response', await httpResponse.json());
    });

    describe('over a WebSocket', () => {
      it('websocket-response', async () => {
        const socket = await openSocket(server);
        const turn = await socket.turn({ model, input: [user('Count from 1 to 3.')] });
        expect(turn.events.length).to.be.greaterThan(0);
        expect(turn.response?.status).to.equal('completed');
        await socket.close();
      });

      it('websocket-sequential-responses', async () => {
        const socket = await openSocket(server);
        for (const word of ['first', 'second']) {
          const turn = await socket.turn({ model, store: false, input: [user(`Reply with exactly: ${word}`)] });
          expect(turn.response?.status).to.equal('completed');
        }
        await socket.close();
      });

      it('websocket-continuation', async () => {
        const socket = await openSocket(server);
        const first = await socket.turn({
          model,
          store: false,
          input: [user('Remember the code word: cobalt. Reply with OK.')],
        });
        const second = await socket.turn({
          model,
          store: false,
          previous_response_id: first.response?.id,
          input: [user('What is the code word? Reply with only the code word.')],
        });
        expect(second.response?.status).to.equal('completed');
        await socket.close();
      });

      it('websocket-reconnect-store-false-recovery', async () => {
        const first = await openSocket(server);
        const { response } = await first.turn({ model, store: false, input: [user('Remember cobalt.')] });
        await first.close();
        const second = await openSocket(server);
        expect(
          (await second.turn({ model, store: false, previous_response_id: response?.id, input: [user('Which word?')] }))
            .error?.code,
        ).to.equal('previous_response_not_found');
        expect((await second.turn({ model, store: false, input: [user('Start again.')] })).response?.status).to.equal(
          'completed',
        );
        await second.close();
      });

      it('websocket-previous-response-not-found', async () => {
        const socket = await openSocket(server);
        const turn = await socket.turn({
          model,
          store: false,
          previous_response_id: 'resp_openresponses_missing',
          input: [user('Hello?')],
        });
        expect(turn.error?.code).to.equal('previous_response_not_found');
        await socket.close();
      });

      it('websocket-failed-continuation-evicts-cache', async () => {
        const socket = await openSocket(server);
        const { response } = await socket.turn({ model, store: false, input: [user('Remember cobalt.')] });
        const orphan = { type: 'function_call_output', call_id: 'call_openresponses_missing', output: '{}' };
        const failed = await socket.turn({ model, store: false, previous_response_id: response?.id, input: [orphan] });
        expect(failed.error).not.to.equal(undefined);
        const again = await socket.turn({
          model,
          store: false,
          previous_response_id: response?.id,
          input: [user('Which word?')],
        });
        expect(again.error?.code).to.equal('previous_response_not_found');
        await socket.close();
      });

      it('websocket-compact-new-chain', async () => {
        const { output } = await compact({
          input: [user('We launch on Tuesday.'), assistant('Understood.'), user('Inform support first.')],
        });
        const socket = await openSocket(server);
        const turn = await socket.turn({
          model,
          store: false,
          tools: [],
          input: [...output, user('When do we launch?')],
        });
        expect(turn.response?.status).to.equal('completed');
        await socket.close();
      });
    });
  });
}

describe('A published example', () => {
  it('response-output-phase-schema: two messages with phases are a valid output', () => {
    for (const phase of ['commentary', 'final_answer']) {
      expectValid('item-field', {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        phase,
        content: [{ type: 'output_text', text: 'x', annotations: [], logprobs: [] }],
      });
    }
  });
});

import { expect } from 'chai';
import type { OpenAIChunk } from '../../../imports/business/ai/infrastructure/converters/chat/stream/OpenAIChunk';
import { streamWithBufferedFunctions } from '../../../imports/business/ai/infrastructure/streaming/streamWithBufferedFunctions';
import type { BufferedStreamOptions } from '../../../imports/business/ai/infrastructure/streaming/streamWithBufferedFunctions';
import type { JsonObject, ServedScheme } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { eventsIn } from '../../support/streamGrammar';

const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
const QUESTION = 'What is the weather in Lisbon, and what is the time there?';

/** One raw streaming request for each scheme. */
const REQUESTS: Readonly<
  Record<ServedScheme, { readonly path: string; readonly key: string; readonly body: JsonObject }>
> = {
  openai: {
    path: '/openai/v1/chat/completions',
    key: 'authorization',
    body: {
      model: 'gpt-4.1-mini',
      stream: true,
      messages: [{ role: 'user', content: QUESTION }],
      tools: ['get_weather', 'get_time'].map((name) => ({ type: 'function', function: { name, parameters: CITY } })),
    },
  },
  openai_responses: {
    path: '/openai/v1/responses',
    key: 'authorization',
    body: {
      model: 'gpt-4.1-mini',
      stream: true,
      input: QUESTION,
      tools: ['get_weather', 'get_time'].map((name) => ({ type: 'function', name, parameters: CITY, strict: false })),
    },
  },
  anthropic: {
    path: '/anthropic/v1/messages',
    key: 'x-api-key',
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 500,
      stream: true,
      messages: [{ role: 'user', content: QUESTION }],
      tools: ['get_weather', 'get_time'].map((name) => ({ name, input_schema: CITY })),
    },
  },
  google: {
    path: '/google/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    key: 'x-goog-api-key',
    body: {
      contents: [{ role: 'user', parts: [{ text: QUESTION }] }],
      tools: [
        { functionDeclarations: ['get_weather', 'get_time'].map((name) => ({ name, parametersJsonSchema: CITY })) },
      ],
    },
  },
};
const SCHEMES = Object.keys(REQUESTS) as ServedScheme[];

describe('Buffered function calls', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  async function request(scheme: ServedScheme): Promise<Response> {
    simulator.enqueue({
      text: 'I will find out.',
      calls: [
        { name: 'get_weather', arguments: { city: 'Lisbon' }, id: 'call_1' },
        { name: 'get_time', arguments: { city: 'Lisbon' }, id: 'call_2' },
      ],
    });
    const { path, key, body } = REQUESTS[scheme];
    const response = await fetch(simulator.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [key]: key === 'authorization' ? 'Bearer a-key' : 'a-key' },
      body: JSON.stringify(body),
    });
    expect(response.status).to.equal(200);
    return response;
  }

  /** What a loop that reads these chunks does: it runs the calls of the chunk that ends with `tool_calls`. */
  async function run(
    response: Response,
    options?: BufferedStreamOptions,
  ): Promise<{
    readonly text: string;
    readonly calls: readonly (readonly [name: string | undefined, args: unknown])[];
    readonly others: readonly OpenAIChunk[];
    readonly lines: string;
  }> {
    let text = '';
    let lines = '';
    const others: OpenAIChunk[] = [];
    let calls: (readonly [string | undefined, unknown])[] = [];
    for await (const [line, chunk] of streamWithBufferedFunctions(response, options)) {
      lines += line;
      const [choice] = chunk.choices;
      text += choice?.delta.content ?? '';
      if (choice?.finish_reason === 'tool_calls') {
        expect(calls, 'the calls come once').to.deep.equal([]);
        expect(choice.delta.tool_calls?.map(({ index, id, type }) => [index, typeof id, type])).to.deep.equal([
          [0, 'string', 'function'],
          [1, 'string', 'function'],
        ]);
        calls = choice.delta.tool_calls!.map((call) => [call.function?.name, JSON.parse(call.function!.arguments)]);
      } else others.push(chunk);
    }
    return { text, calls, others, lines };
  }

  const CALLS = [
    ['get_weather', { city: 'Lisbon' }],
    ['get_time', { city: 'Lisbon' }],
  ];

  for (const source of SCHEMES) {
    for (const target of SCHEMES) {
      it(`arrive complete in the chunk that ends with "tool_calls", from ${source} to ${target}`, async () => {
        const options = { sourceScheme: source, targetScheme: target };
        const { text, calls, others } = await run(await request(source), options);
        expect(text).to.equal('I will find out.');
        expect(calls).to.deep.equal(CALLS);
        for (const { choices } of others) expect(choices[0]?.delta ?? {}).not.to.have.property('tool_calls');
      });
    }
  }

  it('are read from Chat Completions and written as Chat Completions by default', async () => {
    const { calls, lines } = await run(await request('openai'));
    expect(calls).to.deep.equal(CALLS);
    const last = eventsIn(lines).find((event) => JSON.stringify(event).includes('"finish_reason":"tool_calls"'));
    expect(last).to.have.nested.property('choices[0].delta.tool_calls').with.length(2);
    expect(lines).to.match(/data: \[DONE\]\n\n$/);
  });

  it('take one scheme from the options and the other by default', async () => {
    const { calls, lines } = await run(await request('anthropic'), { sourceScheme: 'anthropic' });
    expect(calls).to.deep.equal(CALLS);
    expect(lines).to.match(/data: \[DONE\]\n\n$/);
  });

  it('reach the loop, but not the client, if relayToolUseEvents is false', async () => {
    for (const target of SCHEMES) {
      const options = { targetScheme: target, relayToolUseEvents: false } as const;
      const { calls, lines } = await run(await request('openai'), options);
      expect(calls).to.deep.equal(CALLS);
      expect(lines).to.include('find').and.not.to.include('get_weather');
    }
  });
});

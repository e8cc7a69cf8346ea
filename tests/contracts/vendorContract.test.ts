import { expect } from 'chai';
import { LLMManager } from '../../imports/business/ai/application/services/LLMManager';
import { toolCalls } from '../../imports/business/ai/domain/entities/Response';
import { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { ErrorCode } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { itInVirtualTime } from '../support/itInVirtualTime';
import { SIMULATED_VENDORS, simulatedProvider } from '../support/simulatedProviders';
import { sampled } from '../support/soak';
import type { ScriptedResponse } from '../../imports/simulator/ScriptedResponse';
import type { RecordedRequest, Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF').toString('base64')}`;
const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const person = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 2 }, age: { type: 'integer', minimum: 0 } },
  required: ['name', 'age'],
  additionalProperties: false,
};

async function failureOf(work: Promise<unknown>): Promise<LLMError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof LLMError) return error;
    throw error;
  }
  throw new Error('Expected an error, but the call succeeded.');
}

/** Both modes must give the same response, which is the last event of a stream. */
const MODES: Readonly<Record<string, (provider: ILLMProvider, options: GenerateOptions) => Promise<LLMResponse>>> = {
  'not streamed': (provider, options) => provider.generate('ann', options),
  streamed: async (provider, options) => {
    for await (const event of provider.stream('ann', options))
      if (event.type === 'response.completed') return event.response;
    throw new Error('The stream ended without a response.');
  },
};

const CALLS = sampled(
  SIMULATED_VENDORS.flatMap((vendor) => Object.entries(MODES).map(([way, ask]) => ({ vendor, way, ask }))),
  ({ vendor, way }) => [vendor, `${vendor.wire} ${way}`],
);

for (const vendor of SIMULATED_VENDORS) {
  for (const { way, ask } of CALLS.filter((call) => call.vendor === vendor)) {
    describe(`${vendor.name}, ${way}`, () => {
      let simulator: Simulator;
      let provider: ILLMProvider;
      before(async () => {
        simulator = await startSimulator();
        provider = simulatedProvider(simulator, vendor);
      });
      after(() => simulator.close());
      afterEach(() => simulator.assertDone());
      const play = (reply: ScriptedResponse, options: GenerateOptions): Promise<LLMResponse> => {
        simulator.enqueue(reply);
        return ask(provider, options);
      };

      it('returns text and token usage', async () => {
        const response = await play(
          { text: 'Grüße, 世界! 👋', usage: { input: 12, cached: 4, output: 7 } },
          { input: 'hi', instructions: 'Greet.', max_output_tokens: 100 },
        );
        expect(response).to.include({ status: 'completed', output_text: 'Grüße, 世界! 👋', object: 'response' });
        expect(response.usage).to.include({ input_tokens: 12, output_tokens: 7, total_tokens: 19 });
        expect(response.usage.input_tokens_details.cached_tokens).to.equal(4);
        expect(response.vendor).to.include({ name: vendor.vendor, wire: vendor.wire });
        expect(response.id).to.be.a('string').and.not.equal('');
      });

      it('sends images', async () => {
        const input = [
          {
            role: 'user' as const,
            content: [
              { type: 'input_text' as const, text: 'What is it?' },
              { type: 'input_image' as const, image_url: PIXEL },
            ],
          },
        ];
        const response = await play({ text: 'A pixel.' }, { input });
        expect(response.output_text).to.equal('A pixel.');
        expect(JSON.stringify(simulator.requests.at(-1)?.body)).to.contain('iVBORw0KGgo');
      });

      it('sends files, or rejects them before the call', async () => {
        const input = [
          {
            role: 'user' as const,
            content: [
              { type: 'input_file' as const, file_data: PDF, filename: 'a.pdf' },
              { type: 'input_text' as const, text: 'Sum up.' },
            ],
          },
        ];
        if (vendor.vendor === 'groq') {
          expect((await failureOf(ask(provider, { input }))).code).to.equal('unsupported-feature');
          return;
        }
        const response = await play({ text: 'Empty.' }, { input });
        expect(response.output_text).to.equal('Empty.');
        expect(JSON.stringify(simulator.requests.at(-1)?.body)).to.contain(PDF.slice(-40));
      });

      it('returns parallel tool calls in order with complete arguments', async () => {
        const response = await play(
          {
            calls: [
              { name: 'get_weather', arguments: { city: 'São Paulo' } },
              { name: 'get_weather', arguments: { city: 'Köln' } },
            ],
          },
          { input: 'weather?', tools: [weather] },
        );
        expect(toolCalls(response).map((call) => [call.name, JSON.parse(call.arguments) as unknown])).to.deep.equal([
          ['get_weather', { city: 'São Paulo' }],
          ['get_weather', { city: 'Köln' }],
        ]);
        expect(new Set(toolCalls(response).map(({ call_id }) => call_id)).size).to.equal(2);
        expect(response.status).to.equal('completed');
      });

      it('reads a call without arguments as {}', async () => {
        const response = await play(
          { calls: [{ name: 'now' }] },
          { input: 'time?', tools: [{ type: 'function', name: 'now' }] },
        );
        expect(JSON.parse(toolCalls(response)[0]?.arguments || '{}')).to.deep.equal({});
      });

      for (const [incomplete, reason] of [
        ['max_output_tokens', 'max_output_tokens'],
        ['content_filter', 'content_filter'],
      ] as const) {
        if (vendor.wire === 'interactions' && incomplete === 'content_filter') {
          it('reports blocked content as filtered', async () => {
            const error = await failureOf(play({ text: 'Half a', incomplete }, { input: 'go' }));
            expect(error).to.include({ code: 'content-filtered', vendorCode: 'safety' });
          });
          continue;
        }
        it(`reports a response that ended with ${incomplete} as incomplete`, async () => {
          const response = await play({ text: 'Half a', incomplete }, { input: 'go' });
          expect(response.status).to.equal('incomplete');
          expect(response.incomplete_details?.reason).to.equal(reason);
        });
      }

      const statuses: [number, ErrorCode][] = [
        [401, 'auth-failed'],
        [403, 'permission-denied'],
        [404, 'model-not-found'],
        [429, 'rate-limited'],
        [500, 'vendor-error'],
        [503, 'overloaded'],
      ];
      for (const [status, code] of statuses) {
        it(`reports HTTP ${status} as ${code}`, async () => {
          simulator.enqueue({ status, body: '<html><title>trouble</title></html>', headers: { 'retry-after': '7' } });
          const error = await failureOf(ask(provider, { input: 'go' }));
          expect(error).to.include({ code, status });
          if (status === 429) expect(error.retryAfterMs).to.equal(7000);
        });
      }

      it('reports a bad key as auth-failed, and validateAccess returns false', async () => {
        const locked = simulatedProvider(simulator, vendor, { apiKey: 'bad-key' });
        expect((await failureOf(ask(locked, { input: 'go' }))).code).to.equal('auth-failed');
        expect(await locked.validateAccess('ann')).to.deep.equal({ valid: false });
        expect(await provider.validateAccess('ann')).to.deep.equal({ valid: true });
      });

      // Only streams have an end marker.
      for (const kind of way === 'not streamed'
        ? (['truncate', 'html', 'reset'] as const)
        : (['truncate', 'close-without-end-marker', 'html', 'reset'] as const)) {
        it(`fails for a response damaged by ${kind}`, async () => {
          simulator.enqueue({
            text: 'one two three four five six seven',
            calls: [{ name: 'get_weather', arguments: { city: 'Rome' } }],
            fault: { kind },
          });
          const error = await failureOf(ask(provider, { input: 'go', tools: [weather] }));
          expect(error.code).to.be.oneOf(['stream-broken', 'connection-failed']);
        });
      }

      it('aborts the upstream request when the caller aborts, and throws the reason', async () => {
        const controller = new AbortController();
        simulator.enqueue({ text: 'one two three four', fault: { kind: 'stall', after: { events: 2 } } });
        const requested = new Promise((resolve) => simulator.events.once('request', resolve));
        const aborted = new Promise<RecordedRequest>((resolve) => simulator.events.once('abort', resolve));
        const work = ask(provider, { input: 'go', signal: controller.signal }).catch((error: unknown) => error);
        await requested;
        const reason = new Error('enough');
        controller.abort(reason);
        expect(await work).to.equal(reason);
        expect((await aborted).aborted).to.equal(true);
      });

      itInVirtualTime('throws a timeout when the time is up', async () => {
        simulator.enqueue({ text: 'one two', fault: { kind: 'stall' } });
        expect((await failureOf(ask(provider, { input: 'go', timeout: 60 }))).code).to.equal('timeout');
      });
    });
  }

  describe(`${vendor.name}, through the manager`, () => {
    let simulator: Simulator;
    let manager: LLMManager;
    before(async () => {
      simulator = await startSimulator();
      const tools = new ToolRegistry().register({
        name: 'get_weather',
        description: weather.description,
        parameters: weather.parameters,
        execute: ({ city }: { city: string }) => `clear in ${city}`,
      });
      manager = new LLMManager({
        provider: simulatedProvider(simulator, vendor),
        toolExecutor: tools,
        random: () => 0,
      });
    });
    after(() => simulator.close());
    afterEach(() => simulator.assertDone());

    it('returns JSON that matches a schema', async () => {
      simulator.enqueue({ text: '{"name":"Ada","age":36}' });
      expect(await manager.generateJSON('ann', 'Who?', person)).to.deep.equal({ name: 'Ada', age: 36 });
    });

    it('has invalid output repaired once, with the violations', async () => {
      simulator.enqueue({ text: '{"name":"A","age":-1}' }, { text: '{"name":"Ada","age":36}' });
      expect(await manager.generateJSON('ann', 'Who?', person)).to.deep.equal({ name: 'Ada', age: 36 });
      expect(JSON.stringify(simulator.requests.at(-1)?.body))
        .to.match(/age/)
        .and.to.match(/name/);
    });

    it('throws with the text if the repaired output is invalid as well', async () => {
      simulator.enqueue({ text: '{"name":"A","age":1}' }, { text: '{"name":"B","age":1}' });
      const error = await failureOf(manager.generateJSON('ann', 'Who?', person));
      expect(error.code).to.equal('invalid-output');
      expect(error).to.have.property('text', '{"name":"B","age":1}');
    });

    it('returns JSON after tool calls', async () => {
      simulator.enqueue(
        { calls: [{ name: 'get_weather', arguments: { city: 'Rome' } }] },
        { text: '{"name":"Rome","age":2777}' },
      );
      const response = await manager.generateWithTools(
        'ann',
        'How old is Rome, and how is it there?',
        ['get_weather'],
        { response_format: { type: 'json_schema', name: 'city', schema: person } },
      );
      expect(JSON.parse(response.output_text)).to.deep.equal({ name: 'Rome', age: 2777 });
    });

    itInVirtualTime('retries after a transient failure', async () => {
      simulator.enqueue({ status: 500, body: { error: { message: 'passing' } } }, { text: 'second time' });
      expect(await manager.generateText('ann', 'go')).to.equal('second time');
    });

    const hasRefusals = vendor.vendor !== 'google' && !['groq', 'llama', 'openai_compatible'].includes(vendor.vendor);
    if (hasRefusals)
      it('reports a refusal as refused', async () => {
        simulator.enqueue({ refusal: 'I will not.' });
        expect((await failureOf(manager.generateText('ann', 'go'))).code).to.equal('refused');
      });
  });
}

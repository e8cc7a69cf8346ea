/** Requests in the batches of each vendor: mapped to their results, priced, counted, and continued after a crash. */
import { expect } from 'chai';
import { MemoryBatchStore } from '../../imports/business/ai/application/services/batches/MemoryBatchStore';
import type { BatchOptions, BatchResult } from '../../imports/business/ai/application/services/batches/runBatch';
import { LLMClient } from '../../imports/business/ai/application/services/LLMClient';
import type { LLMClientOptions } from '../../imports/business/ai/application/services/LLMClient';
import { batchPrice } from '../../imports/business/ai/domain/entities/batchPrice';
import { costOf } from '../../imports/business/ai/domain/entities/CallCost';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { BatchStore } from '../../imports/business/ai/domain/interfaces/BatchStore';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule, AIModuleSettings } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { SimulatorOptions, Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { RecordingLogger } from '../support/RecordingLogger';
import { SIMULATED_VENDORS } from '../support/simulatedProviders';
import type { SimulatedVendor } from '../support/simulatedProviders';
import { inFlowingTime } from '../support/VirtualTime';

const FAST = { mode: 'vendor', poll: { first: 1, most: 5 }, graceMs: 0 } as const;
const BATCHED = ['OpenAI Responses', 'OpenAI chat', 'Azure Responses', 'Anthropic', 'Google', 'Groq'];
const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
} as const;

describe(
  'batches of vendors',
  inFlowingTime(() => {
    let simulator: Simulator;
    const modules: AIModule[] = [];
    afterEach(async () => {
      await Promise.all(modules.splice(0).map((module) => module.close()));
      await simulator.close();
    });

    const start = async (options: SimulatorOptions['batches'] = {}): Promise<void> => {
      simulator = await startSimulator({ batches: options });
    };
    const moduleOf = (
      { vendor, wire, model }: SimulatedVendor,
      { batches, ...settings }: Partial<AIModuleSettings> & { readonly batches?: BatchStore } = {},
    ): AIModule => {
      const baseURL = simulator.baseURL(vendor);
      const provider = { vendor, wire, defaultModel: model, apiKey: 'test-key', baseURL, allowPrivateHosts: true };
      const module = createAIModule(
        { providers: [provider], ...settings },
        { logger: new RecordingLogger(), ...(batches === undefined ? {} : { batches }) },
      );
      modules.push(module);
      return module;
    };
    const clientOf = (module: AIModule, model: string, options: Partial<LLMClientOptions> = {}): LLMClient =>
      new LLMClient({
        provider: module.manager,
        userId: 'ann',
        model: `${module.settings.providers[0]!.id}/${model}`,
        logger: new RecordingLogger(),
        ...options,
      });
    const vendorOf = (name: string): SimulatedVendor => SIMULATED_VENDORS.find((each) => each.name === name)!;
    const texts = (count: number): { input: string }[] =>
      Array.from({ length: count }, (_, n) => ({ input: `Echo ${n}` }));
    const run = (client: LLMClient, count: number, options: BatchOptions = {}): Promise<BatchResult<string>[]> =>
      client.createBatch(texts(count), { ...FAST, ...options });
    const codesOf = (results: readonly BatchResult<unknown>[]): readonly string[] =>
      results.map((result) => (isLLMError(result) ? result.code : 'ok'));
    const created = (): number =>
      simulator.requests.filter(({ method, path }) => method === 'POST' && /batches$|batchGenerateContent$/.test(path))
        .length;

    const openai = vendorOf('OpenAI Responses');
    const anthropic = vendorOf('Anthropic');

    it('refuses vendors without batches before anything is sent', async () => {
      await start();
      const grok = vendorOf('Grok chat');
      const results = await run(clientOf(moduleOf(grok), grok.model), 2);
      expect(codesOf(results)).to.deep.equal(['unsupported-feature', 'unsupported-feature']);
      expect(simulator.requests).to.deep.equal([]);
    });

    it('charges each request to the budget, and refuses those that exceed it', async () => {
      await start();
      const module = moduleOf(openai, { budgets: { day: { calls: 3 } } });
      expect(codesOf(await run(clientOf(module, openai.model), 5, { concurrency: 1 }))).to.deep.equal([
        ...['ok', 'ok', 'ok', 'budget-exceeded', 'budget-exceeded'],
      ]);
      expect(codesOf(await run(clientOf(module, openai.model), 1))).to.deep.equal(['budget-exceeded']);
      expect(created()).to.equal(1);
    });

    it('refuses other requests than those that were submitted', async () => {
      await start();
      const client = clientOf(moduleOf(anthropic, { batches: new MemoryBatchStore() }), anthropic.model);
      const options = { ...FAST, batchId: 'nightly' };
      await client.createBatch([{ input: 'A' }, { input: 'B' }], options);
      expect(codesOf(await client.createBatch([{ input: 'A' }, { input: 'C' }], options))).to.deep.equal([
        ...['ok', 'conflict'],
      ]);
      const failure = await client.createBatch([{ input: 'A' }], options).catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'conflict');
      expect(created()).to.equal(1);
    });

    it('takes one request for each entity', async () => {
      await start();
      const entities = [{ identity: { id: 'ann' } }];
      const client = clientOf(moduleOf(openai), openai.model, { entities, defaultDepth: 1 });
      const requests = ['A', 'B'].map((input) => ({ input, entityKey: 'talk:ann' }));
      expect(codesOf(await client.createBatch(requests, FAST))).to.deep.equal(['ok', 'invalid-request']);
    });

    it('reports why a vendor rejects a batch as a whole', async () => {
      await start({ rejects: 'Enqueued token limit reached.' });
      const results = await run(clientOf(moduleOf(openai), openai.model), 2);
      expect(codesOf(results)).to.deep.equal(['invalid-request', 'invalid-request']);
      expect(results[0]).to.have.property('message').that.includes('Enqueued token limit reached.');
    });

    it('goes on after failures while it polls and reads results', async () => {
      await start({ readsInProgress: 1 });
      const overloaded = { status: 503, body: { error: { message: 'Busy.' } } };
      simulator.enqueue({}, {}, overloaded, {}, overloaded, {}, { fault: { kind: 'truncate' } });
      expect(codesOf(await run(clientOf(moduleOf(openai), openai.model), 40))).to.deep.equal(Array(40).fill('ok'));
      expect(created()).to.equal(1);
    });

    it('reads results again while an error page stands in their place', async () => {
      await start();
      const page = { raw: '<html>Bad gateway</html>' };
      simulator.enqueue({}, {}, {}, ...Array<typeof page>(13).fill(page));
      expect(codesOf(await run(clientOf(moduleOf(openai), openai.model), 2))).to.deep.equal(['ok', 'ok']);
    });

    it('hands over what is around a line that remains unreadable, and what is in it to a later call', async () => {
      await start();
      const spoilt =
        ({ requests }: Simulator) =>
        (): { readonly raw: string } => {
          const { body } = requests.find(({ method, path }) => method === 'POST' && path.endsWith('/batches'))!;
          const lines = (body as { requests: { custom_id: string }[] }).requests.map(({ custom_id }) => {
            const content = [{ type: 'text', text: 'Done.' }];
            const usage = { input_tokens: 1, output_tokens: 1 };
            const message = {
              id: 'msg_1',
              type: 'message',
              role: 'assistant',
              content,
              stop_reason: 'end_turn',
              usage,
            };
            return JSON.stringify({ custom_id, result: { type: 'succeeded', message } });
          });
          return { raw: `\u{feff}${lines[0]!}\n${lines[1]!.slice(0, -9)}\n${lines[2]!}\n` };
        };
      simulator.enqueue({}, {}, ...Array.from({ length: 14 }, () => spoilt(simulator)));
      const logger = new RecordingLogger();
      const module = moduleOf(anthropic, { batches: new MemoryBatchStore() });
      const first = await run(clientOf(module, anthropic.model, { logger }), 3, { batchId: 'nightly' });
      expect(codesOf(first)).to.deep.equal(['ok', 'stream-broken', 'ok']);
      expect(first[1]).to.include({ retryable: false }).and.to.have.property('message').that.includes('1 line that is');
      expect(logger.warnings.filter((text) => text.includes('not JSON'))).to.have.length(1);
      const second = await run(clientOf(module, anthropic.model), 3, { batchId: 'nightly' });
      expect(codesOf(second)).to.deep.equal(['ok', 'ok', 'ok']);
      expect(created()).to.equal(1);
      expect(module.manager.usage()[0]).to.include({ calls: 3 });
    });

    it('makes several batches of requests of several models', async () => {
      await start();
      const client = clientOf(moduleOf(openai), openai.model);
      const requests = ['gpt-5-mini', 'gpt-5', 'gpt-5-mini'].map((model) => ({
        input: 'Hi',
        model: `openai/${model}`,
      }));
      expect(codesOf(await client.createBatch(requests, FAST))).to.deep.equal(['ok', 'ok', 'ok']);
      expect(created()).to.equal(2);
    });

    it('hands a batch over to one process at a time', async () => {
      await start({ readsInProgress: 5 });
      const batches = new MemoryBatchStore();
      const clients = [1, 2].map(() => clientOf(moduleOf(openai, { batches }), openai.model));
      const both = await Promise.all(clients.map((client) => run(client, 3, { batchId: 'nightly' })));
      expect(both.map(codesOf)).to.deep.equal([Array(3).fill('ok'), Array(3).fill('ok')]);
      expect(created()).to.equal(1);
    });

    for (const name of BATCHED) {
      const vendor = vendorOf(name);
      it(`answers requests with tools and schemas in one batch at half the price: ${name}`, async () => {
        await start({ readsInProgress: 2 });
        const module = moduleOf(vendor);
        const statuses: string[] = [];
        let done = 0;
        const results = await clientOf(module, vendor.model).createBatch(
          [
            { input: 'Say A' },
            { input: 'Say B', schema: SCHEMA },
            {
              input: 'What is the weather in Rome?',
              tools: [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }],
              tool_choice: 'none',
            },
          ] as { input: string }[],
          {
            ...FAST,
            onStatus: ({ hasEnded, counts }) => statuses.push(`${hasEnded} ${counts.total}`),
            onProgress: (count) => (done = count),
          },
        );
        expect(codesOf(results)).to.deep.equal(['ok', 'ok', 'ok']);
        const [first, second] = results as Extract<BatchResult<unknown>, { ok: true }>[];
        expect(second?.value).to.have.property('name').that.is.a('string');
        expect(statuses).to.deep.equal(['false 3', 'false 3', 'true 3']);
        expect(done).to.equal(3);
        expect(created()).to.equal(1);
        expect(simulator.requests.filter(({ wire }) => wire !== undefined)).to.deep.equal([]);
        const { usage, vendor: facts } = first!.response;
        expect(facts.batch_id).to.be.a('string');
        const { price } = module.manager.getCapabilities(vendor.model);
        if (price === undefined) expect(facts.unpriced).to.be.a('string');
        else expect(facts.cost).to.be.closeTo(costOf(usage, batchPrice(vendor.vendor, price)), 1e-12);
        if (price !== undefined) expect(facts.cost).to.be.closeTo(costOf(usage, price) / 2, 1e-12);
        expect(module.manager.usage()).to.have.length(1);
        expect(module.manager.usage()[0]).to.include({ calls: 3, userId: 'ann' });
      });

      it(`gives each request its own error: ${name}`, async () => {
        await start({ outcomeOf: (id) => (/-2-[\w-]{16}$/.test(id) ? 'errored' : 'answered') });
        const results = await run(clientOf(moduleOf(vendor), vendor.model), 5);
        expect(codesOf(results)).to.deep.equal(['ok', 'ok', 'vendor-error', 'ok', 'ok']);
        for (const [index, result] of results.entries())
          if (!isLLMError(result)) expect(result.value, String(index)).to.include(`Echo ${index}`);
      });

      it(`tells requests that expired and were cancelled: ${name}`, async () => {
        await start({ outcomeOf: (id) => (/-1-[\w-]{16}$/.test(id) ? 'expired' : 'answered') });
        const client = clientOf(moduleOf(vendor), vendor.model);
        const results = await run(client, 2);
        expect(codesOf(results).at(1)).to.equal('timeout');
        await simulator.close();

        await start({ readsInProgress: 1_000_000 });
        const other = clientOf(moduleOf(vendor), vendor.model);
        let isCancelled = false;
        const cancelled = await run(other, 4, {
          batchId: 'nightly',
          onStatus: () => {
            if (!isCancelled) void other.cancelBatch('nightly');
            isCancelled = true;
          },
        });
        expect(codesOf(cancelled).slice(2)).to.deep.equal(['aborted', 'aborted']);
      });

      it(`continues a batch that an earlier process has submitted, and counts it once: ${name}`, async () => {
        await start({ readsInProgress: 3 });
        const batches = new MemoryBatchStore();
        const stop = new AbortController();
        const first = clientOf(moduleOf(vendor, { batches }), vendor.model);
        const left = await run(first, 3, { batchId: 'nightly', signal: stop.signal, onStatus: () => stop.abort() });
        expect(codesOf(left)).to.deep.equal(['aborted', 'aborted', 'aborted']);
        const module = moduleOf(vendor, { batches });
        expect(codesOf(await run(clientOf(module, vendor.model), 3, { batchId: 'nightly' }))).to.deep.equal([
          ...['ok', 'ok', 'ok'],
        ]);
        expect(module.manager.usage()[0]).to.include({ calls: 3 });
        const again = moduleOf(vendor, { batches });
        const repeated = await run(clientOf(again, vendor.model), 3, { batchId: 'nightly' });
        expect(codesOf(repeated)).to.deep.equal(['ok', 'ok', 'ok']);
        expect(again.manager.usage()).to.deep.equal([]);
        expect(created()).to.equal(1);
      });

      it(`finds a batch whose creation was cut off, and submits none twice: ${name}`, async () => {
        await start({ readsInProgress: 3 });
        const cutOff = { fault: { kind: 'reset', after: 'nothing' } } as const;
        simulator.enqueue(...(vendor.vendor === 'anthropic' ? [] : [{}]), cutOff);
        expect(codesOf(await run(clientOf(moduleOf(vendor), vendor.model), 3))).to.deep.equal(['ok', 'ok', 'ok']);
        expect(created()).to.equal(1);
      });
    }
  }),
);

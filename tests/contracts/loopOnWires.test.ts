import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { deferred } from '../support/deferred';
import type { Deferred } from '../support/deferred';
import { recordEvents } from '../support/recordEvents';
import { SIMULATED_VENDORS, simulatedProvider } from '../support/simulatedProviders';
import type { SimulatedVendor } from '../support/simulatedProviders';
import { sampled } from '../support/soak';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** Two tools that answer at once, and three whose results the test gives. */
function setUp(simulator: Simulator, vendor: SimulatedVendor) {
  const jobs: Record<'job1' | 'job2' | 'job3', Deferred<unknown>> = {
    job1: deferred(),
    job2: deferred(),
    job3: deferred(),
  };
  const tools = new ToolRegistry()
    .register({
      name: 'weather',
      parameters: city,
      execute: (args: { city: string }) => ({ sky: `clear over ${args.city}` }),
    })
    .register({ name: 'clock', execute: () => 'noon' });
  for (const [name, job] of Object.entries(jobs)) tools.register({ name, blocking: false, execute: () => job.promise });
  const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: tools });
  return {
    loop,
    jobs,
    record: recordEvents(loop),
    tools: ['weather', 'clock', 'job1', 'job2', 'job3'],
    model: vendor.model,
  };
}

const CALLS = sampled(
  SIMULATED_VENDORS.flatMap((vendor) => [false, true].map((stream) => ({ vendor, stream }))),
  ({ vendor, stream }) => [vendor, `${vendor.wire} ${stream}`],
);

for (const { vendor, stream } of CALLS) {
  describe(`the loop on ${vendor.name}${stream ? ', streaming' : ''}`, () => {
    let simulator: Simulator;
    before(async () => {
      simulator = await startSimulator();
    });
    after(() => simulator.close());
    afterEach(() => simulator.assertDone());

    const lines = (record: ReturnType<typeof recordEvents>) => record.lines.filter((line) => line !== 'llm:delta');

    it('runs blocking tools: calls, results in call order, answer', async () => {
      const { loop, record, tools, model } = setUp(simulator, vendor);
      simulator.enqueue(
        { calls: [{ name: 'weather', arguments: { city: 'Rome' } }, { name: 'clock' }] },
        { text: 'Clear at noon.' },
      );
      const result = await loop.execute('ann', {
        model,
        input: 'How is it in Rome?',
        instructions: 'Be brief.',
        tools,
        stream,
      });
      expect(result.response.output_text).to.equal('Clear at noon.');
      expect(result.toolCalls.map(({ name, state }) => [name, state])).to.deep.equal([
        ['weather', 'completed'],
        ['clock', 'completed'],
      ]);
      expect(JSON.stringify(simulator.requests.at(-1)?.body))
        .to.contain('clear over Rome')
        .and.to.contain('noon');
      expect(result.usage.input_tokens).to.be.greaterThan(0);
      expect(lines(record)).to.deep.equal([
        'run:started',
        'iteration:start',
        'llm:response',
        'tool:pending weather',
        'tool:pending clock',
        'tool:executing weather',
        'tool:executing clock',
        'tool:completed weather',
        'tool:completed clock',
        'iteration:start',
        'llm:response',
        'run:completed',
      ]);
    });

    it('runs a non-blocking tool: acknowledgement, answer, late result, next answer', async () => {
      const { loop, record, jobs, tools, model } = setUp(simulator, vendor);
      simulator.enqueue({ calls: [{ name: 'job1' }] }, { text: 'It is under way.' }, { text: 'It is 42.' });
      const run = loop.execute('ann', { model, input: 'Compute.', tools, stream });
      await record.seen('llm:response', ({ response }) => response.output_text === 'It is under way.');
      jobs.job1.resolve({ value: 42 });
      expect((await run).response.output_text).to.equal('It is 42.');
      expect(JSON.stringify(simulator.requests.at(-2)?.body)).to.contain('do not guess it');
      expect(JSON.stringify(simulator.requests.at(-1)?.body).replaceAll('\\', '')).to.contain('{"value":42}');
      expect(lines(record)).to.deep.equal([
        'run:started',
        'iteration:start',
        'llm:response',
        'tool:pending job1',
        'tool:executing job1',
        'iteration:start',
        'llm:response',
        'tool:completed job1',
        'result:arrived job1',
        'nonblocking:result',
        'iteration:start',
        'llm:response',
        'nonblocking:llm_response',
        'run:completed',
      ]);
    });

    it('runs two blocking and three non-blocking tools: answers each call once, delivers each late result once', async () => {
      const { loop, record, jobs, tools, model } = setUp(simulator, vendor);
      simulator.enqueue(
        {
          calls: [
            { name: 'job1' },
            { name: 'weather', arguments: { city: 'Oslo' } },
            { name: 'job2' },
            { name: 'clock' },
            { name: 'job3' },
          ],
        },
        { text: 'The jobs run.' },
        { text: 'One and two are done.' },
        { text: 'All are done.' },
      );
      const run = loop.execute('ann', { model, input: 'Do it all.', tools, stream });
      await record.seen('llm:response', ({ response }) => response.output_text === 'The jobs run.');
      jobs.job2.resolve('two');
      jobs.job1.resolve('one');
      await record.seen('llm:response', ({ response }) => response.output_text === 'One and two are done.');
      jobs.job3.reject(new Error('three broke'));
      const result = await run;
      expect(result.response.output_text).to.equal('All are done.');
      expect(lines(record)).to.deep.equal([
        'run:started',
        'iteration:start',
        'llm:response',
        'tool:pending job1',
        'tool:pending weather',
        'tool:pending job2',
        'tool:pending clock',
        'tool:pending job3',
        'tool:executing job1',
        'tool:executing weather',
        'tool:executing job2',
        'tool:executing clock',
        'tool:executing job3',
        'tool:completed weather',
        'tool:completed clock',
        'iteration:start',
        'llm:response',
        'tool:completed job2',
        'result:arrived job2',
        'tool:completed job1',
        'result:arrived job1',
        'nonblocking:result',
        'iteration:start',
        'llm:response',
        'nonblocking:llm_response',
        'tool:failed job3',
        'result:arrived job3',
        'nonblocking:result',
        'iteration:start',
        'llm:response',
        'nonblocking:llm_response',
        'run:completed',
      ]);
      const [second, third, fourth] = simulator.requests.slice(-3).map(({ body }) => JSON.stringify(body));
      for (const text of ['two', 'one'].map((word) => `\\"${word}\\"`))
        expect([second, third, fourth].map((body) => body!.split(text).length - 1)).to.deep.equal([0, 1, 1]);
      expect(fourth!.split('three broke')).to.have.length(2);
      expect(result.undelivered).to.deep.equal([]);
    });
  });
}

describe('the loop on a model with native async tools', () => {
  it('sends no acknowledgement, and delivers the late result under its original call id', async () => {
    const simulator = await startSimulator();
    try {
      const { loop, record, jobs, tools } = setUp(simulator, {
        name: 'OpenAI',
        vendor: 'openai',
        wire: 'responses',
        model: 'gpt-6-sol',
      });
      simulator.enqueue(
        { calls: [{ name: 'job1', id: 'call_one' }] },
        { text: 'It is under way.' },
        { text: 'It is 42.' },
      );
      const run = loop.execute('ann', { model: 'gpt-6-sol', input: 'Compute.', tools });
      await record.seen('llm:response', ({ response }) => response.output_text === 'It is under way.');
      jobs.job1.resolve({ value: 42 });
      expect((await run).response.output_text).to.equal('It is 42.');
      const [first, second, third] = simulator.requests.map(
        ({ body }) =>
          body as {
            tools: { name: string; async?: boolean }[];
            input: { type: string; call_id?: string; output?: string }[];
          },
      );
      expect(first!.tools.find(({ name }) => name === 'job1')?.async).to.equal(true);
      expect(second!.input.map(({ type }) => type)).not.to.include('function_call_output');
      expect(third!.input.filter(({ type }) => type === 'function_call_output')).to.deep.equal([
        { type: 'function_call_output', call_id: 'call_one', output: '{"value":42}', status: 'completed' },
      ]);
      simulator.assertDone();
    } finally {
      await simulator.close();
    }
  });
});

/** A run that one agent begins and another, at another vendor, goes on with, in a process of its own. */
import { expect } from 'chai';
import { agent } from '../../imports/library/Agent';
import type { Agent } from '../../imports/library/Agent';
import { handoff } from '../../imports/library/handoff';
import { tool } from '../../imports/library/tool';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { deferred } from '../support/deferred';
import { until } from '../support/until';

const API = ['openai', 'anthropic'] as const;

interface Process {
  readonly module: AIModule;
  readonly triage: Agent;
}

describe('A handoff', () => {
  let simulator: Simulator;
  let runs: MemoryRunStore;
  const modules: AIModule[] = [];
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());
  beforeEach(() => {
    runs = new MemoryRunStore();
  });
  afterEach(async () => {
    await Promise.all(modules.splice(0).map((module) => module.close()));
    simulator.assertDone();
  });

  /** A process with both agents. @param research what the late tool returns */
  function processOf(research: Promise<string>): Process {
    const module = createAIModule(
      {
        providers: API.map((vendor) => ({
          vendor,
          apiKey: 'k',
          baseURL: simulator.baseURL(vendor),
          allowPrivateHosts: true,
        })),
      },
      { runs },
    );
    modules.push(module);
    const billing = agent({
      host: module,
      model: 'openai/gpt-5-mini',
      instructions: 'You are billing.',
      tools: [tool({ name: 'open_invoice', description: 'Opens an invoice.', execute: () => 'opened' })],
    });
    const triage = agent({
      host: module,
      model: 'anthropic/claude-sonnet-4-5',
      instructions: 'You are triage.',
      userId: 'ann',
      tools: [
        tool({
          name: 'refund',
          description: 'Refunds.',
          blocking: false,
          needsApproval: true,
          execute: () => 'refunded',
        }),
        tool({
          name: 'research',
          description: 'Researches.',
          blocking: false,
          idempotent: true,
          execute: () => research,
        }),
        handoff(billing, {
          name: 'billing',
          when: 'For questions about invoices.',
          input: { type: 'object', properties: { reason: { type: 'string' } }, required: ['reason'] },
          back: 'When the question is none about invoices.',
        }),
      ],
    });
    return { module, triage };
  }

  const bodies = (): readonly string[] => simulator.requests.map(({ body }) => JSON.stringify(body));
  const CALLS = [
    { name: 'refund', arguments: {} },
    { name: 'research', arguments: {} },
    { name: 'hand_over_to_billing', arguments: { reason: 'invoice' } },
  ];

  it('goes on at another vendor with its instructions and tools, after a kill, with an approval and a late result', async () => {
    simulator.enqueue({ calls: CALLS }, { text: 'I am billing.' });
    const first = processOf(new Promise(() => undefined));
    const { executionId } = first.triage.stream('My invoice?', { budget: { calls: 6 } });
    await until(async () => (await runs.load(executionId))?.run.state === 'waiting');
    const [ofTriage = '', ofBilling = ''] = bodies();
    expect(simulator.requests.map(({ path }) => path.split('/').at(-1))).to.deep.equal(['messages', 'responses']);
    expect(ofTriage).to.contain('You are triage.').and.contain('For questions about invoices.');
    expect(ofBilling).to.contain('You are billing.').and.not.contain('You are triage.');
    expect(ofBilling).to.contain('{\\"speaker\\":\\"billing\\"');
    expect(ofBilling).to.contain('"allowed_tools"').and.contain('"name":"open_invoice"');
    // The process dies.
    await first.module.close();
    const research = deferred<string>();
    const second = processOf(research.promise);
    simulator.enqueue({ calls: [{ name: 'open_invoice', arguments: {} }] }, { text: 'Found.' }, { text: 'Refunded.' });
    const done = second.module.loop.resume(executionId);
    research.resolve('12 sources');
    await until(async () => (await runs.load(executionId))?.run.response?.output_text === 'Found.');
    const stored = await runs.load(executionId);
    const refund = stored?.calls.find(({ name }) => name === 'refund');
    await second.module.loop.approve(executionId, refund?.id ?? '');
    const result = await done;
    const last = bodies().at(-1) ?? '';
    expect(last).to.contain('You are billing.').and.contain('12 sources').and.contain('refunded').and.contain('opened');
    expect(simulator.requests.slice(1).every(({ path }) => path.endsWith('/responses'))).to.equal(true);
    expect(result.iterations).to.equal(simulator.requests.length);
    expect(result.toolCalls.map(({ name, state }) => `${name} ${state}`)).to.have.members([
      'refund completed',
      'research completed',
      'hand_over_to_billing completed',
      'open_invoice completed',
    ]);
  });

  it('is handed back to the first agent, who speaks also after a kill', async () => {
    const [, research, over] = CALLS;
    const back = { calls: [{ name: 'hand_back_from_billing', arguments: {} }] };
    simulator.enqueue({ calls: [research!, over!] }, back, { text: 'I am triage.' });
    const first = processOf(new Promise(() => undefined));
    const { executionId } = first.triage.stream('My invoice?');
    await until(async () => (await runs.load(executionId))?.run.state === 'waiting');
    await first.module.close();
    simulator.enqueue({ text: 'Found.' });
    const { response } = await processOf(Promise.resolve('12 sources')).module.loop.resume(executionId);
    expect(response.output_text).to.equal('Found.');
    expect(simulator.requests.slice(-4).map(({ path }) => path.split('/').at(-1))).to.deep.equal([
      'messages',
      'responses',
      'messages',
      'messages',
    ]);
    for (const body of bodies().slice(-2))
      expect(body).to.contain('You are triage.').and.contain('has handed').and.not.contain('You are billing.');
    expect(bodies().at(-3)).to.contain('"name":"hand_back_from_billing"');
  });

  it('goes to and fro within the limits of the run', async () => {
    const back = { name: 'hand_back_from_billing', arguments: {} };
    simulator.enqueue({ calls: [CALLS[2]!] }, { calls: [back] }, { calls: [CALLS[2]!] });
    const error: unknown = await processOf(Promise.resolve(''))
      .triage.generate('My invoice?', { maxIterations: 3 })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(error).to.have.property('code', 'max-iterations');
  });

  it('keeps the limits of the run', async () => {
    simulator.enqueue({ calls: CALLS.slice(2) });
    const { triage } = processOf(Promise.resolve(''));
    const error: unknown = await triage.generate('My invoice?', { maxIterations: 1 }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('code', 'max-iterations');
  });
});

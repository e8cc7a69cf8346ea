/**
 * Messages to a run on each vendor's wire, in every situation that a run can be in. The simulator refuses a request
 * that the vendor would refuse, and each message is in the last request once, in order.
 */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { MessageTime } from '../../imports/business/ai/domain/types/RunMessages';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { deferred } from '../support/deferred';
import { recordEvents } from '../support/recordEvents';
import { SIMULATED_VENDORS, simulatedProvider } from '../support/simulatedProviders';
import type { SimulatedVendor } from '../support/simulatedProviders';
import { IS_SOAK, sampled } from '../support/soak';

interface World {
  readonly simulator: Simulator;
  readonly loop: AgenticLoop;
  /** Another process. */
  readonly other: AgenticLoop;
  readonly record: ReturnType<typeof recordEvents>;
  /** Settles the call of `job`. */
  readonly finishJob: () => void;
  readonly send: (text: string, when?: MessageTime) => Promise<unknown>;
}

/** The model writes this much, and nothing more until it is interrupted. */
const UNFINISHED = {
  text: 'I am going to write a long text about it.',
  fault: { kind: 'stall', after: { events: 6 } },
} as const;

const SITUATIONS: Readonly<Record<string, (world: World, begin: () => Promise<unknown>) => Promise<void>>> = {
  'the model writes': async ({ simulator, record, send }, begin) => {
    simulator.enqueue(UNFINISHED, { text: 'Second.' }, { text: 'Third.' });
    await begin();
    await record.seen('llm:delta');
    await send('c', 'after');
    await send('a');
    await send('b', 'interrupt');
  },
  'the model calls a tool': async ({ simulator, send }, begin) => {
    simulator.enqueue(
      async () => {
        await send('a');
        await send('b');
        return { calls: [{ name: 'clock' }, { name: 'clock' }] };
      },
      { text: 'First.' },
      { text: 'Second.' },
    );
    await begin();
    await send('c', 'after');
  },
  'a call waits for approval': async ({ simulator, loop, record, send }, begin) => {
    simulator.enqueue(
      { calls: [{ name: 'clock' }, { name: 'pay' }] },
      { text: 'I see.' },
      { text: 'Well.' },
      { text: 'Paid.' },
    );
    await begin();
    const { callId } = await record.seen('tool:approval_required');
    await send('a', 'interrupt');
    await record.seen('llm:response', ({ response }) => response.output_text === 'I see.');
    await send('b');
    await record.seen('llm:response', ({ response }) => response.output_text === 'Well.');
    await loop.approve('r', callId);
  },
  'a late result is awaited': async ({ simulator, record, finishJob, send }, begin) => {
    simulator.enqueue(
      { calls: [{ name: 'job' }] },
      { text: 'It is under way.' },
      { text: 'Not yet.' },
      { text: 'It is done.' },
      { text: 'Bye.' },
    );
    await begin();
    await record.seen('llm:response', ({ response }) => response.output_text === 'It is under way.');
    await send('c', 'after');
    await send('a');
    await record.seen('llm:response', ({ response }) => response.output_text === 'Not yet.');
    finishJob();
  },
  'another process takes it over': async ({ simulator, other, record, send }, begin) => {
    const asked = deferred();
    simulator.enqueue(
      { calls: [{ name: 'clock' }] },
      () => {
        asked.resolve();
        return UNFINISHED;
      },
      { text: 'First.' },
      { text: 'Second.' },
    );
    await begin();
    await record.seen('tool:pending');
    await send('a');
    await send('b', 'after');
    await asked.promise;
    void other.resume('r').catch(() => undefined);
  },
};

const CELLS = sampled(
  SIMULATED_VENDORS.flatMap((vendor) => Object.keys(SITUATIONS).map((situation) => ({ vendor, situation }))),
  ({ vendor, situation }) => [vendor.wire, situation],
);
/** How often each is repeated: 500 messages and more. */
const ROUNDS = IS_SOAK ? 4 : 1;

describe('Messages to a run', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  for (const { vendor, situation } of CELLS)
    it(`reach ${vendor.name} while ${situation}`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) await run(simulator, vendor, situation);
    });
});

async function run(simulator: Simulator, vendor: SimulatedVendor, situation: string): Promise<void> {
  const job = deferred<string>();
  const runStore = Object.assign(new MemoryRunStore(), { isExclusive: false });
  const create = (): AgenticLoop =>
    new AgenticLoop({
      provider: simulatedProvider(simulator, vendor),
      runStore,
      leaseTimes: { lease: 5_000, heartbeat: 20 },
      toolExecutor: new ToolRegistry()
        .register({ name: 'clock', execute: () => 'noon' })
        .register({ name: 'pay', needsApproval: true, execute: () => 'paid' })
        .register({ name: 'job', blocking: false, execute: () => job.promise }),
    });
  const [loop, other] = [create(), create()];
  const sent: string[] = [];
  const world: World = {
    ...{ simulator, loop, other, record: recordEvents(loop), finishJob: () => job.resolve('done') },
    send: (text, when) => {
      sent.push(text);
      return loop.send('r', `message ${text}`, { when });
    },
  };
  const options = {
    model: vendor.model,
    input: 'Begin.',
    tools: ['clock', 'pay', 'job'],
    stream: true,
    executionId: 'r',
  };
  await SITUATIONS[situation]!(world, async () => {
    const { done } = await loop.start('ann', options);
    done.catch(() => undefined);
  });
  const { transcript } = await other.waitForResult('r');
  const said = JSON.stringify(transcript).match(/message [a-z]/g);
  expect(said).to.deep.equal(sent.toSorted().map((text) => `message ${text}`));
  expect(JSON.stringify(simulator.requests.at(-1)?.body).match(/message [a-z]/g)).to.deep.equal(said);
  simulator.assertDone();
  await loop.close();
  await other.close();
}

import { expect } from 'chai';
import { followRun } from '../../../../imports/api/chat/followRun';
import { StoredRuns } from '../../../../imports/api/chat/StoredRuns';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import { RunEventBus } from '../../../../imports/business/ai/application/services/runs/RunEventBus';
import type { RunStore } from '../../../../imports/business/ai/domain/interfaces/RunStore';
import type { AgentEvent } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { LiveRunEvents } from '../../../../imports/business/ai/infrastructure/events/LiveRunEvents';
import { MemoryRunStore } from '../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { ContinuedUIMessage } from '../../../../imports/interop/aiSdk/ContinuedUIMessage';
import { readUIMessages } from '../../../../imports/interop/aiSdk/readUIMessages';
import { UIMessageEncoder } from '../../../../imports/interop/aiSdk/UIMessageEncoder';
import { deferred } from '../../../support/deferred';
import type { Deferred } from '../../../support/deferred';
import { readUIMessage } from '../../../support/readUIMessage';
import { recordEvents } from '../../../support/recordEvents';
import { answer, calling, response, textItem, callItem } from '../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../imports/testing/ScriptedProvider';

const EXECUTION_ID = 'run-1';

const RESPONSES = [
  response({ output: [textItem('First the slow one.'), callItem({ name: 'slow', call_id: 's' })] }),
  calling({ name: 'guarded', call_id: 'g' }),
  answer('All is done.'),
];

function blockingTools(gate: Deferred<string>): ToolRegistry {
  return new ToolRegistry()
    .register({ name: 'slow', execute: () => gate.promise })
    .register({ name: 'guarded', needsApproval: true, execute: () => 'allowed' });
}

function setUp(
  store: RunStore = new MemoryRunStore(),
  { gate = deferred<string>(), tools = blockingTools(gate), responses = RESPONSES } = {},
) {
  const provider = new ScriptedProvider(responses);
  const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
  const live = new LiveRunEvents();
  const bus = new RunEventBus({ sinks: [live.record], flushAfterMs: 1 });
  loop.on('event', bus.publish);
  const record = recordEvents(loop);
  const start = () =>
    loop.start('ann', {
      executionId: EXECUTION_ID,
      model: 'scripted-model',
      input: 'go',
      stream: true,
      tools: ['slow', 'guarded'],
    });
  const follow = (decided?: ReadonlySet<string>, signal = new AbortController().signal) =>
    followRun({ stored: new StoredRuns({ runs: store, loop, pollInterval: 5 }), live, tools }, EXECUTION_ID, {
      signal,
      ...(decided === undefined ? {} : { decided }),
    });
  return { gate, loop, live, record, start, follow };
}

async function collect(events: AsyncIterable<AgentEvent>): Promise<readonly AgentEvent[]> {
  const all: AgentEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

function encoded(events: readonly AgentEvent[]) {
  const encoder = new UIMessageEncoder();
  return [...events.flatMap((event) => encoder.push(event)), ...encoder.end()];
}

describe('followRun', () => {
  it('gives every reader the same message, whenever it begins, and ends where people are awaited', async () => {
    const { gate, record, start, follow, loop } = setUp();
    const { done } = await start();
    const early = collect(follow());
    await record.seen('tool:executing');
    const middle = collect(follow());
    gate.resolve('at last');
    const approval = await record.seen('tool:approval_required');
    const messages = await Promise.all(
      [await early, await middle, await collect(follow())].map((events) => readUIMessage(encoded(events))),
    );
    for (const message of messages) expect(message.parts).to.deep.equal(messages[0]?.parts);
    expect(messages[0]?.parts.at(-1)).to.include({ type: 'tool-guarded', state: 'approval-requested' });
    await loop.approve(EXECUTION_ID, approval.callId, approval.argumentsHash);
    const rest = await collect(follow(new Set(['g'])));
    expect(rest.at(-1)).to.include({ type: 'run:completed' });
    await done;
  });

  it('continues a message with nothing but what the client lacks', async () => {
    const { gate, record, start, follow, loop } = setUp();
    await start();
    gate.resolve('at last');
    const approval = await record.seen('tool:approval_required');
    const known = await readUIMessage(encoded(await collect(follow())));
    await loop.approve(EXECUTION_ID, approval.callId, approval.argumentsHash);
    const events = await collect(follow(new Set(['g'])));
    const [read] = readUIMessages([known]);
    const continued = new ContinuedUIMessage(read!);
    const chunks = [...events.flatMap((event) => continued.push(event)), ...continued.end()];
    expect((await readUIMessage(chunks, known)).parts).to.deep.equal((await readUIMessage(encoded(events))).parts);
    expect(chunks.map(({ type }) => type)).not.to.include('tool-input-available');
  });

  for (const blocking of [true, false])
    it(`ends only after the model has received the ${blocking ? 'result that arrived' : 'late result'} beside a waiting call`, async () => {
      const gate = deferred<string>();
      const { record, start, follow, loop } = setUp(new MemoryRunStore(), {
        gate,
        tools: new ToolRegistry()
          .register({ name: 'slow', blocking, execute: () => gate.promise })
          .register({ name: 'guarded', blocking: false, needsApproval: true, execute: () => 'allowed' }),
        responses: [
          response({
            output: [callItem({ name: 'slow', call_id: 's' }), callItem({ name: 'guarded', call_id: 'g' })],
          }),
          ...(blocking ? [] : [answer('Please wait.')]),
          answer('The slow one is done.'),
          answer('All is done.'),
        ],
      });
      const { done } = await start();
      const reading = collect(follow());
      await record.seen('tool:approval_required');
      if (!blocking) await record.seen('llm:response', ({ iteration }) => iteration === 2);
      gate.resolve('at last');
      const events = await reading;
      const last = events.findLast((event) => event.type === 'llm:response');
      expect(last?.response.output_text).to.equal('The slow one is done.');
      expect(events.at(-1)?.type).to.not.equal('run:completed');
      expect(await collect(follow())).to.have.length.greaterThan(0);
      await loop.cancel(EXECUTION_ID);
      await done.catch(() => undefined);
    });

  it('reads a run of another process from the store', async () => {
    const store = new MemoryRunStore();
    const owner = setUp(store);
    const reader = setUp(store);
    await owner.start();
    const reading = collect(reader.follow());
    owner.gate.resolve('at last');
    const approval = await owner.record.seen('tool:approval_required');
    const { parts } = await readUIMessage(encoded(await reading));
    expect(parts.at(-1)).to.include({ state: 'approval-requested' });
    await owner.loop.approve(EXECUTION_ID, approval.callId, approval.argumentsHash);
    const message = await readUIMessage(encoded(await collect(reader.follow(new Set(['g'])))));
    expect(message.parts.at(-1)).to.deep.include({ type: 'text', text: 'All is done.' });
    expect(message.parts.filter(({ type }) => type === 'step-start')).to.have.length(3);
  });

  it('leaves no listener behind when its reader leaves, and does not disturb the run', async () => {
    const { gate, record, start, follow, live, loop } = setUp();
    await start();
    await record.seen('tool:executing');
    const controller = new AbortController();
    const reading = collect(follow(undefined, controller.signal));
    controller.abort(new Error('left'));
    const error = await reading.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'left');
    expect(live.followerCount).to.equal(0);
    gate.resolve('at last');
    await record.seen('tool:approval_required');
    await loop.cancel(EXECUTION_ID);
  });

  it('ends for a run that does not exist', async () => {
    expect(await collect(setUp().follow())).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import { replayRun } from '../../../../../imports/business/ai/application/services/replayRun';
import type { StoredRun } from '../../../../../imports/business/ai/domain/interfaces/RunStore';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import { MemoryRunStore } from '../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { recordedRun, RUN_ID } from '../../../../support/recordedRun';
import { recordEvents } from '../../../../support/recordEvents';
import { answer, calling } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';

async function stored(store: MemoryRunStore, executionId = RUN_ID): Promise<StoredRun> {
  const run = await store.load(executionId);
  if (run === undefined) throw new Error('The run is not stored.');
  return run;
}

/** What events mean to a reader, without their times, numbers and live text. */
function summarize(events: readonly AgentEvent[]): readonly string[] {
  return events
    .filter(({ type }) => !['llm:delta', 'nonblocking:result', 'nonblocking:llm_response'].includes(type))
    .map((event) => {
      if (event.type === 'llm:response') return `${event.type} ${event.iteration} ${event.response.output_text}`;
      if (event.type === 'run:completed') return `${event.type} ${event.usage.total_tokens} ${event.iterations}`;
      return 'name' in event ? `${event.type} ${event.name}` : event.type;
    });
}

/** The deadline of a decision is stored no longer than the call waits for it. */
function withoutDeadline<E extends AgentEvent>(event: E): E {
  const { expiresAt: _, ...others } = { expiresAt: undefined, ...event };
  // Only an optional field is missing.
  return others as unknown as E;
}

describe('replayRun', () => {
  it('rebuilds the events of a run with every kind of call', async () => {
    const store = new MemoryRunStore();
    const events = await recordedRun(store);
    const replayed = replayRun(await stored(store));
    expect([...summarize(replayed)].sort()).to.deep.equal([...summarize(events)].sort());
    const ofCall = (list: readonly AgentEvent[], callId: string): readonly AgentEvent[] =>
      list.flatMap((event) =>
        'callId' in event && event.callId === callId
          ? [{ ...withoutDeadline(event), at: 0, seq: 0, executionTime: 0 }]
          : [],
      );
    for (const callId of ['q', 'b', 'g', 's'])
      expect(ofCall(replayed, callId).map((event) => JSON.stringify(event))).to.deep.equal(
        ofCall(events, callId)
          .filter(({ type }) => callId !== 's' || type !== 'result:arrived')
          .concat(callId === 's' ? ofCall(events, callId).filter(({ type }) => type === 'result:arrived') : [])
          .map((event) => JSON.stringify(event)),
      );
    expect(replayed[0]).to.include({ type: 'run:started', userId: 'ann', executionId: RUN_ID });
    expect(replayed.at(-1)).to.include({ type: 'run:completed' });
  });

  it('shows a late result that the model has not received yet', async () => {
    const store = new MemoryRunStore();
    await recordedRun(store);
    const { run, calls } = await stored(store);
    const before = run.transcript.findIndex((item) => item.type === 'function_call_output' && item.deferred === true);
    const { response: _last, ...unfinished } = run;
    const replayed = replayRun({
      run: { ...unfinished, state: 'waiting', transcript: run.transcript.slice(0, before), iterations: 2 },
      calls,
    });
    expect(replayed.at(-1)).to.include({ type: 'result:arrived', callId: 's', state: 'completed' });
    expect(replayed.filter(({ type }) => type === 'result:arrived')).to.have.length(1);
  });

  it('ends at the calls that people have to decide about', async () => {
    const store = new MemoryRunStore();
    const provider = new ScriptedProvider([
      calling({ name: 'guarded', call_id: 'g', arguments: { a: 1 } }),
      answer('ok'),
    ]);
    const tools = new ToolRegistry().register({ name: 'guarded', needsApproval: true, execute: () => 'x' });
    const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
    const record = recordEvents(loop);
    const { executionId, done } = await loop.start('ann', { model: 'scripted-model', input: 'go', tools: ['guarded'] });
    const requested = await record.seen('tool:approval_required');
    // The journal records a call before anybody may decide about it.
    await loop.reject(executionId, 'g', 'no', requested.argumentsHash);
    await done;
    const { run, calls } = await stored(store, executionId);
    const waiting = calls.map(({ id, call_id, name, arguments: text, blocking, createdAt }) => ({
      state: 'awaiting_approval' as const,
      id,
      call_id,
      name,
      arguments: text,
      blocking,
      createdAt,
    }));
    const beforeDecision = { ...run, state: 'running' as const, transcript: run.transcript.slice(0, 2), iterations: 1 };
    const replayed = replayRun({ run: beforeDecision, calls: waiting });
    expect(replayed.at(-1)).to.deep.include({
      type: 'tool:approval_required',
      callId: 'g',
      argumentsHash: requested.argumentsHash,
    });
    expect(summarize(replayRun({ run, calls }))).to.include.members([
      'tool:approval_required guarded',
      'tool:failed guarded',
    ]);
  });

  it('shows a model call in progress as its start', async () => {
    const store = new MemoryRunStore();
    await recordedRun(store);
    const { run, calls } = await stored(store);
    const calling: StoredRun = {
      calls,
      run: { ...run, state: 'running', isCalling: true, iterations: 4 },
    };
    const replayed = replayRun(calling);
    expect(replayed.at(-1)).to.include({ type: 'iteration:start', iteration: 4 });
    expect(replayed.flatMap((event) => (event.type === 'llm:response' ? [event.iteration] : []))).to.deep.equal([
      1, 2, 3,
    ]);
  });

  it('ends a failed and a cancelled run as they ended', async () => {
    const store = new MemoryRunStore();
    await recordedRun(store);
    const { run, calls } = await stored(store);
    const error = { code: 'timeout', message: 'Too long.' } as const;
    expect(replayRun({ run: { ...run, state: 'failed', error }, calls }).at(-1)).to.deep.include({
      type: 'run:failed',
      error,
    });
    expect(replayRun({ run: { ...run, state: 'cancelled' }, calls }).at(-1)).to.include({ type: 'run:cancelled' });
  });
});

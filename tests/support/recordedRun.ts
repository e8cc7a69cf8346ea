/** The events of a run with every kind of call, and the snapshot that a server would return after each of them. */
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { argumentsHash } from '../../imports/business/ai/application/services/shared/argumentsHash';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { RunDetailView, ToolCallView } from '../../imports/business/ai/domain/types/RunViews';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { RunSnapshot } from '../../imports/ui/data/reducers/runFromSnapshot';
import { NO_USAGE, addUsage, toUsageView } from '../../imports/ui/data/reducers/usageView';
import { deferred } from './deferred';
import { recordEvents } from './recordEvents';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';

export const RUN_ID = 'run-1';
const INPUT: readonly Item[] = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] }];

/** Runs the loop with blocking, failing, approved and late calls and streamed text. @returns its events */
export async function recordedRun(runStore?: RunStore): Promise<readonly AgentEvent[]> {
  const late = deferred<string>();
  const tools = new ToolRegistry()
    .register({ name: 'quick', execute: () => 'at once' })
    .register({ name: 'broken', execute: () => Promise.reject(new Error('it broke')) })
    .register({ name: 'guarded', needsApproval: true, execute: () => 'allowed' })
    .register({
      name: 'slow',
      blocking: false,
      execute: (_args: unknown, { progress }) => {
        progress(0.5, 'half');
        return late.promise;
      },
    });
  const provider = new ScriptedProvider([
    calling(
      { name: 'quick', call_id: 'q' },
      { name: 'broken', call_id: 'b' },
      { name: 'guarded', call_id: 'g', arguments: { to: 'ann' } },
      { name: 'slow', call_id: 's' },
    ),
    answer('I wait for the slow one'),
    answer('All is there'),
  ]);
  const loop = new AgenticLoop({
    provider,
    toolExecutor: tools,
    ...(runStore === undefined ? {} : { runStore }),
  });
  const record = recordEvents(loop);
  const done = loop.execute('ann', {
    model: 'scripted-model',
    input: INPUT,
    executionId: RUN_ID,
    stream: true,
    tools: ['quick', 'broken', 'guarded', 'slow'],
  });
  const approval = await record.seen('tool:approval_required');
  await loop.approve(RUN_ID, approval.callId, approval.argumentsHash);
  await record.seen('llm:response', ({ iteration }) => iteration === 2);
  late.resolve('at last');
  await done;
  provider.assertPlayedOut();
  return record.events;
}

/** The snapshot that a server returns after these events. */
export function snapshotAfter(events: readonly AgentEvent[]): RunSnapshot {
  let run: RunDetailView = {
    _id: RUN_ID,
    userId: 'ann',
    providerId: 'scripted',
    state: 'running',
    createdAt: events[0]?.at ?? 0,
    iterations: 0,
    usage: NO_USAGE,
    title: 'go',
  };
  const items: Item[] = [...INPUT];
  const calls = new Map<string, ToolCallView>();
  const update = (callId: string, fields: Partial<ToolCallView>): void =>
    void calls.set(callId, { ...calls.get(callId)!, ...fields });
  const settle = (callId: string, at: number, fields: Partial<ToolCallView>): void => {
    const { startTime } = calls.get(callId)!;
    update(callId, {
      endTime: at,
      executionTime: startTime === undefined ? 0 : Math.max(0, at - startTime),
      ...fields,
    });
  };
  for (const event of events) {
    switch (event.type) {
      case 'run:started':
        run = { ...run, startedAt: event.at };
        break;
      case 'iteration:start':
        run = { ...run, iterations: event.iteration, state: 'running' };
        break;
      case 'llm:response': {
        const { output, usage } = event.response;
        items.push(...output);
        run = {
          ...run,
          usage: addUsage(run.usage, toUsageView(usage)),
          ...(output.some((item) => item.type === 'function_call') ? {} : { state: 'waiting' as const }),
        };
        break;
      }
      case 'tool:pending':
        calls.set(event.callId, {
          _id: `${RUN_ID}:${event.callId}`,
          executionId: RUN_ID,
          callId: event.callId,
          name: event.name,
          blocking: event.blocking,
          state: 'pending',
          createdAt: event.at,
          arguments: event.arguments,
        });
        break;
      case 'tool:approval_required':
        update(event.callId, { state: 'awaiting_approval', approvalRequestedAt: event.at });
        break;
      case 'tool:executing':
        update(event.callId, { state: 'executing', startTime: event.at });
        break;
      case 'tool:progress':
        update(event.callId, { progress: event.fraction, ...(event.note === undefined ? {} : { note: event.note }) });
        break;
      case 'tool:completed':
        settle(event.callId, event.at, { state: 'completed', result: event.result });
        break;
      case 'tool:failed':
        settle(event.callId, event.at, { state: 'failed', error: event.error.message });
        break;
      case 'run:completed':
        run = { ...run, state: 'completed', endedAt: event.at };
        break;
      default:
    }
  }
  const deltas = events.flatMap((event) =>
    event.type === 'llm:delta'
      ? [{ _id: `${RUN_ID}:${event.seq}`, executionId: RUN_ID, seq: event.seq, kind: event.kind, text: event.delta }]
      : [],
  );
  return { run: { ...run, transcript: JSON.stringify(items) }, toolCalls: [...calls.values()], deltas };
}

export const approvedHash = argumentsHash(JSON.stringify({ to: 'ann' }));

/** Leaves a run to a host at the moment at which one of its calls waits for a person. */
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { Tool } from '../../imports/business/ai/domain/entities/Tool';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { recordEvents } from './recordEvents';
import { RecordingLogger } from './RecordingLogger';
import { until } from './until';

export interface WaitingRunInit {
  readonly executionId: string;
  readonly userId: string;
  readonly providerId: string;
  readonly title?: string;
  /** The name of a tool that the host has, too. */
  readonly tool: string;
  /** The arguments' text, or their value. */
  readonly arguments: unknown;
  /** `review`: the process died while the tool was running. */
  readonly waitsFor: 'approval' | 'review';
}

/** The call's state when its process goes, and when the host has continued it. */
const STATES = {
  approval: ['awaiting_approval', 'awaiting_approval'],
  review: ['executing', 'needs_review'],
} as const;

export async function leaveWaitingRun(
  { loop, runs, recovery }: Pick<AIModule, 'loop' | 'runs' | 'recovery'>,
  { executionId, userId, providerId, title = executionId, tool, waitsFor, ...call }: WaitingRunInit,
): Promise<void> {
  // A database with one process at a time knows no other that is alive, so the host would take the run over meanwhile.
  const isRecovering = recovery.isRunning;
  recovery.stop();
  await recovery.scan();
  const definition: Tool = { type: 'function', name: tool };
  const earlier = new AgenticLoop({
    // A run is continued by the provider that it was started with.
    provider: new ScriptedProvider([calling({ name: tool, call_id: 'call', arguments: call.arguments })], {
      name: providerId,
    }),
    toolExecutor: new ToolRegistry().register({
      ...definition,
      name: tool,
      ...(waitsFor === 'approval' ? { needsApproval: true } : {}),
      execute: () => new Promise(() => undefined),
    }),
    runStore: runs,
    logger: new RecordingLogger(),
  });
  const record = recordEvents(earlier);
  const options = { model: providerId, input: title, tools: [tool], executionId };
  const metadata = { requestId: executionId, argumentsHash: executionId, source: 'http', providerId, title } as const;
  const { done } = await earlier.start(userId, options, metadata);
  done.catch(() => undefined);
  await record.seen(waitsFor === 'approval' ? 'tool:approval_required' : 'tool:executing');
  const [before, after] = STATES[waitsFor];
  // The event comes before the call is stored.
  await until(async () => (await runs.load(executionId))?.calls[0]?.state === before);
  await earlier.close();
  let failure: unknown;
  loop.resume(executionId).catch((error: unknown) => (failure = error));
  await until(async () => {
    const state = (await runs.load(executionId))?.calls[0]?.state;
    if (failure !== undefined) throw new Error('the run was not continued', { cause: failure });
    return loop.local.has(executionId) && state === after;
  });
  if (isRecovering) await recovery.start();
}

/** Queues a run: authorizes and stores it now, and a worker starts it as soon as one is free or at its due time. */
import type { RunResult } from '../../domain/entities/Run';
import type { Actor } from '../../domain/types/Actor';
import { LLMPermissionError } from '../../domain/errors/LLMErrors';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { QueuedRun, RunQueue } from '../services/RunQueue';
import type { AgenticRequest } from './AgenticExecutionUseCase';
import { RunLauncher } from './RunLauncher';
import type { RunLauncherPorts } from './RunLauncher';

/** How a run takes its turn. See `QueuedRun`. */
export type QueueOptions = Pick<QueuedRun, 'priority' | 'globalPriority' | 'concurrencyKey' | 'concurrencyLimit'>;

export class QueueRunUseCase {
  private readonly ports: Omit<RunLauncherPorts, 'loop'>;
  private readonly queue: Pick<RunQueue, 'add'>;

  constructor(ports: Omit<RunLauncherPorts, 'loop'>, queue: Pick<RunQueue, 'add'>) {
    this.ports = ports;
    this.queue = queue;
  }

  /**
   * Idempotent: a repeated request of the same user with the same request id is the same run.
   * @param dueAt milliseconds since the epoch; default: as soon as a worker is free
   * @param options `globalPriority` is for admins and the server's own jobs
   * @throws LLMPermissionError; whatever `RunLauncher.launch` and `RunQueue.add` throw
   */
  async execute(
    actor: Actor,
    { tools, maxIterations, durability, ...request }: AgenticRequest,
    dueAt?: number,
    options: QueueOptions = {},
  ): Promise<{ readonly executionId: string }> {
    if (options.globalPriority !== undefined && actor.isAdmin !== true && actor.source !== 'job')
      throw new LLMPermissionError('Only administrators may set "globalPriority". Use "priority" among your own runs.');
    const chosen = omitUndefined({ maxIterations, durability });
    const launcher = new RunLauncher({
      ...this.ports,
      loop: this.queueingLoop({ ...options, ...omitUndefined({ dueAt }) }),
    });
    const { executionId } = await launcher.launch(actor, request, {
      tools,
      args: { operation: 'generateWithTools', tools, ...chosen },
      run: ({ options: given, execute }) =>
        execute({ ...given, ...chosen, origin: { ...given.origin, source: 'job' } }),
    });
    return { executionId };
  }

  /**
   * A loop that queues runs instead of starting them. Their end is reported by events and the store, and never awaited
   * here.
   */
  private queueingLoop(queued: QueuedRun): RunLauncherPorts['loop'] {
    return {
      start: async (userId, options, metadata) => ({
        executionId: await this.queue.add(userId, options, { ...metadata, ...queued }),
        done: NEVER,
      }),
      waitForResult: () => NEVER,
    };
  }
}

const NEVER = new Promise<RunResult>(() => undefined);

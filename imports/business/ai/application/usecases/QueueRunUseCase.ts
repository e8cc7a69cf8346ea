/** Queues a run: authorizes and stores it now, and a worker starts it as soon as one is free or at its due time. */
import type { RunResult } from '../../domain/entities/Run';
import type { Actor } from '../../domain/types/Actor';
import type { RunQueue } from '../services/RunQueue';
import type { AgenticRequest } from './AgenticExecutionUseCase';
import { RunLauncher } from './RunLauncher';
import type { RunLauncherPorts } from './RunLauncher';

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
   * @throws whatever `RunLauncher.launch` and `RunQueue.add` throw
   */
  async execute(
    actor: Actor,
    { tools, maxIterations, ...request }: AgenticRequest,
    dueAt?: number,
  ): Promise<{ readonly executionId: string }> {
    const limits = maxIterations === undefined ? {} : { maxIterations };
    const launcher = new RunLauncher({ ...this.ports, loop: this.queueingLoop(dueAt) });
    const { executionId } = await launcher.launch(actor, request, {
      tools,
      args: { operation: 'generateWithTools', tools, ...limits },
      run: ({ options, execute }) => execute({ ...options, ...limits, origin: { ...options.origin, source: 'job' } }),
    });
    return { executionId };
  }

  /**
   * A loop that queues runs instead of starting them. Their end is reported by events and the store, and never awaited
   * here.
   */
  private queueingLoop(dueAt: number | undefined): RunLauncherPorts['loop'] {
    return {
      start: async (userId, options, metadata) => ({
        executionId: await this.queue.add(userId, options, { ...metadata, ...(dueAt === undefined ? {} : { dueAt }) }),
        done: NEVER,
      }),
      waitForResult: () => NEVER,
    };
  }
}

const NEVER = new Promise<RunResult>(() => undefined);

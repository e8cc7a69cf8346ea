/** A run for later: let in and written down now, begun by a worker when there is one, or at its time. */
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
   * The same request again, of the same user with the same request id, is the same run: whoever is not sure whether
   * it was queued asks once more.
   * @param dueAt milliseconds since the epoch; default: as soon as there is a worker
   * @throws what `RunLauncher.launch` and `RunQueue.add` throw
   */
  async execute(
    actor: Actor,
    { tools, maxIterations, ...request }: AgenticRequest,
    dueAt?: number,
  ): Promise<{ readonly executionId: string }> {
    const limits = maxIterations === undefined ? {} : { maxIterations };
    const launcher = new RunLauncher({ ...this.ports, loop: this.laterLoop(dueAt) });
    const { executionId } = await launcher.launch(actor, request, {
      tools,
      args: { operation: 'generateWithTools', tools, ...limits },
      run: ({ options, execute }) => execute({ ...options, ...limits }),
    });
    return { executionId };
  }

  /**
   * A loop that begins nothing. Its runs' ends are told by events and the store; whoever queues one does not wait
   * for it here.
   */
  private laterLoop(dueAt: number | undefined): RunLauncherPorts['loop'] {
    return {
      start: async (userId, options, asked) => ({
        executionId: await this.queue.add(userId, options, { ...asked, ...(dueAt === undefined ? {} : { dueAt }) }),
        done: NOT_HERE,
      }),
      waitForResult: () => NOT_HERE,
    };
  }
}

const NOT_HERE = new Promise<RunResult>(() => undefined);

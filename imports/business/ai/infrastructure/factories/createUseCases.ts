/** Creates the use cases that methods, jobs and HTTP clients call. */
import type { AgenticLoop } from '../../application/services/AgenticLoop';
import type { LLMManager } from '../../application/services/LLMManager';
import type { RunQueue } from '../../application/services/RunQueue';
import { AgenticExecutionUseCase } from '../../application/usecases/AgenticExecutionUseCase';
import { EmbedUseCase } from '../../application/usecases/EmbedUseCase';
import { GenerateJSONUseCase } from '../../application/usecases/GenerateJSONUseCase';
import { GenerateTextUseCase } from '../../application/usecases/GenerateTextUseCase';
import { QueueRunUseCase } from '../../application/usecases/QueueRunUseCase';
import type { RunResult } from '../../domain/entities/Run';
import { RunLauncher } from '../../application/usecases/RunLauncher';
import type { RunLauncherPorts } from '../../application/usecases/RunLauncher';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunStore } from '../../domain/interfaces/RunStore';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { UserStorage } from '../../domain/interfaces/UserStorage';
import type { AuditEvent } from '../../domain/types/AuditEvents';

export interface UseCasePorts {
  /** Default: only admins and the server's own jobs may use anything. */
  readonly access?: AccessPolicy;
  /** Receives an audit event for every use of a provider, refused ones included. */
  readonly onUse?: (event: AuditEvent) => void;
  /** Called with the id of a run that another one has repeated, continued or forked. */
  readonly onFollowed?: (executionId: string) => Promise<unknown>;
  /** What users may store. Default: as much as they like. */
  readonly storage?: Pick<UserStorage, 'admit'>;
  /** Whether runs that do not say it recall what is remembered about their user. Default: false. */
  readonly recall?: boolean | undefined;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface UseCases {
  readonly generateText: GenerateTextUseCase;
  readonly generateJSON: GenerateJSONUseCase;
  readonly agenticExecution: AgenticExecutionUseCase;
  readonly queueRun: QueueRunUseCase;
  readonly embed: EmbedUseCase;
}

export interface UseCaseDependencies {
  readonly loop: AgenticLoop;
  /** The loop's run store. */
  readonly runs: RunStore;
  readonly queue: RunQueue;
  readonly manager: LLMManager;
  readonly providers: { has(id: string): boolean };
}

export function createUseCases(
  { loop, runs, queue, manager, providers }: UseCaseDependencies,
  ports: UseCasePorts,
): UseCases {
  const shared = omitUndefined({
    runs,
    providers,
    access: ports.access ?? adminsOnly,
    onUse: ports.onUse,
    onFollowed: ports.onFollowed,
    recall: ports.recall,
    storage: ports.storage,
    logger: ports.logger,
  });
  const launcher = new RunLauncher({ ...shared, loop });
  return {
    generateText: new GenerateTextUseCase(launcher),
    generateJSON: new GenerateJSONUseCase(launcher, manager),
    agenticExecution: new AgenticExecutionUseCase(
      launcher,
      manager,
      new RunLauncher({ ...shared, loop: leavingToOthers(loop, queue) }),
    ),
    queueRun: new QueueRunUseCase(shared, queue),
    embed: new EmbedUseCase({ ...shared, manager }),
  };
}

/** While the process shuts down, runs are queued for others instead of started here. */
function leavingToOthers(
  loop: UseCaseDependencies['loop'],
  queue: UseCaseDependencies['queue'],
): RunLauncherPorts['loop'] {
  return {
    start: async (userId, options, metadata) =>
      loop.local.isDraining && queue.isShared
        ? { executionId: await queue.add(userId, options, metadata), done: NEVER }
        : loop.start(userId, options, metadata),
    waitForResult: (executionId, signal) => loop.waitForResult(executionId, signal),
  };
}

/** The end of such a run is reported by the process that executes it. */
const NEVER = new Promise<RunResult>(() => undefined);

/** The access policy of a host that provides none: deny by default. */
export const adminsOnly: AccessPolicy = {
  decide: ({ isAdmin, source }, { providerId }) =>
    Promise.resolve(
      isAdmin === true || source === 'job'
        ? { allowed: true }
        : { allowed: false, reason: `You may not use the provider "${providerId}".` },
    ),
};

/** The uses of the module, wired: what methods, jobs and HTTP clients call. */
import type { AgenticLoop } from '../../application/services/AgenticLoop';
import type { LLMManager } from '../../application/services/LLMManager';
import type { RunQueue } from '../../application/services/RunQueue';
import { adminsOnly } from '../../application/usecases/adminsOnly';
import { AgenticExecutionUseCase } from '../../application/usecases/AgenticExecutionUseCase';
import { GenerateJSONUseCase } from '../../application/usecases/GenerateJSONUseCase';
import { GenerateTextUseCase } from '../../application/usecases/GenerateTextUseCase';
import { QueueRunUseCase } from '../../application/usecases/QueueRunUseCase';
import { RunLauncher } from '../../application/usecases/RunLauncher';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { AuditEvent } from '../../domain/types/AuditEvents';

export interface UseCasePorts {
  /** Default: admins and the server's own jobs. */
  readonly access?: AccessPolicy;
  /** Told of every use of a provider, also of those that were refused. */
  readonly onUse?: (event: AuditEvent) => void;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface UseCases {
  readonly generateText: GenerateTextUseCase;
  readonly generateJSON: GenerateJSONUseCase;
  readonly agenticExecution: AgenticExecutionUseCase;
  readonly queueRun: QueueRunUseCase;
}

export interface UseCaseParts {
  readonly loop: AgenticLoop;
  /** Where the loop writes its runs down. */
  readonly runs: RunStore;
  readonly queue: RunQueue;
  readonly manager: LLMManager;
  readonly providers: { has(id: string): boolean };
}

export function createUseCases({ loop, runs, queue, manager, providers }: UseCaseParts, ports: UseCasePorts): UseCases {
  const shared = {
    runs,
    providers,
    access: ports.access ?? adminsOnly,
    ...(ports.onUse === undefined ? {} : { tell: ports.onUse }),
    ...(ports.logger === undefined ? {} : { logger: ports.logger }),
  };
  const launcher = new RunLauncher({ ...shared, loop });
  return {
    generateText: new GenerateTextUseCase(launcher),
    generateJSON: new GenerateJSONUseCase(launcher, manager),
    agenticExecution: new AgenticExecutionUseCase(launcher),
    queueRun: new QueueRunUseCase(shared, queue),
  };
}

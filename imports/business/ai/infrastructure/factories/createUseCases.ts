/** The uses of the module, wired: what methods, jobs and HTTP clients call. */
import type { AgenticLoop } from '../../application/services/AgenticLoop';
import type { LLMManager } from '../../application/services/LLMManager';
import { RequestLedger } from '../../application/services/RequestLedger';
import { adminsOnly } from '../../application/usecases/adminsOnly';
import { AgenticExecutionUseCase } from '../../application/usecases/AgenticExecutionUseCase';
import { GenerateJSONUseCase } from '../../application/usecases/GenerateJSONUseCase';
import { GenerateTextUseCase } from '../../application/usecases/GenerateTextUseCase';
import { RunLauncher } from '../../application/usecases/RunLauncher';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RequestRecords } from '../../domain/interfaces/RequestRecords';
import type { UseEvent } from '../../domain/types/UseEvents';
import { MemoryRequestRecords } from '../persistence/MemoryRequestRecords';

export interface UseCasePorts {
  /** Default: admins and the server's own jobs. */
  readonly access?: AccessPolicy;
  /** Default: in memory. */
  readonly runs?: RequestRecords;
  /** Told of every use of a provider, also of those that were refused. */
  readonly onUse?: (event: UseEvent) => void;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface UseCases {
  readonly generateText: GenerateTextUseCase;
  readonly generateJSON: GenerateJSONUseCase;
  readonly agenticExecution: AgenticExecutionUseCase;
  readonly runs: RequestRecords;
}

export interface UseCaseParts {
  readonly loop: AgenticLoop;
  readonly manager: LLMManager;
  readonly providers: { has(id: string): boolean };
}

export function createUseCases({ loop, manager, providers }: UseCaseParts, ports: UseCasePorts): UseCases {
  const runs = ports.runs ?? new MemoryRequestRecords();
  const launcher = new RunLauncher({
    runs,
    providers,
    access: ports.access ?? adminsOnly,
    ledger: new RequestLedger(),
    ...(ports.onUse === undefined ? {} : { tell: ports.onUse }),
    ...(ports.logger === undefined ? {} : { logger: ports.logger }),
  });
  return {
    runs,
    generateText: new GenerateTextUseCase(launcher, loop),
    generateJSON: new GenerateJSONUseCase(launcher, loop, manager),
    agenticExecution: new AgenticExecutionUseCase(launcher, loop),
  };
}

/** What the protocol's servers of a host have in common, over HTTP and over stdio. */
import { createHmac } from 'node:crypto';
import { ToolCaller } from '../../business/ai/application/services/ToolCaller';
import type { AuditTrail } from '../../business/ai/application/services/AuditTrail';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { AccessPolicy } from '../../business/ai/domain/interfaces/AccessPolicy';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { AIModule } from '../../business/ai/infrastructure/factories/createAIModule';
import type { RunRoutePorts } from '../runs/RunRoutePorts';
import type { McpAccess } from './addMcpRoutes';
import type { McpServerPorts } from './createMcpServer';
import type { McpServerPackage } from './importMcpServer';
import { McpTools } from './McpTools';
import { createRunTools } from './runTools';
import type { RunToolPorts } from './runTools';

/** What is offered over MCP. */
export interface McpOffer {
  readonly sdk: McpServerPackage;
  /** Names of tools, in which `*` stands for any characters. */
  readonly tools: readonly string[];
  /** Where clients reach the HTTP API, without a slash at its end. */
  readonly rootUrl: string;
  /** Where people find the dashboard, without a slash at its end. */
  readonly homeUrl: string;
  /** Access with tokens of an authorization server. Default: none. */
  readonly access?: McpAccess;
}

export interface McpHostPorts {
  readonly runs?: Pick<RunRoutePorts, 'methods' | 'queries'> | undefined;
  readonly models: RunToolPorts['models'];
  readonly access?: AccessPolicy | undefined;
  readonly audit?: AuditTrail | undefined;
  /** Known to all processes. */
  readonly secret: Buffer;
  readonly toError: (thrown: unknown) => LLMError;
  readonly logger: Logger;
}

export function createMcpServerPorts(
  { tools, loop }: Pick<AIModule, 'loop' | 'tools'>,
  { sdk, tools: offered, homeUrl }: McpOffer,
  { runs, models, access, audit, secret, toError, logger }: McpHostPorts,
): McpServerPorts {
  const waitForRun = (executionId: string, signal: AbortSignal): Promise<unknown> =>
    loop.waitForResult(executionId, signal);
  return {
    sdk,
    tools: new McpTools({
      caller: new ToolCaller({ tools, access, audit, logger }),
      runTools: runs === undefined ? [] : createRunTools({ runs, models, waitForRun, homeUrl }),
      offered,
    }),
    stateKey: createHmac('sha256', secret).update('mcp request state').digest(),
    homeUrl,
    toError,
    logger,
  };
}

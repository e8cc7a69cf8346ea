/** What the protocol's servers of a host have in common, over HTTP and over stdio. */
import { createHmac } from 'node:crypto';
import { ToolCaller } from '../../ai/application/services/ToolCaller';
import type { AuditRecorder } from '../../ai/domain/interfaces/AuditRecorder';
import type { LLMError } from '../../ai/domain/errors/LLMErrors';
import type { AccessPolicy } from '../../ai/domain/interfaces/AccessPolicy';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { ToolTaskStore } from '../../ai/domain/interfaces/ToolTaskStore';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { AIModule } from '../../ai/infrastructure/factories/createAIModule';
import type { RunRoutePorts } from '../../../api/runs/RunRoutePorts';
import type { McpAccess } from './addMcpRoutes';
import type { McpServerPorts } from './createMcpServer';
import type { McpServerPackage } from './importMcpServer';
import type { McpResources } from './McpResources';
import { McpTools } from './McpTools';
import { MemoryUsedApprovals } from './UsedApprovals';
import type { UsedApprovals } from './UsedApprovals';
import { McpTasks } from './McpTasks';
import { RunTasks } from './RunTasks';
import { createRunTools } from './runTools';
import type { RunToolPorts } from './runTools';
import { ToolTasks } from './ToolTasks';
import type { ToolTasksPorts } from './ToolTasks';

/** What an app offers without naming it in the settings. */
export interface McpExposure {
  /** Names of tools, which change with what the app exposes. */
  readonly toolNames: readonly string[];
  readonly resources: McpResources;
}

/** What is offered over MCP. */
export interface McpOffer {
  readonly sdk: McpServerPackage;
  /** Names of tools, in which `*` stands for any characters. */
  readonly tools: readonly string[];
  /** What the app has exposed. Default: nothing. */
  readonly exposed?: McpExposure | undefined;
  /** Where clients reach the HTTP API, without a slash at its end. */
  readonly rootUrl: string;
  /** Where people find the dashboard, without a slash at its end. */
  readonly homeUrl: string;
  /** The approvals used in all processes. Default: those used in this one. */
  readonly usedApprovals?: UsedApprovals;
  /** Where calls of non-blocking tools are stored, which are tasks then. Default: they are awaited. */
  readonly toolTasks?: ToolTaskStore;
  /** Access with tokens of an authorization server. Default: none. */
  readonly access?: McpAccess;
  /** Whether the requests of a session reach the same process. Default: if no other process has the database. */
  readonly keepsSessions?: boolean | undefined;
}

export interface McpHostPorts extends Pick<ToolTasksPorts, 'inFlight' | 'lostAfter'> {
  readonly runs?: Pick<RunRoutePorts, 'methods' | 'queries'> | undefined;
  readonly models: RunToolPorts['models'];
  readonly access?: AccessPolicy | undefined;
  readonly audit?: AuditRecorder | undefined;
  readonly storage?: ToolTasksPorts['storage'];
  /** Known to all processes. */
  readonly secret: Buffer;
  readonly toError: (thrown: unknown) => LLMError;
  readonly logger: Logger;
}

export function createMcpServerPorts(
  { tools, loop }: Pick<AIModule, 'loop' | 'tools'>,
  { sdk, tools: offered, exposed, homeUrl, usedApprovals = new MemoryUsedApprovals(), toolTasks: store }: McpOffer,
  { runs, models, access, audit, storage, secret, toError, logger, inFlight, lostAfter }: McpHostPorts,
): McpServerPorts & { readonly toolTasks?: ToolTasks } {
  const waitForRun = (executionId: string, signal: AbortSignal): Promise<unknown> =>
    loop.waitForResult(executionId, signal);
  const mcpTools = new McpTools({
    caller: new ToolCaller({ tools, access, audit, logger }),
    runTools: runs === undefined ? [] : createRunTools({ runs, models, waitForRun, homeUrl }),
    offered: () => (exposed === undefined ? offered : [...offered, ...exposed.toolNames]),
  });
  const toolTasks =
    store && new ToolTasks({ ...{ store, storage, inFlight, lostAfter, toError, logger }, tools: mcpTools });
  const taskSources = [
    ...(toolTasks === undefined ? [] : [toolTasks]),
    ...(runs === undefined ? [] : [new RunTasks({ runs, tools: mcpTools, homeUrl })]),
  ];
  return omitUndefined({
    sdk,
    tools: mcpTools,
    tasks: taskSources.length === 0 ? undefined : new McpTasks(taskSources, toError),
    toolTasks,
    resources: exposed?.resources,
    stateKey: createHmac('sha256', secret).update('mcp request state').digest(),
    usedApprovals,
    homeUrl,
    toError,
    logger,
  });
}

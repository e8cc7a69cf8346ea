/** What a host is configured with, and what it is given by the program that it runs in. */
import type { AuthFailureLimits } from '../api/auth/AuthFailureLimiter';
import type { ConsentPage } from '../api/authorization/authorizationPages';
import type { HttpApiPorts } from '../api/createHttpApi';
import type { DashboardPagePorts } from '../api/dashboard/dashboardPages';
import type { RouterFactory } from '../api/http/createRouter';
import type { ToolRule } from '../business/ai/domain/entities/toolRules';
import type { Guardrail } from '../business/ai/domain/interfaces/Guardrail';
import type { NamesLookup, UserLookup, UserSearch } from '../business/ai/domain/types/Actor';
import type { PrivateHosts } from '../business/ai/infrastructure/clients/http/privateHosts';
import type { RelayTimes } from '../business/ai/infrastructure/events/RunEventRelay';
import type { AIModulePorts, AISettings } from '../business/ai/infrastructure/factories/createAIModule';
import type { CallLimits } from '../business/ai/infrastructure/factories/createRunOperations';
import type { AuditLimits } from '../business/audit/infrastructure/DocumentAuditStore';
import type { UserLimits } from '../business/limits/domain/UserLimits';
import type { McpAccess } from '../business/mcp/api/addMcpRoutes';
import type { McpExposure } from '../business/mcp/api/createMcpServerPorts';
import type { ConfiguredServer } from '../business/mcp/infrastructure/managed/ConfiguredServer';
import type { McpSettings } from '../business/mcp/mcpSettings';
import type { MemorySettings } from '../business/memory/memorySettings';
import type { RequestLogSettings } from '../business/requestLog/createRequestLog';
import type { StorageBounds } from '../database/bounds/StorageBounds';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import type { RetentionTime } from '../database/StoredCollection';
import type { JobSettings } from './openJobQueue';

export interface HostSettings {
  readonly ai: AISettings;
  /** Who may use the vendors of `ai`. Default: admins. */
  readonly access?: 'admins' | 'everyone';
  /** Sealing keys as `id:base64,…`: the first seals, all open. */
  readonly secretKeys: string;
  /** Whether users' content is sealed before it is stored, with a key of each user. Default: false. */
  readonly sealContent?: boolean;
  /** Where browsers reach this app. */
  readonly rootUrl: string;
  /**
   * Permits http and private addresses for vendors and authorization servers that admins enter: none, those of a list
   * of host names, IP addresses and networks, or all, which is for development.
   */
  readonly allowPrivateHosts: PrivateHosts;
  /** Where the API is mounted below the root URL: '' or a path like `/ai`. Default: ''. */
  readonly httpPath?: string;
  /** Calls per user and minute. */
  readonly callLimits?: Partial<CallLimits>;
  /** What one user may do in a minute and at a time. Default: `DEFAULT_USER_LIMITS`. */
  readonly userLimits?: Partial<UserLimits>;
  /** Milliseconds that `close` waits for requests, model calls and tools in progress. Default: 20,000. */
  readonly shutdownGraceMs?: number;
  /**
   * Milliseconds for which `close` first goes on as before, while the server is not ready any more, so that load
   * balancers leave it out. Default: 0.
   */
  readonly shutdownNoticeMs?: number;
  /** The largest HTTP body and WebSocket message. Default: 32 MiB. */
  readonly maxBodyBytes?: number;
  /** The most objects, arrays and entries of a body. Default: 100,000. */
  readonly maxJsonValues?: number;
  /** Exact origins whose pages may call the API with a token. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** How many requests with invalid tokens are answered in a minute. */
  readonly authFailures?: Partial<AuthFailureLimits>;
  /** How long new API tokens are valid that name no time, in milliseconds. Default: 90 days. */
  readonly tokenLifetimeMs?: number | 'never';
  /** How many proxies in front of the server append to `x-forwarded-for`. Default: 0. */
  readonly forwardedCount?: number;
  /** How queued runs are processed, and how long runs are retained. */
  readonly jobs?: JobSettings;
  /** Check every model call, before those of the ports. Default: none. */
  readonly guardrails?: readonly Guardrail[];
  /** Servers whose tools are registered. Default: none. */
  readonly mcpServers?: readonly ConfiguredServer[];
  /** Whether admins may add MCP servers that are programs, with the rights of this process. Default: false. */
  readonly mcpCommands?: boolean;
  /** What is offered over MCP. Default: nothing. */
  readonly mcp?: McpSettings;
  /** The path of the app's page where people sign in when they connect an MCP client; `off` for none. Default: `/`. */
  readonly mcpSignIn?: string;
  /** Whether requests of an MCP session reach the same process. Default: if no other process has the database. */
  readonly mcpSessions?: boolean;
  /** Which users may use which tools. Default: everyone may use all. */
  readonly toolRules?: readonly ToolRule[];
  /** Whether requests may be answered from cached responses, if they ask for it. Default: true. */
  readonly responseCache?: boolean;
  /** How much of each kind is stored. The defaults depend on the database. */
  readonly storage?: Partial<StorageBounds>;
  /** The log of model calls. */
  readonly requestLog?: RequestLogSettings;
  /** Milliseconds for which conversations are kept. Default, and most: 30 days. */
  readonly contentTimes?: Partial<Record<RetentionTime, number>>;
  /** How long entries of the audit trail are kept, and how many. */
  readonly auditLimits?: AuditLimits;
  /** What is remembered about users, and where it is used. Default: only what they save and search themselves. */
  readonly memory?: MemorySettings;
}

export interface HostPorts {
  /** The app's Express. Default: the host brings the router that it needs. */
  readonly express?: RouterFactory | undefined;
  readonly database: DocumentDatabase;
  /** Authenticates a request. Users' API tokens are accepted as well. */
  readonly authenticate: HttpApiPorts['authenticate'];
  /** Looks up a user for the access rules. */
  readonly findUser: UserLookup;
  /** Default: admins see ids. */
  readonly findNames?: NamesLookup | undefined;
  /** Default: admins find users by id. */
  readonly searchUsers?: UserSearch | undefined;
  /** `findUser` knows every user. Otherwise, owners of API tokens count as users, too. */
  readonly hasAccounts?: true;
  readonly ai?: Omit<AIModulePorts, 'access' | 'credentials' | 'providerSource' | 'onUsage'> | undefined;
  /** How soon processes show each other the events of runs. */
  readonly relayTimes?: Partial<RelayTimes>;
  /** The app serves pages of its own; see `HttpApiPorts.servesPages`. */
  readonly servesPages?: true;
  /** How MCP clients get the consent of the app's users. Default: clients need API tokens. */
  readonly consent?: ConsentPage | undefined;
  /** What the app offers over MCP besides what the settings name. Default: nothing. */
  readonly exposed?: McpExposure | undefined;
  /** Access to `/mcp` with tokens of an authorization server. Default: none. */
  readonly mcpAccess?: McpAccess | undefined;
  /** Enables the dashboard's page over HTTP, with its files and its session. A host with DDP does not need it. */
  readonly dashboard?: DashboardPagePorts | undefined;
}

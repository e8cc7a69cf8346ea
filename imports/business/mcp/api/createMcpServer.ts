/** The protocol's server for a request or a connection: lists and calls the tools that its caller is offered. */
import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { LLMError } from '../../ai/domain/errors/LLMErrors';
import { fieldsOf } from '../../ai/domain/util/json';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import { APPROVAL, asksPeople, hashOfCall, isApproved, isDismissed, toQuestion } from './approvals';
import type { AskedApproval } from './approvals';
import type { McpServerPackage } from './importMcpServer';
import { callerIn } from './McpCaller';
import type { McpCaller } from './McpCaller';
import { McpResourceReader } from './McpResourceReader';
import type { McpResources } from './McpResources';
import { toMcpFailure, toMcpResult } from './McpTools';
import type { McpTools } from './McpTools';
import { TASKS_EXTENSION } from './McpTasks';
import type { McpTasks } from './McpTasks';
import { ProgressNotifier } from './ProgressNotifier';
import type { UsedApprovals } from './UsedApprovals';

export interface McpServerPorts {
  readonly sdk: McpServerPackage;
  readonly tools: McpTools;
  /** Signs what clients send back with a person's answer: 32 bytes, the same in all processes. */
  readonly stateKey: Uint8Array;
  readonly usedApprovals: UsedApprovals;
  /** Absent: no call is a task. */
  readonly tasks?: McpTasks;
  /** Absent: there are no resources. */
  readonly resources?: McpResources;
  /** Where people find the dashboard. */
  readonly homeUrl: string;
  /** Says what may be said of an error to clients. */
  readonly toError: (thrown: unknown) => LLMError;
  readonly logger: Logger;
}

export interface ServedConnection {
  /** The caller, where requests have none of their own. */
  readonly caller?: McpCaller;
  /** Whether clients can be told of changes of the tools. */
  readonly tellsChanges: boolean;
  /** Whether calls may become tasks. */
  readonly hasTasks?: boolean;
  /** Whether the client subscribes to resources by requests of this connection, and not with a stream. */
  readonly keepsSubscriptions?: boolean;
}

/** Tools on a page of a list. */
const PAGE = 100;
const RESOURCE_TYPE = 'application/json';
/** The most resources that one client watches. */
export const MAX_WATCHED = 100;
/** How long a person may take to answer. */
const ANSWER_SECONDS = 600;

export function createMcpServer(
  ports: McpServerPorts,
  { caller: fixed, tellsChanges, hasTasks = false, keepsSubscriptions = false }: ServedConnection,
): McpServer {
  const { sdk, tools, stateKey, logger } = ports;
  const callerOf = (ctx: ServerContext): McpCaller => {
    const caller = callerIn(ctx) ?? fixed;
    if (caller === undefined) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, 'Unknown caller.');
    const { signal } = ctx.mcpReq;
    return { ...caller, signal: AbortSignal.any([caller.signal, signal]) };
  };
  const codec = sdk.createRequestStateCodec<AskedApproval>({
    key: stateKey,
    ttlSeconds: ANSWER_SECONDS,
    bind: (ctx) => {
      const { userId, tokenId = '' } = callerOf(ctx).actor;
      return JSON.stringify([userId, tokenId]);
    },
  });
  const mcpServer = new sdk.McpServer(
    { name: 'bolide', title: 'Bolide', version: '1' },
    {
      capabilities: {
        tools: { listChanged: tellsChanges },
        ...omitUndefined({ resources: ports.resources && { subscribe: tellsChanges } }),
        ...(hasTasks ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
      },
      requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
      inputRequired: { roundTimeoutMs: ANSWER_SECONDS * 1_000 },
    },
  );
  const { server } = mcpServer;
  server.onerror = (error) => logger.debug('MCP:', error);

  if (ports.resources !== undefined) serveResources(ports.resources);

  server.setRequestHandler('tools/list', async ({ params }, ctx) => {
    const after = params?.cursor ?? '';
    const all = await tools.list(callerOf(ctx));
    const from = after === '' ? 0 : all.findIndex(({ name }) => name === after) + 1;
    if (after !== '' && from === 0)
      throw new sdk.ProtocolError(
        sdk.ProtocolErrorCode.InvalidParams,
        'Unknown cursor. List the tools from the start.',
      );
    const page = all.slice(from, from + PAGE);
    const last = page.at(-1);
    return {
      tools: [...page],
      ...(last === undefined || from + PAGE >= all.length ? {} : { nextCursor: last.name }),
    };
  });

  server.setRequestHandler('tools/call', async ({ params }, ctx): Promise<CallToolResult | InputRequiredResult> => {
    const { name, arguments: args = {} } = params;
    const caller = callerOf(ctx);
    const runTool = tools.runTool(name, caller);
    if (runTool === undefined && !tools.has(name))
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 128)}`);
    try {
      if (runTool === undefined) return await callTool(name, args, caller, ctx);
      const result = await runTool.execute(caller, args);
      return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } };
    } catch (thrown) {
      return toMcpFailure(ports.toError(thrown).message);
    }
  });
  return mcpServer;

  function serveResources(resources: McpResources): void {
    const reader = new McpResourceReader({ sdk, tools, resources });
    server.setRequestHandler('resources/list', async (_request, ctx) => ({
      resources: (await reader.list(callerOf(ctx), false)).map(({ uri, name, description }) => ({
        ...{ uri, name, description },
        mimeType: RESOURCE_TYPE,
      })),
    }));
    server.setRequestHandler('resources/templates/list', async (_request, ctx) => ({
      resourceTemplates: (await reader.list(callerOf(ctx), true)).map(({ uri, name, description }) => ({
        ...{ uriTemplate: uri, name, description },
        mimeType: RESOURCE_TYPE,
      })),
    }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => ({
      contents: [{ uri, mimeType: RESOURCE_TYPE, text: await reader.read(uri, callerOf(ctx)) }],
    }));
    if (!keepsSubscriptions) return;
    const watched = new Map<string, () => void>();
    server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, ctx) => {
      const stop = await reader.watch(uri, callerOf(ctx), () => {
        server.sendResourceUpdated({ uri }).catch((error: unknown) => logger.debug('MCP:', error));
      });
      watched.get(uri)?.();
      watched.set(uri, stop);
      if (watched.size > MAX_WATCHED) {
        const [first] = watched.keys();
        watched.get(first ?? '')?.();
        watched.delete(first ?? '');
      }
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
      watched.get(uri)?.();
      watched.delete(uri);
      return {};
    });
    server.onclose = () => {
      for (const stop of watched.values()) stop();
      watched.clear();
    };
  }

  async function callTool(
    name: string,
    args: Record<string, unknown>,
    caller: McpCaller,
    ctx: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { actor, signal } = caller;
    const hash = hashOfCall(name, args);
    const asked = ctx.mcpReq.requestState<AskedApproval>();
    const callId = asked?.hash === hash ? asked.callId : crypto.randomUUID();
    const answer = asked?.hash === hash ? ctx.mcpReq.inputResponses?.[APPROVAL] : undefined;
    const progress = new ProgressNotifier(ctx, logger);
    const decision = { isMissing: false };
    const calling = tools.calls.call(actor, {
      ...{ callId, name, arguments: args, signal },
      onProgress: (fraction, note) => progress.report(fraction, note),
      async approve() {
        if (answer === undefined || actor.mayDecide === false) {
          decision.isMissing = true;
          return { approved: false, reason: 'Nobody was asked yet.' };
        }
        if (isDismissed(answer))
          return { approved: false, reason: `The client closed the question without an answer. ${elsewhere(name)}` };
        const approved = isApproved(answer);
        if (approved && !(await ports.usedApprovals.use(`mcp:${callId}`, Date.now() + ANSWER_SECONDS * 1_000)))
          return { approved: false, reason: 'This approval was used before, and counts once. Call the tool again.' };
        await tools.calls.recordDecision(actor, { callId, name, isApproved: approved });
        return approved ? { approved } : { approved, reason: 'The person at the client declined.' };
      },
    });
    // Also before an error is answered.
    // oxlint-disable-next-line typescript/no-misused-promises -- `finally` waits for what is returned
    const call = await calling.finally(() => progress.end());
    if (!decision.isMissing) return toMcpResult(call);
    return askOrExplain(name, args, { callId, hash }, caller, ctx);
  }

  function elsewhere(name: string): string {
    return `Start a run with the tool "${name}" instead, whose calls people approve at ${ports.homeUrl}.`;
  }

  async function askOrExplain(
    name: string,
    args: Record<string, unknown>,
    asked: AskedApproval,
    { actor }: McpCaller,
    ctx: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const explain = (reason: string): CallToolResult =>
      toMcpFailure(`The tool "${name}" needs a person's approval, and ${reason}. ${elsewhere(name)}`);
    if (actor.mayDecide === false) return explain('this API token lacks the scope "approve"');
    // oxlint-disable-next-line typescript/no-deprecated -- earlier revisions have no envelope
    const capabilities = declaredIn(ctx) ?? server.getClientCapabilities();
    // A request of an earlier revision without a session does not say what its client can do.
    if (capabilities === undefined)
      return explain(
        'this server keeps no session with clients of this revision of MCP, so it cannot ask (MCP_SESSIONS)',
      );
    if (!asksPeople(capabilities)) return explain('this client cannot ask for it, since it has no elicitation');
    const question = toQuestion(name, args);
    if (question === undefined) return explain('its arguments are too long to be shown to anybody');
    return sdk.inputRequired({
      inputRequests: { [APPROVAL]: sdk.inputRequired.elicit(question) },
      requestState: await codec.mint(asked, ctx),
    });
  }
}

/** What a request of the revision 2026-07-28 says about its client. */
function declaredIn({ mcpReq: { envelope } }: ServerContext): ClientCapabilities | undefined {
  // The SDK has validated it; its type leaves the keys out.
  return fieldsOf(envelope)['io.modelcontextprotocol/clientCapabilities'] as ClientCapabilities | undefined;
}

/** Queries over runs, for people: users see their own, admins everyone's. Every list has a maximum length. */
import type { RunState } from '../../domain/entities/Run';
import { RUN_TRANSITIONS } from '../../domain/entities/Run';
import { isExternalTool } from '../../domain/entities/Tool';
import type { FunctionTool } from '../../domain/entities/Tool';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { LiveTextReader, RunCountReader, RunFilter, RunViewReader } from '../../domain/interfaces/RunViewReader';
import type { Actor } from '../../domain/types/Actor';
import type { CallOfRun } from '../../domain/types/AgentEvents';
import type { RunCountView, RunDetail } from '../../domain/types/RunViews';
import type { ToolSummary } from '../../domain/types/ToolSummary';
import { identifier, integer, oneOf, optional, readObject } from '../../domain/util/arguments';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { permittedTools } from './permittedTools';
import { ARGUMENT_LIMITS } from './readArguments';
import { canAccess, ownOnly, signedIn, UnknownRunError } from './runAccess';

/** Maximum number of entries in a result. */
export const VIEW_LIMITS = { runs: 200, toolCalls: 1_000, deltas: 5_000, counts: 1_000, memories: 200 } as const;

export interface RunQueriesPorts {
  readonly views: RunViewReader;
  readonly texts: LiveTextReader;
  readonly stats: RunCountReader;
  /** Resolves when `views` have what events have told of the run so far. Default: they have it at once. */
  readonly whenStored?: ((executionId: string) => Promise<void>) | undefined;
  readonly tools: { readonly tools: readonly FunctionTool[] };
  /** Tools are listed to those who may use them. Default: everyone. */
  readonly access?: Pick<AccessPolicy, 'refusalOfTool'> | undefined;
}

export class RunQueries {
  private readonly ports: RunQueriesPorts;

  constructor(ports: RunQueriesPorts) {
    this.ports = ports;
  }

  /** @throws UnknownRunError if the run does not exist or belongs to another user */
  async run(actor: Actor, executionId: string): Promise<RunDetail> {
    signedIn(actor);
    const { views, texts, whenStored } = this.ports;
    // A client that follows the events, and then reads the run, misses none of them.
    await whenStored?.(executionId);
    const run = await views.run(executionId);
    if (run === undefined || !canAccess(actor, run.userId)) throw new UnknownRunError();
    const [toolCalls, deltas, plan] = await Promise.all([
      views.toolCalls(executionId, VIEW_LIMITS.toolCalls),
      texts.deltas(executionId, VIEW_LIMITS.deltas),
      views.plan(executionId),
    ]);
    // It was removed in the meantime.
    if (plan === undefined) throw new UnknownRunError();
    return { run, toolCalls, deltas, plan };
  }

  /** The calls that lead from one run to another. Undefined if they don't, or the actor may not see the other. */
  async pathTo(actor: Actor, ancestorId: string, executionId: string): Promise<readonly CallOfRun[] | undefined> {
    signedIn(actor);
    const { views, whenStored } = this.ports;
    let path: readonly CallOfRun[] = [];
    for (let id = executionId; id !== ancestorId;) {
      await whenStored?.(id);
      const run = await views.run(id);
      if (run?.parentExecutionId === undefined || !canAccess(actor, run.userId)) return undefined;
      id = run.parentExecutionId;
      path = [{ executionId: id, callId: run.parentCallId ?? '' }, ...path];
    }
    return path;
  }

  async tools(actor: Actor): Promise<readonly ToolSummary[]> {
    signedIn(actor);
    const { views, tools, access } = this.ports;
    const [counts, permitted] = await Promise.all([
      views.toolCounts(ownOnly(actor)),
      permittedTools(access, actor, tools.tools),
    ]);
    return permitted.map((tool) => {
      const { name, description = '', parameters, blocking = true, needsApproval = false } = tool;
      return {
        name,
        description,
        ...omitUndefined({ parameters }),
        blocking,
        needsApproval: needsApproval !== false,
        external: isExternalTool(tool),
        counts: counts.get(name) ?? {},
      };
    });
  }

  async stats(actor: Actor): Promise<readonly RunCountView[]> {
    signedIn(actor);
    return this.ports.stats.counts(ownOnly(actor), VIEW_LIMITS.counts);
  }
}

const STATES = Object.keys(RUN_TRANSITIONS) as RunState[];

/** @throws LLMInvalidRequestError */
export function readRunFilter(argument: unknown): Pick<RunFilter, 'state' | 'conversationId' | 'since'> {
  const { since: given, ...others } = readObject(argument, ['state', 'conversationId', 'since']);
  // DDP transports dates.
  const fields = { ...others, since: given instanceof Date ? given.getTime() : given };
  return {
    ...optional(fields, 'state', oneOf(STATES)),
    ...optional(fields, 'conversationId', identifier(ARGUMENT_LIMITS.id)),
    ...optional(fields, 'since', integer(0, Number.MAX_SAFE_INTEGER)),
  };
}

/** Another user's conversation may have the same name, so admins too see only their own. */
export function visibleRuns<F extends Pick<RunFilter, 'conversationId'>>(
  actor: Actor,
  filter: F,
): F & Pick<RunFilter, 'userId'> {
  return { ...filter, ...(filter.conversationId === undefined ? ownOnly(actor) : { userId: actor.userId }) };
}

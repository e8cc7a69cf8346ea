/**
 * Calls as tasks: a client that declares the extension is given a task, and asks about it until it has ended. The
 * protocol's own package does not serve the extension, whose requests stand alone.
 * https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
import { identifier, required } from '../../ai/domain/util/arguments';
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import type { LLMError } from '../../ai/domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../ai/domain/util/json';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import type { McpCaller } from './McpCaller';
import { toMcpFailure } from './McpTools';

/** A kind of calls that can be tasks. */
export interface TaskSource {
  /**
   * @returns the task; undefined for a call of another kind
   * @throws what the caller is told
   */
  start(name: string, args: unknown, caller: McpCaller): Promise<JsonObject | undefined>;
  /** @returns the task; undefined for one of another kind, or of another user */
  find(taskId: string, caller: McpCaller): Promise<JsonObject | undefined>;
  /** @returns false for a task of another kind, or of another user */
  cancel(taskId: string, caller: McpCaller): Promise<boolean>;
}

interface Call {
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
}

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const REVISION = '2026-07-28';
const POLL_MS = 1_000;
const INVALID_PARAMS = -32_602;

export class McpTasks {
  private readonly sources: readonly TaskSource[];
  private readonly toError: (thrown: unknown) => LLMError;

  constructor(sources: readonly TaskSource[], toError: (thrown: unknown) => LLMError) {
    this.sources = sources;
    this.toError = toError;
  }

  /** @returns undefined for a request that has nothing to do with tasks, or is not what its headers say */
  async answer(headers: Headers, body: unknown, caller: McpCaller): Promise<Response | undefined> {
    const call = readCall(headers, body);
    if (call === undefined) return undefined;
    const { id, method, params } = call;
    const respond = (answer: JsonObject): Response => Response.json({ jsonrpc: '2.0', id, ...answer });
    if (method === 'tools/call') {
      const result = await this.start(params, caller);
      return result === undefined ? undefined : respond({ result });
    }
    const act = this.actions[method];
    if (act === undefined) return undefined;
    try {
      const result = await act(required(params, 'taskId', identifier(128)), caller);
      return respond({ result: { resultType: 'complete', ...result } });
    } catch (thrown) {
      return respond({ error: { code: INVALID_PARAMS, message: this.toError(thrown).message } });
    }
  }

  private readonly actions: Readonly<
    Record<string, (taskId: string, caller: McpCaller) => Promise<JsonObject> | undefined>
  > = {
    'tasks/get': (taskId, caller) => this.find(taskId, caller),
    'tasks/cancel': async (taskId, caller) => {
      for (const source of this.sources) if (await source.cancel(taskId, caller)) return {};
      throw unknownTask();
    },
    // People are asked elsewhere: no request is outstanding here.
    'tasks/update': async (taskId, caller) => {
      await this.find(taskId, caller);
      return {};
    },
  };

  private async find(taskId: string, caller: McpCaller): Promise<JsonObject> {
    for (const source of this.sources) {
      const task = await source.find(taskId, caller);
      if (task !== undefined) return task;
    }
    throw unknownTask();
  }

  /** @returns undefined for a call that is no task */
  private async start({ name, arguments: args = {} }: JsonObject, caller: McpCaller): Promise<JsonObject | undefined> {
    if (typeof name !== 'string') return undefined;
    try {
      for (const source of this.sources) {
        const task = await source.start(name, args, caller);
        if (task === undefined) continue;
        // It is asked for.
        const { result: _, ...begun } = task;
        return { resultType: 'task', ...begun };
      }
      return undefined;
    } catch (thrown) {
      return { resultType: 'complete', ...toMcpFailure(this.toError(thrown).message) };
    }
  }
}

/** What all tasks say. @param times in milliseconds since the epoch */
export function taskFields(
  taskId: string,
  times: { readonly createdAt: number; readonly changedAt: number },
): JsonObject {
  return {
    taskId,
    createdAt: new Date(times.createdAt).toISOString(),
    lastUpdatedAt: new Date(times.changedAt).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

function unknownTask(): LLMInvalidRequestError {
  return new LLMInvalidRequestError('There is no such task.', { path: 'taskId' });
}

/** @returns undefined unless it is one of a client that declares the extension with it */
function readCall(headers: Headers, body: unknown): Call | undefined {
  const { id, method, params } = fieldsOf(body);
  if ((typeof id !== 'string' && typeof id !== 'number') || typeof method !== 'string' || !isObject(params))
    return undefined;
  const meta = fieldsOf(params['_meta']);
  const { extensions } = fieldsOf(meta['io.modelcontextprotocol/clientCapabilities']);
  const isDeclared = isObject(fieldsOf(extensions)[TASKS_EXTENSION]);
  if (!isDeclared || meta['io.modelcontextprotocol/protocolVersion'] !== REVISION) return undefined;
  const named = headers.get('mcp-name');
  const isSame = headers.get('mcp-method') === method && headers.get('mcp-protocol-version') === REVISION;
  const name = params['name'] ?? params['taskId'];
  return isSame && (named === null || named === name) ? { id, method, params } : undefined;
}

/**
 * A task that a server has made of a call. It is asked about until it has ended, by whichever process has the call: the
 * task's id is the call's checkpoint.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isLLMError, ToolError } from '../../ai/domain/errors/LLMErrors';
import type { ToolCallContext } from '../../ai/domain/interfaces/IToolExecutor';
import { isList, isObject } from '../../ai/domain/util/json';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import type { McpCallPorts } from './McpCallPorts';
import type { AskingCall } from './McpElicitations';
import type { ElicitationAnswer } from './readElicitation';
import { requestTask } from './taskMessages';

export interface TaskOwner extends AskingCall {
  readonly context: ToolCallContext;
  /** @throws ToolError for what is not a request to a person */
  answerOne(request: unknown): Promise<ElicitationAnswer>;
}

/** Milliseconds. */
const POLL_MS = 1_000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 60_000;
const CANCEL_MS = 5_000;
/** Disables the client's time limit: the answer to `tasks/result` may take as long as the task. */
const UNLIMITED_MS = 2 ** 31 - 1;

export class McpTask {
  private readonly ports: McpCallPorts;
  private readonly owner: TaskOwner;
  private readonly taskId: string;
  private pollMs = POLL_MS;
  /** The server's names of the requests that were answered. */
  private readonly answered = new Set<string>();

  constructor(ports: McpCallPorts, owner: TaskOwner, taskId: string) {
    this.ports = ports;
    this.owner = owner;
    this.taskId = taskId;
  }

  /**
   * @param created as the server has described it; undefined in another process
   * @throws ToolError, the abort's reason
   */
  async settle(created?: JsonObject): Promise<CallToolResult> {
    const { signal } = this.owner.context;
    try {
      let task: Readonly<Record<string, unknown>> = created ?? (await this.poll());
      for (;;) {
        const result = await this.advance(task);
        if (result !== undefined) return result;
        await delay(this.pollMs, undefined, { signal });
        task = await this.poll();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      const reason: unknown = signal.reason;
      const goesOn = reason instanceof ToolError && reason.failure === 'interrupted';
      if (!goesOn) this.cancel();
      // The call stays as it is if another process goes on with it.
      throw goesOn ? new Error('The process shuts down.', { cause: reason }) : reason;
    }
  }

  /** A server that is away for a while is asked again. */
  private async poll(): Promise<Readonly<Record<string, unknown>>> {
    const { signal } = this.owner.context;
    for (;;) {
      try {
        return await this.ports.use((client) =>
          requestTask(client, 'tasks/get', { taskId: this.taskId }, { timeout: this.ports.timeout, signal }),
        );
      } catch (error) {
        if (signal.aborted || isRefusal(error)) throw error;
        await delay(Math.max(this.pollMs, POLL_MS), undefined, { signal });
      }
    }
  }

  /** @returns undefined while the task works */
  private async advance(task: Readonly<Record<string, unknown>>): Promise<CallToolResult | undefined> {
    // The revisions name it differently.
    const pollMs = task.pollIntervalMs ?? task.pollInterval;
    if (typeof pollMs === 'number') this.pollMs = Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, pollMs));
    switch (task.status) {
      case 'completed':
        return isObject(task.result) ? toResult(task.result) : this.result();
      case 'failed':
        if (isObject(task.error)) throw new ToolError('threw', String(task.error.message));
        // The error that the revision 2025-11-25 has for it is thrown.
        return this.result();
      case 'cancelled':
        throw new ToolError('threw', `The MCP server "${this.ports.server}" has cancelled the task.`);
      case 'input_required':
        if (!isObject(task.inputRequests)) return this.result();
        await this.answer(task.inputRequests);
        return undefined;
      default:
        if (typeof task.statusMessage === 'string') this.owner.context.progress(0, task.statusMessage);
        return undefined;
    }
  }

  private async answer(requests: Readonly<Record<string, unknown>>): Promise<void> {
    const inputResponses: Record<string, ElicitationAnswer> = {};
    for (const [name, request] of Object.entries(requests))
      if (!this.answered.has(name)) inputResponses[name] = await this.owner.answerOne(request);
    if (Object.keys(inputResponses).length === 0) return;
    const params = { taskId: this.taskId, inputResponses } as unknown as JsonObject;
    await this.ports.use((client) =>
      requestTask(client, 'tasks/update', params, {
        timeout: this.ports.timeout,
        signal: this.owner.context.signal,
      }),
    );
    for (const name of Object.keys(inputResponses)) this.answered.add(name);
  }

  /** Awaits the result in the revision 2025-11-25, whose servers ask questions during the request for it. */
  private result(): Promise<CallToolResult> {
    return this.ports.use(async (client, elicitations) => {
      const end = elicitations.begin(client, this.owner);
      try {
        const options = { timeout: UNLIMITED_MS, signal: this.owner.context.signal };
        return toResult(await requestTask(client, 'tasks/result', { taskId: this.taskId }, options));
      } finally {
        end();
      }
    });
  }

  private cancel(): void {
    this.ports
      .use((client) => requestTask(client, 'tasks/cancel', { taskId: this.taskId }, { timeout: CANCEL_MS }))
      .catch((error: unknown) => {
        this.ports.logger.warn(`The MCP server "${this.ports.server}" was not told that its task is cancelled.`, error);
      });
  }
}

/** @throws ToolError */
function toResult(given: Readonly<Record<string, unknown>>): CallToolResult {
  if (!isList(given.content) || !given.content.every((block) => isObject(block) && typeof block.type === 'string'))
    throw new ToolError('threw', 'The task has ended, but its result is not that of a tool.');
  return given as unknown as CallToolResult;
}

/** The server has answered: asking again changes nothing. */
function isRefusal(error: unknown): boolean {
  if (isLLMError(error)) return error.code !== 'connection-failed' && error.code !== 'timeout';
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

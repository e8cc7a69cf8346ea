/**
 * Non-blocking tools as tasks: their calls go on without the client, and their results are stored. A call whose process
 * dies has failed: nobody runs the tool again, since it may have taken effect.
 */
import { randomUUID } from 'node:crypto';
import { LLMAbortedError, LLMOverloadedError } from '../../ai/domain/errors/LLMErrors';
import type { LLMError } from '../../ai/domain/errors/LLMErrors';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { ToolTask, ToolTaskOutcome, ToolTaskStore } from '../../ai/domain/interfaces/ToolTaskStore';
import type { UserStorage } from '../../ai/domain/interfaces/UserStorage';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import { runDetached } from '../../ai/application/services/shared/runDetached';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { InFlightRequests } from '../../../api/http/InFlightRequests';
import type { McpCaller } from './McpCaller';
import { taskFields } from './McpTasks';
import type { TaskSource } from './McpTasks';
import { toMcpFailure, toMcpResult } from './McpTools';
import type { McpTools } from './McpTools';

export interface ToolTasksPorts {
  readonly tools: McpTools;
  readonly store: ToolTaskStore;
  /** What users may store. Default: as much as they like. */
  readonly storage?: Pick<UserStorage, 'admit'> | undefined;
  /** Lets a shutdown and the deletion of a user's data end the calls. */
  readonly inFlight: Pick<InFlightRequests, 'enter' | 'leave'>;
  readonly toError: (thrown: unknown) => LLMError;
  readonly logger: Logger;
  /** Milliseconds without a sign of life after which another process counts as dead. */
  readonly lostAfter: number;
  /** Milliseconds between two signs of life; default 1,000. */
  readonly confirmEvery?: number;
}

interface OpenTask {
  readonly userId: string;
  readonly controller: AbortController;
  /** What is not stored yet. */
  note?: string;
  outcome?: ToolTaskOutcome;
}

const PREFIX = 'task_';
const CONFIRM_MS = 1_000;
/** The most open tasks of one user in this process. */
const MAX_OPEN = 100;
/** Characters of a result's JSON: what is larger does not fit into a document. */
const MAX_RESULT = 4 * 1_024 ** 2;
const INTERNAL_ERROR = -32_603;
const UNKNOWN_EFFECT = 'Whether the tool took effect is not known.';

export class ToolTasks implements TaskSource {
  private readonly ports: ToolTasksPorts;
  private readonly owner = randomUUID();
  private readonly open = new Map<string, OpenTask>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private confirming: Promise<void> | undefined;

  constructor(ports: ToolTasksPorts) {
    this.ports = ports;
  }

  async start(name: string, args: unknown, caller: McpCaller): Promise<JsonObject | undefined> {
    const { tools, store, storage } = this.ports;
    if (!tools.runsInBackground(name)) return undefined;
    const { userId } = caller.actor;
    // How long its result will be is not known.
    const admitted = await storage?.admit(userId, 0);
    if ([...this.open.values()].filter((task) => task.userId === userId).length >= MAX_OPEN) {
      admitted?.();
      throw new LLMOverloadedError(`You have ${MAX_OPEN} calls in progress. Wait for some of them to end.`);
    }
    const id = PREFIX + randomUUID();
    const task = { userId, controller: new AbortController() };
    this.open.set(id, task);
    try {
      const stored = await store.add({ id, userId, tool: name, owner: this.owner }).finally(admitted);
      this.ports.inFlight.enter(task.controller, { route: 'background /mcp', userId });
      this.timer ??= setInterval(() => this.confirm(), this.ports.confirmEvery ?? CONFIRM_MS);
      void runDetached(() => this.run(id, task, name, args, caller));
      return toTask(stored);
    } catch (error) {
      this.open.delete(id);
      throw error;
    }
  }

  async find(taskId: string, { actor: { userId } }: McpCaller): Promise<JsonObject | undefined> {
    const { store } = this.ports;
    if (!taskId.startsWith(PREFIX)) return undefined;
    const found = await store.find(userId, taskId);
    if (found === undefined || !this.isLost(found)) return found && toTask(found, this.open.get(taskId)?.note);
    await store.end(taskId, { state: 'failed', error: `The process that ran the tool has ended. ${UNKNOWN_EFFECT}` });
    const ended = await store.find(userId, taskId);
    return ended && toTask(ended);
  }

  async cancel(taskId: string, caller: McpCaller): Promise<boolean> {
    // One that was lost has failed, and is not cancelled.
    if ((await this.find(taskId, caller)) === undefined) return false;
    await this.ports.store.end(taskId, { state: 'cancelled' });
    // Another process notices by its next sign of life.
    this.open.get(taskId)?.controller.abort(cancelled());
    return true;
  }

  /** Resolves when what has ended is stored. Calls in progress have ended before. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.confirming;
  }

  private isLost({ id, state, owner, aliveAt }: ToolTask): boolean {
    const { store, lostAfter } = this.ports;
    if (state !== 'working' || this.open.has(id)) return false;
    return owner === this.owner || store.isExclusive || Date.now() - aliveAt >= lostAfter;
  }

  /** Never rejects. */
  private async run(id: string, task: OpenTask, name: string, args: unknown, caller: McpCaller): Promise<void> {
    task.outcome = await this.call(id, task, name, args, caller);
    await this.settle(id, task, task.outcome);
  }

  private async call(
    id: string,
    task: OpenTask,
    name: string,
    args: unknown,
    { actor }: McpCaller,
  ): Promise<ToolTaskOutcome> {
    const { tools, toError } = this.ports;
    const { signal } = task.controller;
    try {
      const call = await tools.calls.call(actor, {
        ...{ callId: id.slice(PREFIX.length), name, arguments: args, signal },
        onProgress: (fraction, note) => {
          task.note = `${Math.round(fraction * 100)} %${note === undefined ? '' : `: ${note}`}`;
        },
        // It needed none when it was called.
        approve: () => ({ approved: false, reason: 'The tool needs an approval, and nobody can be asked.' }),
      });
      if (call.state === 'cancelled') return { state: 'failed', error: `${messageOf(signal)} ${UNKNOWN_EFFECT}` };
      return completed(toMcpResult(call));
    } catch (thrown) {
      return completed(toMcpFailure(toError(thrown).message));
    }
  }

  /** What cannot be stored now is stored by a later sign of life. */
  private async settle(id: string, { controller }: OpenTask, outcome: ToolTaskOutcome): Promise<void> {
    try {
      await this.ports.store.end(id, outcome);
    } catch (error) {
      this.ports.logger.warn('The result of a tool could not be stored yet.', error);
      return;
    }
    this.open.delete(id);
    this.ports.inFlight.leave(controller);
    if (this.open.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private confirm(): void {
    this.confirming ??= this.confirmAll()
      .catch((error: unknown) => this.ports.logger.debug('Tasks could not be confirmed.', error))
      .finally(() => {
        this.confirming = undefined;
      });
  }

  private async confirmAll(): Promise<void> {
    for (const [id, task] of [...this.open]) if (task.outcome !== undefined) await this.settle(id, task, task.outcome);
    const tasks = new Map([...this.open].filter(([, { outcome }]) => outcome === undefined));
    const notes = new Map([...tasks].flatMap(([id, { note }]) => (note === undefined ? [] : [[id, note] as const])));
    const working = new Set(await this.ports.store.confirm([...tasks.keys()], notes));
    for (const [id, { controller }] of tasks) if (!working.has(id)) controller.abort(cancelled());
  }
}

function completed(result: object): ToolTaskOutcome {
  const json = JSON.stringify(result);
  const text = json.length <= MAX_RESULT ? json : JSON.stringify(toMcpFailure('The result is too large to be stored.'));
  return { state: 'completed', result: text };
}

function cancelled(): LLMError {
  return new LLMAbortedError('The call was cancelled.');
}

function messageOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : 'The call was ended.';
}

/** @param note how far it is by now, if that is not stored yet */
function toTask({ id, createdAt, aliveAt, ...task }: ToolTask, note = task.note): JsonObject {
  const fields = taskFields(id, { createdAt, changedAt: aliveAt });
  switch (task.state) {
    case 'working':
      return { ...fields, status: 'working', ...omitUndefined({ statusMessage: note }) };
    case 'completed':
      // Only this class writes it.
      return { ...fields, status: 'completed', result: JSON.parse(task.result ?? '{}') as unknown };
    case 'failed':
      return { ...fields, status: 'failed', error: { code: INTERNAL_ERROR, message: task.error } };
    case 'cancelled':
      return { ...fields, status: 'cancelled' };
  }
}

/**
 * One call of a server's tool, over as many requests as it takes: a server of the revision 2026-07-28 answers with what
 * it wants to know, and the request is made again with the answers. It keeps nothing between the two, so the wait
 * outlives the process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolResult, Client, Progress, Tool } from '@modelcontextprotocol/client';
import { ToolError } from '../../ai/domain/errors/LLMErrors';
import type { InputAnswer, ToolCallContext } from '../../ai/domain/interfaces/IToolExecutor';
import { isList, isObject } from '../../ai/domain/util/json';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import { CallDeadline, sendingSignal } from './CallDeadline';
import type { McpCallPorts } from './McpCallPorts';
import { McpTask } from './McpTask';
import type { TaskOwner } from './McpTask';
import { ProgressReporter } from './ProgressReporter';
import { DECLINED, readElicitation, toElicitationAnswer } from './readElicitation';
import type { ElicitationAnswer } from './readElicitation';
import { ANY_OBJECT, taskIn } from './taskMessages';
import { visibleText } from './visibleText';

/** The checkpoint of a call that runs as a task. */
interface TaskHandle {
  readonly kind: 'task';
  readonly taskId: string;
}

/** What the server wants to know, and what it has been told. Stored as the call's checkpoint. */
interface Round {
  readonly kind: 'input';
  /** By the server's names for them. */
  readonly inputRequests: Readonly<Record<string, unknown>>;
  readonly answers: Readonly<Record<string, ElicitationAnswer>>;
  readonly requestState?: string;
  /** The server refused the call until the person has been somewhere: the call is then made as it was. */
  readonly isRefusal?: true;
}

type Outcome = { readonly task: JsonObject } | { readonly result: CallToolResult } | { readonly round: Round };

const MAX_ROUNDS = 20;
/** Characters of a scope that are shown. */
const MAX_SCOPE = 500;
const FIRST_RETRY_MS = 250;
/** Disables the client's own time limit, which does not pause. */
const UNLIMITED_MS = 2 ** 31 - 1;
/** https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error */
const URL_ELICITATION_REQUIRED = -32_042;

export class McpToolCall implements TaskOwner {
  private readonly ports: McpCallPorts;
  private readonly tool: Tool;
  private readonly args: unknown;
  readonly context: ToolCallContext;
  private deadline: CallDeadline | undefined;

  constructor(ports: McpCallPorts, tool: Tool, args: unknown, context: ToolCallContext) {
    this.ports = ports;
    this.tool = tool;
    this.args = args;
    this.context = context;
  }

  /** @throws ToolError, and what the server's client throws */
  async run(): Promise<CallToolResult> {
    const stored = readCheckpoint(this.context.checkpoint);
    if (stored?.kind === 'task') return this.settleTask(stored.taskId);
    let round = stored;
    for (let count = 0; count < MAX_ROUNDS; count += 1) {
      const answered = round === undefined ? undefined : await this.answer(round);
      // From here on, the request may have taken effect.
      if (round !== undefined) await this.context.saveCheckpoint?.(undefined);
      const outcome = await this.request(answered);
      if ('result' in outcome) return outcome.result;
      if ('task' in outcome) {
        const taskId = String(outcome.task.taskId);
        await this.context.saveCheckpoint?.(JSON.stringify({ kind: 'task', taskId } satisfies TaskHandle));
        return this.settleTask(taskId, outcome.task);
      }
      round = outcome.round;
      await this.save(round);
      if (Object.keys(round.inputRequests).length === 0)
        await delay(FIRST_RETRY_MS * 2 ** Math.min(count, 6), undefined, { signal: this.context.signal });
    }
    throw new ToolError('threw', `The MCP server "${this.ports.server}" has asked ${MAX_ROUNDS} times.`);
  }

  private settleTask(taskId: string, created?: JsonObject): Promise<CallToolResult> {
    if (!this.ports.waitsForTasks) this.context.detach?.(this.ports.taskTimeout);
    return new McpTask(this.ports, this, taskId).settle(created);
  }

  async ask(request: NonNullable<ReturnType<typeof readElicitation>>): Promise<InputAnswer> {
    const { requestInput } = this.context;
    if (requestInput === undefined) return { action: 'decline', reason: 'Nobody can answer.' };
    this.deadline?.pause();
    try {
      return await requestInput(request);
    } finally {
      this.deadline?.resume();
    }
  }

  /** @returns the round with all answers @throws ToolError for what is not a request to a person */
  private async answer(round: Round): Promise<Round> {
    let { answers } = round;
    for (const [name, request] of Object.entries(round.inputRequests)) {
      if (Object.hasOwn(answers, name)) continue;
      const answer = await this.answerOne(request);
      if (round.isRefusal === true && answer.action !== 'accept')
        throw new ToolError('rejected', `What the MCP server "${this.ports.server}" asks for was declined.`);
      answers = { ...answers, [name]: answer };
      if (Object.keys(round.inputRequests).length > 1) await this.save({ ...round, answers });
    }
    return { ...round, answers };
  }

  async answerOne(request: unknown): Promise<ElicitationAnswer> {
    const { method, params } = isObject(request) ? request : {};
    if (method !== 'elicitation/create')
      throw new ToolError(
        'threw',
        `The MCP server "${this.ports.server}" asks its client for "${String(method).slice(0, 100)}", which this one does not offer.`,
      );
    const input = readElicitation(this.ports.server, params);
    return input === undefined ? DECLINED : toElicitationAnswer(await this.ask(input), input);
  }

  private save(round: Round): Promise<void> | undefined {
    return this.context.saveCheckpoint?.(JSON.stringify(round));
  }

  private async request(round: Round | undefined): Promise<Outcome> {
    const deadline = new CallDeadline(this.ports.timeout);
    this.deadline = deadline;
    const { context } = this;
    const signal = AbortSignal.any([context.signal, deadline.signal]);
    const reporter = new ProgressReporter(context.progress);
    try {
      return await this.ports.use(async (client, elicitations) => {
        const end = elicitations.begin(client, this);
        try {
          return await sendingSignal.run(signal, () => this.send(client, round, signal, reporter));
        } finally {
          end();
        }
      });
    } catch (error) {
      // The reason for an abort says more than the client's error.
      context.signal.throwIfAborted();
      const scope = demandedScope(error);
      const refusal = scope === undefined ? roundOfRefusal(error) : await this.roundOfSignIn(scope);
      if (refusal === undefined) throw error;
      return { round: refusal };
    } finally {
      reporter.end();
      deadline.end();
      this.deadline = undefined;
    }
  }

  /** @throws ToolError where nobody can sign in during the call */
  private async roundOfSignIn(demanded: string): Promise<Round> {
    const url = await this.ports.demandScope(demanded);
    // A server need not say which.
    const named = demanded === '' ? '' : ` (${visibleText(demanded).slice(0, MAX_SCOPE)})`;
    if (url === undefined || this.context.requestInput === undefined)
      throw new ToolError(
        'threw',
        `The MCP server "${this.ports.server}" demands rights that the account lacks${named}. Sign in there again, which asks for them, then call the tool again.`,
      );
    const message = `The account lacks rights for this call${named}. Sign in again on this page, then go on.`;
    const params = { mode: 'url', url, message };
    return {
      kind: 'input',
      inputRequests: { 0: { method: 'elicitation/create', params } },
      answers: {},
      isRefusal: true,
    };
  }

  private async send(
    client: Client,
    round: Round | undefined,
    signal: AbortSignal,
    reporter: ProgressReporter,
  ): Promise<Outcome> {
    const { outputSchema: _, ...toolDefinition } = this.tool;
    const params = {
      name: this.tool.name,
      // The arguments have been checked against the tool's schema, which describes an object.
      arguments: this.args as Record<string, unknown>,
      ...retryFields(round),
    };
    const options = {
      timeout: UNLIMITED_MS,
      signal,
      onprogress: (progress: Progress) => reporter.report(progress),
      toolDefinition,
      allowInputRequired: true,
    };
    const result: unknown = runsAsTask(client, this.tool)
      ? await client.request({ method: 'tools/call', params: { ...params, task: {} } }, ANY_OBJECT, options)
      : await client.callTool(params, options);
    if (isObject(result) && result.resultType === 'input_required') return { round: toRound(result) };
    const task = isObject(result) ? taskIn(result) : undefined;
    // Boundary: the client has validated it.
    return task === undefined ? { result: result as CallToolResult } : { task };
  }
}

/** In the revision 2025-11-25, the client asks for it; since then, the server decides with each call. */
function runsAsTask(client: Client, tool: Tool): boolean {
  if (client.getProtocolEra() === 'modern') return false;
  const support = tool.execution?.taskSupport;
  const isOffered = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
  return isOffered && (support === 'required' || support === 'optional');
}

function retryFields(round: Round | undefined): Record<string, unknown> {
  if (round === undefined || round.isRefusal === true) return {};
  const { answers, requestState } = round;
  return omitUndefined({ inputResponses: Object.keys(answers).length === 0 ? undefined : answers, requestState });
}

function toRound({ inputRequests, requestState }: Readonly<Record<string, unknown>>): Round {
  return {
    kind: 'input',
    inputRequests: isObject(inputRequests) ? inputRequests : {},
    answers: {},
    ...(typeof requestState === 'string' ? { requestState } : {}),
  };
}

/**
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-challenge-handling
 * @returns undefined for any other error
 */
function demandedScope(error: unknown): string | undefined {
  // Boundary: the client's class would have to be loaded for `instanceof`.
  if (!(error instanceof Error) || !('requiredScope' in error)) return undefined;
  return typeof error.requiredScope === 'string' ? error.requiredScope : '';
}

/** @returns undefined for any other error */
function roundOfRefusal(error: unknown): Round | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== URL_ELICITATION_REQUIRED) return undefined;
  const elicitations = 'data' in error && isObject(error.data) ? error.data.elicitations : undefined;
  if (!isList(elicitations) || elicitations.length === 0) return undefined;
  const inputRequests = Object.fromEntries(
    elicitations.map((params, index) => [String(index), { method: 'elicitation/create', params }]),
  );
  return { kind: 'input', inputRequests, answers: {}, isRefusal: true };
}

/** @param checkpoint as a call wrote it */
function readCheckpoint(checkpoint: string | undefined): Round | TaskHandle | undefined {
  return checkpoint === undefined ? undefined : (JSON.parse(checkpoint) as Round | TaskHandle);
}

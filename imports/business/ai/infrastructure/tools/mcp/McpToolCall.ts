/**
 * One call of a server's tool, over as many requests as it takes: a server of the revision 2026-07-28 answers with what
 * it wants to know, and the request is made again with the answers. It keeps nothing between the two, so the wait
 * outlives the process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import { ToolError } from '../../../domain/errors/LLMErrors';
import type { InputAnswer, ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import { isList, isObject } from '../../../domain/json';
import { CallDeadline, sendingSignal } from './CallDeadline';
import type { McpConnection } from './McpConnection';
import type { AskingCall, McpElicitations } from './McpElicitations';
import { ProgressReporter } from './ProgressReporter';
import { DECLINED, readElicitation, toElicitationAnswer } from './readElicitation';
import type { ElicitationAnswer } from './readElicitation';

export interface McpToolCallPorts {
  readonly server: string;
  readonly connection: McpConnection;
  readonly elicitations: McpElicitations;
  /** Milliseconds for each request. */
  readonly timeout: number;
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

type Outcome = { readonly result: CallToolResult } | { readonly round: Round };

const MAX_ROUNDS = 20;
const FIRST_RETRY_MS = 250;
/** Of the client, whose own time limit does not pause. */
const UNLIMITED_MS = 2 ** 31 - 1;
/** https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error */
const URL_ELICITATION_REQUIRED = -32_042;

export class McpToolCall implements AskingCall {
  private readonly ports: McpToolCallPorts;
  private readonly tool: Tool;
  private readonly args: unknown;
  private readonly context: ToolCallContext;
  private deadline: CallDeadline | undefined;

  constructor(ports: McpToolCallPorts, tool: Tool, args: unknown, context: ToolCallContext) {
    this.ports = ports;
    this.tool = tool;
    this.args = args;
    this.context = context;
  }

  /** @throws ToolError, and what the server's client throws */
  async run(): Promise<CallToolResult> {
    let round = readRound(this.context.checkpoint);
    for (let count = 0; count < MAX_ROUNDS; count += 1) {
      const answered = round === undefined ? undefined : await this.answer(round);
      // From here on, the request may have taken effect.
      if (round !== undefined) await this.context.saveCheckpoint?.(undefined);
      const outcome = await this.request(answered);
      if ('result' in outcome) return outcome.result;
      round = outcome.round;
      await this.save(round);
      if (Object.keys(round.inputRequests).length === 0)
        await delay(FIRST_RETRY_MS * 2 ** Math.min(count, 6), undefined, { signal: this.context.signal });
    }
    throw new ToolError('threw', `The MCP server "${this.ports.server}" has asked ${MAX_ROUNDS} times.`);
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

  private async answerOne(request: unknown): Promise<ElicitationAnswer> {
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
      return await this.ports.connection.use(async (client) => {
        const end = this.ports.elicitations.begin(client, this);
        try {
          return await sendingSignal.run(signal, () => this.send(client, round, signal, reporter));
        } finally {
          end();
        }
      });
    } catch (error) {
      // Whoever has aborted the call knows why.
      context.signal.throwIfAborted();
      const refusal = roundOfRefusal(error);
      if (refusal === undefined) throw error;
      return { round: refusal };
    } finally {
      reporter.end();
      deadline.end();
      this.deadline = undefined;
    }
  }

  private async send(
    client: Client,
    round: Round | undefined,
    signal: AbortSignal,
    reporter: ProgressReporter,
  ): Promise<Outcome> {
    const { outputSchema: _, ...toolDefinition } = this.tool;
    const result: unknown = await client.callTool(
      // The arguments have been checked against the tool's schema, which describes an object.
      { name: this.tool.name, arguments: this.args as Record<string, unknown>, ...retryFields(round) },
      {
        timeout: UNLIMITED_MS,
        signal,
        onprogress: (progress) => reporter.report(progress),
        toolDefinition,
        allowInputRequired: true,
      },
    );
    return isObject(result) && result.resultType === 'input_required'
      ? { round: toRound(result) }
      : // Boundary: the client has validated it.
        { result: result as CallToolResult };
  }
}

function retryFields(round: Round | undefined): Record<string, unknown> {
  if (round === undefined || round.isRefusal === true) return {};
  const { answers, requestState } = round;
  return {
    ...(Object.keys(answers).length === 0 ? {} : { inputResponses: answers }),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

function toRound({ inputRequests, requestState }: Readonly<Record<string, unknown>>): Round {
  return {
    kind: 'input',
    inputRequests: isObject(inputRequests) ? inputRequests : {},
    answers: {},
    ...(typeof requestState === 'string' ? { requestState } : {}),
  };
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

/** @param checkpoint as `save` wrote it */
function readRound(checkpoint: string | undefined): Round | undefined {
  if (checkpoint === undefined) return undefined;
  const stored = JSON.parse(checkpoint) as { readonly kind: string };
  return stored.kind === 'input' ? (stored as Round) : undefined;
}

/** Runs as MCP tools: a client starts one, reads how far it is, and cancels it. They are the operations of `/runs`. */
import { randomUUID } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import { isFinished } from '../../ai/domain/entities/Run';
import {
  integer,
  identifier,
  line,
  listOf,
  oneOf,
  optional,
  readObject,
  required,
  text,
} from '../../ai/domain/util/arguments';
import { isList, isObject } from '../../ai/domain/util/json';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import { MESSAGE_TIMES } from '../../ai/domain/types/RunMessages';
import type { RunDetail } from '../../ai/domain/types/RunViews';
import type { ModelDirectory } from '../../../api/gateway/models/ModelDirectory';
import type { RunRoutePorts } from '../../../api/runs/RunRoutePorts';
import type { McpCaller } from './McpCaller';

export interface RunToolPorts {
  readonly runs: Pick<RunRoutePorts, 'methods' | 'queries'>;
  readonly models: Pick<ModelDirectory, 'resolve'>;
  /** Resolves when the run has ended, however it does. @throws `signal.reason` */
  readonly waitForRun: (executionId: string, signal: AbortSignal) => Promise<unknown>;
  /** Where people find the dashboard, without a slash at its end. */
  readonly homeUrl: string;
}

export interface RunTool extends Pick<Tool, 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'> {
  /** Callers need the right to read. */
  readonly reads: boolean;
  /** @throws LLMInvalidRequestError for invalid arguments; what the operation throws */
  execute(caller: McpCaller, args: unknown): Promise<JsonObject>;
}

const MAX_WAIT_SECONDS = 50;
const ID = { type: 'string', description: 'The id that start_run returned.' } as const;
const STATE = { type: 'string', enum: ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] } as const;
const MAX_TEXT = 1_000_000;

export function createRunTools({ runs, models, waitForRun, homeUrl }: RunToolPorts): readonly RunTool[] {
  const start: RunTool = {
    name: 'start_run',
    description:
      'Starts a run of a model with tools of the server, and returns its id at once. The run goes on without this client; get_run tells how far it is.',
    inputSchema: {
      type: 'object',
      properties: {
        input: { type: 'string', description: 'What the model is asked to do.' },
        model: { type: 'string', description: 'Default: that of the server.' },
        instructions: { type: 'string' },
        tools: {
          type: 'array',
          items: { type: 'string' },
          description: 'Names of tools of the server. Default: none.',
        },
        requestId: {
          type: 'string',
          description: 'The same for repetitions of this call, which return the id of the first. Default: a new one.',
        },
      },
      required: ['input'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        executionId: { type: 'string' },
        answer: { type: 'string', description: 'Of a run that was awaited as a task.' },
      },
      required: ['executionId'],
    },
    annotations: { readOnlyHint: false },
    reads: false,
    async execute({ actor, principal }, args) {
      const fields = readObject(args, ['input', 'model', 'instructions', 'tools', 'requestId']);
      const { model: wanted } = optional(fields, 'model', line(256));
      const { providerId, model } = await models.resolve(principal, wanted, 'responses');
      const { executionId } = await runs.methods['ai.runs.start'](actor, {
        input: required(fields, 'input', text(MAX_TEXT)),
        providerId,
        ...omitUndefined({ model }),
        ...optional(fields, 'instructions', text(100_000)),
        ...optional(fields, 'tools', listOf(128, line(64))),
        requestId: optional(fields, 'requestId', identifier(128)).requestId ?? randomUUID(),
      });
      return { executionId };
    },
  };
  const get: RunTool = {
    name: 'get_run',
    description: 'Tells the state of a run, its answer, and which of its tool calls wait for a person.',
    inputSchema: {
      type: 'object',
      properties: {
        executionId: ID,
        waitSeconds: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_WAIT_SECONDS,
          description: 'Waits up to this long for the run to end. Default: 0.',
        },
      },
      required: ['executionId'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        executionId: { type: 'string' },
        state: STATE,
        answer: { type: 'string' },
        error: { type: 'string' },
        waitingCalls: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              callId: { type: 'string' },
              tool: { type: 'string' },
              waitsFor: { type: 'string' },
              decideAt: { type: 'string' },
            },
            required: ['callId', 'tool', 'waitsFor', 'decideAt'],
          },
        },
      },
      required: ['executionId', 'state', 'waitingCalls'],
    },
    annotations: { readOnlyHint: true },
    reads: true,
    async execute({ actor, signal }, args) {
      const fields = readObject(args, ['executionId', 'waitSeconds']);
      const executionId = required(fields, 'executionId', identifier(128));
      const { waitSeconds = 0 } = optional(fields, 'waitSeconds', integer(0, MAX_WAIT_SECONDS));
      const detail = await runs.queries.run(actor, executionId);
      if (waitSeconds === 0 || isFinished(detail.run.state)) return summaryOf(detail, homeUrl);
      await settledWithin(waitSeconds * 1_000, signal, (until) => waitForRun(executionId, until));
      return summaryOf(await runs.queries.run(actor, executionId), homeUrl);
    },
  };
  // The extension has no request for it: `tasks/update` answers what a task asks.
  // https://modelcontextprotocol.io/seps/2663-tasks-extension
  const send: RunTool = {
    name: 'send_to_run',
    description: 'Says something to a run that has not ended, also to one that was started as a task.',
    inputSchema: {
      type: 'object',
      properties: {
        executionId: ID,
        message: { type: 'string' },
        when: {
          type: 'string',
          enum: [...MESSAGE_TIMES],
          description:
            'next (default): with the next request of the model; interrupt: at once; after: once it has answered.',
        },
        messageId: {
          type: 'string',
          description: 'The same for repetitions of this call, which change nothing. Default: a new one.',
        },
      },
      required: ['executionId', 'message'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        executionId: { type: 'string' },
        messageId: { type: 'string' },
        result: { type: 'string', enum: ['accepted', 'repeated'] },
      },
      required: ['executionId', 'messageId', 'result'],
    },
    annotations: { readOnlyHint: false },
    reads: false,
    async execute({ actor }, args) {
      const fields = readObject(args, ['executionId', 'message', 'when', 'messageId']);
      const executionId = required(fields, 'executionId', identifier(128));
      const sent = await runs.methods['ai.runs.send'](actor, {
        executionId,
        message: required(fields, 'message', text(MAX_TEXT)),
        ...optional(fields, 'when', oneOf(MESSAGE_TIMES)),
        ...optional(fields, 'messageId', identifier(128)),
      });
      return { executionId, messageId: sent.messageId, result: sent.result };
    },
  };
  const cancel: RunTool = {
    name: 'cancel_run',
    description: 'Cancels a run. Has no effect on one that has ended.',
    inputSchema: {
      type: 'object',
      properties: { executionId: ID },
      required: ['executionId'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { executionId: { type: 'string' }, state: STATE },
      required: ['executionId', 'state'],
    },
    annotations: { readOnlyHint: false, idempotentHint: true },
    reads: false,
    async execute({ actor }, args) {
      const executionId = required(readObject(args, ['executionId']), 'executionId', identifier(128));
      return { executionId, state: await runs.methods['ai.runs.cancel'](actor, { executionId }) };
    },
  };
  return [start, get, send, cancel];
}

/** Resolves when the work has ended, with or without an error, or the time is over. @throws the caller's reason */
async function settledWithin(
  milliseconds: number,
  caller: AbortSignal,
  work: (until: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const time = AbortSignal.timeout(milliseconds);
  const until = AbortSignal.any([caller, time]);
  // A run that failed has ended as well: what became of it is read afterwards.
  await work(until).catch(() => undefined);
  caller.throwIfAborted();
}

/** What a client is told of a run. */
export function summaryOf({ run, toolCalls }: RunDetail, homeUrl: string): JsonObject {
  const answer = run.state === 'completed' ? answerIn(run.transcript) : undefined;
  return omitUndefined({
    executionId: run._id,
    state: run.state,
    answer,
    error: run.error?.message,
    waitingCalls: toolCalls.flatMap(({ callId, name, waiting }) =>
      waiting === undefined
        ? []
        : [{ callId, tool: name, waitsFor: waiting, decideAt: `${homeUrl}/#/runs/${run._id}` }],
    ),
  });
}

/** The text of the last message of the model. */
function answerIn(transcript: string | undefined): string | undefined {
  const items: unknown = transcript === undefined ? [] : JSON.parse(transcript);
  const message = isList(items) ? items.findLast((item) => isObject(item) && item['role'] === 'assistant') : undefined;
  const content = isObject(message) ? message['content'] : undefined;
  if (typeof content === 'string') return content;
  if (!isList(content)) return undefined;
  return content.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

/** `ai.llm.*`, and the commands of `ai.runs.*` */
import * as v from 'valibot';
import type { AuditRule } from '../../../../host/AuditRule';
import type { OperationsOf } from '../../../../host/bindOperations';
import { defineOperation } from '../../../../host/defineOperation';
import { identifier, line, object, oneOf, readBy, text, time } from '../../../../host/schemas';
import { json } from '../../domain/util/arguments';
import { RUN_TRANSITIONS } from '../../domain/entities/Run';
import type { RunState } from '../../domain/entities/Run';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { LLMInput } from '../../domain/types/LLMTypes';
import { MESSAGE_TIMES } from '../../domain/types/RunMessages';
import { MAX_SIGNAL_BYTES } from '../services/tools/signals/readSignal';
import type { ExternalResult } from '../services/tools/decisions';
import { MAX_SIGNAL_NAME } from '../services/tools/signalWait';
import { ARGUMENT_LIMITS, asOneRequest } from './readArguments';
import { readInput } from './readInput';
import type { RunCommands } from './RunCommands';
import { embedRequest, jsonRequest, runRequest, textRequest } from './runRequestSchemas';

export interface RunCommandServices {
  readonly runCommands: RunCommands;
}

const executionId = identifier(ARGUMENT_LIMITS.id);
const MESSAGE = {
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' }, minItems: 1, maxItems: 1 }],
  description: 'A text, or a list with one message of the user.',
};
const message = (value: unknown): LLMInput => readInput({ input: value });
const namedMessage = v.looseObject({ executionId: v.string(), messageId: v.string() });
const callId = identifier(ARGUMENT_LIMITS.callId);
const inputId = v.optional(
  v.pipe(identifier(ARGUMENT_LIMITS.id), v.description('The `input.id` of what the tool of the call asks.')),
);
const HASH_FORM = 'must be the SHA-256 of the arguments that were shown, in lower-case hexadecimal';
const decision = object({
  executionId,
  callId,
  argumentsHash: v.pipe(v.string(HASH_FORM), v.regex(/^[0-9a-f]{64}$/, HASH_FORM)),
  startTime: v.optional(time),
  inputId,
  reason: v.optional(text(ARGUMENT_LIMITS.reason)),
});
const namedRun = v.looseObject({ executionId: v.string() });
const state = v.picklist(Object.keys(RUN_TRANSITIONS) as RunState[]);
const decidedCall = v.looseObject({ executionId: v.string(), callId: v.string(), state: v.string() });

const OF_RUN = { kind: 'run', id: 'executionId', owner: 'run', isOfOthersOnly: true } as const;
const OF_CALL = {
  kind: 'call',
  id: 'executionId',
  owner: 'run',
  details: ['callId'],
} as const satisfies Partial<AuditRule>;

export const RUN_OPERATIONS = [
  defineOperation({
    name: 'ai.llm.generateText',
    summary: 'Have a model answer with a text',
    description: 'It may also be called with `(providerId, input, options)`.',
    access: 'generate',
    argument: textRequest,
    toArgument: (args) => asOneRequest(args),
    result: v.string(),
    callsModel: true,
    changes: [],
    audit: 'call',
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.generateText(actor, argument),
  }),
  defineOperation({
    name: 'ai.llm.generateJSON',
    summary: 'Have a model answer with a value',
    description:
      'The value is valid by `schema`: the model corrects it once. It may also be called with `(providerId, input, ' +
      'schema, options)`.',
    access: 'generate',
    argument: jsonRequest,
    toArgument: (args) => asOneRequest(args, 'schema'),
    result: v.unknown(),
    callsModel: true,
    changes: [],
    audit: 'call',
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.generateJSON(actor, argument),
  }),
  defineOperation({
    name: 'ai.llm.generateWithTools',
    summary: 'Carry out a run, and wait for its end',
    description:
      'The result is the last response, with the usage of the entire run. It may also be called with `(providerId, ' +
      'input, tools, options)`.',
    access: 'generate',
    argument: runRequest,
    toArgument: (args) => asOneRequest(args, 'tools'),
    result: v.looseObject({
      id: v.string(),
      status: v.string(),
      model: v.string(),
      output: v.array(v.looseObject({ type: v.string() })),
      output_text: v.string(),
      usage: v.looseObject({ input_tokens: v.number(), output_tokens: v.number(), total_tokens: v.number() }),
    }),
    callsModel: true,
    changes: ['runs'],
    audit: 'call',
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) =>
      runCommands.generateWithTools(actor, argument),
  }),
  defineOperation({
    name: 'ai.llm.embed',
    summary: 'Compute the vectors of texts',
    description: 'There is a vector for each text, in order. Over HTTP: `/v1/embeddings`.',
    access: 'generate',
    argument: embedRequest,
    result: v.looseObject({
      model: v.string(),
      embeddings: v.array(v.array(v.number())),
      usage: v.looseObject({ total_tokens: v.number() }),
      vendor: v.looseObject({}),
    }),
    callsModel: true,
    changes: [],
    audit: 'call',
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.embed(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.start',
    summary: 'Start a run of the agentic loop',
    description:
      'It goes on in the background. `continues`, `repeats`, `forkOf` and `startedFrom` name another run, of which one ' +
      'may be given. As a method, it may also be called with `(providerId, input, tools, options)`.',
    access: 'generate',
    argument: runRequest,
    toArgument: (args) => asOneRequest(args, 'tools'),
    example: { requestId: 'first', providerId: 'anthropic', input: 'Hello!' },
    result: namedRun,
    http: { address: 'POST /api/runs', status: 202, api: 'runs' },
    callsModel: true,
    changes: ['runs'],
    audit: 'call',
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.start(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.cancel',
    summary: 'Cancel a run',
    description: 'Also a message whose turn has not come. The result is the state of the run.',
    access: 'generate',
    argument: object({ executionId }),
    result: state,
    http: { address: 'POST /api/runs/:executionId/cancel', field: 'state' },
    changes: ['runs', 'calls'],
    audit: { action: 'run.cancel', ...OF_RUN, isSafe: true },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) =>
      runCommands.cancel(actor, argument.executionId),
  }),
  defineOperation({
    name: 'ai.runs.resume',
    summary: 'Continue a parked run',
    description: 'The result is the state of the run.',
    access: 'approve',
    argument: object({ executionId }),
    result: state,
    http: { address: 'POST /api/runs/:executionId/resume', field: 'state' },
    changes: ['runs', 'calls'],
    audit: { action: 'run.resume', ...OF_RUN },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) =>
      runCommands.resume(actor, argument.executionId),
  }),
  defineOperation({
    name: 'ai.runs.approve',
    summary: 'Approve a tool call, or let the attempt that is under review run again',
    description:
      '`argumentsHash` is the SHA-256 of the arguments as they were shown; a decision about others is a `conflict`. ' +
      '`startTime` is that of the attempt under review, `inputId` the `input.id` of what the tool asks: without it, a ' +
      'question that is not the first thing to be decided about the call is a `conflict`. The result is the call afterwards.',
    access: 'approve',
    argument: decision,
    result: decidedCall,
    http: 'POST /api/runs/:executionId/approve',
    changes: ['runs', 'calls'],
    audit: { action: 'call.approve', ...OF_CALL },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.approve(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.reject',
    summary: 'Reject a tool call',
    description:
      '`argumentsHash` is the SHA-256 of the arguments as they were shown; a decision about others is a `conflict`. ' +
      'The model learns the `reason`. The result is the call afterwards.',
    access: 'approve',
    argument: decision,
    result: decidedCall,
    http: 'POST /api/runs/:executionId/reject',
    changes: ['runs', 'calls'],
    audit: { action: 'call.reject', ...OF_CALL, isSafe: true },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.reject(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.submitToolResult',
    summary: 'Submit the result of a tool call',
    description: 'Either its `output` or an `error`.',
    access: 'generate',
    // With the call, and in the transcript.
    stores: 2,
    argument: v.pipe(
      object({
        executionId,
        callId,
        inputId,
        output: v.optional(readBy('output', json(ARGUMENT_LIMITS.output), { description: 'Any JSON.' })),
        error: v.optional(text(ARGUMENT_LIMITS.reason)),
      }),
      v.transform(({ output, error, ...call }) => ({ ...call, result: resultOf(output, error) })),
    ),
    result: v.looseObject({ ...decidedCall.entries, result: v.picklist(['accepted', 'already-settled']) }),
    http: 'POST /api/runs/:executionId/tool-results',
    changes: ['runs', 'calls'],
    audit: { action: 'call.submit_result', ...OF_CALL },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) =>
      runCommands.submitToolResult(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.signal',
    summary: 'Send a signal, for which a tool call of the run waits',
    description: 'The result is `repeated` for a `signalId` that the run was sent before.',
    access: 'generate',
    stores: 1,
    argument: object({
      executionId,
      name: line(MAX_SIGNAL_NAME),
      payload: v.optional(readBy('payload', json(MAX_SIGNAL_BYTES), { description: 'Any JSON of at most 64 KiB.' })),
      signalId: v.optional(executionId),
    }),
    result: v.looseObject({
      executionId: v.string(),
      name: v.string(),
      result: v.picklist(['accepted', 'repeated']),
    }),
    http: 'POST /api/runs/:executionId/signal',
    changes: ['runs', 'calls'],
    audit: { action: 'run.signal', ...OF_RUN, details: ['name'] },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.signal(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.send',
    summary: 'Send a message to a run that is under way',
    description:
      'The model receives it with its `next` request (default), at once (`interrupt`), or once it has answered ' +
      '(`after`). A run that has ended takes none: that is a `conflict`. The result is `repeated` for a `messageId` that ' +
      'the run was sent before.',
    access: 'generate',
    stores: 1,
    argument: object({
      executionId,
      message: readBy('message', message, MESSAGE),
      when: v.optional(oneOf(MESSAGE_TIMES)),
      messageId: v.optional(executionId),
    }),
    result: v.looseObject({
      executionId: v.string(),
      messageId: v.string(),
      result: v.picklist(['accepted', 'repeated']),
    }),
    http: { address: 'POST /api/runs/:executionId/messages', status: 202 },
    callsModel: true,
    changes: ['runs'],
    audit: { action: 'run.send', ...OF_RUN, details: ['when'] },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.send(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.editMessage',
    summary: 'Change a message that a run has not taken yet',
    description: 'Its content, when it is due, or both. It is a `conflict` if the run has taken it.',
    access: 'generate',
    stores: 1,
    argument: object({
      executionId,
      messageId: executionId,
      message: v.optional(readBy('message', message, MESSAGE)),
      when: v.optional(oneOf(MESSAGE_TIMES)),
    }),
    result: namedMessage,
    http: 'POST /api/runs/:executionId/messages/:messageId',
    changes: ['runs'],
    audit: { action: 'run.edit_message', ...OF_RUN, details: ['messageId'] },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.editMessage(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.withdrawMessage',
    summary: 'Withdraw a message that a run has not taken yet',
    description: 'It is a `conflict` if the run has taken it.',
    access: 'generate',
    argument: object({ executionId, messageId: executionId }),
    result: namedMessage,
    http: 'DELETE /api/runs/:executionId/messages/:messageId',
    changes: ['runs'],
    audit: { action: 'run.withdraw_message', ...OF_RUN, details: ['messageId'], isSafe: true },
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) => runCommands.withdrawMessage(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.messages',
    summary: 'List the messages that a run has not received',
    description: 'In the order in which they were sent. One with `isTaken` can no longer be changed.',
    access: 'read',
    argument: object({ executionId }),
    result: v.looseObject({
      messages: v.array(
        v.looseObject({
          messageId: v.string(),
          when: v.picklist(MESSAGE_TIMES),
          item: v.looseObject({}),
          at: v.number(),
          isTaken: v.boolean(),
        }),
      ),
    }),
    http: 'GET /api/runs/:executionId/messages',
    reads: ['runs'],
    execute: ({ runCommands }: RunCommandServices, { actor, argument }) =>
      runCommands.messages(actor, argument.executionId),
  }),
] as const;

/** What chats and other protocols call, besides clients. */
export type RunMethods = OperationsOf<typeof RUN_OPERATIONS>;

function resultOf(output: unknown, error: string | undefined): ExternalResult {
  if ((output === undefined) === (error === undefined))
    throw new LLMInvalidRequestError('Pass either "output" or "error".', { path: 'output' });
  return error === undefined ? { output } : { error };
}

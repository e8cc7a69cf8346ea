/** The lists of `ai.runs.*`, single runs, and what people note about them */
import * as v from 'valibot';
import { defineOperation } from '../../../../host/defineOperation';
import { converted, identifier, listOrOne, object, oneOf, text, time } from '../../../../host/schemas';
import { RUN_TRANSITIONS } from '../../domain/entities/Run';
import type { RunState } from '../../domain/entities/Run';
import type { RunListFilter, RunSort } from '../../domain/interfaces/RunViewReader';
import type { RunRating } from '../../domain/types/RunViews';
import { listFilter, listPage } from './listSchemas';
import { ARGUMENT_LIMITS } from './readArguments';
import { tag, tags } from './runLabelSchemas';
import type { RunList } from './RunList';

export interface RunListServices {
  readonly runList: RunList;
}

const MAX_COMMENT_LENGTH = 2_000;
/** Clients that know nothing of pages get as many runs as before there were any. */
const DEFAULT_HTTP_LIMIT = 200;
const STATES = Object.keys(RUN_TRANSITIONS) as RunState[];
const SORTS = ['createdAt', 'cost', 'duration', 'tokens'] as const satisfies readonly RunSort[];
const RATINGS = ['up', 'down'] as const satisfies readonly RunRating[];

const executionId = identifier(ARGUMENT_LIMITS.id);
const name = v.optional(executionId);
const filter = {
  executionId: name,
  state: v.optional(listOrOne(STATES)),
  waiting: v.optional(
    v.pipe(v.literal(true, 'must be true'), v.description('Only runs that wait for a person or another service.')),
  ),
  providerId: name,
  model: v.optional(
    v.pipe(identifier(ARGUMENT_LIMITS.model), v.description('The one that was requested, or one that responded.')),
  ),
  userId: name,
  tool: v.optional(v.pipe(text(ARGUMENT_LIMITS.id), v.description('One that was called.'))),
  tag: v.optional(tag),
  rating: v.optional(oneOf(RATINGS)),
  conversationId: name,
  parentExecutionId: v.optional(v.pipe(executionId, v.description('Only runs that calls of this one have started.'))),
  parentCallId: v.optional(
    v.pipe(
      text(ARGUMENT_LIMITS.callId),
      v.description('Only the run that this call of `parentExecutionId` has started.'),
    ),
  ),
  since: v.optional(
    v.pipe(
      // DDP transports dates.
      converted(time, (value) => (value instanceof Date ? value.getTime() : value)),
      v.description('The same as `from`.'),
    ),
  ),
  ...listFilter,
};

const usage = v.looseObject({ input_tokens: v.number(), output_tokens: v.number(), total_tokens: v.number() });
const runView = v.looseObject({
  _id: v.string(),
  userId: v.string(),
  providerId: v.string(),
  model: v.optional(v.string()),
  state: v.picklist(STATES),
  createdAt: v.number(),
  endedAt: v.optional(v.number()),
  iterations: v.number(),
  usage,
  cost: v.optional(v.number()),
  title: v.string(),
  tags: v.optional(v.array(v.string())),
});

export const RUN_LIST_OPERATIONS = [
  defineOperation({
    name: 'ai.runs.list',
    summary: 'List runs',
    description:
      'The newest first, unless they are sorted. Each word of `search` begins a word of the title, an id or a name, or ' +
      'for administrators `search` as a whole begins the name or the e-mail address of the user. ' +
      'Users get their own runs, administrators everyone’s or those of `userId`. `total` counts all pages. Without a ' +
      '`limit`, HTTP returns 200 runs.',
    access: 'read',
    argument: object({ ...filter, ...listPage(SORTS) }),
    result: v.looseObject({ runs: v.array(runView), total: v.number(), next: v.optional(v.string()) }),
    http: { address: 'GET /api/runs', argument: { limit: DEFAULT_HTTP_LIMIT } },
    reads: ['runs', 'calls'],
    execute: ({ runList }: RunListServices, { actor, argument: { sort, order, limit, after, ...fields } }) =>
      runList.page(actor, toFilter(fields), { sort, order, limit, after }),
  }),
  defineOperation({
    name: 'ai.runs.summary',
    summary: 'Add up what a filter of runs matches',
    description: '`cost` is in US dollars; runs with calls whose cost is unknown are `unpriced`.',
    access: 'read',
    argument: object(filter),
    result: v.looseObject({
      total: v.number(),
      states: v.record(v.picklist(STATES), v.number()),
      usage,
      cost: v.number(),
      unpriced: v.looseObject({ runs: v.number(), models: v.array(v.string()), reasons: v.array(v.string()) }),
    }),
    http: 'GET /api/runs/summary',
    reads: ['runs'],
    execute: ({ runList }: RunListServices, { actor, argument }) => runList.summary(actor, toFilter(argument)),
  }),
  defineOperation({
    name: 'ai.runs.get',
    summary: 'Read a run',
    description:
      '`run`, `toolCalls` and `deltas` are the documents of the publication `ai.run`; `plan` is what the run was asked ' +
      'to do.',
    access: 'read',
    argument: object({ executionId }),
    result: v.looseObject({
      run: runView,
      toolCalls: v.array(
        v.looseObject({
          _id: v.string(),
          executionId: v.string(),
          callId: v.string(),
          name: v.string(),
          state: v.string(),
          arguments: v.string(),
        }),
      ),
      deltas: v.array(v.looseObject({ seq: v.number(), kind: v.string(), text: v.string() })),
      plan: v.looseObject({ tools: v.array(v.string()), otherTools: v.array(v.string()), limits: v.looseObject({}) }),
    }),
    http: 'GET /api/runs/:executionId',
    reads: ['runs', 'calls'],
    execute: ({ runList }: RunListServices, { actor, argument }) => runList.get(actor, argument.executionId),
  }),
  defineOperation({
    name: 'ai.runs.rate',
    summary: 'Rate a run',
    description: 'The rating `null` takes the last one back, with its comment.',
    access: 'generate',
    argument: object({
      executionId,
      rating: v.nullable(oneOf(RATINGS)),
      comment: v.optional(text(MAX_COMMENT_LENGTH)),
    }),
    result: v.looseObject({ executionId: v.string(), rating: v.nullable(v.picklist(RATINGS)) }),
    http: 'POST /api/runs/:executionId/rating',
    changes: ['runs'],
    audit: { action: 'run.rate', kind: 'run', id: 'executionId', owner: 'run', isOfOthersOnly: true },
    execute: ({ runList }: RunListServices, { actor, argument }) => runList.rate(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.tag',
    summary: 'Replace the tags of a run',
    access: 'generate',
    argument: object({ executionId, tags }),
    result: v.looseObject({ executionId: v.string(), tags: v.array(v.string()) }),
    http: 'POST /api/runs/:executionId/tags',
    changes: ['runs'],
    audit: { action: 'run.tag', kind: 'run', id: 'executionId', owner: 'run', isOfOthersOnly: true },
    execute: ({ runList }: RunListServices, { actor, argument }) => runList.tag(actor, argument),
  }),
  defineOperation({
    name: 'ai.runs.remove',
    summary: 'Delete a run that has ended',
    description: 'Its messages, calls and results are removed. One that has not ended is refused with 409.',
    access: 'generate',
    removes: true,
    argument: object({ executionId }),
    result: v.looseObject({ removed: v.literal(true) }),
    http: 'DELETE /api/runs/:executionId',
    changes: ['runs', 'calls'],
    audit: { action: 'run.remove', kind: 'run', id: 'executionId', owner: 'run' },
    execute: ({ runList }: RunListServices, { actor, argument }) => runList.remove(actor, argument.executionId),
  }),
] as const;

interface FilterFields extends Omit<RunListFilter, 'states'> {
  readonly state?: readonly RunState[] | undefined;
  readonly since?: number | undefined;
}

function toFilter({ state, since, from = since, ...fields }: FilterFields): RunListFilter {
  return { ...fields, states: state, from };
}

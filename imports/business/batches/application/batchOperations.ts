/**
 * `ai.batches.*`: requests that can wait, answered in the batches of vendors at half the price. They belong to their
 * user alone, also for admins. The batches of vendors' clients are those of `/v1/batches` and `/v1/messages/batches`.
 */
import * as v from 'valibot';
import { defineOperation } from '../../../host/defineOperation';
import { identifier, integer, object, readBy, time } from '../../../host/schemas';
import { listOf } from '../../ai/domain/util/arguments';
import type { Batches } from './Batches';
import { ARGUMENT_LIMITS } from '../../ai/application/operations/readArguments';
import { readBatchRequest } from './readBatchRequest';

export interface BatchServices {
  readonly batches: Batches;
}

const MAX_REQUESTS = 1_000;
const DEFAULT_PAGE = 50;
const MAX_CURSOR_LENGTH = 200;

const batchId = identifier(ARGUMENT_LIMITS.id);
const limit = v.optional(integer(1, 200), DEFAULT_PAGE);
const batchError = v.looseObject({ code: v.string(), message: v.string() });
const batch = v.looseObject({
  batchId: v.string(),
  providerId: v.string(),
  state: v.picklist(['running', 'cancelling', 'completed', 'cancelled', 'failed']),
  counts: v.looseObject({ total: v.number(), succeeded: v.number(), failed: v.number() }),
  createdAt: time,
  endedAt: v.optional(time),
  error: v.optional(batchError),
});

const requests = v.pipe(
  readBy('requests', listOf(MAX_REQUESTS, readBatchRequest), {
    type: 'array',
    minItems: 1,
    maxItems: MAX_REQUESTS,
    items: {
      type: 'object',
      properties: {
        input: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
        model: { type: 'string' },
        instructions: { type: 'string' },
        temperature: { type: 'number' },
        maxOutputTokens: { type: 'integer' },
        reasoning: { type: 'string' },
        schema: { type: 'object' },
      },
    },
  }),
  v.check((given) => given.length > 0, 'must not be empty'),
);

export const BATCH_OPERATIONS = [
  defineOperation({
    name: 'ai.batches.create',
    summary: 'Have requests answered in the batches of a vendor',
    description:
      'They are answered within a day, at half the price. `batchId` is the client’s, and unique for a user: the same ' +
      'one with the same requests is the same batch, and with others a `conflict`. Vendors’ clients send theirs to ' +
      '`/v1/batches` and `/v1/messages/batches`.',
    access: 'generate',
    stores: 1,
    argument: object({ batchId, providerId: identifier(ARGUMENT_LIMITS.id), requests }),
    result: batch,
    http: { address: 'POST /api/batches', status: 202 },
    changes: [],
    audit: 'call',
    execute: ({ batches }: BatchServices, { actor, argument }) => batches.create(actor, argument),
  }),
  defineOperation({
    name: 'ai.batches.get',
    summary: 'Read a batch',
    access: 'read',
    argument: object({ batchId }),
    result: batch,
    http: 'GET /api/batches/:batchId',
    reads: [],
    execute: ({ batches }: BatchServices, { actor, argument }) => batches.get(actor, argument.batchId),
  }),
  defineOperation({
    name: 'ai.batches.list',
    summary: 'List the caller’s batches, the newest first',
    description: '`next` is the `after` of the next page.',
    access: 'read',
    argument: object({ limit, after: v.optional(identifier(MAX_CURSOR_LENGTH)) }),
    result: v.looseObject({ batches: v.array(batch), next: v.optional(v.string()) }),
    http: 'GET /api/batches',
    reads: [],
    execute: ({ batches }: BatchServices, { actor, argument }) => batches.list(actor, argument),
  }),
  defineOperation({
    name: 'ai.batches.cancel',
    summary: 'Cancel a batch',
    description: 'What is answered keeps its result.',
    access: 'generate',
    argument: object({ batchId }),
    result: batch,
    http: 'POST /api/batches/:batchId/cancel',
    changes: [],
    audit: 'call',
    execute: ({ batches }: BatchServices, { actor, argument }) => batches.cancel(actor, argument.batchId),
  }),
  defineOperation({
    name: 'ai.batches.results',
    summary: 'Read the results of a batch that has ended',
    description:
      'Each is a value or an error. Before the end, it is a `conflict`. `next` is the `from` of the next page.',
    access: 'read',
    argument: object({ batchId, from: v.optional(integer(0, MAX_REQUESTS), 0), limit }),
    result: v.looseObject({
      results: v.array(
        v.union([
          v.looseObject({ index: v.number(), error: batchError }),
          v.looseObject({
            index: v.number(),
            value: v.unknown(),
            model: v.string(),
            usage: v.looseObject({}),
            cost: v.optional(v.number()),
          }),
        ]),
      ),
      next: v.optional(v.number()),
    }),
    http: 'GET /api/batches/:batchId/results',
    reads: [],
    execute: ({ batches }: BatchServices, { actor, argument }) =>
      batches.results(actor, argument.batchId, argument.from, argument.limit),
  }),
] as const;

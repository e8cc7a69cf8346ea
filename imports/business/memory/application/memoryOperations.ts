/**
 * `ai.memory.*`: what is remembered about the actor. No argument names a user: memories are their user's alone, also
 * for admins, who can export and delete all of a user's data.
 */
import * as v from 'valibot';
import { defineOperation } from '../../../host/defineOperation';
import { boolean, identifier, integer, object, text, time } from '../../../host/schemas';
import type { Memory } from '../../ai/domain/interfaces/Memory';
import { ARGUMENT_LIMITS } from '../../ai/application/operations/readArguments';

export interface MemoryServices {
  readonly memory: Memory;
}

const MAX_CURSOR_LENGTH = 200;
/** What is longer is refused by the memory, which knows why. */
const MAX_TEXT_LENGTH = 100_000;

const memoryEntry = v.looseObject({ id: v.string(), text: v.string(), createdAt: time, savedAt: time });

export const MEMORY_OPERATIONS = [
  defineOperation({
    name: 'ai.memory.list',
    summary: 'List what is remembered about the caller',
    description: 'The last saved comes first. `next` is the `after` of the next page.',
    access: 'read',
    argument: object({ limit: v.optional(integer(1, 200)), after: v.optional(identifier(MAX_CURSOR_LENGTH)) }),
    result: v.looseObject({ memories: v.array(memoryEntry), total: v.number(), next: v.optional(v.string()) }),
    http: 'GET /api/memories',
    reads: ['memories'],
    execute: ({ memory }: MemoryServices, { actor, argument }) => memory.list(actor.userId, argument),
  }),
  defineOperation({
    name: 'ai.memory.search',
    summary: 'Find what is remembered about the caller',
    description: 'The best comes first. `notice` says why nothing was compared by its meaning.',
    access: 'read',
    argument: object({ query: text(MAX_TEXT_LENGTH), limit: v.optional(integer(1, 50)) }),
    result: v.looseObject({
      memories: v.array(memoryEntry),
      by: v.picklist(['words', 'words-and-meaning']),
      notice: v.optional(v.string()),
    }),
    http: 'GET /api/memories/search',
    reads: ['memories'],
    execute: ({ memory }: MemoryServices, { actor, argument }) => memory.search(actor.userId, argument),
  }),
  defineOperation({
    name: 'ai.memory.save',
    summary: 'Remember something',
    description: 'The next one with the same `key` replaces it.',
    access: 'generate',
    stores: 1,
    argument: object({ text: text(MAX_TEXT_LENGTH), key: v.optional(text(MAX_TEXT_LENGTH)) }),
    example: { text: 'Likes tea.' },
    result: memoryEntry,
    http: 'POST /api/memories',
    changes: ['memories'],
    audit: { action: 'memory.save', kind: 'memory', createdId: 'id', owner: 'actor' },
    execute: ({ memory }: MemoryServices, { actor, argument }) => memory.save(actor.userId, argument),
  }),
  defineOperation({
    name: 'ai.memory.forget',
    summary: 'Forget a memory, or everything',
    description: 'Takes either `memoryId` or `all`. `forgotten` is the number of memories.',
    access: 'generate',
    removes: true,
    argument: v.pipe(
      object({ memoryId: v.optional(identifier(ARGUMENT_LIMITS.id)), all: v.optional(boolean) }),
      v.forward(
        v.check(
          ({ memoryId, all = false }) => (memoryId === undefined) === all,
          'is required, or "all" as true instead',
        ),
        ['memoryId'],
      ),
    ),
    example: { all: true },
    result: v.looseObject({ forgotten: v.number() }),
    http: ['DELETE /api/memories/:memoryId', { address: 'DELETE /api/memories', argument: { all: true } }],
    changes: ['memories'],
    audit: { action: 'memory.forget', kind: 'memory', id: 'memoryId', owner: 'actor', isSafe: true },
    execute: async ({ memory }: MemoryServices, { actor, argument: { memoryId } }) => ({
      forgotten: await memory.forget(actor.userId, memoryId === undefined ? undefined : [memoryId]),
    }),
  }),
] as const;

/**
 * `ai.memory.*` for any transport: what is remembered about the actor. No argument names a user: memories are their
 * user's alone, also for admins, who can export and delete all of a user's data.
 */
import { boolean, identifier, integer, invalid, optional, readObject, required, text } from '../../domain/arguments';
import type { FoundMemories, Memory, MemoryEntry, MemoryPage } from '../../domain/interfaces/Memory';
import type { Operation } from '../../domain/types/Operation';
import { signedIn } from './RunOperations';

/** Every operation throws LLMAuthError if nobody is signed in, and LLMInvalidRequestError for invalid arguments. */
export interface MemoryOperations {
  /** Takes `{ limit?, after? }`. */
  readonly 'ai.memory.list': Operation<MemoryPage>;
  /** Takes `{ query, limit? }`. */
  readonly 'ai.memory.search': Operation<FoundMemories>;
  /** Takes `{ text, key? }`. */
  readonly 'ai.memory.save': Operation<MemoryEntry>;
  /** Takes `{ memoryId }` or `{ all: true }`. */
  readonly 'ai.memory.forget': Operation<{ readonly forgotten: number }>;
}

const MAX_ID_LENGTH = 128;
const MAX_CURSOR_LENGTH = 200;
/** What is longer is refused by the memory, which knows why. */
const MAX_TEXT_LENGTH = 100_000;

export function createMemoryOperations(memory: Memory): MemoryOperations {
  return {
    async 'ai.memory.list'(actor, argument = {}) {
      signedIn(actor);
      const fields = readObject(argument, ['limit', 'after']);
      return memory.list(actor.userId, {
        ...optional(fields, 'limit', integer(1, 200)),
        ...optional(fields, 'after', identifier(MAX_CURSOR_LENGTH)),
      });
    },
    async 'ai.memory.search'(actor, argument) {
      signedIn(actor);
      const fields = readObject(argument, ['query', 'limit']);
      return memory.search(actor.userId, {
        query: required(fields, 'query', text(MAX_TEXT_LENGTH)),
        ...optional(fields, 'limit', integer(1, 50)),
      });
    },
    async 'ai.memory.save'(actor, argument) {
      signedIn(actor);
      const fields = readObject(argument, ['text', 'key']);
      return memory.save(actor.userId, {
        text: required(fields, 'text', text(MAX_TEXT_LENGTH)),
        ...optional(fields, 'key', text(MAX_TEXT_LENGTH)),
      });
    },
    async 'ai.memory.forget'(actor, argument) {
      signedIn(actor);
      const fields = readObject(argument, ['memoryId', 'all']);
      const { memoryId } = optional(fields, 'memoryId', identifier(MAX_ID_LENGTH));
      const { all = false } = optional(fields, 'all', boolean);
      if ((memoryId === undefined) !== all) throw invalid('memoryId', 'is required, or "all" as true instead');
      return { forgotten: await memory.forget(actor.userId, memoryId === undefined ? undefined : [memoryId]) };
    },
  };
}

/** What is remembered about users, for agents without a host. */
import type { Memory } from '../business/ai/domain/interfaces/Memory';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import { openMemoryRecords } from '../business/memory/infrastructure/DocumentMemoryRecords';
import { ProcessMemoryRecords } from '../business/memory/infrastructure/ProcessMemoryRecords';
import { UserMemory } from '../business/memory/infrastructure/UserMemory';
import { embed } from './embed';
import type { EmbedSettings } from './embed';
import type { ModelName } from './modelName';

export interface MemoryOptions extends Pick<EmbedSettings, 'provider' | 'host' | 'dimensions'> {
  /** Such as `openDatabase` returns. Default: memories end with this process. */
  readonly database?: Pick<DocumentDatabase, 'collection'>;
  /** Makes vectors of memories, so that they are found by their meaning, too. Default: by their words only. */
  readonly model?: ModelName;
  /** Memories of a user; default 1,000. Those saved longest ago are forgotten first. */
  readonly maxPerUser?: number;
  /** Milliseconds after which a memory that is not saved again is forgotten. Default: never. */
  readonly maxAgeMs?: number;
  readonly logger?: Logger;
}

/**
 * ```ts
 * const memory = await createMemory({ model: 'openai/text-embedding-3-small' });
 * const assistant = agent({ model: 'openai', memory, tools: memoryTools(memory) });
 * ```
 * @throws errors of the database
 */
export async function createMemory(options: MemoryOptions = {}): Promise<Memory> {
  const { database, model, maxPerUser, maxAgeMs, logger, ...sources } = options;
  const age = maxAgeMs === undefined ? {} : { maxAgeMs };
  return new UserMemory({
    records: database === undefined ? new ProcessMemoryRecords(age) : await openMemoryRecords(database, age),
    maxPerUser,
    logger,
    embedder:
      model === undefined
        ? undefined
        : {
            model,
            embed: async (userId, texts, signal) => {
              const settings = { ...sources, model, userId, ...omitUndefined({ signal }) };
              return (await embed(texts, settings)).embeddings;
            },
          },
  });
}

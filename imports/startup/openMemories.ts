/** Opens what a host remembers about its users. */
import type { LLMManager } from '../business/ai/application/services/LLMManager';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import { openMemoryRecords } from '../business/ai/infrastructure/persistence/memory/DocumentMemoryRecords';
import { UserMemory } from '../business/ai/infrastructure/persistence/memory/UserMemory';
import type { MemorySettings } from './settings/memory';

export interface MemoriesPorts {
  readonly database: Pick<DocumentDatabase, 'collection'>;
  /** Makes the vectors, within each user's budgets and rate limits. Called later only. */
  readonly manager: () => Pick<LLMManager, 'embed'>;
  /** Receives the user whose memories have changed. */
  readonly onChange: (userId: string) => void;
  readonly logger: Logger;
}

/** Creates the indexes, too. @throws errors of the database */
export async function openMemories(
  { embeddingModel: model, maxAgeMs, maxPerUser }: MemorySettings,
  { database, manager, onChange, logger }: MemoriesPorts,
): Promise<UserMemory> {
  return new UserMemory({
    records: await openMemoryRecords(database, maxAgeMs === undefined ? {} : { maxAgeMs }),
    maxPerUser,
    onChange,
    logger,
    ...(model === undefined
      ? {}
      : {
          embedder: {
            model,
            embed: async (userId, input, signal) => {
              const origin = { source: 'run', api: 'memory' } as const;
              const options = { model, input, origin, ...(signal === undefined ? {} : { signal }) };
              return (await manager().embed(userId, options)).embeddings;
            },
          },
        }),
  });
}

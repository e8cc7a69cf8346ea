/** Opens what a host remembers about its users. */
import type { LLMManager } from '../ai/application/services/LLMManager';
import type { Logger } from '../ai/domain/interfaces/Logger';
import { omitUndefined } from '../ai/domain/util/omitUndefined';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { openMemoryRecords } from './infrastructure/DocumentMemoryRecords';
import { UserMemory } from './infrastructure/UserMemory';
import type { MemorySettings } from './memorySettings';

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
    embedder:
      model === undefined
        ? undefined
        : {
            model,
            embed: async (userId, input, signal) => {
              const origin = { source: 'run', api: 'memory' } as const;
              const options = omitUndefined({ model, input, origin, signal });
              return (await manager().embed(userId, options)).embeddings;
            },
          },
  });
}

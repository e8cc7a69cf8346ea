/** What is remembered about users. */
import { defineFeature } from '../../host/Feature';
import { MEMORY_OPERATIONS } from './application/memoryOperations';
import { MEMORY_COLLECTIONS } from './collections';
import { memoryTools } from './infrastructure/memoryTools';
import { openMemories } from './openMemories';
import { omitUndefined } from '../ai/domain/util/omitUndefined';

export const memory = defineFeature({
  name: 'memory',
  collections: MEMORY_COLLECTIONS,
  operations: MEMORY_OPERATIONS,
  async open({ settings, database, aiModule, notify, logger }) {
    const memories = await openMemories(settings.memory ?? {}, {
      database,
      manager: () => aiModule().manager,
      onChange: (userId) => notify('memories', userId),
      logger,
    });
    const recall = settings.memory?.recall;
    return { memories, ports: omitUndefined({ memories, recall }) };
  },
  start({ settings, ai }, { memories }) {
    if (settings.memory?.tools === true) for (const tool of memoryTools(memories)) ai.tools.register(tool);
    return {
      services: { memory: memories },
      forgetUser: (userId) => memories.evict(userId),
    };
  },
});

/** What is remembered about users, and where it is used. */
import { defineSettings, setting } from '../../host/settings/defineSettings';
import type { SettingsOf } from '../../host/settings/defineSettings';
import { DAYS, integer, matching, number, onOff } from '../../host/settings/settingReaders';

export type MemorySettings = SettingsOf<typeof memorySettings>['memory'];

export const memorySettings = defineSettings({
  memory: {
    recall: setting('MEMORY_RECALL', onOff, '`off`').means(
      "`on` adds what suits a user's message to it, in chats and in runs that do not set `recall`.",
    ),
    tools: setting('MEMORY_TOOLS', onOff, '`off`').means(
      '`on` registers the tools `remember`, `search_memories` and `forget_memory`.',
    ),
    embeddingModel: setting(
      'MEMORY_EMBEDDING_MODEL',
      matching(/^[^\s/]+\/\S+$/, '"provider/model", such as openai/text-embedding-3-small'),
      'none: memories are found by their words only',
    ).means('`provider/model` that makes vectors of memories, such as `openai/text-embedding-3-small`.'),
    /** Since the last save. */
    maxAgeMs: setting(
      'MEMORY_KEEP_DAYS',
      number({ above: 0, max: 36_500, unit: DAYS }, { never: Infinity, '0': Infinity }),
      '`never`',
    ).means(
      'Days after which a memory that is not saved again is forgotten. A change applies to what is stored already.',
    ),
    maxPerUser: setting('MEMORY_MAX_PER_USER', integer({ min: 1, max: 10_000 }), '`1000`').means(
      'Memories of one user, at most 10,000. Those saved longest ago go first.',
    ),
  },
});

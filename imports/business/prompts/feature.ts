/** Prompts that users save and admins share. */
import { defineFeature } from '../../host/Feature';
import { PROMPT_OPERATIONS } from './application/promptOperations';
import { Prompts } from './application/Prompts';
import { PROMPT_COLLECTIONS } from './collections';
import { openPromptStore } from './infrastructure/DocumentPromptStore';

export const prompts = defineFeature({
  name: 'prompts',
  collections: PROMPT_COLLECTIONS,
  operations: PROMPT_OPERATIONS,
  async open({ database, notify }) {
    const saved = new Prompts({
      store: await openPromptStore(database),
      onChange: (userId) => notify('prompts', userId),
    });
    return { saved, ports: { prompts: saved } };
  },
  start: (_host, { saved }) => ({ services: { prompts: saved } }),
});

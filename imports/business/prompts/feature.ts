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
  open: async ({ database }) => ({ store: await openPromptStore(database) }),
  start: ({ notify }, { store }) => ({
    services: { prompts: new Prompts({ store, onChange: (userId) => notify('prompts', userId) }) },
  }),
});

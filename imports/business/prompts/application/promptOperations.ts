/** `ai.prompts.*`: saved prompts, which users own and admins share. */
import * as v from 'valibot';
import { defineOperation } from '../../../host/defineOperation';
import {
  boolean,
  identifier,
  integer,
  line,
  listOf,
  numberBetween,
  object,
  readBy,
  text,
  time,
} from '../../../host/schemas';
import type { Prompts } from './Prompts';
import { ARGUMENT_LIMITS, jsonSchema } from '../../ai/application/operations/readArguments';
import { INPUT_LIMITS } from '../../ai/application/operations/readInput';
import { PROMPT_NAME_LENGTH, promptLabel } from '../../ai/application/operations/promptSchema';
import { toolNameSchema } from '../../ai/application/operations/toolNameSchema';

export interface PromptServices {
  readonly prompts: Prompts;
}

/** Characters of a version's JSON. */
const MAX_CONTENT_LENGTH = 400_000;

const content = v.pipe(
  object({
    input: v.optional(text(INPUT_LIMITS.text)),
    instructions: v.optional(text(ARGUMENT_LIMITS.instructions)),
    providerId: v.optional(identifier(ARGUMENT_LIMITS.id)),
    model: v.optional(identifier(ARGUMENT_LIMITS.model)),
    temperature: v.optional(numberBetween(0, 2)),
    maxOutputTokens: v.optional(integer(1, 1_000_000)),
    reasoning: v.optional(identifier(ARGUMENT_LIMITS.effort)),
    schema: v.optional(readBy('content.schema', jsonSchema, { type: 'object' })),
    tools: v.optional(listOf(ARGUMENT_LIMITS.tools, toolNameSchema)),
  }),
  v.check(
    (given) => JSON.stringify(given).length <= MAX_CONTENT_LENGTH,
    `must be no larger than ${MAX_CONTENT_LENGTH} characters of JSON`,
  ),
);

const promptId = identifier(ARGUMENT_LIMITS.id);
const prompt = v.looseObject({
  _id: v.string(),
  name: v.string(),
  shared: v.boolean(),
  version: v.number(),
  updatedAt: time,
  labels: v.record(v.string(), v.number()),
});

export const PROMPT_OPERATIONS = [
  defineOperation({
    name: 'ai.prompts.list',
    summary: 'List saved prompts',
    description: 'The caller’s own and the shared ones, by name.',
    access: 'read',
    argument: object({}),
    result: v.looseObject({ prompts: v.array(prompt) }),
    http: 'GET /api/prompts',
    reads: ['prompts'],
    execute: async ({ prompts }: PromptServices, { actor }) => ({ prompts: await prompts.list(actor) }),
  }),
  defineOperation({
    name: 'ai.prompts.get',
    summary: 'Read a prompt',
    description: '`content` is that of this `version`, or of the newest. `versions` are the stored ones.',
    access: 'read',
    argument: object({ promptId, version: v.optional(integer(1, Number.MAX_SAFE_INTEGER)) }),
    result: v.looseObject({
      ...prompt.entries,
      content: v.looseObject({}),
      versions: v.array(v.looseObject({ version: v.number(), at: time })),
    }),
    http: 'GET /api/prompts/:promptId',
    reads: ['prompts'],
    execute: ({ prompts }: PromptServices, { actor, argument }) =>
      prompts.get(actor, argument.promptId, argument.version),
  }),
  defineOperation({
    name: 'ai.prompts.save',
    summary: 'Save a prompt, or its next version',
    description:
      'The same name again makes the next version; the last 20 are stored, and those with a label. `content` has up ' +
      'to 400,000 characters of JSON. Only administrators may save with `shared`, which lets everyone load it.',
    access: 'generate',
    stores: 1,
    argument: object({ name: v.pipe(line(PROMPT_NAME_LENGTH), v.trim()), shared: v.optional(boolean, false), content }),
    example: { name: 'Greeting', content: { input: 'Say hello.' } },
    result: prompt,
    http: 'POST /api/prompts',
    changes: ['prompts'],
    audit: { action: 'prompt.save', kind: 'prompt', createdId: '_id', owner: 'actor', details: ['name', 'shared'] },
    execute: ({ prompts }: PromptServices, { actor, argument: { content: saved, ...named } }) =>
      prompts.save(actor, named, saved),
  }),
  defineOperation({
    name: 'ai.prompts.label',
    summary: 'Label a version of a prompt',
    description:
      'Requests that name the prompt with this label get this version from now on, and those without a label the one ' +
      'labelled `production`. `version: null` takes the label away.',
    access: 'generate',
    stores: 1,
    argument: object({
      promptId,
      label: promptLabel,
      version: v.nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    }),
    result: prompt,
    http: 'POST /api/prompts/:promptId/labels',
    changes: ['prompts'],
    audit: { action: 'prompt.label', kind: 'prompt', id: 'promptId', owner: 'actor', details: ['label', 'version'] },
    execute: ({ prompts }: PromptServices, { actor, argument }) =>
      prompts.label(actor, argument.promptId, argument.label, argument.version),
  }),
  defineOperation({
    name: 'ai.prompts.remove',
    summary: 'Remove a prompt',
    description: 'Every version is removed. Only administrators may remove a shared prompt.',
    access: 'generate',
    removes: true,
    argument: object({ promptId }),
    result: v.looseObject({ removed: v.boolean() }),
    http: 'DELETE /api/prompts/:promptId',
    changes: ['prompts'],
    audit: { action: 'prompt.remove', kind: 'prompt', id: 'promptId', owner: 'actor' },
    execute: async ({ prompts }: PromptServices, { actor, argument }) => ({
      removed: await prompts.remove(actor, argument.promptId),
    }),
  }),
] as const;

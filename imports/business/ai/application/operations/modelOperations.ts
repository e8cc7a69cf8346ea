/** `ai.models.list` */
import * as v from 'valibot';
import { defineOperation } from '../../../../host/defineOperation';
import { object } from '../../../../host/schemas';
import { listModels } from './listModels';
import type { ModelPorts } from './listModels';

export interface ModelServices {
  readonly models: ModelPorts;
}

export const MODEL_OPERATIONS = [
  defineOperation({
    name: 'ai.models.list',
    summary: 'List the models to choose from, with limits, prices and abilities',
    description:
      'The default model of each provider comes first. `id` is valid as the `model` of a request. `/v1/models` lists ' +
      'them in the vendors’ formats.',
    access: 'read',
    argument: object({}),
    result: v.looseObject({
      models: v.array(
        v.looseObject({
          id: v.string(),
          providerId: v.string(),
          model: v.optional(v.string()),
          isDefault: v.boolean(),
          maxTokens: v.number(),
          maxOutputTokens: v.number(),
          price: v.optional(v.looseObject({})),
          supportsTools: v.boolean(),
          supportsVision: v.boolean(),
          supportsFiles: v.boolean(),
          supportsJSONSchema: v.boolean(),
          supportsReasoning: v.boolean(),
        }),
      ),
    }),
    http: 'GET /api/models',
    reads: ['providers'],
    execute: async ({ models }: ModelServices, { actor }) => ({ models: await listModels(models, actor) }),
  }),
] as const;

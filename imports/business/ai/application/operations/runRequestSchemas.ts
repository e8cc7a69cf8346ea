/** The arguments of model calls and of new runs. */
import * as v from 'valibot';
import { boolean, identifier, integer, numberBetween, object, oneOf, readBy, text } from '../../../../host/schemas';
import { invalid, listOf as readList } from '../../domain/util/arguments';
import { COMPACTION_STRATEGIES } from '../../domain/types/Compaction';
import type { LLMInput } from '../../domain/types/LLMTypes';
import { RUN_DURABILITIES } from '../../domain/types/RunRecords';
import { promptSchema } from './promptSchema';
import { ARGUMENT_LIMITS, clientTool, embeddedTexts, jsonSchema, requestedCompaction, toolName } from './readArguments';
import { readInput } from './readInput';
import { metadata, tags } from './runLabelSchemas';

const id = identifier(ARGUMENT_LIMITS.id);
const model = v.optional(identifier(ARGUMENT_LIMITS.model));
const anything = v.optional(v.unknown());
const messages = { type: 'array', items: { type: 'object' } };
const schema = readBy('schema', jsonSchema, { type: 'object', description: 'The JSON Schema of the answer.' });
const tools = readBy('tools', readList(ARGUMENT_LIMITS.tools, toolName), {
  type: 'array',
  maxItems: ARGUMENT_LIMITS.tools,
  items: { type: 'string' },
  description: 'Names of tools of the server.',
});

const common = {
  requestId: v.pipe(id, v.description('The same id with the same arguments is the same request.')),
  providerId: id,
  input: v.optional(
    v.pipe(
      v.unknown(),
      v.metadata({
        jsonSchema: { anyOf: [{ type: 'string' }, messages], description: 'A text, or messages and items.' },
      }),
    ),
  ),
  inputData: v.pipe(anything, v.description('Another name of `input`.')),
  conversation_history: v.pipe(anything, v.metadata({ jsonSchema: { ...messages, description: 'Before the input.' } })),
  model,
  instructions: v.optional(text(ARGUMENT_LIMITS.instructions)),
  prompt: v.optional(promptSchema),
  temperature: v.optional(numberBetween(0, 2)),
  maxOutputTokens: v.optional(integer(1, 1_000_000)),
  reasoning: v.optional(v.pipe(identifier(ARGUMENT_LIMITS.effort), v.description('The effort, such as `low`.'))),
  recall: v.optional(v.pipe(boolean, v.description('Whether what is remembered about the user comes first.'))),
  tags: v.optional(tags),
  metadata: v.optional(metadata),
};

export const textRequest = v.pipe(
  object(common),
  v.transform((fields) => withInput(fields)),
);

export const jsonRequest = v.pipe(
  object({ ...common, schema }),
  v.transform((fields) => withInput(fields)),
);

export const embedRequest = v.pipe(
  object({
    providerId: id,
    input: readBy('input', embeddedTexts, {
      anyOf: [
        { type: 'string' },
        { type: 'array', minItems: 1, maxItems: ARGUMENT_LIMITS.texts, items: { type: 'string' } },
      ],
    }),
    model,
    dimensions: v.optional(integer(1, 1_000_000)),
    taskType: v.optional(identifier(ARGUMENT_LIMITS.taskType)),
  }),
  v.transform((fields) => given(fields)),
);

export const runRequest = v.pipe(
  object({
    ...common,
    tools: v.optional(tools, []),
    clientTools: v.optional(
      readBy('clientTools', readList(ARGUMENT_LIMITS.tools, clientTool), {
        type: 'array',
        maxItems: ARGUMENT_LIMITS.tools,
        items: {
          type: 'object',
          properties: { name: { type: 'string' }, description: { type: 'string' }, parameters: { type: 'object' } },
          required: ['name'],
          additionalProperties: false,
        },
        description: 'Tools that the client executes.',
      }),
    ),
    schema: v.optional(schema),
    maxIterations: v.optional(integer(1, 100)),
    durability: v.optional(oneOf(RUN_DURABILITIES)),
    streamArguments: v.optional(
      v.pipe(boolean, v.description('Whether the arguments of calls are events while the model writes them.')),
    ),
    compaction: v.optional(
      readBy('compaction', requestedCompaction, {
        anyOf: [
          { type: 'boolean' },
          {
            type: 'object',
            properties: {
              strategy: { enum: COMPACTION_STRATEGIES },
              threshold: { type: 'number', minimum: 0.1, maximum: 1 },
              window: { type: 'integer', minimum: 1 },
            },
            additionalProperties: false,
          },
        ],
      }),
    ),
    conversationId: v.optional(id),
    continues: v.optional(id),
    repeats: v.optional(id),
    forkOf: v.optional(object({ executionId: id, turn: integer(1, 100_000) })),
    startedFrom: v.optional(id),
  }),
  v.transform((fields) => {
    assertOneOrigin(fields);
    const { repeats, forkOf } = fields;
    const hasInput = INPUTS.some((name) => fields[name] !== undefined);
    const needsNoInput = repeats !== undefined || (forkOf !== undefined && !hasInput);
    return withInput(needsNoInput ? { ...fields, input: [] } : fields);
  }),
);

const INPUTS = ['input', 'inputData', 'conversation_history'] as const;
type InputName = (typeof INPUTS)[number];
type OtherRun = 'continues' | 'repeats' | 'forkOf' | 'startedFrom';

/** A run follows one other at most, and one that is repeated has the input of the first. */
function assertOneOrigin(fields: { readonly [N in InputName | OtherRun]?: unknown }): void {
  const first = (...names: readonly (InputName | OtherRun)[]): string | undefined =>
    names.find((name) => fields[name] !== undefined);
  const other = fields.repeats === undefined ? undefined : first(...INPUTS, 'continues', 'forkOf');
  if (other !== undefined) throw invalid(other, 'must not be given in addition to "repeats"');
  if (fields.forkOf !== undefined && fields.continues !== undefined)
    throw invalid('continues', 'must not be given in addition to "forkOf"');
  const followed = fields.startedFrom === undefined ? undefined : first('continues', 'repeats', 'forkOf');
  if (followed !== undefined) throw invalid('startedFrom', `must not be given in addition to "${followed}"`);
}

type Given<T> = { [N in keyof T]: Exclude<T[N], undefined> };

/** Without the fields that are undefined, which count as absent where requests are compared. */
function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}

function withInput<T extends object>(
  fields: T & { readonly [N in InputName]?: unknown },
): Given<Omit<T, InputName>> & { readonly input: LLMInput } {
  const { input, inputData, conversation_history, ...others } = fields;
  return {
    ...(given(others) as Given<Omit<T, InputName>>),
    input: readInput({ input, inputData, conversation_history }),
  };
}

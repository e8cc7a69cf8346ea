/** Types that must be inferred. Compiled by `compiler.test.ts`; nothing here runs. */
import { expectTypeOf } from 'expect-type';
import SimpleSchema from 'simpl-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { agent, simpleSchema, tool, ToolRegistry, typed } from '../../imports/entries/index';
import type {
  AgentResult,
  InferSchema,
  LLMError,
  LLMResponse,
  RegisteredTool,
  StandardSchema,
  ToolArguments,
  ToolOutput,
  Usage,
  ValueOf,
} from '../../imports/entries/index';

declare function valueOf<const S>(schema: S): InferSchema<S>;
declare const other: StandardSchema<{ readonly city: string }>;

// Tools.

const zod = tool({
  name: 'a',
  parameters: z.object({ city: z.string(), days: z.number().optional(), unit: z.enum(['c', 'f']).default('c') }),
  needsApproval: ({ days }) => (days ?? 0) > 5,
  execute: async ({ city, days, unit }, { signal }) => ({ city, days, unit, aborted: signal.aborted }),
});
expectTypeOf<ToolArguments<typeof zod>>().toEqualTypeOf<{ city: string; days?: number | undefined; unit: 'c' | 'f' }>();
expectTypeOf<ToolOutput<typeof zod>>().toEqualTypeOf<{
  city: string;
  days: number | undefined;
  unit: 'c' | 'f';
  aborted: boolean;
}>();

const transformed = tool({
  name: 'a',
  parameters: z.object({ at: z.string().transform((text) => new Date(text)) }),
  execute: ({ at }) => at.getTime(),
});
expectTypeOf<ToolArguments<typeof transformed>>().toEqualTypeOf<{ at: Date }>();
expectTypeOf<ToolOutput<typeof transformed>>().toEqualTypeOf<number>();

const zod3 = tool({
  name: 'a',
  parameters: z3.object({ tags: z3.array(z3.string()), size: z3.number().nullable() }),
  execute: ({ tags, size }) => tags.length + (size ?? 0),
});
expectTypeOf<ToolArguments<typeof zod3>>().toEqualTypeOf<{ tags: string[]; size: number | null }>();

const valibot = tool({
  name: 'a',
  parameters: v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer())) }),
  execute: ({ city, days }) => city.repeat(days ?? 1),
});
expectTypeOf<ToolArguments<typeof valibot>>().toEqualTypeOf<{ city: string; days?: number | undefined }>();

const standard = tool({ name: 'a', parameters: other, execute: ({ city }) => city });
expectTypeOf<ToolArguments<typeof standard>>().toEqualTypeOf<{ readonly city: string }>();

const nothing = tool({ name: 'a', execute: () => 5 });
expectTypeOf<ToolArguments<typeof nothing>>().toEqualTypeOf<Record<string, never>>();
expectTypeOf<ToolOutput<typeof nothing>>().toEqualTypeOf<number>();

// A SimpleSchema.

const Point = simpleSchema(SimpleSchema, { x: Number, y: Number });
const Order = simpleSchema(SimpleSchema, {
  number: String,
  amount: { type: Number, optional: true, min: 1 },
  note: { type: String, required: false },
  kind: { type: String, allowedValues: ['new', 'open'] },
  tags: [String],
  rows: Array,
  'rows.$': Object,
  'rows.$.sku': String,
  'rows.$.at': Date,
  address: Object,
  'address.city': String,
  'address.zip': { type: String, optional: true },
  origin: Point,
  points: [Point],
  email: /@/,
  anything: SimpleSchema.Any,
  box: { type: Object, blackbox: true },
  isPaid: Boolean,
});
expectTypeOf<ValueOf<typeof Order>>().toEqualTypeOf<{
  number: string;
  amount?: number;
  note?: string;
  kind: 'new' | 'open';
  tags: string[];
  rows: { sku: string; at: Date }[];
  address: { city: string; zip?: string };
  origin: { x: number; y: number };
  points: { x: number; y: number }[];
  email: string;
  anything: unknown;
  box: Record<string, unknown>;
  isPaid: boolean;
}>();
expectTypeOf(Order).toExtend<SimpleSchema>();
const order = tool({ name: 'a', parameters: Order, execute: ({ rows }) => rows.map(({ at }) => at.getTime()) });
expectTypeOf<ToolArguments<typeof order>>().toEqualTypeOf<ValueOf<typeof Order>>();
const byHand = typed<{ city: string }>(new SimpleSchema({ city: String }));
expectTypeOf<ValueOf<typeof byHand>>().toEqualTypeOf<{ city: string }>();
expectTypeOf(tool({ name: 'a', parameters: byHand, execute: ({ city }) => city })).toExtend<RegisteredTool>();
const untyped = tool({ name: 'a', parameters: new SimpleSchema({ city: String }), execute: (args) => args });
expectTypeOf<ToolArguments<typeof untyped>>().toEqualTypeOf<Record<string, unknown>>();

// JSON Schema.

expectTypeOf(
  valueOf({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: ['boolean', 'null'] } },
    required: ['a', 'c'],
  }),
).toEqualTypeOf<{ a: string; b?: number; c: boolean | null }>();
expectTypeOf(valueOf({ enum: ['a', 1, null] })).toEqualTypeOf<'a' | 1 | null>();
expectTypeOf(valueOf({ const: 'a' })).toEqualTypeOf<'a'>();
expectTypeOf(valueOf({ type: 'string', enum: ['a', 'b'] })).toEqualTypeOf<'a' | 'b'>();
expectTypeOf(valueOf({ type: 'array', items: { type: 'array', items: { type: 'number' } } })).toEqualTypeOf<
  number[][]
>();
expectTypeOf(valueOf({ type: 'array' })).toEqualTypeOf<unknown[]>();
expectTypeOf(valueOf({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toEqualTypeOf<string | null>();
expectTypeOf(
  valueOf({
    oneOf: [
      { type: 'object', properties: { kind: { const: 'a' }, a: { type: 'string' } }, required: ['kind', 'a'] },
      { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
    ],
  }),
).toEqualTypeOf<{ kind: 'a'; a: string } | { kind: 'b' }>();
expectTypeOf(
  valueOf({
    allOf: [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] },
    ],
  }),
).toEqualTypeOf<{ a: string } & { b: number }>();
expectTypeOf(valueOf({ type: 'object' })).toEqualTypeOf<Record<string, unknown>>();
expectTypeOf(valueOf({ type: 'object', additionalProperties: false })).toEqualTypeOf<Record<string, never>>();
expectTypeOf(valueOf({ type: 'object', additionalProperties: { type: 'number' } })).toEqualTypeOf<
  Record<string, number>
>();
expectTypeOf(
  valueOf({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: true }),
).toEqualTypeOf<{ [name: string]: unknown; a: string }>();
expectTypeOf(valueOf({ type: 'object', properties: {}, required: ['a'] })).toEqualTypeOf<{ a: unknown }>();
expectTypeOf(
  valueOf({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2, items: false }),
).toEqualTypeOf<[string, number]>();
expectTypeOf(
  valueOf({
    type: 'array',
    prefixItems: [{ type: 'string' }, { type: 'number' }],
    minItems: 1,
    items: { type: 'null' },
  }),
).toEqualTypeOf<[string, number?, ...null[]]>();
expectTypeOf(
  valueOf({ type: 'array', items: [{ type: 'string' }], minItems: 1, additionalItems: false }),
).toEqualTypeOf<[string]>();
expectTypeOf(
  valueOf({
    type: 'object',
    properties: { from: { $ref: '#/$defs/Point' }, to: { $ref: '#/definitions/deep/inner' }, self: { $ref: '#' } },
    required: ['from', 'to'],
    $defs: { Point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
    definitions: { deep: { inner: { $ref: '#/$defs/Point' } } },
  }).self?.to.x,
).toEqualTypeOf<number | undefined>();
interface Tree {
  value: string;
  children: Tree[];
}
expectTypeOf(
  valueOf({
    $ref: '#/$defs/Tree~1Node',
    $defs: {
      'Tree/Node': {
        type: 'object',
        properties: {
          value: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/$defs/Tree~1Node' } },
        },
        required: ['value', 'children'],
      },
    },
  }),
).toEqualTypeOf<Tree>();
expectTypeOf(valueOf({ $ref: 'https://example.com/schema' })).toEqualTypeOf<unknown>();
declare const wide: Record<string, unknown>;
const dynamic = tool({ name: 'a', parameters: wide, execute: (args) => args });
expectTypeOf<ToolArguments<typeof dynamic>>().toEqualTypeOf<unknown>();

// Wherever tools are taken.

new ToolRegistry()
  .register(zod)
  .register(order)
  .register(nothing)
  .register({ name: 'b', parameters: z.object({ n: z.number() }), execute: ({ n }) => n.toFixed() })
  .register({ name: 'c', parameters: wide, execute: ({ city }: { city: string }) => city })
  .register({ name: 'd', kind: 'external' });
expectTypeOf([zod, zod3, valibot, standard, nothing, order, dynamic, transformed, untyped]).toExtend<
  RegisteredTool[]
>();
const assistant = agent({
  model: 'openai',
  tools: [zod, order, nothing, dynamic, { type: 'web_search' }, 'of_the_host'],
});

// Runs.

const run = assistant.stream([
  { role: 'user', content: [{ type: 'image_url', image_url: { url: '' } }, 'What is it?'] },
]);
expectTypeOf(run.executionId).toEqualTypeOf<string>();
expectTypeOf(run.result).toEqualTypeOf<Promise<AgentResult>>();
expectTypeOf(run.usage).toEqualTypeOf<Promise<Usage>>();
expectTypeOf(run.textStream).toEqualTypeOf<AsyncIterable<string>>();
expectTypeOf(run.followUps).toEqualTypeOf<AsyncIterable<LLMResponse>>();

export async function read(): Promise<void> {
  for await (const event of run)
    switch (event.type) {
      case 'llm:delta':
        expectTypeOf(event.kind).toEqualTypeOf<'text' | 'reasoning' | 'refusal'>();
        expectTypeOf(event.delta).toEqualTypeOf<string>();
        break;
      case 'tool:completed':
        expectTypeOf(event.result).toEqualTypeOf<string>();
        expectTypeOf(event.toolCall.name).toEqualTypeOf<string>();
        break;
      case 'run:completed':
        expectTypeOf(event.response).toEqualTypeOf<LLMResponse>();
        break;
      default:
    }
  const { text, toolCalls } = await assistant.generate('Hi');
  expectTypeOf(text).toEqualTypeOf<string>();
  for (const call of toolCalls) if (call.state === 'completed') expectTypeOf(call.result).toEqualTypeOf<string>();

  const person = await assistant.generateObject('Hi', { schema: z.object({ age: z.number() }) });
  expectTypeOf(person.value).toEqualTypeOf<{ age: number }>();
  expectTypeOf(person.usage).toEqualTypeOf<Usage>();
  const literal = await assistant.generateObject('Hi', {
    schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    temperature: 0,
  });
  expectTypeOf(literal.value).toEqualTypeOf<{ n: number }>();
  for await (const value of assistant.streamObject('Hi', {
    schema: z.object({
      at: z.string().transform((text) => new Date(text)),
      kind: z.enum(['a', 'b']),
      tags: z.array(z.object({ n: z.number() })),
    }),
  }).objectStream)
    expectTypeOf(value).toEqualTypeOf<{
      readonly at?: string;
      readonly kind?: string;
      readonly tags?: readonly { readonly n?: number }[];
    }>();
  const streamed = assistant.streamObject('Hi', {
    schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  });
  expectTypeOf(streamed.value).resolves.toEqualTypeOf<{ n: number }>();
  for await (const { n } of streamed.objectStream) expectTypeOf(n).toEqualTypeOf<number | undefined>();
  const simple = await assistant.generateObject('Hi', { schema: Point });
  expectTypeOf(simple.value).toEqualTypeOf<{ x: number; y: number }>();

  for (const entry of await assistant.batch(['a', 'b'], { concurrency: 2 }))
    if (entry.ok) expectTypeOf(entry.value).toEqualTypeOf<string>();
    else expectTypeOf(entry.error).toEqualTypeOf<LLMError>();
  for (const entry of await assistant.batch(['a'], { schema: v.object({ n: v.number() }) }))
    if (entry.ok) expectTypeOf(entry.value).toEqualTypeOf<{ n: number }>();
}

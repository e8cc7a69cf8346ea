/** Programs that must not compile, each beside one that must. */
export interface WrongProgram {
  /** Completes "the compiler refuses …". */
  readonly what: string;
  /** `@@` stands for either piece. */
  readonly program: string;
  readonly right: string;
  readonly wrong: string;
  /** The only errors of the wrong program: code and the source from which each starts. */
  readonly errors: readonly (readonly [code: number, at: string])[];
}

/** What all programs start with. */
export const PREAMBLE = `
import { agent, handoff, simpleSchema, tool, typed, ToolRegistry } from 'bolide';
import type { StandardSchema, ToolOutput } from 'bolide';
import SimpleSchema from 'simpl-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
const getWeather = tool({
  name: 'get_weather',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: 21 }),
});
const assistant = agent({ model: 'anthropic/claude-sonnet-5-5', instructions: 'Be brief.', tools: [getWeather] });
declare const other: StandardSchema<{ readonly city: string }>;
export { agent, assistant, handoff, getWeather, other, simpleSchema, SimpleSchema, tool, typed, ToolRegistry, v, z, z3 };
export type { StandardSchema, ToolOutput };
`;

const execute = (parameters: string): string =>
  `tool({ name: 'x', parameters: ${parameters}, execute: ({ city }: { city: @@ }) => city });`;
const json = (properties: string, body: string, more = ''): string =>
  `tool({ name: 'x', parameters: { type: 'object', properties: { ${properties} }, required: ['a']${more} }, execute: ({ a }) => ${body} });`;

const annotations: readonly WrongProgram[] = [
  ['zod', 'z.object({ city: z.string() })'],
  ['zod 3', 'z3.object({ city: z3.string() })'],
  ['valibot', 'v.object({ city: v.string() })'],
  ['another Standard Schema', 'other'],
  ['a SimpleSchema', 'simpleSchema(SimpleSchema, { city: String })'],
  ['a schema with a type', 'typed<{ city: string }>(new SimpleSchema({ city: String }))'],
  ['JSON Schema', `{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }`],
].map(([name, schema]) => ({
  what: `an argument whose annotation disagrees with ${name}`,
  program: execute(schema ?? ''),
  right: 'string',
  wrong: 'number',
  errors: [[2322, 'execute']],
}));

export const WRONG_PROGRAMS: readonly WrongProgram[] = [
  ...annotations,
  {
    what: 'a property that zod does not describe',
    program: `tool({ name: 'x', parameters: z.object({ city: z.string() }), execute: (args) => args.@@ });`,
    right: 'city',
    wrong: 'town',
    errors: [[2339, 'town']],
  },
  {
    what: 'the input type of a transformation',
    program: `tool({ name: 'x', parameters: z.object({ at: z.string().transform((text) => new Date(text)) }), execute: ({ at }) => at.@@() });`,
    right: 'getTime',
    wrong: 'toUpperCase',
    errors: [[2339, 'toUpperCase']],
  },
  {
    what: 'a value of a SimpleSchema without a type',
    program: `tool({ name: 'x', parameters: new SimpleSchema({ city: String }), execute: ({ city }) => @@ });`,
    right: 'String(city).trim()',
    wrong: 'city.trim()',
    errors: [[18046, 'city']],
  },
  {
    what: 'a definition of a SimpleSchema that the package does not take',
    program: `simpleSchema(SimpleSchema, { city: @@ });`,
    right: 'String',
    wrong: '5',
    errors: [[2322, 'city']],
  },
  {
    what: 'a method that a referenced JSON Schema does not have',
    program: json(`a: { $ref: '#/$defs/Amount' }`, 'a.@@()', `, $defs: { Amount: { type: 'number' } }`),
    right: 'toFixed',
    wrong: 'toUpperCase',
    errors: [[2339, 'toUpperCase']],
  },
  {
    what: 'a field that a recursive JSON Schema does not have',
    program: json(
      `a: { $ref: '#/$defs/Tree' }`,
      'a.children[0]?.children[0]?.@@',
      `, $defs: { Tree: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Tree' } } }, required: ['name', 'children'] } }`,
    ),
    right: 'name',
    wrong: 'title',
    errors: [[2339, 'title']],
  },
  {
    what: 'an optional property of a JSON Schema that is not checked',
    program: `tool({ name: 'x', parameters: { type: 'object', properties: { a: { type: 'string' } } }, execute: ({ a }) => a@@.trim() });`,
    right: '?',
    wrong: '',
    errors: [[18048, 'a']],
  },
  {
    what: 'a value outside of an enum',
    program: json(`a: { enum: ['celsius', 'fahrenheit'] }`, `a === '@@'`),
    right: 'celsius',
    wrong: 'kelvin',
    errors: [[2367, 'a']],
  },
  {
    what: 'entries of a list of another type',
    program: json(`a: { type: 'array', items: { type: 'string' } }`, 'a.map((each) => each.@@())'),
    right: 'trim',
    wrong: 'toFixed',
    errors: [[2551, 'toFixed']],
  },
  {
    what: 'additional properties of another type',
    program: json(
      `a: { type: 'object', additionalProperties: { type: 'number' } }`,
      'Object.values(a).map((each) => each.@@())',
    ),
    right: 'toFixed',
    wrong: 'trim',
    errors: [[2339, 'trim']],
  },
  {
    what: 'a misspelt type of JSON Schema, deep inside',
    program: json(`a: { type: 'array', items: { type: '@@' } }`, 'a.length'),
    right: 'string',
    wrong: 'strin',
    errors: [
      [2322, 'items'],
      // Without a schema, the arguments are unknown.
      [2322, 'execute'],
    ],
  },
  {
    what: 'a list of required properties that is none',
    program: `tool({ name: 'x', parameters: { type: 'object', required: @@ }, execute: () => 1 });`,
    right: `['a']`,
    wrong: `'a'`,
    errors: [[2322, 'required']],
  },
  {
    what: 'a number as a schema',
    program: `tool({ name: 'x', parameters: @@, execute: () => 1 });`,
    right: 'z.object({})',
    wrong: '5',
    errors: [[2322, 'parameters']],
  },
  {
    what: 'arguments of a tool without parameters',
    program: `tool({ name: 'x', execute: (@@) => 1 });`,
    right: '',
    wrong: '{ city }: { city: string }',
    errors: [[2322, 'execute']],
  },
  {
    what: 'a misspelt field of a tool',
    program: `tool({ name: 'x', @@: () => 1 });`,
    right: 'execute',
    wrong: 'exeute',
    errors: [[2561, 'exeute']],
  },
  {
    what: 'a tool without a name',
    program: `tool({ @@execute: () => 1 });`,
    right: `name: 'x', `,
    wrong: '',
    errors: [[2345, '{ execute']],
  },
  {
    what: 'a condition of approval on other arguments',
    program: `tool({ name: 'x', parameters: z.object({ amount: z.number() }), needsApproval: ({ amount }) => amount.@@, execute: () => 1 });`,
    right: 'valueOf() > 5',
    wrong: 'length > 5',
    errors: [[2339, 'length']],
  },
  {
    what: 'a condition of approval that is no boolean',
    program: `tool({ name: 'x', needsApproval: () => @@, execute: () => 1 });`,
    right: 'true',
    wrong: `'yes'`,
    errors: [[2322, 'needsApproval']],
  },
  {
    what: 'an unknown delivery',
    program: `tool({ name: 'x', delivery: '@@', execute: () => 1 });`,
    right: 'silent',
    wrong: 'never',
    errors: [[2322, 'delivery']],
  },
  {
    what: 'a text where a boolean is expected',
    program: `tool({ name: 'x', blocking: @@, execute: () => 1 });`,
    right: 'false',
    wrong: `'no'`,
    errors: [[2322, 'blocking']],
  },
  {
    what: 'the wrong type for the output of a tool',
    program: `const weather: ToolOutput<typeof getWeather> = { city: 'Rome', celsius: @@ }; export { weather };`,
    right: '21',
    wrong: `'warm'`,
    errors: [[2322, 'celsius']],
  },
  {
    what: 'a registered function that disagrees with its schema',
    program: `new ToolRegistry().register({ name: 'x', parameters: z.object({ city: z.string() }), execute: ({ city }: { city: @@ }) => city });`,
    right: 'string',
    wrong: 'number',
    errors: [[2769, 'register']],
  },
  {
    what: 'a misspelt option of an agent',
    program: `agent({ model: 'openai', @@: 'Be brief.' });`,
    right: 'instructions',
    wrong: 'instruction',
    errors: [[2561, 'instruction']],
  },
  {
    what: 'a model that is no text',
    program: 'agent({ model: @@ });',
    right: `'openai/gpt-5.4'`,
    wrong: '54',
    errors: [[2322, 'model']],
  },
  {
    what: 'a tool that is none',
    program: `agent({ model: 'openai', tools: [@@] });`,
    right: 'getWeather',
    wrong: '21',
    errors: [[2322, '21']],
  },
  {
    what: 'a temperature that is no number',
    program: `agent({ model: 'openai', temperature: @@ });`,
    right: '0.5',
    wrong: `'warm'`,
    errors: [[2322, 'temperature']],
  },
  {
    what: 'an unknown limit of a budget',
    program: `agent({ model: 'openai', budget: { @@: 1 } });`,
    right: 'money',
    wrong: 'euros',
    errors: [[2353, 'euros']],
  },
  {
    what: 'a misspelt option of a call',
    program: `void assistant.generate('Hi', { @@: 3 });`,
    right: 'maxIterations',
    wrong: 'maxIteration',
    errors: [[2561, 'maxIteration']],
  },
  {
    what: 'an unknown way to treat pending calls',
    program: `assistant.stream('Hi', { onPending: '@@' });`,
    right: 'return',
    wrong: 'later',
    errors: [[2322, 'onPending']],
  },
  {
    what: 'an input that is a number',
    program: 'assistant.stream(@@);',
    right: `'Hi'`,
    wrong: '5',
    errors: [[2345, '5']],
  },
  {
    what: 'a message with an unknown role',
    program: `assistant.stream([{ role: '@@', content: 'Hi' }]);`,
    right: 'user',
    wrong: 'boss',
    errors: [[2322, '{ role']],
  },
  {
    what: 'a text that is used as a number',
    program: `export async function read(): Promise<void> { for await (const text of assistant.stream('Hi').textStream) text.@@(); }`,
    right: 'trim',
    wrong: 'toFixed',
    errors: [[2551, 'toFixed']],
  },
  {
    what: 'a field of an event whose type was not checked',
    program: `export async function read(): Promise<void> { for await (const event of assistant.stream('Hi').events) if (@@) event.delta.trim(); }`,
    right: `event.type === 'llm:delta'`,
    wrong: 'true',
    errors: [[2339, 'delta']],
  },
  {
    what: 'a misspelt type of an event',
    program: `export async function read(): Promise<void> { for await (const event of assistant.stream('Hi')) if (event.type === '@@') console.log(event); }`,
    right: 'llm:delta',
    wrong: 'llm:detla',
    errors: [[2367, 'event.type']],
  },
  {
    what: 'a result that is used before it is awaited',
    program: `export async function read(): Promise<string> { return (@@ assistant.stream('Hi').result).text; }`,
    right: 'await',
    wrong: '',
    errors: [[2339, 'text']],
  },
  {
    what: 'a change of an execution id',
    program: `const run = assistant.stream('Hi'); @@'mine'; export { run };`,
    right: 'run.executionId === ',
    wrong: 'run.executionId = ',
    errors: [[2540, 'executionId']],
  },
  {
    what: 'a value without its schema',
    program: `void assistant.generateObject('Hi', {@@});`,
    right: ' schema: z.object({}) ',
    wrong: '',
    errors: [[2345, '{}']],
  },
  {
    what: 'a property that the schema of a value does not describe',
    program: `export async function read(): Promise<unknown> { return (await assistant.generateObject('Hi', { schema: z.object({ age: z.number() }) })).value.@@; }`,
    right: 'age',
    wrong: 'name',
    errors: [[2339, 'name']],
  },
  {
    what: 'a value of JSON Schema as another type',
    program: `export async function read(): Promise<@@> { const { value } = await assistant.generateObject('Hi', { schema: { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] } }); return value.age; }`,
    right: 'number',
    wrong: 'string',
    errors: [[2322, 'return']],
  },
  {
    what: 'a handoff to something else than an agent',
    program: `agent({ tools: [handoff(@@, { name: 'other', when: 'Always.' })] });`,
    right: 'assistant',
    wrong: 'getWeather',
    errors: [[2345, 'getWeather']],
  },
  {
    what: 'a handoff that does not say when',
    program: `handoff(assistant, { name: 'other'@@ });`,
    right: `, when: 'Always.'`,
    wrong: '',
    errors: [[2345, `{ name: 'other' }`]],
  },
  {
    what: 'a part of a value that may not have arrived',
    program: `export async function read(): Promise<void> { for await (const { name@@ } of assistant.streamObject('Hi', { schema: z.object({ name: z.string() }) }).objectStream) name.trim(); }`,
    right: ` = ''`,
    wrong: '',
    errors: [[18048, 'name']],
  },
  {
    what: 'a change of a value that is still written',
    program: `export async function read(): Promise<void> { for await (const value of assistant.streamObject('Hi', { schema: z.object({ tags: z.array(z.string()) }) }).objectStream) value.tags?.@@('a'); }`,
    right: 'includes',
    wrong: 'push',
    errors: [[2339, 'push']],
  },
  {
    what: 'a value of a batch whose success was not checked',
    program: `export async function read(): Promise<void> { for (const entry of await assistant.batch(['Hi'])) if (@@) entry.value.trim(); }`,
    right: 'entry.ok',
    wrong: 'true',
    errors: [[2339, 'value']],
  },
  {
    what: 'a value of a batch as another type than its schema',
    program: `export async function read(): Promise<void> { for (const entry of await assistant.batch(['Hi'], { schema: z.object({ n: z.number() }) })) if (entry.ok) entry.value.n.@@(); }`,
    right: 'toFixed',
    wrong: 'trim',
    errors: [[2339, 'trim']],
  },
  {
    what: 'an input of a batch that is no list',
    program: `void assistant.batch(@@);`,
    right: `['Hi']`,
    wrong: `'Hi'`,
    errors: [[2345, `'Hi'`]],
  },
];

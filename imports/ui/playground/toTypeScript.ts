/** A request of the playground as a program with `bolide`. */
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import { typeOfAttachment } from './codeRequest';
import type { CodeMessage, CodeRequest } from './codeRequest';

export function toTypeScript({ vendorAddress, settings, tools, messages }: CodeRequest): string {
  const { schema, ...options } = settings;
  const names = namesOf(tools);
  const hasFiles = messages.some(({ attachments }) => attachments.length > 0);
  const lines = [
    ...(hasFiles ? [`import { readFile } from 'node:fs/promises';`] : []),
    `import { agent${tools.length > 0 ? ', tool' : ''} } from 'bolide';`,
    '',
    ...(hasFiles ? [READ_DATA_URI, ''] : []),
    ...tools.flatMap((tool) => [toolCode(tool, names.get(tool.name) ?? 'tool1'), '']),
    '// The key of the vendor is in the environment.',
    'const assistant = agent({',
    `  model: ${quote(vendorAddress)},`,
    ...Object.entries(options).map(([name, value]) => `  ${name}: ${literal(value, 1)},`),
    ...(tools.length > 0 ? [`  tools: [${[...names.values()].join(', ')}],`] : []),
    '});',
    '',
    `const input = ${inputCode(messages)};`,
    ...(schema === undefined ? STREAMED_TEXT : objectCode(schema)),
  ];
  return `${lines.join('\n')}\n`;
}

const READ_DATA_URI = `const readDataURI = async (path: string, type: string) =>
  \`data:\${type};base64,\${(await readFile(path)).toString('base64')}\`;`;

const STREAMED_TEXT = [
  'const run = assistant.stream(input);',
  'for await (const text of run.textStream) process.stdout.write(text);',
  'const { usage } = await run.result;',
  'console.log(`\\n${usage.total_tokens} tokens`);',
];

function objectCode(schema: unknown): readonly string[] {
  return [
    `const { value, usage } = await assistant.generateObject(input, { schema: ${literal(schema)} as const });`,
    'console.log(value, `${usage.total_tokens} tokens`);',
  ];
}

function toolCode({ name, description, parameters, blocking, needsApproval, external }: ToolSummary, variable: string) {
  return [
    `const ${variable} = tool({`,
    `  name: ${quote(name)},`,
    ...(description === '' ? [] : [`  description: ${quote(description)},`]),
    ...(parameters === undefined ? [] : [`  parameters: ${literal(parameters, 1)} as const,`]),
    ...(blocking ? [] : ['  blocking: false,']),
    ...(needsApproval ? ['  needsApproval: true,'] : []),
    ...(external ? [`  kind: 'external',`] : [`  execute: () => 'Replace this by the result of ${variable}.',`]),
    '});',
  ].join('\n');
}

function inputCode(messages: readonly CodeMessage[]): string {
  const [only] = messages;
  if (messages.length === 1 && only?.attachments.length === 0) return quote(only.text);
  return `[\n${messages.map((message) => `  { role: ${quote(message.role)} as const, content: ${contentCode(message)} },\n`).join('')}]`;
}

function contentCode({ text, attachments }: CodeMessage): string {
  if (attachments.length === 0) return quote(text);
  const parts = attachments.map((attachment) => {
    const data = `await readDataURI(${quote(attachment.name)}, ${quote(typeOfAttachment(attachment))})`;
    return attachment.kind === 'image'
      ? `{ type: 'input_image' as const, image_url: ${data} }`
      : `{ type: 'input_file' as const, filename: ${quote(attachment.name)}, file_data: ${data} }`;
  });
  if (text !== '') parts.push(`{ type: 'input_text' as const, text: ${quote(text)} }`);
  return `[\n${parts.map((part) => `    ${part},\n`).join('')}  ]`;
}

/** A variable for each tool: `get_weather` is `getWeather`. */
function namesOf(tools: readonly ToolSummary[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set(['agent', 'tool', 'assistant', 'input', 'run', 'readFile', 'readDataURI', 'usage', 'value']);
  for (const { name } of tools) {
    const words = name.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
    const joined = words
      .map((word, index) => (index === 0 ? word.charAt(0).toLowerCase() : word.charAt(0).toUpperCase()) + word.slice(1))
      .join('');
    const base = /^[a-zA-Z]/.test(joined) && !RESERVED.has(joined) ? joined : `tool${joined}`;
    let variable = base;
    for (let number = 2; taken.has(variable); number += 1) variable = `${base}${number}`;
    taken.add(variable);
    names.set(name, variable);
  }
  return names;
}

const RESERVED = new Set(
  'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield'.split(
    ' ',
  ),
);

/** JSON is TypeScript, with two exceptions: `__proto__` as a key sets a prototype. */
function literal(value: unknown, level = 0): string {
  const json = JSON.stringify(value, undefined, 2).replaceAll('"__proto__":', '["__proto__"]:');
  return escapeInvisible(json).replaceAll('\n', `\n${'  '.repeat(level)}`);
}

function quote(text: string): string {
  return escapeInvisible(JSON.stringify(text));
}

/** Characters that reorder or hide code, and halves of surrogate pairs. */
function escapeInvisible(json: string): string {
  return json.replace(
    /[\u007f-\u00a0\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Writes what is said into attributes, for programs that have opted in: messages, tool definitions, arguments and
 * results. https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai/gen-ai-spans.md
 */
import type { Attributes } from '@opentelemetry/api';
import { redactSecrets } from '../../domain/errors/safeText';
import { maskCredentials } from '../../domain/errors/maskCredentials';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import { isList, isObject, jsonOrText } from '../../domain/util/json';

export type ContentAttribute =
  | 'gen_ai.system_instructions'
  | 'gen_ai.input.messages'
  | 'gen_ai.output.messages'
  | 'gen_ai.tool.definitions'
  | 'gen_ai.tool.call.arguments'
  | 'gen_ai.tool.call.result';

/**
 * Changes a text before it is written: of a message, or the JSON of arguments or of a result.
 * @returns undefined to leave the whole attribute out
 */
export type RedactContent = (text: string, attribute: ContentAttribute) => string | undefined;

type Part = { readonly type: string; readonly [field: string]: unknown };
interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
}

export class ContentRecorder {
  private readonly redact: RedactContent;

  /** @param redact default: changes nothing. Whatever looks like a credential is masked before */
  constructor(redact: RedactContent = (text) => text) {
    this.redact = redact;
  }

  request({
    instructions,
    input,
    tools = [],
  }: Partial<Pick<GenerateOptions, 'instructions' | 'tools'>> & { readonly input?: unknown }): Attributes {
    const definitions = tools.map((tool) => {
      const fields = isObject(tool) && isObject(tool['function']) ? tool['function'] : tool;
      return { type: tool.type, ...('name' in fields ? { name: fields.name } : {}) };
    });
    return {
      ...(instructions === undefined
        ? {}
        : this.json('gen_ai.system_instructions', [{ type: 'text', content: instructions }])),
      ...this.json('gen_ai.input.messages', messagesOf(input)),
      ...(definitions.length === 0 ? {} : this.json('gen_ai.tool.definitions', definitions)),
    };
  }

  response({ output, vendor }: Pick<LLMResponse, 'output' | 'vendor'>): Attributes {
    const parts = messagesOf(output).flatMap((message) => message.parts);
    const message = { role: 'assistant', parts, finish_reason: vendor.finish_reason ?? 'stop' };
    return this.json('gen_ai.output.messages', [message]);
  }

  /** @param text JSON, as the model wrote it */
  toolArguments(text: string): Attributes {
    return this.text('gen_ai.tool.call.arguments', text);
  }

  toolResult(text: string): Attributes {
    return this.text('gen_ai.tool.call.result', text);
  }

  private text(attribute: ContentAttribute, text: string): Attributes {
    const parsed = parse(text);
    const masked = typeof parsed === 'object' ? JSON.stringify(maskCredentials(parsed)) : text;
    const redacted = this.redact(redactSecrets(masked), attribute);
    return redacted === undefined ? {} : { [attribute]: redacted };
  }

  private json(attribute: ContentAttribute, value: unknown): Attributes {
    const leftOut = new Set<string>();
    const json = JSON.stringify(maskCredentials(value), (name, part: unknown) => {
      if (typeof part !== 'string' || NAMES.has(name) || leftOut.size > 0) return part;
      const redacted = this.redact(redactSecrets(part), attribute);
      if (redacted === undefined) leftOut.add(name);
      return redacted;
    });
    return leftOut.size > 0 ? {} : { [attribute]: json };
  }
}

/** Fields that say what a part is, rather than what is said. */
const NAMES: ReadonlySet<string> = new Set(['type', 'role', 'id', 'name', 'finish_reason']);

function messagesOf(input: unknown): readonly Message[] {
  if (typeof input === 'string') return [userMessage(input)];
  if (!isList(input)) return [];
  return input.map((item) => (isObject(item) ? messageOf(item) : userMessage(String(item))));
}

function userMessage(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', content: text }] };
}

function messageOf(item: Readonly<Record<string, unknown>>): Message {
  switch (item['type']) {
    case 'function_call':
      return {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: item['call_id'], name: item['name'], arguments: parse(item['arguments']) }],
      };
    case 'function_call_output':
      return { role: 'tool', parts: [{ type: 'tool_call_response', id: item['call_id'], response: item['output'] }] };
    case 'reasoning':
      return {
        role: 'assistant',
        parts: [...partsOf(item['summary']), ...partsOf(item['content'])].map(({ content }) => ({
          type: 'reasoning',
          content,
        })),
      };
    case 'message':
    case undefined:
      return { role: typeof item['role'] === 'string' ? item['role'] : 'user', parts: partsOf(item['content']) };
    default:
      // Opaque or specific to a vendor.
      return { role: 'assistant', parts: [{ type: String(item['type']) }] };
  }
}

function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', content }];
  if (!isList(content)) return [];
  return content.map((part) => {
    if (!isObject(part)) return { type: 'text', content: String(part) };
    const text = part['text'] ?? part['refusal'];
    // Media are named, not repeated.
    return typeof text === 'string' ? { type: 'text', content: text } : { type: String(part['type']) };
  });
}

function parse(text: unknown): unknown {
  return typeof text === 'string' ? jsonOrText(text) : text;
}

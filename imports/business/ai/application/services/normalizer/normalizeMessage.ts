/** Converts one message from any accepted form to items: messages, calls and their outputs, in order. */
import { field, freeze, optionalText, otherFields, record, requiredName, requiredText } from './fields';
import { hostedItem } from './hostedItem';
import { normalizeOutput, normalizePart } from './normalizePart';
import { describe, isList, isRecord, invalid } from './PlainReader';
import { callArguments, toolCall, toolOutput } from './toolItems';
import { MessageRole } from '../../../domain/types/ResponsesAPITypes';
import type { Plain, PlainRecord } from './PlainReader';
import type { Content, FunctionCallOutputItem, InputItem, MessageItem } from '../../../domain/types/ResponsesAPITypes';

const TAKEN = [
  'type',
  'role',
  'content',
  'id',
  'status',
  'phase',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'function_call',
  'audio',
];

export function normalizeMessage(source: PlainRecord, path: string): readonly InputItem[] {
  if (source.role === 'tool') return [toolMessage(source, path)];
  const role = roleOf(source, path);
  const calls = toolCallsOf(source, role, path);
  const pieces = new Pieces(source, role, path);
  addContent(pieces, source.content, calls.length > 0, path);
  addRefusal(pieces, source, role, path);
  for (const call of calls) pieces.addItem(call);
  return pieces.finish();
}

/** Collects parts into messages. An item between them closes the open message, and the next part opens another. */
class Pieces {
  readonly role: MessageRole;
  private readonly items: InputItem[] = [];
  private readonly common: Pick<MessageItem, 'status' | 'phase'>;
  private parts: Content[] = [];
  /** Fields of the message itself, which go with its first piece. */
  private own: object;

  constructor(source: PlainRecord, role: MessageRole, path: string) {
    this.role = role;
    this.common = {
      ...field('status', optionalText(source, 'status', path)),
      ...field('phase', optionalText(source, 'phase', path)),
    };
    const taken = TAKEN.filter((key) => (key !== 'audio' && key !== 'function_call') || source[key] === null);
    this.own = { ...field('id', optionalText(source, 'id', path)), ...otherFields(source, taken, path) };
  }

  addPart(part: Content): void {
    this.parts.push(part);
  }

  addItem(item: InputItem): void {
    this.endMessage();
    this.items.push(item);
  }

  finish(): readonly InputItem[] {
    this.endMessage();
    // A message without any part is preserved if it has other fields, or if it was empty from the start.
    const { id: _, ...extras } = { id: undefined, ...this.own };
    const hasMessage = this.items.some((item) => item.type === 'message');
    if (!hasMessage && (this.items.length === 0 || Object.keys(extras).length > 0))
      this.items.unshift(this.message([]));
    return this.items;
  }

  private endMessage(): void {
    if (this.parts.length === 0) return;
    this.items.push(this.message(this.parts));
    this.parts = [];
    this.own = {};
  }

  private message(content: Content[]): MessageItem {
    return freeze({ type: 'message', role: this.role, content: freeze(content), ...this.own, ...this.common });
  }
}

function roleOf(source: PlainRecord, path: string): MessageRole {
  const { role } = source;
  const known = Object.values(MessageRole).find((word) => word === role);
  if (known === undefined)
    throw invalid(`${path}.role`, `must be one of: ${Object.values(MessageRole).join(', ')}, tool`);
  return known;
}

function addContent(pieces: Pieces, content: Plain | undefined, hasCalls: boolean, path: string): void {
  if (content === undefined || content === null) return;
  const speaker = pieces.role === 'assistant' ? 'assistant' : 'other';
  if (typeof content === 'string') {
    // Chat Completions servers write '' in messages that have calls and no text.
    if (content !== '' || !hasCalls) pieces.addPart(normalizePart(content, speaker, `${path}.content`));
    return;
  }
  if (!isList(content))
    throw invalid(`${path}.content`, `must be a string, an array of parts or null, not ${describe(content)}`);
  content.forEach((part, index) => {
    const at = `${path}.content[${index}]`;
    if (isRecord(part) && part.type === 'tool_use') pieces.addItem(liftedCall(part, at));
    else if (isRecord(part) && part.type === 'tool_result') pieces.addItem(liftedResult(part, at));
    else pieces.addPart(normalizePart(part, speaker, at));
  });
}

function addRefusal(pieces: Pieces, source: PlainRecord, role: MessageRole, path: string): void {
  const refusal = optionalText(source, 'refusal', path);
  if (refusal === undefined) return;
  if (role !== 'assistant') throw invalid(`${path}.refusal`, 'is only allowed in an assistant message');
  pieces.addPart(freeze({ type: 'refusal', refusal }));
}

function liftedCall(part: PlainRecord, path: string): InputItem {
  return toolCall(part, ['type', 'id', 'name', 'arguments', 'input'], path, {
    call_id: requiredName(part, 'id', path),
    name: requiredName(part, 'name', path),
    arguments:
      part.arguments === undefined
        ? callArguments(part.input, `${path}.input`)
        : callArguments(part.arguments, `${path}.arguments`),
  });
}

function liftedResult(part: PlainRecord, path: string): FunctionCallOutputItem {
  if (part.is_error !== undefined && part.is_error !== null && typeof part.is_error !== 'boolean') {
    throw invalid(`${path}.is_error`, `must be true or false if present, not ${describe(part.is_error)}`);
  }
  return toolOutput(part, ['type', 'tool_use_id', 'content', 'is_error'], path, {
    call_id: requiredName(part, 'tool_use_id', path),
    output: resultContent(part.content, `${path}.content`),
    ...(part.is_error === true ? { state: 'failed' } : {}),
  });
}

/** An object is a result that its sender has not serialized. */
function resultContent(content: Plain | undefined, path: string): FunctionCallOutputItem['output'] {
  if (content === undefined || content === null) return '';
  return isRecord(content) ? JSON.stringify(content) : normalizeOutput(content, path);
}

/** A tool's output in the form of Chat Completions. */
function toolMessage(source: PlainRecord, path: string): FunctionCallOutputItem {
  return toolOutput(source, ['type', 'role', 'content', 'tool_call_id'], path, {
    call_id: requiredName(source, 'tool_call_id', path),
    output:
      source.content === undefined || source.content === null ? '' : normalizeOutput(source.content, `${path}.content`),
  });
}

function toolCallsOf(source: PlainRecord, role: MessageRole, path: string): readonly InputItem[] {
  if (source.function_call !== undefined && source.function_call !== null)
    throw invalid(`${path}.function_call`, 'is deprecated and not supported. Use "tool_calls" instead');
  const { tool_calls } = source;
  if (tool_calls === undefined || tool_calls === null) return [];
  const at = `${path}.tool_calls`;
  if (role !== 'assistant') throw invalid(at, 'is only allowed in an assistant message');
  if (!isList(tool_calls)) throw invalid(at, `must be an array, not ${describe(tool_calls)}`);
  return tool_calls.map((call, index) => chatCall(record(call, `${at}[${index}]`), `${at}[${index}]`));
}

function chatCall(call: PlainRecord, path: string): InputItem {
  const call_id = requiredName(call, 'id', path);
  if (call.type === 'custom') {
    const custom = record(call.custom, `${path}.custom`);
    const named = {
      name: requiredName(custom, 'name', `${path}.custom`),
      input: requiredText(custom, 'input', `${path}.custom`),
    };
    return hostedItem(
      { ...otherFields(call, ['id', 'type', 'custom'], path), type: 'custom_tool_call', call_id, ...named },
      path,
    );
  }
  if (call.type !== undefined && call.type !== 'function')
    throw invalid(`${path}.type`, 'must be one of: function, custom');
  const called = record(call.function, `${path}.function`);
  return toolCall(call, ['id', 'type', 'index', 'function'], path, {
    call_id,
    name: requiredName(called, 'name', `${path}.function`),
    arguments: callArguments(called.arguments, `${path}.function.arguments`),
  });
}

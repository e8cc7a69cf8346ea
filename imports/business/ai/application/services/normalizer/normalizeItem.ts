/** Converts one element of an input from any accepted form to items. */
import {
  checkRecordOfRecords,
  field,
  freeze,
  optionalText,
  otherFields,
  record,
  requiredName,
  requiredText,
} from './fields';
import { hostedItem, originOf } from './hostedItem';
import { normalizeMessage } from './normalizeMessage';
import { normalizeOutput, normalizePart } from './normalizePart';
import { describe, isList, isRecord, invalid } from './PlainReader';
import { callArguments, toolCall, toolOutput } from './toolItems';
import type { Plain, PlainRecord } from './PlainReader';
import type {
  CompactionItem,
  FunctionCallItem,
  InputItem,
  ReasoningItem,
  ReasoningText,
  SummaryText,
  VendorItem,
} from '../../../domain/types/ResponsesAPITypes';

/** Content parts that callers may forget to wrap in a message. */
const PART_TYPES: ReadonlySet<string> = new Set([
  'text',
  'input_text',
  'output_text',
  'refusal',
  'image_url',
  'input_image',
  'input_image_url',
  'input_file',
  'tool_use',
  'tool_result',
  'reasoning_text',
  'summary_text',
]);

export function normalizeItem(source: Plain, path: string): readonly InputItem[] {
  if (typeof source === 'string')
    return [
      freeze({ type: 'message', role: 'user' as const, content: freeze([normalizePart(source, 'other', path)]) }),
    ];
  if (!isRecord(source)) throw invalid(path, `must be a string, a message or an item, not ${describe(source)}`);
  if (source.type === undefined && source.role === undefined)
    throw invalid(path, 'must have a "role" (a message) or a "type" (an item)');
  if (source.type === undefined) return normalizeMessage(source, path);
  const type = requiredName(source, 'type', path);
  switch (type) {
    case 'message':
      return normalizeMessage(source, path);
    case 'function_call':
      return [functionCall(source, path)];
    case 'function_call_output':
      return [
        toolOutput(source, ['type', 'call_id', 'output'], path, {
          call_id: requiredName(source, 'call_id', path),
          output: normalizeOutput(source.output, `${path}.output`),
        }),
      ];
    case 'reasoning':
      return [reasoning(source, path)];
    case 'compaction':
      return [compaction(source, path)];
    case 'vendor_item':
      return [vendorItem(source, path)];
    default:
      if (PART_TYPES.has(type))
        throw invalid(path, `is a content part of the type "${type}", which must be in the content of a message`);
      return [hostedItem(source, path)];
  }
}

function functionCall(source: PlainRecord, path: string): FunctionCallItem {
  const id = field('id', optionalText(source, 'id', path));
  // Models have made calls without a name. The history preserves that, and the output states that there is no such
  // tool.
  const facts = {
    call_id: requiredName(source, 'call_id', path),
    name: requiredText(source, 'name', path),
    arguments: callArguments(source.arguments, `${path}.arguments`),
    ...id,
  };
  if (source.native !== undefined) checkRecordOfRecords(source.native, `${path}.native`);
  return toolCall(source, ['id', 'call_id', 'name', 'arguments'], path, facts);
}

function reasoning(source: PlainRecord, path: string): ReasoningItem {
  const { summary, content } = source;
  return freeze({
    type: 'reasoning',
    ...otherFields(source, ['type', 'id', 'summary', 'content', 'encrypted_content', 'status', 'origin'], path),
    ...field('id', optionalText(source, 'id', path)),
    summary:
      summary === undefined || summary === null
        ? freeze([])
        : texts<SummaryText>(summary, 'summary_text', `${path}.summary`),
    ...field(
      'content',
      content === undefined || content === null
        ? undefined
        : texts<ReasoningText>(content, 'reasoning_text', `${path}.content`),
    ),
    ...field('encrypted_content', optionalText(source, 'encrypted_content', path)),
    ...field('status', optionalText(source, 'status', path)),
    ...field('origin', originOf(source, path)),
  });
}

function texts<T extends SummaryText | ReasoningText>(value: Plain, type: T['type'], path: string): readonly T[] {
  if (!isList(value)) throw invalid(path, `must be an array of ${type} parts, not ${describe(value)}`);
  return freeze(
    value.map((entry, index) => {
      const at = `${path}[${index}]`;
      const part = typeof entry === 'string' ? { text: entry } : record(entry, at);
      const others = otherFields(part, ['type', 'text'], at);
      // Reasoning may contain text types that are newer than this code; their type is preserved.
      return freeze({
        type: optionalText(part, 'type', at) ?? type,
        text: requiredText(part, 'text', at),
        ...others,
      }) as T;
    }),
  );
}

function compaction(source: PlainRecord, path: string): CompactionItem {
  return freeze({
    ...otherFields(source, ['type', 'id', 'encrypted_content', 'origin'], path),
    type: 'compaction',
    ...field('id', optionalText(source, 'id', path)),
    encrypted_content: requiredText(source, 'encrypted_content', path),
    ...field('origin', originOf(source, path)),
  });
}

function vendorItem(source: PlainRecord, path: string): VendorItem {
  const origin = originOf(source, path);
  if (origin === undefined) throw invalid(`${path}.origin`, 'is required and names the wire that the item came from');
  return freeze({
    ...otherFields(source, ['type', 'id', 'origin', 'item'], path),
    type: 'vendor_item',
    ...field('id', optionalText(source, 'id', path)),
    origin,
    item: record(source.item, `${path}.item`),
  });
}

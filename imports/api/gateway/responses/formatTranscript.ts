/** Formats a conversation as plain text, for a model that reads it rather than takes part in it. */
import type { Content, InputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';

export function formatTranscript(items: readonly InputItem[]): string {
  return items
    .map(lineOf)
    .filter((line) => line !== '')
    .join('\n\n');
}

function lineOf(item: InputItem): string {
  switch (item.type) {
    case 'message':
      return `${item.role.toUpperCase()}: ${item.content.map(textOf).join(' ')}`;
    case 'function_call':
      return `TOOL CALL ${item.call_id}: ${item.name}(${item.arguments})`;
    case 'function_call_output':
      return `TOOL RESULT ${item.call_id}: ${typeof item.output === 'string' ? item.output : item.output.map(textOf).join(' ')}`;
    case 'reasoning':
    case 'compaction':
    case 'vendor_item':
      // Encrypted, or meaningful only to the model that created it.
      return '';
    default:
      return `HOSTED TOOL ${item.type}`;
  }
}

function textOf(part: Content): string {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return part.text;
    case 'refusal':
      return part.refusal;
    case 'input_image':
      return '[an image]';
    case 'input_file':
      return `[a file${part.filename === undefined ? '' : `: ${part.filename}`}]`;
  }
}

/** Converts an item of a history to steps. https://ai.google.dev/api/interactions-api#Resource:Step */
import { isErrorState } from '../../../../domain/entities/Tool';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import { parseArguments } from '../../shared/callArguments';
import { cacheByItem } from '../../shared/conversionCache';
import { isOwn, ownFields } from '../interactionsTypes';
import type { InteractionStep } from '../interactionsTypes';
import { toContent } from './content';
import type { StepLoss } from './content';

export interface ConvertedItem {
  readonly steps: readonly InteractionStep[];
  /** What a `function_result` cannot contain. It follows all results of the turn. */
  readonly after?: InteractionStep;
  readonly losses: readonly StepLoss[];
}

/** Everything besides the item that its conversion depends on. */
export interface StepContext {
  readonly vendor: string;
  readonly fetchesUrls: boolean;
  readonly mediaInResults: boolean;
  /** The tool that an output comes from. */
  readonly toolName?: string | undefined;
}

/**
 * The first argument after the item is its context, the last returns the item's JSON path for errors.
 * @throws UnsupportedFeatureError for content that the wire cannot express
 */
export const stepsOfItem = cacheByItem(
  convert,
  (before, now) =>
    before === now ||
    (before.toolName === now.toolName &&
      before.vendor === now.vendor &&
      before.fetchesUrls === now.fetchesUrls &&
      before.mediaInResults === now.mediaInResults),
);

function convert(item: InputItem, context: StepContext, path: () => string): ConvertedItem {
  switch (item.type) {
    case 'message':
      return messageStep(item, context, path);
    case 'function_call':
      return callStep(item);
    case 'function_call_output':
      return resultStep(item, context, path);
    case 'reasoning':
      return thoughtStep(item, context);
    case 'vendor_item':
      if (isOwn(item.origin, context.vendor)) return { steps: [item.item], losses: [] };
      return lost(`item of the ${item.origin.wire} wire`, 'It can be returned only to the vendor that produced it.');
    case 'compaction':
      return lost('compaction', 'Its encrypted content belongs to another vendor.');
    default:
      return lost(item.type, 'The Interactions API does not support this type of item.');
  }
}

function lost(what: string, reason: string): ConvertedItem {
  return { steps: [], losses: [{ at: '', what, reason }] };
}

function messageStep(item: MessageItem, { fetchesUrls }: StepContext, path: () => string): ConvertedItem {
  const losses: StepLoss[] = [];
  const content = item.content
    .map((part, index) => toContent(part, fetchesUrls, `.content[${index}]`, path, losses))
    .filter((part) => part.text !== '');
  const type = item.role === 'assistant' ? 'model_output' : 'user_input';
  return { steps: content.length === 0 ? [] : [{ type, content, ...ownFields(item) }], losses };
}

function callStep(item: FunctionCallItem): ConvertedItem {
  const { value, malformed } = parseArguments(item);
  const losses = malformed
    ? [
        {
          at: '.arguments',
          what: 'arguments',
          reason: 'They are not a JSON object, so their text is sent as a field of one.',
        },
      ]
    : [];
  return {
    steps: [{ type: 'function_call', id: item.call_id, name: item.name, arguments: value, ...ownFields(item) }],
    losses,
  };
}

function resultStep(item: FunctionCallOutputItem, context: StepContext, path: () => string): ConvertedItem {
  const losses: StepLoss[] = [];
  const name = context.toolName ?? item.name;
  const parts =
    typeof item.output === 'string'
      ? []
      : item.output.map((part, index) => toContent(part, context.fetchesUrls, `.output[${index}]`, path, losses));
  const media = parts.filter(({ type }) => type !== 'text');
  const isInside = media.length === 0 || context.mediaInResults;
  const result =
    typeof item.output === 'string' ? item.output : isInside ? parts : parts.filter(({ type }) => type === 'text');
  const step = {
    type: 'function_result',
    call_id: item.call_id,
    ...omitUndefined({ name }),
    ...(isErrorState(item.state) ? { is_error: true } : {}),
    result,
    ...ownFields(item),
  };
  if (isInside) return { steps: [step], losses };
  const label = { type: 'text', text: `Content that the call of ${name ?? 'the tool'} returned:` };
  return { steps: [step], after: { type: 'user_input', content: [label, ...media] }, losses };
}

/** Thoughts go back with their signature, unchanged. https://ai.google.dev/gemini-api/docs/interactions/thinking */
function thoughtStep(item: ReasoningItem, { vendor }: StepContext): ConvertedItem {
  if (!isOwn(item.origin, vendor))
    return lost('reasoning', 'Reasoning can be returned only to the vendor that produced it.');
  const summary = item.summary.map(({ text }) => ({ type: 'text', text }));
  return {
    steps: [
      {
        type: 'thought',
        ...omitUndefined({ signature: item.encrypted_content }),
        ...(summary.length === 0 ? {} : { summary }),
        ...ownFields(item),
      },
    ],
    losses: [],
  };
}

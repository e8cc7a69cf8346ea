/** Converts a history to the steps of `input`, and its leading system messages to the system instruction. */
import { textOfContent } from '../../../../domain/entities/Content';
import { SLICE } from '../../../../domain/util/slices';
import type { Slices } from '../../../../domain/util/slices';
import type { FunctionCallItem, InputItem, MessageItem } from '../../../../domain/types/ResponsesAPITypes';
import type { Loss } from '../../../../domain/types/VendorTypes';
import { pathsIn } from '../../shared/pathsIn';
import { repairSlices } from '../../shared/repairHistory';
import { asUserText } from '../../shared/taggedInstructions';
import type { InteractionStep } from '../interactionsTypes';
import { stepsOfItem } from './steps';
import type { StepContext } from './steps';

export interface InteractionInput {
  /** Paragraphs of the system instruction. */
  readonly instructions: readonly string[];
  readonly steps: readonly InteractionStep[];
  readonly losses: readonly Loss[];
}

/**
 * @param partial the vendor stores the earlier part of the history
 * @throws UnsupportedFeatureError for content that the wire cannot express
 */
export function* toInput(
  input: readonly InputItem[],
  context: StepContext,
  partial: boolean,
): Slices<InteractionInput> {
  const { items, losses: repairs } = yield* repairSlices(input, { nativeAsync: false, partial });
  const losses: Loss[] = [...repairs];
  const steps: InteractionStep[] = [];
  const instructions: string[] = [];
  const calls = new Map<string, FunctionCallItem>();
  /** Media of results, held back until all results of the turn have been added. */
  let pending: InteractionStep[] = [];
  let isLeading = true;
  let index = -1;
  const paths = pathsIn(input, items);
  const path = (): string => {
    const item = items[index];
    return item === undefined || input[index] === item ? `input[${index}]` : paths(item);
  };

  for (const item of items) {
    index += 1;
    if (index > 0 && index % SLICE === 0) yield;
    let sent: InputItem = item;
    if (isSystemMessage(item)) {
      if (isLeading && item.content.every(isText)) {
        instructions.push(textOfContent(item.content));
        continue;
      }
      losses.push({
        path: path(),
        what: `role of a ${item.role} message`,
        reason: 'Gemini supports instructions only as text at the start, so it is sent as tagged user text.',
      });
      sent = asUserText(item);
    }
    isLeading = false;
    if (item.type === 'function_call') calls.set(item.call_id, item);
    if (item.type !== 'function_call_output') {
      steps.push(...pending);
      pending = [];
    }
    const toolName = item.type === 'function_call_output' ? calls.get(item.call_id)?.name : undefined;
    // A spread of the context would double the time of a long history.
    const { vendor, fetchesUrls, mediaInResults } = context;
    const named = toolName === undefined ? context : { vendor, fetchesUrls, mediaInResults, toolName };
    const converted = stepsOfItem(sent, named, path);
    for (const { at, what, reason } of converted.losses) losses.push({ path: `${path()}${at}`, what, reason });
    for (const step of converted.steps) steps.push(step);
    if (converted.after !== undefined) pending.push(converted.after);
  }
  steps.push(...pending);
  return { instructions, steps, losses };
}

function isSystemMessage(item: InputItem): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

function isText({ type }: { readonly type: string }): boolean {
  return type === 'input_text' || type === 'output_text';
}

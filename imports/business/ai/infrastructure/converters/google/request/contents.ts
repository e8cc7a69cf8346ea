/**
 * Converts a history to Gemini's contents, with alternating roles and all results of a turn together. Leading system
 * messages become the system instruction. https://ai.google.dev/api/caching#Content
 */
import { ContentsBuilder } from './ContentsBuilder';
import { partsOfItem } from './parts';
import { SLICE } from '../../../../domain/util/slices';
import type { Slices } from '../../../../domain/util/slices';
import { markOf } from '../googleTypes';
import { pathsIn } from '../../shared/pathsIn';
import { repairSlices } from '../../shared/repairHistory';
import { asUserText, FOLLOW_INSTRUCTIONS, ONLY_INSTRUCTIONS } from '../../shared/taggedInstructions';
import type { GoogleModelFeatures } from '../modelFeatures';
import type { PartsContext } from './parts';
import type { GooglePart } from '../googleTypes';
import type { FunctionCallItem, InputItem, MessageItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

export interface GoogleConversation {
  /** The leading system messages, each part a paragraph of the system instruction. */
  readonly systemParts: readonly GooglePart[];
  /** Other fields of the system instruction. */
  readonly systemFields: JsonObject;
  readonly contents: readonly JsonObject[];
  /** How many contents there are up to each of the breakpoints, from short to long. */
  readonly prefixLengths: readonly number[];
  readonly losses: readonly Loss[];
}

/**
 * @param breakpoints indexes in `input` of items after which a content ends, if it can
 * @throws UnsupportedFeatureError for content that the wire cannot express
 */
export function* toContents(
  input: readonly InputItem[],
  features: GoogleModelFeatures,
  fetchesUrls: boolean,
  breakpoints: readonly number[] = [],
): Slices<GoogleConversation> {
  const { items, losses: repairs } = yield* repairSlices(input, { nativeAsync: false });
  const losses: Loss[] = [...repairs];
  const mediaInResults = features.supportsMediaInResults;
  const context: PartsContext = { fetchesUrls, mediaInResults, call: undefined };
  const calls = new Map<string, FunctionCallItem>();
  const builder = new ContentsBuilder();
  const prefixEnds = new Set(breakpoints.map((index) => input[index]));
  const systemParts: GooglePart[] = [];
  let systemFields: JsonObject = {};
  let leading = true;
  let index = -1;
  // One closure for all items: paths are needed only for losses and errors.
  const paths = pathsIn(input, items);
  const path = (): string => {
    const item = items[index];
    return item === undefined || input[index] === item ? `input[${index}]` : paths(item);
  };

  for (const item of items) {
    index += 1;
    if (index > 0 && index % SLICE === 0) yield;
    if (isSystemMessage(item)) {
      if (leading) {
        systemFields = { ...systemFields, ...markOf(item).content };
        systemParts.push(...partsOfItem(item, context, path).parts);
        continue;
      }
      losses.push({
        path: path(),
        what: `role of a ${item.role} message`,
        reason: 'Gemini supports instructions only at the start, so it is sent as tagged user text.',
      });
      builder.add(asUserText(item), partsOfItem(asUserText(item), context, path));
      if (prefixEnds.has(item)) builder.endPrefix();
      continue;
    }
    leading = false;
    if (item.type === 'function_call') calls.set(item.call_id, item);
    const call = item.type === 'function_call_output' ? calls.get(item.call_id) : undefined;
    // A spread of the context would double the time of a long history.
    const converted = partsOfItem(item, call === undefined ? context : { fetchesUrls, mediaInResults, call }, path);
    for (const loss of converted.losses)
      losses.push({ path: `${path()}${loss.at}`, what: loss.what, reason: loss.reason });
    builder.add(item, converted);
    if (prefixEnds.has(item)) builder.endPrefix();
  }
  const contents = builder.finish(features.requiresSignatures);
  const note = noteFor(contents, systemParts, features);
  if (note !== undefined) losses.push(note.loss);
  const sent = note === undefined ? contents : [...contents, { role: 'user', parts: [{ text: note.text }] }];
  return { systemParts, systemFields, contents: sent, prefixLengths: builder.prefixLengths(), losses };
}

/** The message of the user that a request lacks at its end. */
function noteFor(
  contents: readonly JsonObject[],
  systemParts: readonly GooglePart[],
  { mayEndWithModel }: GoogleModelFeatures,
): { readonly text: string; readonly loss: Loss } | undefined {
  const last = contents.at(-1);
  if (last === undefined)
    return systemParts.length === 0 ? undefined : { text: FOLLOW_INSTRUCTIONS, loss: ONLY_INSTRUCTIONS };
  return last.role === 'model' && !mayEndWithModel
    ? { text: '(Continue your answer.)', loss: ENDS_WITH_MODEL }
    : undefined;
}

const ENDS_WITH_MODEL: Loss = {
  path: 'input',
  what: 'assistant message at the end',
  reason: 'The last message must be from the user, so a note is added after it.',
};

function isSystemMessage(item: InputItem): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

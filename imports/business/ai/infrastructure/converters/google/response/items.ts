/**
 * Converts a model's parts to items: adjacent texts form one message, adjacent thoughts one reasoning item, every other
 * part its own item. https://ai.google.dev/api/caching#Part
 */
import { MARK, vendorFields } from '../googleTypes';
import type { GoogleMark, GooglePart } from '../googleTypes';
import { fieldsOf, isEmpty, isObject } from '../../../../domain/util/json';
import type {
  FunctionCallItem,
  ItemStatus,
  OutputItem,
  OutputText,
  SummaryText,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';

/** How ids are generated for items that have none on the wire. */
export interface ItemNaming {
  /** Identifies the response. Call ids are derived from it, so reading the same response twice yields the same ids. */
  readonly seed: string;
  /** Whether items get ids. Items of a client's history need none. */
  readonly itemIds: boolean;
  readonly origin: Origin;
}

export type PartKind = 'text' | 'thought' | 'call' | 'other';

/** Adjacent parts that form one item. */
export interface PartGroup {
  readonly kind: PartKind;
  readonly parts: GooglePart[];
}

export function kindOfPart(part: GooglePart): PartKind {
  if (Object.hasOwn(part, MARK)) return 'other';
  // Some clients and gateways write absent fields as null, and `thought` as false.
  const call = part.functionCall ?? undefined;
  const thought = part.thought ?? false;
  if (isObject(call) && typeof call.name === 'string') return 'call';
  if (typeof part.text !== 'string' || call !== undefined) return 'other';
  if (thought === false) return 'text';
  return thought === true ? 'thought' : 'other';
}

export function groupParts(parts: readonly GooglePart[]): PartGroup[] {
  const groups: PartGroup[] = [];
  for (const part of parts) {
    const kind = kindOfPart(part);
    const last = groups.at(-1);
    if (last?.kind === kind && isGroupable(kind)) last.parts.push(part);
    else groups.push({ kind, parts: [part] });
  }
  return groups;
}

function isGroupable(kind: PartKind): boolean {
  return kind === 'text' || kind === 'thought';
}

export function toItems(
  groups: readonly PartGroup[],
  naming: ItemNaming,
  lastStatus: ItemStatus = 'completed',
): OutputItem[] {
  let calls = 0;
  return groups.map((run, index) => {
    if (run.kind === 'call') calls += 1;
    return toItem(run, index, calls - 1, naming, index === groups.length - 1 ? lastStatus : 'completed');
  });
}

/** @param call the number of preceding calls in the same response */
export function toItem(
  group: PartGroup,
  index: number,
  call: number,
  naming: ItemNaming,
  status: ItemStatus,
): OutputItem {
  const first = group.parts[0] ?? {};
  switch (group.kind) {
    case 'text':
      return {
        type: 'message',
        ...idField('msg', index, naming),
        role: 'assistant',
        status,
        content: group.parts.map(toOutputText),
      };
    case 'thought':
      return {
        type: 'reasoning',
        ...idField('rs', index, naming),
        summary: group.parts.map(toSummaryText),
        status,
        origin: naming.origin,
      };
    case 'call':
      return toFunctionCall(first, index, call, naming, status);
    case 'other':
      return { type: 'vendor_item', ...idField('vi', index, naming), origin: naming.origin, item: first };
  }
}

export function toFunctionCall(
  part: GooglePart,
  index: number,
  call: number,
  naming: ItemNaming,
  status: ItemStatus,
): FunctionCallItem {
  const { functionCall, ...siblings } = part;
  const fields = fieldsOf(functionCall);
  return {
    type: 'function_call',
    ...idField('fc', index, naming),
    call_id: callIdOf(fields, call, naming),
    name: String(fields.name),
    arguments: JSON.stringify(fields.args ?? {}),
    status,
    ...vendorFields(siblings, markOfCall(fields, part)),
  };
}

/** The id on the wire, otherwise a unique one derived from the response and the call's position in it. */
function callIdOf(fields: JsonObject, call: number, naming: ItemNaming): string {
  return typeof fields.id === 'string' && fields.id !== '' ? fields.id : `call_${naming.seed}_${call}`;
}

function idField(prefix: string, index: number, naming: ItemNaming): { id?: string } {
  return naming.itemIds ? { id: `${prefix}_${naming.seed}_${index}` } : {};
}

function toOutputText(part: GooglePart): OutputText {
  const { text, ...siblings } = part;
  return { type: 'output_text', text: String(text), annotations: [], ...vendorFields(siblings) };
}

function toSummaryText(part: GooglePart): SummaryText {
  const { text, thought: _, ...siblings } = part;
  return { type: 'summary_text', text: String(text), ...vendorFields(siblings) };
}

/** A call with more fields than name, arguments and id is stored verbatim. */
function markOfCall(call: JsonObject, part: GooglePart): GoogleMark {
  const { name: _, args, id: wireId, ...more } = call;
  if (!isObject(args) || !isEmpty(more) || (wireId !== undefined && typeof wireId !== 'string')) return { part };
  return wireId === undefined ? {} : { id: wireId };
}

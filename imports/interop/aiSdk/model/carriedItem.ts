/**
 * How items pass through the AI SDK without a change. Each content part carries, in `providerMetadata.bolide`, the
 * fields of its item that the part itself does not express: ids, signatures, encrypted content, the vendor's
 * fields. The AI SDK sends a response's `providerMetadata` back as the `providerOptions` of the next prompt's
 * parts, from which the item is restored.
 */
import type { JSONObject, SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isEmpty, isList, isObject } from '../../../business/ai/domain/util/json';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';

/** The key of Bolide's fields in `providerMetadata` and `providerOptions`. */
export const BOLIDE = 'bolide';

export interface CarriedItem {
  /**
   * Fields of the item. A part that has them starts an item; parts of the same kind that follow without them belong to
   * it.
   */
  readonly item?: JsonObject;
  /** Fields of the item's part, for items that consist of parts. */
  readonly part?: JsonObject;
  /** The same, and the length of each text, for several parts that were streamed as one. */
  readonly parts?: readonly CarriedPart[];
  /** The item is carried by another content part: the call, for a result that the vendor returns with its call. */
  readonly isElsewhere?: boolean;
}

export interface CarriedPart {
  /** In UTF-16 code units. */
  readonly length: number;
  readonly part: JsonObject;
}

export function toMetadata(carried: CarriedItem): SharedV4ProviderMetadata {
  const { item, part, parts, isElsewhere } = carried;
  const fields: object = omitUndefined({
    item,
    part: part === undefined || isEmpty(part) ? undefined : part,
    parts,
    isElsewhere: isElsewhere === true ? isElsewhere : undefined,
  });
  // Items are JSON; their types just don't state it.
  return { [BOLIDE]: fields as JSONObject };
}

/** Clients may send anything: fields of another type count as absent, and providers check the restored items. */
export function fromMetadata(options: SharedV4ProviderOptions | undefined): CarriedItem {
  const fields: unknown = options?.[BOLIDE];
  if (!isObject(fields)) return {};
  const { item, part, parts, isElsewhere } = fields;
  return {
    ...(isObject(item) ? { item } : {}),
    ...(isObject(part) ? { part } : {}),
    ...(isList(parts) ? { parts: parts.filter(isCarriedPart) } : {}),
    ...(isElsewhere === true ? { isElsewhere } : {}),
  };
}

function isCarriedPart(value: unknown): value is CarriedPart {
  return isObject(value) && typeof value.length === 'number' && isObject(value.part);
}

/** The item's parts that a text stands for. One whose length has changed is no longer what the parts describe. */
export function partsOfText(text: string, { part = {}, parts }: CarriedItem): readonly TextOfPart[] {
  if (parts === undefined) return [{ text, part }];
  const { type } = parts[0]?.part ?? {};
  if (parts.reduce((sum, { length }) => sum + length, 0) !== text.length)
    return [{ text, part: type === undefined ? {} : { type } }];
  let start = 0;
  return parts.map(({ length, part: fields }) => ({ text: text.slice(start, (start += length)), part: fields }));
}

export interface TextOfPart {
  readonly text: string;
  readonly part: JsonObject;
}

export function omit(object: object, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !names.includes(name) && value !== undefined),
  );
}

/**
 * How items pass through the AI SDK without a change. Each content part carries, in `providerMetadata.bolide`, the
 * fields of its item that the part itself does not express: ids, signatures, encrypted content, the vendor's
 * fields. The AI SDK sends a response's `providerMetadata` back as the `providerOptions` of the next prompt's
 * parts, from which the item is restored.
 */
import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isEmpty, isObject } from '../../../business/ai/domain/json';
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
  /** The item is carried by another content part: the call, for a result that the vendor returns with its call. */
  readonly isElsewhere?: boolean;
}

export function toMetadata(carried: CarriedItem): SharedV4ProviderMetadata {
  const { item, part, isElsewhere } = carried;
  const fields = {
    ...(item === undefined ? {} : { item }),
    ...(part === undefined || isEmpty(part) ? {} : { part }),
    ...(isElsewhere === true ? { isElsewhere } : {}),
  };
  // Items are JSON; their types just don't state it.
  return { [BOLIDE]: fields } as SharedV4ProviderMetadata;
}

/** Clients may send anything: fields of another type count as absent, and providers check the restored items. */
export function fromMetadata(options: SharedV4ProviderOptions | undefined): CarriedItem {
  const fields: unknown = options?.[BOLIDE];
  if (!isObject(fields)) return {};
  const { item, part, isElsewhere } = fields;
  return {
    ...(isObject(item) ? { item } : {}),
    ...(isObject(part) ? { part } : {}),
    ...(isElsewhere === true ? { isElsewhere } : {}),
  };
}

export function omit(object: object, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !names.includes(name) && value !== undefined),
  );
}

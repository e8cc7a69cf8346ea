/** The names of the models that a provider offers. */
import type { VendorName } from '../../domain/types/VendorTypes';

export interface VendorModels {
  /** The model that the vendor's accounts use by default. */
  readonly defaultModel?: string;
  /** Names valid in a request. */
  readonly currentModels?: readonly string[];
}

export interface ProviderOfModels {
  readonly id: string;
  readonly vendor: VendorName;
  readonly allowedModels?: readonly string[];
  readonly defaultModel?: string;
  readonly deployment?: string;
}

export interface OfferedModels {
  /** The default one first. */
  readonly names: readonly string[];
  /** What requests without a model use. Absent if only the vendor knows it. */
  readonly defaultModel?: string;
}

/** @param listed what the vendor itself lists, if it was asked. Models that the provider is restricted to win. */
export function offeredModels(
  { allowedModels, deployment, defaultModel = deployment }: ProviderOfModels,
  known: VendorModels,
  listed: readonly string[] | undefined = known.currentModels,
): OfferedModels {
  const names = allowedModels ?? listed ?? [];
  const first = defaultModel ?? known.defaultModel;
  // A default that is not allowed is refused in every request.
  if (first === undefined || allowedModels?.includes(first) === false) return { names };
  return { names: [first, ...names.filter((name) => name !== first)], defaultModel: first };
}

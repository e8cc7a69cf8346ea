/** The models that a user can choose from. */
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Actor } from '../../domain/types/Actor';
import type { ModelView } from '../../domain/types/ModelViews';
import type { VendorName } from '../../domain/types/VendorTypes';
import { offeredModels } from './offeredModels';
import type { ProviderOfModels, VendorModels } from './offeredModels';
import { permittedProviders } from './permittedProviders';

export interface ModelPorts {
  readonly providers: {
    refresh(): Promise<void>;
    rows(): readonly ProviderOfModels[];
    get(id: string): Pick<ILLMProvider, 'getCapabilities'> | undefined;
  };
  readonly access: AccessPolicy;
  /** What is known of a vendor's models. */
  readonly vendorModels: (vendor: VendorName) => VendorModels;
}

/**
 * @returns the models of the providers in the order of the catalog, the default provider first; of each, the default
 *   model first. A provider that restricts its models lists these, any other one its default and the models that
 *   Bolide knows of its vendor.
 */
export async function listModels(
  { providers, access, vendorModels }: ModelPorts,
  actor: Actor,
): Promise<readonly ModelView[]> {
  await providers.refresh();
  const permitted = await permittedProviders(access, actor, providers.rows());
  return permitted.flatMap((row): readonly ModelView[] => {
    const provider = providers.get(row.id);
    if (provider === undefined) return [];
    const { names, defaultModel } = offeredModels(row, vendorModels(row.vendor));
    return (names.length === 0 ? [undefined] : names).map((model) => ({
      ...provider.getCapabilities(model ?? ''),
      id: model === undefined ? row.id : `${row.id}/${model}`,
      providerId: row.id,
      ...omitUndefined({ model }),
      isDefault: model !== undefined && model === defaultModel,
    }));
  });
}

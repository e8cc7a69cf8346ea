/** `ai.models.list` for any transport: the models that a user can choose from. */
import { readObject } from '../../domain/arguments';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { ModelView } from '../../domain/types/ModelViews';
import type { Operation } from '../../domain/types/Operation';
import type { VendorName } from '../../domain/types/VendorTypes';
import { offeredModels } from './offeredModels';
import type { ProviderOfModels, VendorModels } from './offeredModels';
import { permittedProviders } from './permittedProviders';
import { signedIn } from './RunOperations';

export interface ModelOperations {
  /**
   * Providers in the order of the catalog, the default provider first; in each, the default model first. A provider
   * that restricts its models lists these, any other one its default and the models that Bolide knows of its vendor.
   * @throws LLMAuthError if nobody is signed in, LLMInvalidRequestError for an argument other than `{}`
   */
  readonly 'ai.models.list': Operation<{ readonly models: readonly ModelView[] }>;
}

export interface ModelOperationsPorts {
  readonly providers: {
    refresh(): Promise<void>;
    rows(): readonly ProviderOfModels[];
    get(id: string): Pick<ILLMProvider, 'getCapabilities'> | undefined;
  };
  readonly access: AccessPolicy;
  /** What is known of a vendor's models. */
  readonly vendorModels: (vendor: VendorName) => VendorModels;
}

export function createModelOperations({ providers, access, vendorModels }: ModelOperationsPorts): ModelOperations {
  return {
    async 'ai.models.list'(actor, argument = {}) {
      signedIn(actor);
      readObject(argument, []);
      await providers.refresh();
      const permitted = await permittedProviders(access, actor, providers.rows());
      return {
        models: permitted.flatMap((row): readonly ModelView[] => {
          const provider = providers.get(row.id);
          if (provider === undefined) return [];
          const { names, defaultModel } = offeredModels(row, vendorModels(row.vendor));
          return (names.length === 0 ? [undefined] : names).map((model) => ({
            ...provider.getCapabilities(model ?? ''),
            id: model === undefined ? row.id : `${row.id}/${model}`,
            providerId: row.id,
            ...(model === undefined ? {} : { model }),
            isDefault: model !== undefined && model === defaultModel,
          }));
        }),
      };
    },
  };
}

/** What the provider system learns from the AI module: vendors, models, and how calls went. */
import type { RunState } from '../business/ai/domain/entities/Run';
import type { AIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import { REQUESTS } from '../business/requestLog/infrastructure/DocumentRequestStore';
import type { RequestDocument } from '../business/requestLog/infrastructure/DocumentRequestStore';
import { RUNS } from '../business/ai/infrastructure/persistence/runs/runDocuments';
import type { ModelOverrides } from '../business/ai/infrastructure/vendors/readModelOverrides';
import { describeModel, knownModels, vendorCatalog } from '../business/ai/infrastructure/vendors/vendorCatalog';
import type {
  ProviderCatalogPort,
  RecordedHealth,
} from '../business/providers/application/operations/ProviderAdministration';

const UNFINISHED: readonly RunState[] = ['queued', 'running', 'waiting'];
/** Runs that are counted for one provider. */
const MAX_COUNTED = 1_000;

/**
 * @param module created after the provider system
 * @param models the operator's own
 */
export function createProviderCatalog(
  module: () => Pick<AIModule, 'manager' | 'providers'>,
  database: Pick<DocumentDatabase, 'collection'>,
  models: ModelOverrides = {},
): ProviderCatalogPort {
  const requests = database.collection<RequestDocument>(REQUESTS);
  /** Returns when the last request succeeded in any process, even before a restart. @returns 0 without one */
  const lastLoggedSuccess = async (providerId: string): Promise<number> => {
    const options = { sort: { at: -1 }, fields: { at: 1, duration: 1 } } as const;
    const last = await requests.findOne({ providerId, state: 'completed' }, options);
    return last === undefined ? 0 : last.at + last.duration;
  };
  return {
    vendors: () => vendorCatalog(models),
    knownModels: (vendor) => knownModels(vendor, models),
    describeModel: (vendor, model) => describeModel(vendor, model, models),
    async listModels(providerId, userId, signal) {
      const { providers } = module();
      if (providers.get(providerId) === undefined) await providers.refresh();
      return (await providers.get(providerId)?.listModels?.(userId, signal)) ?? [];
    },
    async health() {
      const entries = await Promise.all(
        [...module().manager.health()].map(async ([providerId, { lastError, lastSuccessAt = 0, ...health }]) => {
          const succeededAt = Math.max(lastSuccessAt, await lastLoggedSuccess(providerId));
          const recorded: RecordedHealth = { ...health, ...(succeededAt === 0 ? {} : { lastSuccessAt: succeededAt }) };
          if (lastError === undefined) return [providerId, recorded] as const;
          const { userId, ...error } = lastError;
          return [providerId, { ...recorded, lastError: error, failedUserId: userId }] as const;
        }),
      );
      return new Map(entries);
    },
    async unfinishedRuns(providerId) {
      const selector = { providerId, state: { $in: UNFINISHED } };
      return (await database.collection(RUNS).find(selector, { limit: MAX_COUNTED, fields: { _id: 1 } })).length;
    },
  };
}

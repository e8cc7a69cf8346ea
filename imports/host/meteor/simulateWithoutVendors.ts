/** Decides whether an app without an account with a vendor runs on the simulator. */
import type { AISettings } from '../../business/ai/infrastructure/factories/createAIModule';
import type { MeteorDatabase } from '../../database/meteor/MeteorDatabase';
import { COLLECTIONS } from '../../business/providers/infrastructure/factories/createProvidersModule';
import type { Simulator } from '../../simulator/Simulator';
import { loadSimulatedVendors, SIMULATION_NOTICE } from '../simulation';

export interface SimulatedApp {
  readonly settings: AISettings;
  readonly simulator: Simulator;
  /** For people who see its responses. */
  readonly notice: string;
}

const NO_VENDOR =
  'Bolide has no vendor, so model calls fail. Set a vendor key such as OPENAI_API_KEY or ANTHROPIC_API_KEY in Meteor.settings.ai or in the environment, or let an admin add a provider on the dashboard.';

/** @returns undefined if the settings or the database have an account, or if it does not simulate */
export async function simulateWithoutVendors(
  settings: AISettings,
  database: MeteorDatabase,
  simulates: boolean,
): Promise<SimulatedApp | undefined> {
  if (settings.providers.length > 0) return undefined;
  const stored = await database.published(COLLECTIONS.providers).findOneAsync({}, { fields: { _id: 1 } });
  if (stored !== undefined) return undefined;
  if (!simulates) {
    console.warn(NO_VENDOR);
    return undefined;
  }
  const { simulateVendors } = await loadSimulatedVendors();
  console.log(SIMULATION_NOTICE);
  return { ...(await simulateVendors(settings)), notice: SIMULATION_NOTICE };
}

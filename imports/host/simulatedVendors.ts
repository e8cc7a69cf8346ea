/** Settings without a vendor, on the vendor simulator: every vendor as a provider of its own name. */
import { VENDOR_VARIABLES } from './settings/vendors';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import type { AISettings } from '../business/ai/infrastructure/factories/createAIModule';
import type { Simulator } from '../simulator/Simulator';
import { startSimulator } from '../simulator/startSimulator';

export interface SimulatedSettings {
  readonly settings: AISettings;
  readonly simulator: Simulator;
}

/** @param pause milliseconds between two events of a stream. Default: as if a model wrote */
export async function simulateVendors(settings: AISettings, pause = 15): Promise<SimulatedSettings> {
  const simulator = await startSimulator({ chunkDelayMs: pause });
  return {
    simulator,
    settings: {
      ...settings,
      defaultProvider: settings.defaultProvider ?? (await defaultVendor()),
      providers: (Object.keys(VENDOR_VARIABLES) as VendorName[]).map((vendor) => ({
        id: vendor,
        vendor,
        apiKey: 'simulated',
        baseURL: simulator.baseURL(vendor),
        allowPrivateHosts: true,
        ...(vendor === 'azure_openai' ? { defaultModel: 'gpt-5.4-mini' } : {}),
      })),
    },
  };
}

/** Gemini's API is called without an SDK, so it is always available. */
async function defaultVendor(): Promise<VendorName> {
  try {
    await import('openai');
    return 'openai';
  } catch {
    return 'google';
  }
}

/** The module as the environment asks for it; without any key, on the vendor simulator. */
import { registerDemoTools } from './registerDemoTools';
import { settingsFromEnvironment, VENDOR_VARIABLES } from './settings/vendors';
import type { Environment } from './settings/vendors';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import { createAIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { AIModule, AIModulePorts, AISettings } from '../business/ai/infrastructure/factories/createAIModule';
import { ToolRegistry } from '../business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../simulator/Simulator';
import { startSimulator } from '../simulator/startSimulator';

export interface OpenedSettings {
  readonly settings: AISettings;
  /** Where answers come from when no vendor has a key. */
  readonly simulator?: Simulator;
}

export interface OpenedModule extends Pick<OpenedSettings, 'simulator'> {
  readonly module: AIModule;
}

export const SIMULATION_NOTICE =
  'SIMULATED: no vendor key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY, …), so responses come from a local simulator, not from a model.';

/** @throws LLMInvalidRequestError that names every variable that is wrong */
export async function openSettings(env: Environment): Promise<OpenedSettings> {
  const settings = settingsFromEnvironment(env);
  if (settings.providers.length > 0) return { settings };
  const simulator = await startSimulator({ chunkDelayMs: 15 });
  return { settings: simulated(settings, simulator), simulator };
}

/**
 * For programs of one user, without stored accounts.
 * @param ports default: the demo tools, and everything in memory
 * @throws as openSettings
 */
export async function moduleFromEnvironment(env: Environment, ports: AIModulePorts = {}): Promise<OpenedModule> {
  const { settings, ...opened } = await openSettings(env);
  return { ...opened, module: createAIModule(settings, { tools: registerDemoTools(new ToolRegistry()), ...ports }) };
}

function simulated(settings: AISettings, simulator: Simulator): AISettings {
  return {
    ...settings,
    defaultProvider: settings.defaultProvider ?? 'openai',
    providers: (Object.keys(VENDOR_VARIABLES) as VendorName[]).map((vendor) => ({
      id: vendor,
      vendor,
      apiKey: 'simulated',
      baseURL: simulator.baseURL(vendor),
      allowPrivateHosts: true,
      ...(vendor === 'azure_openai' ? { defaultModel: 'gpt-5.4-mini' } : {}),
    })),
  };
}

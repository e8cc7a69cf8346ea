/** The module as the environment asks for it; without any key, on the vendor simulator. */
import { registerDemoTools } from './registerDemoTools';
import { settingsFromEnvironment } from './settings/vendors';
import type { Environment } from './settings/environment';
import { createAIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { AIModule, AIModulePorts, AISettings } from '../business/ai/infrastructure/factories/createAIModule';
import { ToolRegistry } from '../business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../simulator/Simulator';
import { loadSimulatedVendors } from './simulation';

export interface OpenedSettings {
  readonly settings: AISettings;
  /** Where answers come from when no vendor has a key. */
  readonly simulator?: Simulator;
}

export interface OpenedModule extends Pick<OpenedSettings, 'simulator'> {
  readonly module: AIModule;
}

/** @throws LLMInvalidRequestError that names every variable that is wrong */
export async function openSettings(env: Environment, simulatedPause?: number): Promise<OpenedSettings> {
  const settings = settingsFromEnvironment(env);
  if (settings.providers.length > 0) return { settings };
  const { simulateVendors } = await loadSimulatedVendors();
  return simulateVendors(settings, simulatedPause);
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

/** The module as the environment asks for it; without any key, on the vendor simulator. */
import { registerDemoTools } from '../imports/startup/demoTools';
import { settingsFromEnvironment, VENDOR_VARIABLES } from '../imports/startup/settingsFromEnvironment';
import type { Environment } from '../imports/startup/settingsFromEnvironment';
import { createAIModule } from '../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule, AISettings } from '../imports/business/ai/infrastructure/factories/createAIModule';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../tests/support/simulator/Simulator';
import { startSimulator } from '../tests/support/simulator/startSimulator';

export interface OpenedModule {
  readonly module: AIModule;
  /** Where answers come from when no vendor has a key. */
  readonly simulator?: Simulator;
}

export const SIMULATION_NOTICE = `No vendor key is set (${VENDOR_VARIABLES.openai.key}, ${VENDOR_VARIABLES.anthropic.key}, …): answers are SIMULATED by a local server, not written by a model.`;

/** @throws LLMInvalidRequestError that names every variable that is wrong */
export async function moduleFromEnvironment(env: Environment): Promise<OpenedModule> {
  const settings = settingsFromEnvironment(env);
  const tools = registerDemoTools(new ToolRegistry());
  if (settings.providers.length > 0) return { module: createAIModule(settings, { tools }) };
  const simulator = await startSimulator({ chunkDelayMs: 15 });
  return { module: createAIModule(simulated(settings, simulator), { tools }), simulator };
}

function simulated(settings: AISettings, simulator: Simulator): AISettings {
  const vendors = Object.keys(VENDOR_VARIABLES) as (keyof typeof VENDOR_VARIABLES)[];
  return {
    ...settings,
    defaultProvider: settings.defaultProvider ?? 'openai',
    providers: vendors.map((vendor) => ({
      id: vendor,
      vendor,
      apiKey: 'simulated',
      baseURL: simulator.baseURL(vendor),
      allowPrivateHosts: true,
      ...(vendor === 'azure_openai' ? { defaultModel: 'gpt-5.4-mini' } : {}),
    })),
  };
}

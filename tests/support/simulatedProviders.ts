/** A provider for each combination of vendor and wire, on the simulator. */
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { VendorName, WireName } from '../../imports/business/ai/domain/types/VendorTypes';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import type { CreateProviderOptions } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { CANARY } from './canaries';
import type { Simulator } from '../../imports/simulator/Simulator';
import { IS_SOAK } from './soak';

export interface SimulatedVendor {
  /** Used in test titles. */
  readonly name: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly model: string;
}

export const SIMULATED_VENDORS: readonly SimulatedVendor[] = [
  { name: 'OpenAI Responses', vendor: 'openai', wire: 'responses', model: 'gpt-5-mini' },
  { name: 'OpenAI chat', vendor: 'openai', wire: 'chat_completions', model: 'gpt-4.1-mini' },
  { name: 'Azure Responses', vendor: 'azure_openai', wire: 'responses', model: 'gpt-5-mini' },
  { name: 'Azure chat', vendor: 'azure_openai', wire: 'chat_completions', model: 'gpt-4.1-mini' },
  { name: 'Anthropic', vendor: 'anthropic', wire: 'anthropic_messages', model: 'claude-sonnet-4-5' },
  { name: 'Google', vendor: 'google', wire: 'gemini', model: 'gemini-2.5-flash' },
  { name: 'Google Interactions', vendor: 'google', wire: 'interactions', model: 'gemini-2.5-flash' },
  { name: 'Grok chat', vendor: 'grok', wire: 'chat_completions', model: 'grok-4' },
  { name: 'Grok Responses', vendor: 'grok', wire: 'responses', model: 'grok-4' },
  { name: 'Groq', vendor: 'groq', wire: 'chat_completions', model: 'llama-3.3-70b-versatile' },
  { name: 'Llama', vendor: 'llama', wire: 'chat_completions', model: 'llama-3.3-70b-versatile' },
  { name: 'an OpenAI-compatible vendor', vendor: 'openai_compatible', wire: 'chat_completions', model: 'some-model' },
];

/** In `npm test`, one vendor of each wire. */
export const WIRES_OR_VENDORS: readonly SimulatedVendor[] = SIMULATED_VENDORS.filter(
  ({ wire }, index) => IS_SOAK || SIMULATED_VENDORS.findIndex((other) => other.wire === wire) === index,
);

export function simulatedProvider(
  simulator: Simulator,
  { vendor, wire, model }: SimulatedVendor,
  row: Partial<CreateProviderOptions> = {},
): ILLMProvider {
  return createProvider({
    vendor,
    wire,
    defaultModel: model,
    apiKey: `test-${CANARY}`,
    baseURL: simulator.baseURL(vendor),
    allowPrivateHosts: true,
    ...row,
  });
}

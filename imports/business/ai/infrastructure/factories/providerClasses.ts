/** Which class serves an account: its vendor's own, else the one for the wire that the vendor speaks. */
import type { VendorName, WireName } from '../../domain/types/VendorTypes';
import type { VendorClient } from '../clients/VendorClient';
import { AnthropicProvider } from '../providers/AnthropicProvider';
import { AzureOpenAIProvider } from '../providers/AzureOpenAIProvider';
import type { BaseLLMProvider, ClientOptions } from '../providers/BaseLLMProvider';
import type { ProviderConfig, ProviderDependencies } from '../providers/prepareCall';
import { GoogleProvider } from '../providers/GoogleProvider';
import { GrokProvider } from '../providers/GrokProvider';
import { LlamaProvider } from '../providers/LlamaProvider';
import { OpenAICompatibleProvider } from '../providers/OpenAICompatibleProvider';
import { OpenAIProvider } from '../providers/OpenAIProvider';
import type { Vendor } from '../vendors/Vendor';

export interface ProviderClass {
  createClient(options: ClientOptions): VendorClient;
  new (config: ProviderConfig, dependencies: ProviderDependencies): BaseLLMProvider;
}

export function providerClassOf({ name, wires }: Vendor): ProviderClass {
  return CLASS_OF_VENDOR[name] ?? CLASS_OF_WIRE[wires[0]];
}

const CLASS_OF_VENDOR: Readonly<Partial<Record<VendorName, ProviderClass>>> = {
  openai: OpenAIProvider,
  azure_openai: AzureOpenAIProvider,
  grok: GrokProvider,
  groq: LlamaProvider,
  llama: LlamaProvider,
};

const CLASS_OF_WIRE: Readonly<Record<WireName, ProviderClass>> = {
  responses: OpenAICompatibleProvider,
  chat_completions: OpenAICompatibleProvider,
  anthropic_messages: AnthropicProvider,
  gemini: GoogleProvider,
  interactions: GoogleProvider,
};

/** Which class serves which vendor: the one table behind every way to make a provider. */
import type { VendorName } from '../../domain/types/VendorTypes';
import { AnthropicProvider } from '../providers/AnthropicProvider';
import { AzureOpenAIProvider } from '../providers/AzureOpenAIProvider';
import type { BaseLLMProvider, ProviderPorts, ProviderRow, VendorFacts } from '../providers/BaseLLMProvider';
import { GoogleProvider } from '../providers/GoogleProvider';
import { GrokProvider } from '../providers/GrokProvider';
import { LlamaProvider } from '../providers/LlamaProvider';
import { OpenAICompatibleProvider } from '../providers/OpenAICompatibleProvider';
import { OpenAIProvider } from '../providers/OpenAIProvider';

export interface ProviderClass {
  readonly facts: VendorFacts;
  new (row: ProviderRow, ports: ProviderPorts): BaseLLMProvider;
}

export const PROVIDER_CLASSES: Readonly<Record<VendorName, ProviderClass>> = {
  openai: OpenAIProvider,
  azure_openai: AzureOpenAIProvider,
  anthropic: AnthropicProvider,
  google: GoogleProvider,
  grok: GrokProvider,
  groq: LlamaProvider,
  llama: LlamaProvider,
  openai_compatible: OpenAICompatibleProvider,
};

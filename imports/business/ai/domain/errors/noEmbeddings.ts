/** The errors of providers that lack a method. */
import type { ILLMProvider } from '../interfaces/ILLMProvider';
import { UnsupportedFeatureError } from './LLMErrors';

/** Where to look instead. */
export const EMBEDDING_VENDORS = 'Request a model of OpenAI, Azure OpenAI, Google or a compatible host.';

export function noEmbeddings(provider: Pick<ILLMProvider, 'getProviderName'>): UnsupportedFeatureError {
  return new UnsupportedFeatureError(
    `The provider "${provider.getProviderName()}" has no embeddings. ${EMBEDDING_VENDORS}`,
    { path: 'model' },
  );
}

/** The error of a provider that has no method to relay requests. */
export function noRelay(provider: Pick<ILLMProvider, 'getProviderName'>): UnsupportedFeatureError {
  return new UnsupportedFeatureError(`Requests to the provider "${provider.getProviderName()}" cannot be relayed.`);
}

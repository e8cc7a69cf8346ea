/** The error of a provider that has no method for embeddings. */
import type { ILLMProvider } from '../interfaces/ILLMProvider';
import { UnsupportedFeatureError } from './LLMErrors';

export function noEmbeddings(provider: Pick<ILLMProvider, 'getProviderName'>): UnsupportedFeatureError {
  return new UnsupportedFeatureError(
    `The provider "${provider.getProviderName()}" has no embeddings. Request a model of another one.`,
    { path: 'model' },
  );
}

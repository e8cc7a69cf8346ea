/**
 * A model with every capability except asynchronous tools and stored responses, for tests in which the model does not
 * matter.
 */
import type { ModelCapabilities } from '../business/ai/domain/interfaces/ILLMProvider';

export const CAPABILITIES: ModelCapabilities = {
  supportsTools: true,
  supportsParallelTools: true,
  supportsAsyncTools: false,
  supportsVision: true,
  supportsFiles: true,
  supportsJSON: true,
  supportsJSONSchema: true,
  supportsReasoning: true,
  keepsState: false,
  maxTokens: 100_000,
  maxOutputTokens: 10_000,
};

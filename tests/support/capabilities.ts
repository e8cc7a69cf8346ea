/** A model that can do everything and whose host keeps nothing, for tests in which models make no difference. */
import type { ModelCapabilities } from '../../imports/business/ai/domain/interfaces/ILLMProvider';

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

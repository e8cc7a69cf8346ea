/** `bolide/ai-sdk`: the AI SDK's protocols over Bolide's providers and tools. */
export type { ILLMProvider } from '../business/ai/domain/interfaces/ILLMProvider';

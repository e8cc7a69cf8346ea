/** `bolide/ai-sdk`: the AI SDK's protocols over Bolide's providers and tools. */
export type { ILLMProvider } from '../business/ai/domain/interfaces/ILLMProvider';
export { bolide, createBolide } from '../interop/aiSdk/model/createBolide';
export type { BolideProvider, CreateBolideOptions } from '../interop/aiSdk/model/createBolide';
export type { BolideCallOptions } from '../interop/aiSdk/model/readProviderOptions';

/** `bolide/ai-sdk`: the AI SDK's protocols over Bolide's providers and tools. */
import { requireNode } from '../library/requireNode';
export type { ILLMProvider } from '../business/ai/domain/interfaces/ILLMProvider';
export { bolide, createBolide } from '../interop/aiSdk/model/createBolide';
export type { BolideModelProvider, CreateBolideOptions } from '../interop/aiSdk/model/createBolide';
export type { BolideCallOptions } from '../interop/aiSdk/model/readProviderOptions';
export type { BolideEmbeddingOptions } from '../interop/aiSdk/model/readEmbeddingOptions';
export { fromAISDKTools } from '../interop/aiSdk/tools/fromAISDKTools';
export type { FromAISDKToolsOptions } from '../interop/aiSdk/tools/fromAISDKTools';
export { toAISDKTools } from '../interop/aiSdk/tools/toAISDKTools';
export type { ToAISDKToolsOptions } from '../interop/aiSdk/tools/toAISDKTools';
export { fromUIMessages, toUIMessages } from '../interop/aiSdk/convertUIMessages';
export { BolideChatTransport } from '../interop/aiSdk/BolideChatTransport';
export type { BolideChatTransportOptions } from '../interop/aiSdk/BolideChatTransport';
export { pipeUIMessageStream, toUIMessageStream, toUIMessageStreamResponse } from '../interop/aiSdk/uiMessageStream';
export type {
  UIMessageResponseOptions,
  UIMessageSource,
  UIMessageStreamOptions,
} from '../interop/aiSdk/uiMessageStream';
export type {
  MessageMetadata,
  ToolProgressData,
  ToolResultData,
  UIMessage,
  UIMessageChunk,
} from '../interop/aiSdk/UIMessages';

requireNode();

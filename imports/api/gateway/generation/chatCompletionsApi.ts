/** `POST /v1/chat/completions`. https://platform.openai.com/docs/api-reference/chat */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import {
  readChatCompletionsRequest,
  writeChatCompletions,
} from '../../../business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import { SERVER_SENT_EVENTS } from '../../http/ResponseSink';
import type { GatewayApi } from './GatewayApi';

export const AZURE_CHAT_PATH = '/openai/deployments/:deployment/chat/completions';

export const chatCompletionsApi: GatewayApi = {
  wire: 'chat_completions',
  read({ body, params }) {
    const { stream, ...read } = readChatCompletionsRequest(body);
    // Azure's clients name the model in the path. https://learn.microsoft.com/azure/ai-services/openai/reference
    const { deployment } = params;
    const options = typeof deployment === 'string' ? { ...read, model: deployment } : read;
    if (options.model === undefined) throw new LLMInvalidRequestError('You must provide a model.', { path: 'model' });
    return stream === true ? { options, stream: SERVER_SENT_EVENTS, includeUsage: asksForUsage(body) } : { options };
  },
  write: writeChatCompletions,
};

/** https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options */
function asksForUsage(body: unknown): boolean {
  const options = (body as { readonly stream_options?: { readonly include_usage?: unknown } | null }).stream_options;
  return options?.include_usage === true;
}

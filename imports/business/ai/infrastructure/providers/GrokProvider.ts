/** xAI's Grok, an OpenAI-compatible API. https://docs.x.ai/docs/api-reference */
import { OpenAICompatibleProvider } from './OpenAICompatibleProvider';

export class GrokProvider extends OpenAICompatibleProvider {}

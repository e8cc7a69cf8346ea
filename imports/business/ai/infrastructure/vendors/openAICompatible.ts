/** Any API that speaks OpenAI's wires: Ollama, vLLM, Together, Cerebras, … An account's settings add its quirks. */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import { anthropic } from './anthropic';
import { google } from './google';
import { grok } from './grok';
import { openai } from './openai';
import { OPEN_MODELS } from './openModels';
import type { Vendor } from './Vendor';

export const openAICompatible: Vendor = {
  name: 'openai_compatible',
  label: VENDOR_LABELS.openai_compatible,
  wires: ['chat_completions', 'responses'],
  requiresBaseURL: true,
  storesResponses: false,
  quirks: { hasOpenResponsesPenalties: true, acceptsDocumentUrls: true },
  quirksByHost: {
    // https://openrouter.ai/docs/api-reference/chat-completion: the content of a tool message may have any part.
    // https://openrouter.ai/docs/features/multimodal/pdfs: annotations that are sent back spare parsing a file again.
    // https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api: streams end without a finish reason.
    'snowflakecomputing.com': { allowsNullFinishReason: true },
    // https://github.com/perplexityai/api-discussion/issues/209
    'api.perplexity.ai': { allowsMissingEndMarker: true },
    // Recorded. Hugging Face relays models that Cerebras serves; from others, the marker comes.
    'api.cerebras.ai': { allowsMissingEndMarker: true },
    'router.huggingface.co': { allowsMissingEndMarker: true },
    // Recorded, and https://github.com/wanshuiyin/Auto-claude-code-research-in-sleep/issues/249
    'api.minimax.io': { allowsMissingEndMarker: true },
    'api.minimaxi.com': { allowsMissingEndMarker: true },
    'openrouter.ai': { imagesInToolOutput: true, acceptsFileAnnotations: true, fetchesFileUrls: true },
  },
  models: [],
  foreignModels: [...openai.models, ...anthropic.models, ...google.models, ...grok.models, ...OPEN_MODELS],
  modelPatterns: [],
};

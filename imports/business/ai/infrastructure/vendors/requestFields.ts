/**
 * The fields that requests of each API have, by their names on the wire. A host could choose a model by one that is not
 * listed, so a caller who may use only some models may not send it: see `findNamedModels`.
 */
import type { RequestForm } from './storedObjectFields';

/** https://platform.openai.com/docs/api-reference/responses/create */
const RESPONSES = [
  ...['access_programs', 'background', 'context_management', 'conversation', 'image', 'include', 'input'],
  ...['instructions', 'max_output_tokens', 'max_tool_calls', 'metadata', 'model', 'moderation', 'parallel_tool_calls'],
  ...['previous_response_id', 'prompt', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ...['reasoning', 'safety_identifier', 'service_tier', 'store', 'stream', 'stream_options', 'temperature', 'text'],
  ...['tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'user'],
  // Codex's, Open Responses' (https://www.openresponses.org/specification) and xAI's (https://docs.x.ai/docs/api-reference)
  ...[
    'client_metadata',
    'presence_penalty',
    'frequency_penalty',
    'search_parameters',
    'top_k',
    'seed',
    'stop',
    'logprobs',
  ],
] as const;

/** https://platform.openai.com/docs/api-reference/chat/create */
const OPENAI_CHAT = [
  ...['messages', 'model', 'audio', 'frequency_penalty', 'function_call', 'functions', 'logit_bias', 'logprobs'],
  ...['max_completion_tokens', 'max_tokens', 'metadata', 'modalities', 'moderation', 'n', 'parallel_tool_calls'],
  ...['prediction', 'presence_penalty', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ...['reasoning_effort', 'response_format', 'safety_identifier', 'seed', 'service_tier', 'stop', 'store', 'stream'],
  ...['stream_options', 'temperature', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'user', 'verbosity'],
  'web_search_options',
] as const;

/** https://console.groq.com/docs/api-reference */
const GROQ_CHAT = [
  ...['citation_options', 'compound_custom', 'disable_tool_validation', 'documents', 'exclude_domains'],
  ...['include_domains', 'include_reasoning', 'reasoning_format', 'search_settings'],
] as const;

/**
 * https://docs.x.ai/docs/api-reference, https://docs.mistral.ai/api, https://api-docs.deepseek.com/api,
 * https://learn.microsoft.com/en-us/azure/ai-foundry/openai/reference-preview,
 * https://openrouter.ai/docs/api-reference/parameters, https://docs.vllm.ai/en/latest/serving/openai_compatible_server,
 * https://docs.perplexity.ai/api-reference, https://inference-docs.cerebras.ai/api-reference/chat-completions
 */
const OTHER_CHAT = [
  ...['search_parameters', 'deferred', 'safe_prompt', 'random_seed', 'prompt_mode', 'thinking', 'data_sources'],
  ...['transforms', 'provider', 'usage', 'reasoning', 'top_k', 'top_a', 'min_p', 'repetition_penalty'],
  ...['length_penalty', 'min_tokens', 'stop_token_ids', 'bad_words', 'skip_special_tokens', 'ignore_eos'],
  ...['spaces_between_special_tokens', 'add_generation_prompt', 'chat_template_kwargs', 'structured_outputs'],
  ...['guided_json', 'guided_regex', 'guided_choice', 'guided_grammar', 'priority', 'keep_alive', 'think'],
  ...['disable_reasoning', 'clear_thinking', 'search_mode', 'search_domain_filter', 'search_recency_filter'],
  ...['return_images', 'return_related_questions', 'cache_control', 'session_id', 'enable_thinking'],
] as const;

/** https://platform.claude.com/docs/en/api/beta/messages/create */
const MESSAGES = [
  ...['max_tokens', 'messages', 'model', 'billing_policy', 'cache_control', 'compaction', 'container'],
  ...['context_management', 'diagnostics', 'fallback_credit_token', 'fallbacks', 'inference_geo', 'mcp_servers'],
  ...['metadata', 'output_config', 'output_format', 'service_tier', 'speed', 'stop_sequences', 'stream', 'system'],
  ...['temperature', 'thinking', 'thread', 'tool_choice', 'tools', 'top_k', 'top_p', 'user_profile_id'],
  'workspace_id',
] as const;

/** https://ai.google.dev/api/generate-content, and Vertex AI's; protobuf's JSON takes both spellings. */
const GEMINI = [
  ...['model', 'contents', 'tools', 'toolConfig', 'tool_config', 'safetySettings', 'safety_settings'],
  ...['systemInstruction', 'system_instruction', 'generationConfig', 'generation_config', 'cachedContent'],
  ...['cached_content', 'labels', 'serviceTier', 'service_tier', 'store'],
] as const;

/** https://ai.google.dev/api/interactions-api */
const INTERACTIONS = [
  ...['model', 'agent', 'agent_config', 'input', 'system_instruction', 'tools', 'response_format'],
  ...['response_mime_type', 'response_modalities', 'generation_config', 'store', 'stream', 'background'],
  ...['previous_interaction_id', 'cached_content', 'environment', 'service_tier', 'safety_settings', 'labels'],
] as const;

/**
 * What has no conversation: https://platform.openai.com/docs/api-reference/images, …/audio, …/moderations,
 * …/embeddings, https://console.groq.com/docs/api-reference, https://docs.x.ai/docs/api-reference#image-generations
 */
const MEDIA = [
  ...['model', 'prompt', 'n', 'size', 'quality', 'style', 'background', 'moderation', 'output_format'],
  ...['output_compression', 'partial_images', 'response_format', 'stream', 'user', 'safety_identifier', 'svg'],
  ...['complexity', 'frame_count', 'frame_duration_ms', 'input_fidelity', 'image', 'images', 'mask', 'markup'],
  ...['aspect_ratio', 'resolution', 'file', 'url', 'language', 'languages', 'keywords', 'temperature'],
  ...['timestamp_granularities', 'chunking_strategy', 'include', 'known_speaker_names', 'known_speaker_references'],
  ...['input', 'voice', 'instructions', 'speed', 'stream_format', 'sample_rate', 'seed', 'input_reference', 'seconds'],
  ...['dimensions', 'encoding_format'],
] as const;

export const REQUEST_FIELDS = {
  responses: RESPONSES,
  chat_completions: [...OPENAI_CHAT, ...GROQ_CHAT, ...OTHER_CHAT],
  anthropic_messages: MESSAGES,
  gemini: GEMINI,
  interactions: INTERACTIONS,
  media: MEDIA,
} as const satisfies Readonly<Record<RequestForm, readonly string[]>>;

/**
 * The features of each generation of Claude, as data. The Messages API responds with 400 to parameters that a model
 * does not support. Sources: https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting,
 * …/effort, …/mid-conversation-system-messages and the models' migration guides, as of November 2026.
 */
import { LRUCache } from 'lru-cache';

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type AnthropicEffort = (typeof EFFORTS)[number];

export interface AnthropicModelFeatures {
  /**
   * `always`: cannot be disabled; `default`: enabled unless disabled; `request`: adaptive on request; `budget`: a
   * token budget on request.
   */
  readonly thinking: 'always' | 'default' | 'request' | 'budget' | 'none';
  /** The `thinking.type` that disables thinking which is enabled by default. */
  readonly thinkingOff: 'disabled' | 'between_tools';
  /**
   * Whether a request with thinking is rejected if what precedes the thinking has changed.
   * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks
   */
  readonly bindsThinking: boolean;
  /**
   * Whether a request with thinking that has no signature is rejected: `thinking.signature: Field required`.
   * https://github.com/JohnnyZ93/oai-compatible-copilot/issues/217
   */
  readonly signsThinking: boolean;
  /** Levels of `output_config.effort`; empty if the field is not supported. */
  readonly efforts: readonly AnthropicEffort[];
  /** `one`: either `temperature` or `top_p`. */
  readonly sampling: 'both' | 'one' | 'none';
  /** Whether `tool_choice` may be `any` or `tool`. */
  readonly supportsForcedTools: boolean;
  /** Whether `messages` may contain `role: 'system'`, which may add tools, too. */
  readonly supportsSystemMessages: boolean;
  /** Whether the assistant may begin the conversation. https://github.com/anthropics/anthropic-sdk-typescript/issues/622 */
  readonly mayBeginWithAssistant: boolean;
  /** Whether web search and web fetch can filter results by code before the model reads them. */
  readonly supportsDynamicFiltering: boolean;
  /** Whether the tools that the client executes are known to the model: the shell, the text editor and the memory. */
  readonly supportsClientTools: boolean;
  /**
   * Whether tools may be deferred, and named by results later.
   * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool#model-compatibility
   */
  readonly supportsDeferredTools: boolean;
  readonly computer: 'computer_toolset_20260801' | 'computer_20251124' | 'computer_20250124' | 'none';
}

/** Features of the longest model prefix in the table. An unknown Claude is treated like the newest one. */
export function anthropicModelFeatures(model: string): AnthropicModelFeatures {
  const cached = cache.get(model);
  if (cached !== undefined) return cached;
  const features = findFeatures(model);
  cache.set(model, features);
  return features;
}

const cache = new LRUCache<string, AnthropicModelFeatures>({ max: 1_000 });

/** Platforms also use `anthropic.claude-opus-4-6-v1`, `claude-opus-4@20250514` and `anthropic/claude-opus-4.6`. */
function findFeatures(model: string): AnthropicModelFeatures {
  const name = model.toLowerCase().replace(/[.@]/g, '-');
  const start = name.indexOf('claude');
  if (start < 0) return OTHER_VENDOR;
  const rest = name.slice(start);
  let best: keyof typeof MODELS | undefined;
  for (const prefix of MODEL_NAMES) if (rest.startsWith(prefix) && prefix.length > (best?.length ?? 0)) best = prefix;
  return best === undefined ? NEWEST : MODELS[best];
}

const NEWEST = {
  thinking: 'always',
  thinkingOff: 'disabled',
  bindsThinking: true,
  signsThinking: true,
  efforts: EFFORTS,
  sampling: 'none',
  supportsForcedTools: false,
  supportsSystemMessages: true,
  mayBeginWithAssistant: true,
  supportsDynamicFiltering: true,
  supportsClientTools: true,
  supportsDeferredTools: true,
  computer: 'computer_toolset_20260801',
} as const satisfies AnthropicModelFeatures;

const CLAUDE_5 = {
  ...NEWEST,
  supportsForcedTools: true,
  bindsThinking: false,
} as const satisfies AnthropicModelFeatures;

const CLAUDE_4_6 = {
  thinking: 'request',
  thinkingOff: 'disabled',
  bindsThinking: false,
  signsThinking: true,
  efforts: ['low', 'medium', 'high', 'max'],
  sampling: 'one',
  supportsForcedTools: true,
  supportsSystemMessages: false,
  mayBeginWithAssistant: true,
  supportsDynamicFiltering: true,
  supportsClientTools: true,
  supportsDeferredTools: true,
  computer: 'computer_20251124',
} as const satisfies AnthropicModelFeatures;

const CLAUDE_4_5 = {
  thinking: 'budget',
  thinkingOff: 'disabled',
  bindsThinking: false,
  signsThinking: true,
  efforts: [],
  sampling: 'one',
  supportsForcedTools: true,
  supportsSystemMessages: false,
  mayBeginWithAssistant: true,
  supportsDynamicFiltering: false,
  supportsClientTools: true,
  supportsDeferredTools: true,
  computer: 'computer_20250124',
} as const satisfies AnthropicModelFeatures;

const CLAUDE_4_1 = { ...CLAUDE_4_5, supportsDeferredTools: false } as const satisfies AnthropicModelFeatures;

const CLAUDE_4 = { ...CLAUDE_4_1, sampling: 'both' } as const satisfies AnthropicModelFeatures;

const CLAUDE_3 = {
  ...CLAUDE_4,
  thinking: 'none',
  mayBeginWithAssistant: false,
  supportsClientTools: false,
  computer: 'none',
} as const satisfies AnthropicModelFeatures;

/** Other vendors that offer this wire for their own models implement its first version. */
const OTHER_VENDOR = {
  ...CLAUDE_4,
  signsThinking: false,
  mayBeginWithAssistant: false,
  supportsClientTools: false,
  computer: 'none',
} as const satisfies AnthropicModelFeatures;

const MODELS = {
  'claude-fable-5': CLAUDE_5,
  'claude-fable-5-1': NEWEST,
  'claude-fable-5-2': NEWEST,
  'claude-mythos-5': CLAUDE_5,
  'claude-mythos-5-1': NEWEST,
  'claude-mythos-5-2': NEWEST,
  'claude-mythos-preview': {
    ...CLAUDE_5,
    efforts: CLAUDE_4_6.efforts,
    supportsSystemMessages: false,
    computer: 'computer_20251124',
  },
  'claude-opus-5': { ...CLAUDE_5, thinking: 'default' },
  'claude-opus-5-5': NEWEST,
  'claude-sonnet-5': { ...CLAUDE_5, thinking: 'default', supportsSystemMessages: false },
  'claude-sonnet-5-5': { ...NEWEST, thinking: 'default', thinkingOff: 'between_tools' },
  'claude-haiku-5-5': { ...CLAUDE_5, thinking: 'default', bindsThinking: true },
  'claude-opus-4-8': {
    ...CLAUDE_4_6,
    efforts: EFFORTS,
    sampling: 'none',
    supportsSystemMessages: true,
    computer: 'computer_toolset_20260801',
  },
  'claude-opus-4-7': { ...CLAUDE_4_6, efforts: EFFORTS, sampling: 'none' },
  'claude-opus-4-6': CLAUDE_4_6,
  'claude-sonnet-4-6': CLAUDE_4_6,
  'claude-opus-4-5': { ...CLAUDE_4_5, efforts: ['low', 'medium', 'high'], computer: 'computer_20251124' },
  'claude-sonnet-4-5': CLAUDE_4_5,
  'claude-haiku-4-5': CLAUDE_4_5,
  'claude-opus-4-1': CLAUDE_4_1,
  'claude-opus-4': CLAUDE_4,
  'claude-sonnet-4': CLAUDE_4,
  'claude-4': CLAUDE_4,
  // The versions of these tools that it knows are older.
  'claude-3-7': { ...CLAUDE_4, supportsClientTools: false },
  'claude-3': CLAUDE_3,
  'claude-2': CLAUDE_3,
  'claude-instant': CLAUDE_3,
} as const satisfies Record<string, AnthropicModelFeatures>;

// Object.keys is typed as string[], but the object is constant.
const MODEL_NAMES = Object.keys(MODELS) as readonly (keyof typeof MODELS)[];

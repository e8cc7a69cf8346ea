/**
 * What the generations of Claude accept, as data: the Messages API refuses with a 400 what a model does not know.
 * https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting, …/effort,
 * …/mid-conversation-system-messages and the models' migration guides, looked up in November 2026.
 */

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type AnthropicEffort = (typeof EFFORTS)[number];

export interface AnthropicModelFeatures {
  /**
   * `always`: cannot be turned off; `default`: on unless turned off; `request`: adaptive when asked for; `budget`:
   * a token budget when asked for.
   */
  readonly thinking: 'always' | 'default' | 'request' | 'budget' | 'none';
  /** How thinking that is on by default is turned off. */
  readonly thinkingOff: 'disabled' | 'between_tools';
  /** Levels of `output_config.effort`; empty where the field is unknown. */
  readonly efforts: readonly AnthropicEffort[];
  /** `one`: `temperature` or `top_p`, not both. */
  readonly sampling: 'both' | 'one' | 'none';
  /** Whether `tool_choice` may be `any` or `tool`. */
  readonly supportsForcedTools: boolean;
  /** Whether `role: 'system'` is known inside `messages`. */
  readonly supportsSystemMessages: boolean;
  /** Whether web search and web fetch can filter by code before the model reads. */
  readonly supportsDynamicFiltering: boolean;
  readonly computer: 'computer_toolset_20260801' | 'computer_20251124' | 'computer_20250124' | 'none';
}

/**
 * The facts of the longest name in the table that the model's name begins with; an unknown Claude is taken for the
 * newest.
 */
export function anthropicModelFeatures(model: string): AnthropicModelFeatures {
  const cached = cache.get(model);
  if (cached !== undefined) return cached;
  const features = findFeatures(model);
  if (cache.size >= 1000) cache.clear();
  cache.set(model, features);
  return features;
}

const cache = new Map<string, AnthropicModelFeatures>();

/** Hosts write `anthropic.claude-opus-4-6-v1`, `claude-opus-4@20250514` or `anthropic/claude-opus-4.6`. */
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
  efforts: EFFORTS,
  sampling: 'none',
  supportsForcedTools: false,
  supportsSystemMessages: true,
  supportsDynamicFiltering: true,
  computer: 'computer_toolset_20260801',
} as const satisfies AnthropicModelFeatures;

const CLAUDE_5 = { ...NEWEST, supportsForcedTools: true } as const satisfies AnthropicModelFeatures;

const CLAUDE_4_6 = {
  thinking: 'request',
  thinkingOff: 'disabled',
  efforts: ['low', 'medium', 'high', 'max'],
  sampling: 'one',
  supportsForcedTools: true,
  supportsSystemMessages: false,
  supportsDynamicFiltering: true,
  computer: 'computer_20251124',
} as const satisfies AnthropicModelFeatures;

const CLAUDE_4_5 = {
  thinking: 'budget',
  thinkingOff: 'disabled',
  efforts: [],
  sampling: 'one',
  supportsForcedTools: true,
  supportsSystemMessages: false,
  supportsDynamicFiltering: false,
  computer: 'computer_20250124',
} as const satisfies AnthropicModelFeatures;

const CLAUDE_4 = { ...CLAUDE_4_5, sampling: 'both' } as const satisfies AnthropicModelFeatures;

const CLAUDE_3 = { ...CLAUDE_4, thinking: 'none', computer: 'none' } as const satisfies AnthropicModelFeatures;

/** Hosts that speak this wire for models of their own know its first form. */
const OTHER_VENDOR = { ...CLAUDE_4, computer: 'none' } as const satisfies AnthropicModelFeatures;

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
  'claude-haiku-5-5': { ...CLAUDE_5, thinking: 'default' },
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
  'claude-opus-4-1': CLAUDE_4_5,
  'claude-opus-4': CLAUDE_4,
  'claude-sonnet-4': CLAUDE_4,
  'claude-4': CLAUDE_4,
  'claude-3-7': CLAUDE_4,
  'claude-3': CLAUDE_3,
  'claude-2': CLAUDE_3,
  'claude-instant': CLAUDE_3,
} as const satisfies Record<string, AnthropicModelFeatures>;

// The keys of a constant object are its names.
const MODEL_NAMES = Object.keys(MODELS) as readonly (keyof typeof MODELS)[];

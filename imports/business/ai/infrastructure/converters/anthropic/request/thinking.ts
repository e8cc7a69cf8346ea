/**
 * Converts reasoning and sampling options to `thinking`, `output_config.effort`, `temperature`, `top_p` and
 * `top_k`, as far as the model supports them. https://platform.claude.com/docs/en/build-with-claude/thinking
 */
import { EFFORTS } from '../modelFeatures';
import { isObjectList } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { NormalizedOptions } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { AnthropicEffort, AnthropicModelFeatures } from '../modelFeatures';

export interface Thinking {
  readonly thinking?: JsonObject;
  readonly effort?: AnthropicEffort;
  readonly warnings: readonly string[];
}

export interface ThinkingOptions {
  readonly options: NormalizedOptions;
  readonly features: AnthropicModelFeatures;
  readonly supportsReasoning: boolean;
  readonly maxTokens: number;
  /** The tool choice forces a tool call. */
  readonly isToolForced: boolean;
  /** The history ends with results of a turn that started without thinking. */
  readonly continuesTurnWithoutThinking: boolean;
}

/** Whether the history ends with tool results of a turn that did not start with this vendor's thinking. */
export function continuesTurnWithoutThinking(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast((message) => message.role !== 'system');
  if (last?.role !== 'user' || !isObjectList(last.content) || last.content[0]?.type !== 'tool_result') return false;
  const turn = messages.findLast((message) => message.role === 'assistant');
  const first = isObjectList(turn?.content) ? turn.content[0] : undefined;
  return first?.type !== 'thinking' && first?.type !== 'redacted_thinking';
}

/**
 * Lets the API drop earlier thinking whose context has changed, as by a new tool or a late result, rather than reject
 * the request. These models think adaptively unless told otherwise.
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation
 */
export function withBlockBinding(thinking: JsonObject = { type: 'adaptive' }): JsonObject {
  if (thinking.type !== 'adaptive') return thinking;
  return { ...thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } };
}

/** Thinking tokens per effort, for models with a budget instead of an effort. */
const BUDGETS = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_000,
} as const satisfies Record<string, number>;
/** The minimum that the API accepts. */
const MIN_BUDGET = 1024;

export function toThinking(request: ThinkingOptions): Thinking {
  const { options, features, supportsReasoning } = request;
  const effort = options.reasoning?.effort ?? undefined;
  const summary = options.reasoning?.summary ?? undefined;
  if (effort === undefined && summary === undefined) return { warnings: [] };
  if (!supportsReasoning || features.thinking === 'none') {
    return effort === undefined || effort === 'none'
      ? { warnings: [] }
      : { warnings: [`reasoning was omitted: ${options.model} does not support thinking.`] };
  }
  if (effort === 'none') return withoutThinking(request);
  if (features.thinking === 'budget') return effort === undefined ? { warnings: [] } : withBudget(effort, request);
  const level = effort === undefined ? undefined : nearestEffort(effort, features);
  const display = summary === undefined ? {} : { display: 'summarized' };
  const isRequested = effort !== undefined && features.thinking === 'request';
  return omitUndefined({
    // If thinking is enabled by default, it is sent only to request its summary.
    thinking:
      isRequested || (summary !== undefined && features.thinking !== 'request')
        ? { type: 'adaptive', ...display }
        : undefined,
    effort: level,
    warnings:
      effort !== undefined && level !== effort
        ? [`reasoning.effort ${effort} is sent as ${level ?? 'the default'}.`]
        : [],
  });
}

function withoutThinking({ options, features }: ThinkingOptions): Thinking {
  switch (features.thinking) {
    case 'always':
      return { effort: 'low', warnings: [`reasoning.effort none is sent as low: ${options.model} always thinks.`] };
    case 'default':
      return { thinking: { type: features.thinkingOff }, warnings: [] };
    case 'request':
    case 'budget':
    case 'none':
      return { warnings: [] };
  }
}

/** Budgets count towards `max_tokens`, so half of it is reserved for output. A budget rules out forced tool calls. */
function withBudget(
  effort: string,
  { options, features, maxTokens, isToolForced, continuesTurnWithoutThinking }: ThinkingOptions,
): Thinking {
  if (continuesTurnWithoutThinking)
    return {
      warnings: [
        'reasoning was omitted: the turn started without thinking, and this model cannot start thinking in its middle.',
      ],
    };
  if (isToolForced) return { warnings: ['reasoning was omitted: this model cannot think before a forced tool call.'] };
  const wanted = hasBudget(effort) ? BUDGETS[effort] : BUDGETS.medium;
  const budget_tokens = Math.min(wanted, Math.floor(maxTokens / 2));
  if (budget_tokens < MIN_BUDGET) {
    return {
      warnings: [
        `reasoning was omitted: with ${maxTokens} max_output_tokens, fewer than ${MIN_BUDGET} tokens remain for thinking.`,
      ],
    };
  }
  const level = features.efforts.length === 0 ? undefined : nearestEffort(effort, features);
  return omitUndefined({
    thinking: { type: 'enabled', budget_tokens },
    effort: level,
    warnings: [
      `reasoning.effort ${effort} is sent as a budget of ${budget_tokens} tokens: ${options.model} has no effort levels.`,
    ],
  });
}

function hasBudget(effort: string): effort is keyof typeof BUDGETS {
  return Object.hasOwn(BUDGETS, effort);
}

/** Returns the level itself or the next lower one that the model supports, `undefined` for unknown levels. */
function nearestEffort(effort: string, features: AnthropicModelFeatures): AnthropicEffort | undefined {
  if (effort === 'minimal') return features.efforts[0];
  const rank = EFFORTS.findIndex((level) => level === effort);
  return features.efforts.findLast((level) => EFFORTS.indexOf(level) <= rank);
}

/** https://platform.claude.com/docs/en/build-with-claude/thinking#limits-and-feature-compatibility */
export function toSampling(
  options: NormalizedOptions,
  features: AnthropicModelFeatures,
  isThinking: boolean,
  warnings: string[],
): JsonObject {
  const { temperature, top_p, top_k } = options;
  for (const option of ['seed', 'presence_penalty', 'frequency_penalty'] as const)
    if (options[option] !== undefined) warnings.push(`${option} was omitted: the Messages API does not have it.`);
  if (features.sampling === 'none') {
    // 1 is the default of both, so its omission is not reported.
    const given = [
      ...((temperature ?? 1) === 1 ? [] : ['temperature']),
      ...((top_p ?? 1) === 1 ? [] : ['top_p']),
      ...(top_k === undefined ? [] : ['top_k']),
    ];
    if (given.length > 0)
      warnings.push(`Omitted ${given.join(' and ')}: ${options.model} does not support sampling parameters.`);
    return {};
  }
  const sampling: JsonObject = {};
  if (temperature !== undefined) {
    if (isThinking && temperature !== 1)
      warnings.push('temperature was omitted: it cannot be set together with thinking.');
    else sampling.temperature = Math.min(temperature, 1);
    if (temperature > 1) warnings.push(`temperature ${temperature} is sent as 1, the maximum of the Messages API.`);
  }
  if (top_p !== undefined) {
    if (isThinking && top_p < 0.95)
      warnings.push('top_p was omitted: below 0.95 it cannot be set together with thinking.');
    else if (features.sampling === 'one' && 'temperature' in sampling)
      warnings.push(`top_p was omitted: ${options.model} supports either temperature or top_p.`);
    else sampling.top_p = top_p;
  }
  if (top_k !== undefined) {
    if (isThinking) warnings.push('top_k was omitted: it cannot be set together with thinking.');
    else sampling.top_k = top_k;
  }
  return sampling;
}

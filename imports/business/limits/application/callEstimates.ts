/** What a call may use, estimated when it is asked for: before the call, and when it ends without a count. */
import { estimateEmbeddingUsage } from '../../ai/domain/entities/embeddingInput';
import type { ModelCapabilities } from '../../ai/domain/interfaces/ILLMProvider';
import { isObject } from '../../ai/domain/util/json';
import type { EmbedOptions } from '../../ai/domain/types/EmbeddingTypes';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { RelayCall } from '../../ai/domain/types/RelayTypes';
import type { Usage } from '../../ai/domain/types/ResponsesAPITypes';
import { CHARACTERS_PER_TOKEN } from '../../ai/domain/entities/charactersPerToken';
import { normalizeInput } from '../../ai/application/services/ContentNormalizer';
import {
  estimatedUsage,
  estimateRequestTokens,
  refersToFiles,
} from '../../ai/application/services/routing/estimateUsage';
import { continuesAtProvider } from '../../ai/application/services/routing/routeOptions';

export interface CallEstimates {
  /** What calls like it use as a rule. */
  readonly expected: () => Usage;
  /** The most that it may use. @param capabilities of its model */
  readonly maximum: (capabilities: ModelCapabilities) => Usage;
  readonly input: () => Usage;
}

/** Output of a call whose request sets no limit. */
const EXPECTED_OUTPUT_TOKENS = 1_000;
/** Models that no table lists generate more than what is assumed of them. */
const LEAST_MAXIMUM = 16_384;
/** A large image of high quality. https://platform.openai.com/docs/guides/image-generation#cost-and-latency */
const TOKENS_PER_MADE_IMAGE = 6_240;

/** @param continuedTokens of the conversation at the vendor that the request continues, if they are known */
export function estimatesOfGeneration(options: GenerateOptions, continuedTokens: number | undefined): CallEstimates {
  const inputTokens = (): number => estimateRequestTokens(options) + (continuedTokens ?? 0);
  return {
    expected: () => estimatedUsage(inputTokens(), options.max_output_tokens ?? EXPECTED_OUTPUT_TOKENS),
    maximum: ({ maxTokens, maxOutputTokens }) => {
      const isOpen = continuedTokens === undefined && continuesAtProvider(options);
      const isKnown = !isOpen && !refersToFiles(normalizeInput(options.input));
      const output = options.max_output_tokens ?? Math.max(maxOutputTokens, LEAST_MAXIMUM);
      return estimatedUsage(isKnown ? inputTokens() : Math.max(inputTokens(), maxTokens), output);
    },
    input: () => estimatedUsage(inputTokens(), 0),
  };
}

export function estimatesOfEmbedding(options: EmbedOptions): CallEstimates {
  const estimate = (): Usage => estimateEmbeddingUsage(options);
  return { expected: estimate, maximum: estimate, input: estimate };
}

/** Estimates a relayed call. The text of a form, which is a stream of bytes, is unknown and counts as empty. */
export function estimatesOfRelay({ path, body }: RelayCall): CallEstimates {
  const text = typeof body === 'string' ? body : '';
  const input = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  const estimate = (): Usage =>
    estimatedUsage(
      input,
      path.startsWith('/images/') ? imagesIn(text) * TOKENS_PER_MADE_IMAGE : EXPECTED_OUTPUT_TOKENS,
    );
  return { expected: estimate, maximum: estimate, input: () => estimatedUsage(input, 0) };
}

function imagesIn(body: string): number {
  const fields: unknown = body === '' ? undefined : JSON.parse(body);
  const count = isObject(fields) ? fields['n'] : undefined;
  return typeof count === 'number' && count > 1 ? count : 1;
}

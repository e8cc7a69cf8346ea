/** Counts the input tokens of a request without its vendor. */
import { normalizeInput } from '../../../business/ai/application/services/ContentNormalizer';
import { CHARACTERS_PER_TOKEN } from '../../../business/ai/domain/entities/charactersPerToken';
import { isList, isObject } from '../../../business/ai/domain/util/json';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import { countTextTokens } from '../../../business/ai/infrastructure/tokens/countTextTokens';

export interface TokenCount {
  readonly tokens: number;
  /** `estimate`: by the length of the text, where the tokenizer's package is not installed. */
  readonly countedBy: 'tokenizer' | 'estimate';
}

/** What the vendors charge for an image of a megapixel, or for a page of a file, lies around this. */
const TOKENS_PER_MEDIUM = 1_000;
/** The frame of an item: its role and its boundaries. */
const TOKENS_PER_ITEM = 4;
/** Fields that models do not see, or see as something else than text. */
const UNCOUNTED: ReadonlySet<string> = new Set(['id', 'type', 'status', 'role', 'call_id', 'encrypted_content']);

/** @param userId on whose behalf. Users take turns */
export async function countInputTokens(
  { instructions, tools, input }: GenerateOptions,
  userId?: string,
): Promise<TokenCount> {
  const texts: string[] = [];
  const items = normalizeInput(input);
  let fixed = items.length * TOKENS_PER_ITEM;
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (isList(value)) value.forEach(collect);
    else if (isObject(value)) {
      if (value['type'] === 'input_image' || value['type'] === 'input_file') fixed += TOKENS_PER_MEDIUM;
      else for (const [name, field] of Object.entries(value)) if (!UNCOUNTED.has(name)) collect(field);
    }
  };
  collect(items);
  if (instructions !== undefined) texts.push(instructions);
  if (tools !== undefined && tools.length > 0) texts.push(JSON.stringify(tools));
  const text = texts.join('\n');
  const counted = await countTextTokens(text, userId);
  return counted === undefined
    ? { tokens: fixed + Math.ceil(text.length / CHARACTERS_PER_TOKEN), countedBy: 'estimate' }
    : { tokens: fixed + counted, countedBy: 'tokenizer' };
}

/** The shape of a row in a vendor's model table, and the abbreviations in which rows are written. */
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { ModelPrice } from '../../domain/types/ModelPrice';

/** The capabilities of the models whose names match. A field left out has the value of the vendor's unlisted models. */
export interface ModelRow extends Partial<ModelCapabilities> {
  /** Source of a regular expression, matched case-insensitively anywhere in the model's name. */
  readonly models: string;
}

/** Where a name may start: services put `openai/`, `us.anthropic.`, `models/` or `ft:` before it. */
const START = '(?:^|[/:.])';
/** Where a name may end: dates, `latest`, `preview` and the like may follow, another digit or `.5` may not. */
const END = '(?![\\d.]|-\\d(?:\\D|$))';

/**
 * A row for one name and its dated or labelled versions.
 * @param name source of a regular expression; `4-5` also matches `4.5`, as some services write it
 */
export function row(
  name: string,
  maxTokens: number,
  maxOutputTokens: number,
  capabilities: Omit<ModelRow, 'models'> = {},
): ModelRow {
  return {
    models: `${START}(?:${name.replace(/(\d)-(?=\d)/g, '$1[-.]')})${END}`,
    maxTokens,
    maxOutputTokens,
    ...capabilities,
  };
}

/**
 * US dollars per million tokens for standard requests.
 * @param asOf the date of the source
 * @param others prices of cache writes and of long prompts
 */
export function price(
  asOf: string,
  input: number,
  output: number,
  cached?: number,
  others: Pick<ModelPrice, 'cacheWrite' | 'cacheWriteHour' | 'longPrompt'> = {},
): { readonly price: ModelPrice } {
  return { price: { input, output, ...(cached === undefined ? {} : { cached }), ...others, asOf } };
}

/** Prices for long prompts that are multiples of the standard ones. */
export function withLongPrompts(
  { price: standard }: { readonly price: ModelPrice },
  above: number,
  inputFactor: number,
  outputFactor: number,
): { readonly price: ModelPrice } {
  const { asOf: _, longPrompt: __, output, ...inputs } = standard;
  const scaled = Object.fromEntries(Object.entries(inputs).map(([name, dollars]) => [name, dollars * inputFactor]));
  // The entries keep their names, of which only `input` is not optional.
  const longPrompt = { ...scaled, input: standard.input * inputFactor, output: output * outputFactor, above };
  return { price: { ...standard, longPrompt } };
}

/** Of a model for embeddings, which generates nothing. */
export const EMBEDS: Omit<ModelRow, 'models'> = {
  makesEmbeddings: true,
  supportsTools: false,
  supportsParallelTools: false,
  supportsVision: false,
  supportsFiles: false,
  supportsJSON: false,
  supportsJSONSchema: false,
};
export const REASONS: Omit<ModelRow, 'models'> = { supportsReasoning: true };
export const TEXT_ONLY: Omit<ModelRow, 'models'> = { supportsVision: false, supportsFiles: false };
export const NO_TOOLS: Omit<ModelRow, 'models'> = { supportsTools: false, supportsParallelTools: false };
export const NO_SCHEMA: Omit<ModelRow, 'models'> = { supportsJSONSchema: false };

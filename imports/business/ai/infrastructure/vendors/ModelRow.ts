/** The shape of a row in a model table, and the abbreviations in which rows are written. */
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';

/**
 * What is known of the models whose names match; what a row leaves out is the same as for the vendor's unknown
 * models.
 */
export interface ModelRow extends Partial<ModelCapabilities> {
  /** Source of a regular expression, matched case-insensitively anywhere in the model's name. */
  readonly models: string;
}

/** Where a name may begin: hosts put `openai/`, `us.anthropic.`, `models/` or `ft:` before it. */
const START = '(?:^|[/:.])';
/** Where a name may end: dates, `latest`, `preview` and the like may follow, another digit or `.5` may not. */
const END = '(?![\\d.]|-\\d(?:\\D|$))';

/**
 * A row for one name and its dated or labelled versions. `name` is the source of a regular expression, too; some
 * hosts write `4.5` for `4-5`.
 */
export function row(
  name: string,
  maxTokens: number,
  maxOutputTokens: number,
  facts: Omit<ModelRow, 'models'> = {},
): ModelRow {
  return {
    models: `${START}(?:${name.replace(/(\d)-(?=\d)/g, '$1[-.]')})${END}`,
    maxTokens,
    maxOutputTokens,
    ...facts,
  };
}

/** US dollars per million tokens for standard requests with short prompts; `asOf` is the day of the source. */
export function price(asOf: string, input: number, output: number, cached?: number): Pick<ModelRow, 'price'> {
  return { price: { input, output, ...(cached === undefined ? {} : { cached }), asOf } };
}

export const REASONS: Omit<ModelRow, 'models'> = { supportsReasoning: true };
export const TEXT_ONLY: Omit<ModelRow, 'models'> = { supportsVision: false, supportsFiles: false };
export const NO_TOOLS: Omit<ModelRow, 'models'> = { supportsTools: false, supportsParallelTools: false };
export const NO_SCHEMA: Omit<ModelRow, 'models'> = { supportsJSONSchema: false };
